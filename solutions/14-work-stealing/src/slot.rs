//! The slot for the task that runs next.
//!
//! A task that was just woken finds in the caches what its waker has written
//! for it. So it does not go to the end of the queue: it is the next. But two
//! tasks that wake each other would stay the next for ever, so the slot gives
//! out only so many tasks in a row while others wait.

use std::cell::Cell;

use super::shared::Task;

/// So many in a row; tokio has the same number.
pub const MOST_IN_A_ROW: u32 = 3;

/// A worker's own: no thief sees it.
pub struct Slot {
    task: Cell<Option<Task>>,
    /// How many have come from here since one came from elsewhere.
    in_a_row: Cell<u32>,
}

impl Slot {
    pub fn new() -> Self {
        Self {
            task: Cell::new(None),
            in_a_row: Cell::new(0),
        }
    }

    /// Makes `task` the next one. Returns the one that would have been.
    #[inline]
    pub fn put(&self, task: Task) -> Option<Task> {
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
    pub fn take(&self) -> Option<Task> {
        let task = if self.in_a_row.get() < MOST_IN_A_ROW {
            self.take_anyway()
        } else {
            None
        };
        let in_a_row = task.as_ref().map_or(0, |_| self.in_a_row.get() + 1);
        self.in_a_row.set(in_a_row);
        task
    }

    /// Takes it also if it is the turn of others, of whom there are none.
    #[inline]
    pub fn take_anyway(&self) -> Option<Task> {
        self.task.take()
    }
}
