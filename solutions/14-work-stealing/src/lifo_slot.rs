//! The LIFO slot, for the task that runs next.
//!
//! A task that was just woken finds in the caches what its waker has written
//! for it. So it does not go to the end of the queue: it is the next. But two
//! tasks that wake each other would stay the next for ever, so the slot gives
//! out only so many tasks in a row while others wait.

use std::cell::Cell;

/// So many in a row; tokio has the same number.
pub const MAX_CONSECUTIVE: u32 = 3;

/// A worker's own: no thief sees it.
pub struct LifoSlot<T> {
    task: Cell<Option<T>>,
    /// How many have come from here since one came from elsewhere.
    consecutive: Cell<u32>,
}

impl<T> LifoSlot<T> {
    pub fn new() -> Self {
        Self {
            task: Cell::new(None),
            consecutive: Cell::new(0),
        }
    }

    /// Makes `task` the next one. Returns the one that would have been.
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

    /// Takes the next task, unless it is the turn of those who wait.
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

    /// Takes it also if it is the turn of others, of whom there are none.
    #[inline]
    pub fn take_uncapped(&self) -> Option<T> {
        self.task.take()
    }
}
