//! No stack without a lock: whoever pushes takes the lock of the list.

use std::ops::Deref;

use super::right_injector::Injector as Right;
use super::task::{Runnable, Schedule};

/// A list in a mutex.
pub struct Injector<S: Schedule>(Right<S>);

impl<S: Schedule> Injector<S> {
    pub fn new() -> Self {
        Self(Right::new())
    }

    pub fn push(&self, task: Runnable<S>) {
        self.0.append([task]);
    }
}

impl<S: Schedule> Deref for Injector<S> {
    type Target = Right<S>;

    fn deref(&self) -> &Right<S> {
        &self.0
    }
}
