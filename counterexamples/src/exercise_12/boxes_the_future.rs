//! Breaks clause 1: One allocation.
//! Caught by: a_task_is_one_block_of_memory
//! Also fails: a_waker_may_be_used_long_after_the_end
//! Also fails: the_block_is_freed_with_the_last_who_knows_it
//!
//! A boxed future is pinned wherever its box goes, which saves every thought
//! about pinning in place. It is a second block of memory for each task, and a
//! second cache line to fetch for each poll.

super::parts! { holder owned runnable slot state waker right cell all others }

/// Puts the future into a box of its own.
mod cell {
    use std::ptr::NonNull;

    pub use super::right::{
        Header, Vtable, drop_scheduler, ignore_panics, scheduler_of, take_link,
    };
    use super::{Schedule, right};

    pub fn allocate<F, S>(future: F, scheduler: S) -> NonNull<Header>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        right::allocate(Box::pin(future), scheduler)
    }
}
