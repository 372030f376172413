//! Breaks clause 12: Panics.
//! Caught by: a_panic_of_the_future_reaches_the_handle
//! Also fails: what_is_thrown_may_panic_as_it_is_dropped
//! Also fails: a_yield_of_a_poll_that_ends_the_task_is_nobody_elses
//! Also fails: future_and_output_are_dropped_once_whatever_happens
//! Also fails: the_future_is_gone_before_the_handle_is_ready
//! Also fails: what_panics_as_it_is_dropped_harms_nobody
//!
//! A panic of the future goes through `run` into the thread that runs tasks.
//! With it go the tasks that were in the thread's queue; and this one stays
//! held for ever, so that its handle waits for ever, too.

super::parts! { holder owned runnable slot state waker right cell all others }

/// Polls without a `catch_unwind`.
mod cell {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use super::right::Stage;
    super::super::with_vtable!(poll);

    unsafe fn poll<F, S>(
        task: NonNull<Header>,
        cx: &mut Context<'_>,
    ) -> Poll<()>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        // SAFETY: the vtable is of this type, and the caller holds the task.
        let stage = unsafe { Cell::<F, S>::stage(task) };
        stage.with_mut(|stage| {
            // SAFETY: only the holder touches the stage.
            let stage = unsafe { &mut *stage };
            let Stage::Future(future) = stage else {
                unreachable!("a task that has ended is polled")
            };
            // SAFETY: the future stays in its cell until it is dropped there.
            let future = unsafe { Pin::new_unchecked(future) };
            let output = match future.poll(cx) {
                Poll::Ready(output) => output,
                Poll::Pending => return Poll::Pending,
            };
            *stage = Stage::Ended(Ok(output));
            Poll::Ready(())
        })
    }
}
