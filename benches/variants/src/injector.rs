//! No stack without a lock: whoever pushes takes the lock of the list.

use std::ops::Deref;

use super::right_injector::Injector as Right;
use super::shared::Task;

/// A list in a mutex.
pub struct Injector(Right);

impl Injector {
    pub fn new() -> Self {
        Self(Right::new())
    }

    pub fn push(&self, task: Task) {
        self.0.append([task]);
    }
}

impl Deref for Injector {
    type Target = Right;

    fn deref(&self) -> &Right {
        &self.0
    }
}
