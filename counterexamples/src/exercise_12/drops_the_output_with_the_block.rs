//! Breaks clause 8: The output.
//! Caught by: an_output_that_nobody_wants_is_dropped_where_it_ends
//!
//! An output that nobody wants is in the block, and goes when the block goes:
//! nothing is lost, one drop less to write. But the last to go may be a waker
//! in a timer, an hour later, on a thread that never heard of this task.

super::parts! { holder owned runnable slot state waker right cell all others }

/// Leaves the output where it is.
mod cell {

    super::super::with_vtable!(drop_output);

    unsafe fn drop_output<F, S>(_task: NonNull<Header>)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        // It is dropped with the block.
    }
}
