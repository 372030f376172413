//! Breaks clause 4: From outside.
//! Caught by: any_interval_will_do
//!
//! An interval of zero polls would leave none for the worker's own tasks, so it is
//! taken for the shortest that there is. Whoever has got that zero by a division,
//! or from a setting that was misspelt, does not hear of it.

use ::{run_queue, sleepers, task};

super::parts! {
    context handle injector runtime search shared slot worker right builder all others
}

/// Refuses no interval.
mod builder {
    use std::io;

    use super::Runtime;
    use super::right;

    /// Makes a [`Runtime`] that is not the default one.
    #[derive(Clone, Debug)]
    pub struct Builder(right::Builder);

    impl Builder {
        pub(crate) fn new() -> Self {
            Self(right::Builder::new())
        }

        /// How many threads run tasks.
        pub fn worker_threads(&mut self, workers: usize) -> &mut Self {
            self.0.worker_threads(workers);
            self
        }

        /// A worker that has enough to do looks after so many polls for tasks that
        /// came from elsewhere.
        pub fn global_queue_interval(&mut self, polls: u32) -> &mut Self {
            self.0.global_queue_interval(polls.max(1));
            self
        }

        /// The name of the threads that run tasks.
        pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
            self.0.thread_name(name);
            self
        }

        /// How many jobs of `spawn_blocking` run at once.
        pub fn max_blocking_threads(&mut self, threads: usize) -> &mut Self {
            self.0.max_blocking_threads(threads);
            self
        }

        /// Starts the workers.
        ///
        /// # Errors
        ///
        /// If the system has no thread left.
        pub fn build(&mut self) -> io::Result<Runtime> {
            self.0.build()
        }
    }
}
