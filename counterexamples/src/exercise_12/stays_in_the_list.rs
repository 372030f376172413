//! Breaks clause 15: Listed.
//! Caught by: a_task_is_listed_while_it_may_wait
//! Also fails: closing_the_list_cancels_the_tasks_that_wait
//! Also fails: models::no_task_slips_past_a_list_that_closes
//! Also fails: closing_the_list_finds_each_of_many_tasks
//!
//! A task enters the list when it first waits, and nobody takes it out when it
//! ends. The list keeps a pointer to a block that is freed, and whoever closes
//! it follows that pointer.

super::parts! { cell holder runnable slot state waker right owned all others }

/// Leaves tasks that have ended in the list.
mod owned {
    use std::ptr::NonNull;

    use super::Schedule;
    use super::cell::Header;
    pub use super::right::{Links, OwnedTasks, enter};

    /// # Safety
    ///
    /// The caller must hold the task.
    pub unsafe fn leave<S: Schedule>(_task: NonNull<Header>) {
        // It is of no use to anybody any more.
    }
}
