//! Breaks clause 7: The handle.
//! Caught by: a_handle_tells_wakers_at_one_address_apart
//!
//! The handle notes the data and the vtable of the waker of its last poll, and clones
//! the next one only if these differ. But it keeps a clone of that waker, and not the
//! waker: another one may stand at its address by then.

use ::{run_queue, sleepers};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker all others
}

mod task {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    pub use ::task::{
        JoinError, OwnedTasks, Runnable, Schedule, YieldNow, yield_now,
    };

    /// Makes a task and its handle.
    pub fn spawn<F, S>(
        future: F,
        scheduler: S,
    ) -> (Runnable<S>, JoinHandle<F::Output>)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        let (task, handle) = ::task::spawn(future, scheduler);
        let handle = JoinHandle {
            task: handle,
            kept: None,
        };
        (task, handle)
    }

    /// Awaits what a task returns.
    pub struct JoinHandle<T> {
        task: ::task::JoinHandle<T>,
        kept: Option<Kept>,
    }

    /// The clone of a waker, and the pointers of the waker itself.
    struct Kept {
        clone: Waker,
        pointers: (usize, usize),
    }

    impl Kept {
        fn new(waker: &Waker) -> Self {
            Self {
                clone: waker.clone(),
                pointers: pointers(waker),
            }
        }
    }

    fn pointers(waker: &Waker) -> (usize, usize) {
        (waker.data().addr(), (&raw const *waker.vtable()).addr())
    }

    impl<T> JoinHandle<T> {
        /// Asks for the end of the task.
        pub fn abort(&self) {
            self.task.abort();
        }

        /// Returns `true` if the task has ended.
        pub fn is_finished(&self) -> bool {
            self.task.is_finished()
        }
    }

    impl<T> Future for JoinHandle<T> {
        type Output = Result<T, JoinError>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            let Self { task, kept } = &mut *self;
            // A clone costs something, and it is most often the same waker.
            if kept.as_ref().map(|it| it.pointers) != Some(pointers(cx.waker()))
            {
                *kept = Some(Kept::new(cx.waker()));
            }
            let kept = kept.as_ref().expect("just set");
            Pin::new(task).poll(&mut Context::from_waker(&kept.clone))
        }
    }
}
