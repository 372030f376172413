//! Breaks clause 18: Neighbors.
//! Caught by: tasks_spawned_in_a_row_stay_together
//! Also fails: tests::a_flood_from_outside_leaves_polls_for_the_own_tasks
//!
//! All workers share one queue under one lock, which each spawn and each poll takes.
//! This is the first version to write, and it keeps the rest of the contract. But
//! the workers wait for one another at each task, and two tasks that belong together
//! are polled on different cores.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use async_task::Runnable;
use futures::future::BoxFuture;
use primitives::{Condvar, Mutex, thread};

#[path = "../../../alternatives/src/exercise_14/front/mod.rs"]
mod front;

pub use front::{Handle, JoinHandle, sleep, spawn, spawn_blocking};
pub use yield_now::yield_now;

/// A runtime of these workers.
pub type Runtime = front::Runtime<Workers>;

/// Threads that share a queue.
pub struct Workers {
    queue: Arc<Queue>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    /// `None` tells one worker to exit.
    ready: Mutex<VecDeque<Option<Runnable>>>,
    some_are_ready: Condvar,
}

impl Queue {
    fn push(&self, task: Option<Runnable>) {
        self.ready.lock().unwrap().push_back(task);
        self.some_are_ready.notify_one();
    }

    fn work(&self) {
        loop {
            let ready = self.ready.lock().unwrap();
            let is_empty = |ready: &mut VecDeque<_>| ready.is_empty();
            let ready = self.some_are_ready.wait_while(ready, is_empty);
            let Some(Some(task)) = ready.unwrap().pop_front() else {
                return;
            };
            task.run();
        }
    }
}

impl front::Workers for Workers {
    fn start(count: usize, name: &str, _: u32) -> io::Result<Arc<Self>> {
        let queue = Arc::new(Queue::default());
        let start = |_| {
            let queue = queue.clone();
            let thread = thread::Builder::new().name(name.into());
            thread.spawn(move || queue.work())
        };
        let threads = (0..count).map(start).collect::<io::Result<_>>()?;
        let threads = Mutex::new(threads);
        Ok(Arc::new(Self { queue, threads }))
    }

    fn run(&self, task: BoxFuture<'static, ()>) {
        let queue = self.queue.clone();
        let (task, handle) =
            async_task::spawn(task, move |task| queue.push(Some(task)));
        handle.detach();
        task.schedule();
    }

    fn are_here(&self) -> bool {
        let this = thread::current().id();
        let threads = self.threads.lock().unwrap();
        threads.iter().any(|thread| thread.thread().id() == this)
    }

    fn end(&self) {
        let count = self.threads.lock().unwrap().len();
        (0..count).for_each(|_| self.queue.push(None));
        front::join(&self.threads);
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;
