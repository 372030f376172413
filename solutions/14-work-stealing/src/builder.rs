//! The settings of a runtime.

use std::num::NonZeroU32;

use super::observer::Observer;

/// Makes a [`Runtime`](super::Runtime) with other settings than the default.
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

    /// Sets how many threads run tasks. By default there are as many as
    /// processors.
    ///
    /// # Panics
    ///
    /// If `workers` is zero.
    pub fn worker_threads(&mut self, workers: usize) -> &mut Self {
        assert!(workers > 0, "a runtime without workers runs no task");
        self.worker_threads = workers;
        self
    }

    /// Sets after how many polls, at the latest, a busy worker takes a task
    /// that came from elsewhere. If it hasn't taken any for some time, it takes
    /// one much sooner. The default is 61. An interval of 1 is taken for 2,
    /// because one of the polls has to be for the worker's own queue.
    ///
    /// # Panics
    ///
    /// If `polls` is zero.
    pub fn global_queue_interval(&mut self, polls: u32) -> &mut Self {
        let polls = NonZeroU32::new(polls).expect("an interval is not zero");
        self.global_queue_interval = polls.get().max(2);
        self
    }

    /// Sets the name of the threads that run tasks. The default is `worker`.
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.thread_name = name.into();
        self
    }

    /// Sets how many jobs of `spawn_blocking` run at once. The default is 512.
    ///
    /// # Panics
    ///
    /// If `threads` is zero.
    pub fn max_blocking_threads(&mut self, threads: usize) -> &mut Self {
        assert!(threads > 0, "a pool of no threads runs no job");
        self.max_blocking_threads = threads;
        self
    }

    /// Sets the function that is told what happens to the queues, and what the
    /// workers do, on the thread where it happens. It must neither panic nor
    /// use a runtime.
    #[cfg(feature = "observer")]
    pub fn observer(&mut self, observe: fn(super::events::Event)) -> &mut Self {
        self.observer.observe = Some(observe);
        self
    }
}
