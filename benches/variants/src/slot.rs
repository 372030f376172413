//! No slot: whatever would be the next task is displaced at once.

use super::shared::Task;

/// Holds nothing.
pub struct Slot;

impl Slot {
    pub fn new() -> Self {
        Self
    }

    #[inline]
    pub fn put(&self, task: Task) -> Option<Task> {
        Some(task)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        true
    }

    #[inline]
    pub fn take(&self) -> Option<Task> {
        None
    }

    #[inline]
    pub fn take_anyway(&self) -> Option<Task> {
        None
    }
}
