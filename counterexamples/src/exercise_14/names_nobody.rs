//! Breaks clause 3: All workers.
//! Caught by: there_are_as_many_workers_as_asked_for
//! Also fails: a_task_stays_with_its_runtime
//! Also fails: free_functions_find_their_runtime
//!
//! The threads are started without a name. Nothing depends on it, but for
//! whoever looks at a list of threads to find out which one is busy.

#[path = "../../../solutions/14-work-stealing/src/context.rs"]
mod context;
#[path = "../../../exercises/14-work-stealing/src/events.rs"]
mod events;
#[path = "../../../solutions/14-work-stealing/src/handle.rs"]
mod handle;
#[path = "../../../solutions/14-work-stealing/src/injector.rs"]
mod injector;
#[path = "../../../solutions/14-work-stealing/src/observer.rs"]
mod observer;
#[path = "../../../solutions/14-work-stealing/src/recent.rs"]
mod recent;
#[path = "../../../solutions/14-work-stealing/src/runtime.rs"]
mod runtime;
#[path = "../../../solutions/14-work-stealing/src/search.rs"]
mod search;
#[path = "../../../solutions/14-work-stealing/src/shared.rs"]
mod shared;
#[path = "../../../solutions/14-work-stealing/src/slot.rs"]
mod slot;
#[path = "../../../solutions/14-work-stealing/src/worker.rs"]
mod worker;

use ::{run_queue, sleepers, task};

pub use builder::Builder;
pub use context::Entered;
pub use handle::{
    BlockingHandle, Handle, JoinHandle, sleep, spawn, spawn_blocking,
};
pub use runtime::Runtime;
pub use sleep::Sleep;
pub use task::{JoinError, YieldNow, yield_now};

mod builder {
    use std::io;
    use std::num::NonZeroU32;
    use std::sync::Arc;
    use std::time::Duration;

    use parker::Parker;
    use spawn_blocking::Pool;
    use sync::thread;

    use super::handle::Handle;
    use super::observer::Observer;
    use super::run_queue::run_queue;
    use super::runtime::Runtime;
    use super::shared::{Remote, Shared};
    use super::worker::Worker;

    /// A blocking thread without a job stays so long.
    const KEEP_ALIVE: Duration = Duration::from_secs(10);

    /// Makes a [`Runtime`] that is not the default one.
    #[derive(Clone, Debug)]
    pub struct Builder {
        worker_threads: usize,
        global_queue_interval: u32,
        thread_name: String,
        max_blocking_threads: usize,
        observer: Observer,
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
        pub fn observer(
            &mut self,
            observe: fn(super::events::Event),
        ) -> &mut Self {
            self.observer.observe = Some(observe);
            self
        }

        /// Starts the workers.
        ///
        /// # Errors
        ///
        /// If the system has no thread left. Those that were started end.
        pub fn build(&mut self) -> io::Result<Runtime> {
            let count = self.worker_threads;
            let parkers: Vec<_> = (0..count).map(|_| Parker::new()).collect();
            let (queues, stealers): (Vec<_>, Vec<_>) =
                (0..count).map(|_| run_queue()).unzip();
            let remotes = stealers.into_iter().zip(&parkers);
            let remotes = remotes.map(|(stealer, parker)| Remote {
                stealer,
                unparker: parker.unparker(),
            });
            let pool = Pool::new(self.max_blocking_threads, KEEP_ALIVE);
            let shared = Arc::new(Shared::new(
                remotes.collect(),
                self.global_queue_interval,
                pool,
                self.observer,
            ));
            let mut runtime = Runtime::new_empty(Handle::new(shared.clone()));
            for (index, (queue, parker)) in
                queues.into_iter().zip(parkers).enumerate()
            {
                let work = {
                    let shared = shared.clone();
                    move || Worker::new(shared, index, queue, parker).run()
                };
                let thread = thread::Builder::new();
                match thread.spawn(work) {
                    Ok(thread) => runtime.add_worker(thread),
                    Err(error) => {
                        // Those that are missing need not be waited for.
                        shared.leave(count - index);
                        return Err(error);
                    }
                }
            }
            Ok(runtime)
        }
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;
