//! async-executor, with a thread for each worker.
//!
//! Fails at times: a_flood_from_outside_leaves_polls_for_the_own_tasks
//!
//! This check always fails: what a worker's task spawns or wakes goes to the queue that
//! all share, behind everything that has come from outside.

use std::io;
use std::sync::Arc;

use async_executor::Executor;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use primitives::{Mutex, thread};

use super::front;
pub use super::front::{Handle, JoinHandle, sleep, spawn, spawn_blocking};
pub use yield_now::yield_now;

/// A runtime of these workers.
pub type Runtime = front::Runtime<Workers>;

/// Threads that run the executor.
pub struct Workers {
    executor: Arc<Executor<'static>>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
    /// Dropping them tells the workers to exit.
    ends: Mutex<Vec<oneshot::Sender<()>>>,
}

impl front::Workers for Workers {
    fn start(count: usize, name: &str, _: u32) -> io::Result<Arc<Self>> {
        let executor = Arc::new(Executor::new());
        let (mut threads, mut ends) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (end, ended) = oneshot::channel();
            let executor = executor.clone();
            let thread = thread::Builder::new().name(name.into());
            threads.push(thread.spawn(move || {
                let _ = parker::block_on(executor.run(ended));
            })?);
            ends.push(end);
        }
        Ok(Arc::new(Self {
            executor,
            threads: Mutex::new(threads),
            ends: Mutex::new(ends),
        }))
    }

    fn run(&self, task: BoxFuture<'static, ()>) {
        self.executor.spawn(task).detach();
    }

    fn are_here(&self) -> bool {
        let this = thread::current().id();
        let threads = self.threads.lock().unwrap();
        threads.iter().any(|thread| thread.thread().id() == this)
    }

    fn end(&self) {
        self.ends.lock().unwrap().clear();
        front::join(&self.threads);
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;
