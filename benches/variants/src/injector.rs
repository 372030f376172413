//! No stack without a lock: each push takes the lock of the list.

use std::ops::Deref;

use super::right_injector::Injector as Right;
pub use super::right_injector::Share;
use super::task::{Runnable, Schedule};

/// A list in a mutex.
pub struct Injector<S: Schedule>(Right<S>);

impl<S: Schedule> Injector<S> {
    pub fn new() -> Self {
        Self(Right::new())
    }

    pub fn push(&self, task: Runnable<S>) -> Option<usize> {
        self.0.append([task]);
        None
    }
}

impl<S: Schedule> Deref for Injector<S> {
    type Target = Right<S>;

    fn deref(&self) -> &Right<S> {
        &self.0
    }
}
