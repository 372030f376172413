//! Breaks clause 1: One allocation.
//! Caught by: a_future_of_any_alignment_stays_in_its_place
//! Also fails: a_scheduler_of_any_alignment_is_found
//! Tells: a_scheduler_of_any_alignment_is_found
//! Also fails: a_task_is_one_block_of_memory
//!
//! The block begins with a header, so it is freed as something of the header's
//! alignment, whatever the future's is. Most allocators of today do not look,
//! until one does.

super::parts! { holder owned runnable slot state waker right cell all others }

/// Frees all blocks with the alignment of a header.
mod cell {
    use std::alloc::{Layout, dealloc};
    super::super::with_vtable!(free);

    unsafe fn free<F, S>(task: NonNull<Header>)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        // SAFETY: the task has ended, and nobody uses it again.
        unsafe { task.cast::<Cell<F, S>>().drop_in_place() };
        let size = size_of::<Cell<F, S>>();
        let layout = Layout::from_size_align(size, align_of::<Header>());
        let layout = layout.expect("the cell has been allocated");
        // SAFETY: wrong: the cell may be aligned to more.
        unsafe { dealloc(task.as_ptr().cast(), layout) };
    }
}
