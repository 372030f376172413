//! The LIFO slot, for the task that runs next.
//!
//! A task that was just woken finds in the caches what the thread that woke it
//! has written for it. So it doesn't go to the end of the queue: it's the next
//! task. However, two tasks that wake each other would be next forever, so the
//! slot gives out only a few tasks in a row while others wait.

use std::cell::Cell;

/// The most tasks that come from the slot in a row; tokio has the same number.
pub const MAX_CONSECUTIVE: u32 = 3;

/// A worker's own slot: no thief sees it.
pub struct LifoSlot<T> {
    task: Cell<Option<T>>,
    /// How many tasks `take` has returned in a row.
    consecutive: Cell<u32>,
}

impl<T> LifoSlot<T> {
    pub fn new() -> Self {
        Self {
            task: Cell::new(None),
            consecutive: Cell::new(0),
        }
    }

    /// Makes `task` the next one. Returns the task that it displaces.
    #[inline]
    pub fn put(&self, task: T) -> Option<T> {
        self.task.replace(Some(task))
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        let task = self.task.take();
        let is_empty = task.is_none();
        self.task.set(task);
        is_empty
    }

    /// Takes the next task, unless as many as allowed have come from here in a
    /// row.
    #[inline]
    pub fn take(&self) -> Option<T> {
        let task = if self.consecutive.get() < MAX_CONSECUTIVE {
            self.take_uncapped()
        } else {
            None
        };
        let consecutive =
            task.as_ref().map_or(0, |_| self.consecutive.get() + 1);
        self.consecutive.set(consecutive);
        task
    }

    /// Takes the next task, no matter how many have come from here in a row.
    #[inline]
    pub fn take_uncapped(&self) -> Option<T> {
        self.task.take()
    }
}
