//! Other right versions of the parker.
