//! What a pool shares with its workers: the queue, and how many of them sleep.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::ptr;
use std::sync::{Arc, PoisonError};

use primitives::{Condvar, Mutex, MutexGuard};

use super::task::{Next, Task};

/// What the workers, the handles and the tasks of a pool share. It's in std's
/// `Arc` even in a model, since the tasks are.
#[derive(Default)]
pub struct Shared {
    state: Mutex<State>,
    /// Notified when a task has come into the queue, and at the end.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<Task>>,
    /// All tasks that aren't over, so that the end of the pool finds them.
    tasks: BTreeMap<u64, Arc<Task>>,
    sleeping_count: usize,
    is_shut_down: bool,
}

primitives::thread_local! {
    /// The pool that this thread works for.
    static EMPLOYER: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

impl Shared {
    /// Accepts a new task. Returns `false` if the pool has ended.
    pub fn admit(&self, task: &Arc<Task>) -> bool {
        let mut state = self.lock();
        if state.is_shut_down {
            return false;
        }
        state.tasks.insert(task.number, task.clone());
        state.queue.push_back(task.clone());
        self.notify_worker(state);
        true
    }

    /// Puts a task that has been woken into the queue.
    pub fn push(&self, task: Arc<Task>) {
        let mut state = self.lock();
        if !state.is_shut_down {
            state.queue.push_back(task);
            self.notify_worker(state);
        }
    }

    /// Wakes a worker for the task that has come into the queue, if one sleeps:
    /// notifying may be a call into the operating system even if no thread
    /// waits. It first releases the lock, which the woken worker needs at once.
    fn notify_worker(&self, state: MutexGuard<'_, State>) {
        let is_any_asleep = state.sleeping_count > 0;
        drop(state);
        if is_any_asleep {
            self.changed.notify_one();
        }
    }

    /// Runs a worker.
    // ANCHOR: work
    pub fn work(&self) {
        EMPLOYER.with(|employer| employer.set(self));
        let mut state = self.lock();
        while !state.is_shut_down {
            let Some(task) = state.queue.pop_front() else {
                state = self.sleep(state);
                continue;
            };
            drop(state);
            let next = task.run();
            state = self.lock();
            match next {
                // No worker will take it: it and the queue would leak.
                Next::Queue if state.is_shut_down => {}
                Next::Leave => {}
                // No worker has to be woken for it: this one looks at the queue
                // next.
                Next::Queue => state.queue.push_back(task),
                Next::Forget => _ = state.tasks.remove(&task.number),
            }
        }
    }
    // ANCHOR_END: work

    /// Releases the lock, sleeps, and takes it again.
    fn sleep<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        state.sleeping_count += 1;
        let woken = self.changed.wait(state);
        state = woken.unwrap_or_else(PoisonError::into_inner);
        state.sleeping_count -= 1;
        state
    }

    /// Whether the calling thread is a worker of this pool.
    pub fn is_employer(&self) -> bool {
        EMPLOYER.with(|employer| ptr::eq(employer.get(), self))
    }

    /// Ends the workers, and returns all tasks that aren't over. No further
    /// task is accepted.
    // ANCHOR: shut_down
    pub fn shut_down(&self) -> BTreeMap<u64, Arc<Task>> {
        let mut state = self.lock();
        state.is_shut_down = true;
        let (queue, tasks) = (take(&mut state.queue), take(&mut state.tasks));
        drop(state);
        self.changed.notify_all();
        drop(queue);
        tasks
    }
    // ANCHOR_END: shut_down

    // A model's failing order shows who locks.
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
