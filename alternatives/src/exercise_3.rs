//! Other right versions of the hand-made waker.
