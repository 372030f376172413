//! Breaks clause 14: Queues without memory.
//! Caught by: a_runnable_is_one_word_and_has_a_link
//!
//! The scheduler is wanted at every step, so its address is kept beside the
//! task's. Now a queue slot has two words, which no processor here moves at
//! once without a lock: the ring of the last exercise would need a slot twice
//! as large, or a box.

super::parts! { cell holder owned slot state waker all others }

/// Remembers where the scheduler is.
mod runnable {
    use std::fmt;
    use std::mem::ManuallyDrop;
    use std::ptr::NonNull;

    use super::cell::{self, Header};
    use super::{Schedule, holder};

    /// The right to run a task.
    pub struct Runnable<S: Schedule> {
        task: NonNull<Header>,
        scheduler: NonNull<S>,
    }

    // SAFETY: its future, its result and its scheduler are `Send`.
    unsafe impl<S: Schedule> Send for Runnable<S> {}
    // SAFETY: by reference it gives away only its scheduler.
    unsafe impl<S: Schedule> Sync for Runnable<S> {}

    impl<S: Schedule> Runnable<S> {
        /// Polls the task.
        pub fn run(self) {
            let task = self.into_header();
            // SAFETY: we hold the task.
            unsafe { holder::run::<S>(task) };
        }

        /// The scheduler that the task was spawned with.
        pub fn scheduler(&self) -> &S {
            // SAFETY: we hold the task, so its scheduler is there.
            unsafe { self.scheduler.as_ref() }
        }

        /// Turns it into a pointer.
        pub fn into_raw(self) -> NonNull<()> {
            self.into_header().cast()
        }

        /// Turns the pointer back.
        ///
        /// # Safety
        ///
        /// The caller must pass what `into_raw` has returned.
        pub unsafe fn from_raw(raw: NonNull<()>) -> Self {
            // SAFETY: the caller answers for it.
            unsafe { Self::from_header(raw.cast()) }
        }

        /// Links another one behind this one.
        pub fn set_next(&mut self, next: Option<Self>) {
            drop(self.take_next());
            let next = next.map(Self::into_header);
            // SAFETY: we hold the task.
            let link = &unsafe { self.task.as_ref() }.queue_link;
            // SAFETY: as above.
            link.with_mut(|link| unsafe { *link = next });
        }

        /// Takes out what is linked behind this one.
        pub fn take_next(&mut self) -> Option<Self> {
            // SAFETY: we hold the task.
            let next = unsafe { cell::take_link(self.task) }?;
            // SAFETY: it was a `Runnable` when it was linked.
            Some(unsafe { Self::from_header(next) })
        }

        /// # Safety
        ///
        /// The caller must hold the task.
        pub unsafe fn from_header(task: NonNull<Header>) -> Self {
            let scheduler = cell::scheduler_of(task);
            Self { task, scheduler }
        }

        fn into_header(self) -> NonNull<Header> {
            ManuallyDrop::new(self).task
        }
    }

    impl<S: Schedule> Drop for Runnable<S> {
        fn drop(&mut self) {
            // SAFETY: we hold the task, and nobody uses us again.
            unsafe { holder::give_up::<S>(self.task) };
        }
    }

    impl<S: Schedule> fmt::Debug for Runnable<S> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_tuple("Runnable").field(&self.task).finish()
        }
    }
}
