//! What the workers share: one queue behind one lock.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use spawn_blocking::Pool;

use super::task::{self, JoinHandle, OwnedTasks, Runnable, Schedule};

pub type Task = Runnable<SchedulerRef>;

pub struct Shared {
    queue: Mutex<Queue>,
    pub some_are_ready: Condvar,
    pub owned: OwnedTasks<SchedulerRef>,
    blocking: Pool,
    /// For the tasks.
    this: Weak<Shared>,
}

pub struct Queue {
    pub tasks: VecDeque<Task>,
    /// Whether tasks are dropped instead of being queued.
    pub is_closed: bool,
    /// Whether the last worker ends the blocking jobs.
    pub is_detached: bool,
    pub workers_left: usize,
}

impl Shared {
    pub fn new(workers: usize, blocking: Pool) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            queue: Mutex::new(Queue {
                tasks: VecDeque::new(),
                is_closed: false,
                is_detached: false,
                workers_left: workers,
            }),
            some_are_ready: Condvar::new(),
            owned: OwnedTasks::new(),
            blocking,
            this: this.clone(),
        })
    }

    pub fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let this = self.this.upgrade().expect("the caller has one");
        let (task, handle) = task::spawn(future, SchedulerRef(this));
        self.push(task);
        handle
    }

    fn push(&self, task: Task) {
        let mut queue = self.lock();
        if queue.is_closed {
            drop(queue);
            // This cancels it, and that may wake or spawn others.
            return drop(task);
        }
        queue.tasks.push_back(task);
        drop(queue);
        self.some_are_ready.notify_one();
    }

    /// Waits for a task; `None` is for a worker that has to end.
    pub fn next(&self) -> Option<Task> {
        let may_wait =
            |queue: &mut Queue| queue.tasks.is_empty() && !queue.is_closed;
        let queue = self.some_are_ready.wait_while(self.lock(), may_wait);
        queue
            .unwrap_or_else(PoisonError::into_inner)
            .tasks
            .pop_front()
    }

    /// A worker ends. The last one ends the jobs, if no other thread does.
    pub fn workers_exited(&self, workers: usize) {
        let mut queue = self.lock();
        queue.workers_left -= workers;
        let is_last = queue.workers_left == 0 && queue.is_detached;
        drop(queue);
        if is_last {
            self.blocking.shut_down();
        }
    }

    pub fn blocking(&self) -> &Pool {
        &self.blocking
    }
}

/// What a task knows of its runtime.
#[derive(Clone)]
pub struct SchedulerRef(Arc<Shared>);

impl Schedule for SchedulerRef {
    fn schedule(&self, task: Task) {
        self.0.push(task);
    }

    fn owned(&self) -> Option<&OwnedTasks<Self>> {
        Some(&self.0.owned)
    }
}
