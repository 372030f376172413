//! No stack without a lock: whoever pushes takes the lock of the list.

use std::ops::Deref;

use super::right_injector::Injector as Right;
pub use super::right_injector::List;
use super::shared::Task;

/// A list in a mutex.
pub struct Injector(Right);

impl Injector {
    pub fn new() -> Self {
        Self(Right::new())
    }

    pub fn push(&self, task: Task) {
        let mut one = List::new();
        one.push(task);
        self.0.append(one);
    }
}

impl Deref for Injector {
    type Target = Right;

    fn deref(&self) -> &Right {
        &self.0
    }
}
