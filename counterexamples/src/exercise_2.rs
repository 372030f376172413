//! Wrong versions of the parker.
