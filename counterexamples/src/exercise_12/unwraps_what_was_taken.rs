//! Breaks clause 9: The handle.
//! Caught by: a_handle_polled_after_its_end_says_so
//!
//! Once the output was taken there is no task any more, and `unwrap` sees to it
//! that nobody goes on without one. It panics, as it should; and says "called
//! `Option::unwrap()` on a `None` value", in a file that its reader has never seen.

super::parts! { cell holder owned runnable slot state waker right join the rest }

/// Has a task until the output was taken.
mod join {
    use std::pin::Pin;
    use std::ptr::NonNull;
    use std::task::{Context, Poll};

    use super::cell::Header;
    use super::{JoinError, right};

    /// Awaits the result of a task. To drop it detaches the task.
    #[derive(Debug)]
    pub struct JoinHandle<T>(Option<right::JoinHandle<T>>);

    impl<T> JoinHandle<T> {
        /// # Safety
        ///
        /// The caller must pass a new task whose output is a `T`, and once.
        pub unsafe fn from_header(task: NonNull<Header>) -> Self {
            // SAFETY: passed on.
            Self(Some(unsafe { right::JoinHandle::from_header(task) }))
        }

        /// Asks for the end of the task.
        pub fn abort(&self) {
            self.0.iter().for_each(right::JoinHandle::abort);
        }

        /// Returns `true` if the result is there or was taken.
        pub fn is_finished(&self) -> bool {
            self.0.as_ref().is_none_or(right::JoinHandle::is_finished)
        }
    }

    impl<T> Future for JoinHandle<T> {
        type Output = Result<T, JoinError>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            let polled = Pin::new(self.0.as_mut().unwrap()).poll(cx);
            if polled.is_ready() {
                self.0 = None;
            }
            polled
        }
    }
}
