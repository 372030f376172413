//! block-on
