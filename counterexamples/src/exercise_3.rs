//! Wrong versions of the hand-made waker.
