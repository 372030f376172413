//! Breaks clause 2: In place.
//! Caught by: a_future_of_any_alignment_stays_in_its_place
//! Also fails: what_panics_as_it_is_dropped_harms_nobody
//!
//! `mem::replace` puts the output where the future was, and returns the future,
//! which is dropped at the end of the line. That is a move. A future that was
//! polled must not be moved, not even to be dropped: it may point into itself,
//! or others into it.

super::parts! { holder owned runnable slot state waker right cell all others }

/// Takes the future out of the block before it is dropped.
mod cell {
    use std::mem;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use super::JoinError;
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
            let polled = catch_unwind(AssertUnwindSafe(|| {
                let Stage::Future(future) = stage else {
                    unreachable!("a task that has ended is polled")
                };
                // SAFETY: wrong: it is moved in the end.
                unsafe { Pin::new_unchecked(future) }.poll(cx)
            }));
            let result = match polled {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(output)) => Ok(output),
                Err(payload) => Err(JoinError::panicked(payload)),
            };
            let future = mem::replace(stage, Stage::Ended(result));
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
            if let Err(payload) = dropped {
                stage.end_by_panic(payload);
            }
            Poll::Ready(())
        })
    }
}
