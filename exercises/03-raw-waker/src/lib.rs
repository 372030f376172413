//! raw-waker
