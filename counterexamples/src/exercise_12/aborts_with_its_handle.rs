//! Breaks clause 9: The handle.
//! Caught by: a_dropped_handle_detaches_its_task
//! Also fails: a_waker_that_panics_in_a_poll_of_the_handle_is_not_kept
//! Also fails: future_and_output_are_dropped_once_whatever_happens
//! Also fails: the_scheduler_may_end_the_task_before_it_returns
//!
//! Nobody waits for the output any more, so the work would be in vain: a handle
//! that is dropped ends its task. There are crates that do so. Here whoever
//! spawns a task for its effects, and keeps no handle, finds that it has none.

super::parts! { cell holder owned runnable slot state waker right join the rest }

/// Aborts when it is dropped.
mod join {
    use std::pin::Pin;
    use std::ptr::NonNull;
    use std::task::{Context, Poll};

    use super::cell::Header;
    use super::{JoinError, right};

    /// Awaits the result of a task. To drop it ends the task.
    #[derive(Debug)]
    pub struct JoinHandle<T>(right::JoinHandle<T>);

    impl<T> JoinHandle<T> {
        /// # Safety
        ///
        /// The caller must pass a new task whose output is a `T`, and once.
        pub unsafe fn from_header(task: NonNull<Header>) -> Self {
            // SAFETY: passed on.
            Self(unsafe { right::JoinHandle::from_header(task) })
        }

        /// Asks for the end of the task.
        pub fn abort(&self) {
            self.0.abort();
        }

        /// Returns `true` if the result is there or was taken.
        pub fn is_finished(&self) -> bool {
            self.0.is_finished()
        }
    }

    impl<T> Future for JoinHandle<T> {
        type Output = Result<T, JoinError>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            Pin::new(&mut self.0).poll(cx)
        }
    }

    impl<T> Drop for JoinHandle<T> {
        fn drop(&mut self) {
            self.abort();
        }
    }
}
