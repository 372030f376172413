//! How a runtime starts.

use std::io;
use std::time::Duration;

use spawn_blocking::Pool;
use primitives::thread;

use super::builder::Builder;
use super::handle::Handle;
use super::runtime::Runtime;
use super::shared::Shared;
use super::worker::Worker;

const KEEP_ALIVE: Duration = Duration::from_secs(10);

impl Builder {
    pub fn build(&mut self) -> io::Result<Runtime> {
        if self.global_queue_interval != Self::new().global_queue_interval {
            todo!()
        }
        if self.thread_name.contains('\0') {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let count = self.worker_threads;
        let pool = Pool::new(self.max_blocking_threads, KEEP_ALIVE);
        let shared = Shared::new(count, pool);
        let mut runtime = Runtime::new_empty(Handle::new(shared.clone()));
        for index in 0..count {
            let worker = Worker::new(shared.clone());
            let thread = thread::Builder::new().name(self.thread_name.clone());
            match thread.spawn(move || worker.run()) {
                Ok(thread) => runtime.add_worker(thread),
                Err(error) => {
                    shared.workers_exited(count - index);
                    return Err(error);
                }
            }
        }
        Ok(runtime)
    }
}
