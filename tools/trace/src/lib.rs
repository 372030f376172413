//! Records which task ran where and when.
