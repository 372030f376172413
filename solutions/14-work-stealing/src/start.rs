//! How a runtime starts.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parker::Parker;
use primitives::thread;
use spawn_blocking::Pool;

use super::builder::Builder;
use super::handle::Handle;
use super::run_queue::run_queue;
use super::runtime::Runtime;
use super::shared::{Remote, Shared};
use super::worker::Worker;

/// How long a blocking thread stays without a job.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

impl Builder {
    /// Starts the workers.
    ///
    /// # Errors
    ///
    /// If a thread can't be started, or can't have its name because that
    /// contains a NUL. The threads that have started are ended.
    pub fn build(&mut self) -> io::Result<Runtime> {
        if self.thread_name.contains('\0') {
            // std would panic when it starts a thread with such a name.
            let refused = "the name of a thread has no NUL in it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, refused));
        }
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
            let thread = thread::Builder::new().name(self.thread_name.clone());
            match thread.spawn(work) {
                Ok(thread) => runtime.add_worker(thread),
                Err(error) => {
                    // The end needn't wait for workers that never started.
                    shared.workers_exited(count - index);
                    return Err(error);
                }
            }
        }
        Ok(runtime)
    }
}
