//! What a runtime is to be like.

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

    /// A worker that has enough to do takes a task that came from elsewhere
    /// after so many polls at the latest, and much sooner if it hasn't taken
    /// any for some time. By default 61. To ask for 1 is to ask for 2: there
    /// has to be a turn for the worker's own queue.
    ///
    /// # Panics
    ///
    /// If it is zero.
    pub fn global_queue_interval(&mut self, polls: u32) -> &mut Self {
        let polls = NonZeroU32::new(polls).expect("an interval is not zero");
        self.global_queue_interval = polls.get().max(2);
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
    pub fn observer(&mut self, observe: fn(super::events::Event)) -> &mut Self {
        self.observer.observe = Some(observe);
        self
    }
}
