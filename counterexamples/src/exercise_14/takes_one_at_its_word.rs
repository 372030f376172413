//! Breaks clause 4: From outside.
//! Caught by: any_interval_will_do
//!
//! An interval of one poll is what it says: each poll is of a task from the
//! injector, if there is any. What is in the worker's own queue waits until there
//! is none. If the worker's own tasks overflow to there, that may be never.

use ::{run_queue, sleepers, task};

super::parts! {
    context end handle injector owner runtime search shared slot start
    worker all others
}

mod builder {
    use std::num::NonZeroU32;

    use super::observer::Observer;

    /// Makes a [`Runtime`](super::Runtime) that is not the default one.
    #[derive(Clone, Debug)]
    pub struct Builder {
        pub(super) worker_threads: usize,
        pub(super) global_queue_interval: u32,
        pub(super) thread_name: String,
        pub(super) max_blocking_threads: usize,
        pub(super) observer: Observer,
    }

    impl Builder {
        pub(crate) fn new() -> Self {
            let processors = std::thread::available_parallelism();
            Self {
                worker_threads: processors.map_or(1, usize::from),
                global_queue_interval: 61,
                thread_name: "worker".to_owned(),
                max_blocking_threads: 512,
                observer: Observer::default(),
            }
        }

        /// How many threads run tasks. By default as many as there are processors.
        ///
        /// # Panics
        ///
        /// If it is zero.
        pub fn worker_threads(&mut self, workers: usize) -> &mut Self {
            assert!(workers > 0, "a runtime without workers runs no task");
            self.worker_threads = workers;
            self
        }

        /// A worker that has enough to do looks after so many polls for tasks that
        /// came from elsewhere. By default 61.
        ///
        /// # Panics
        ///
        /// If it is zero.
        pub fn global_queue_interval(&mut self, polls: u32) -> &mut Self {
            let polls =
                NonZeroU32::new(polls).expect("an interval is not zero");
            self.global_queue_interval = polls.get();
            self
        }

        /// The name of the threads that run tasks. By default `worker`.
        pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
            self.thread_name = name.into();
            self
        }

        /// How many jobs of `spawn_blocking` run at once. By default 512.
        ///
        /// # Panics
        ///
        /// If it is zero.
        pub fn max_blocking_threads(&mut self, threads: usize) -> &mut Self {
            assert!(threads > 0, "a pool of no threads runs no job");
            self.max_blocking_threads = threads;
            self
        }

        /// Tells `observe` what happens to the queues, and what the workers do, on
        /// the thread where it happens. It must neither panic nor use a runtime.
        #[cfg(feature = "observer")]
        pub fn observer(
            &mut self,
            observe: fn(super::events::Event),
        ) -> &mut Self {
            self.observer.observe = Some(observe);
            self
        }
    }
}
