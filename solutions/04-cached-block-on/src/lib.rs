//! cached-block-on
