//! Breaks clause 11: Shutdown.
//! Caught by: tasks_that_never_end_do_not_keep_the_pool
//! Also fails: dropping_the_pool_drops_what_is_in_the_queue
//!
//! Those that wait for a waker are dropped, and those that are ready still get
//! their turn: the workers go on until the queue is empty. It never is, if a
//! task yields in a loop.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::ptr;
use std::sync::{Arc, PoisonError};

use sync::{Condvar, Mutex, MutexGuard};

use task::{Next, Task};

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// What this version has of its own.
mod shared {
    pub(super) use super::Shared;
}

/// What the workers, the handles and the tasks of a pool share. In an `Arc` of
/// std also in a model, since the tasks are.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when a task has come into the queue, and at the end.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<Task>>,
    /// All tasks that are not over, for the end of the pool to find.
    tasks: BTreeMap<u64, Arc<Task>>,
    sleeping_count: usize,
    is_shut_down: bool,
}

sync::thread_local! {
    /// The pool that this thread works for.
    static EMPLOYER: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

impl Shared {
    /// Takes in a new task. Returns `false` if the pool has ended.
    fn admit(&self, task: &Arc<Task>) -> bool {
        let mut state = self.lock();
        if state.is_shut_down {
            return false;
        }
        state.tasks.insert(task.number, task.clone());
        state.queue.push_back(task.clone());
        self.rouse_one(state);
        true
    }

    /// Puts a task into the queue that has been woken.
    fn push(&self, task: Arc<Task>) {
        let mut state = self.lock();
        state.queue.push_back(task);
        self.rouse_one(state);
    }

    /// Wakes a worker for what has come into the queue. Without the lock, which
    /// is the first thing that the worker wants. And not if none sleeps: to
    /// notify nobody may be a call into the operating system, too.
    fn rouse_one(&self, state: MutexGuard<'_, State>) {
        let somebody_sleeps = state.sleeping_count > 0;
        drop(state);
        if somebody_sleeps {
            self.changed.notify_one();
        }
    }

    /// What a worker does.
    fn work(&self) {
        EMPLOYER.with(|employer| employer.set(self));
        let mut state = self.lock();
        loop {
            let Some(task) = state.queue.pop_front() else {
                if state.is_shut_down {
                    break;
                }
                state = self.sleep(state);
                continue;
            };
            drop(state);
            let next = task.run();
            state = self.lock();
            match next {
                Next::Leave => {}
                // Nobody need be woken for it: this worker looks next.
                Next::Queue => state.queue.push_back(task),
                Next::Forget => _ = state.tasks.remove(&task.number),
            }
        }
    }

    /// Gives the lock back, sleeps, and takes it again.
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
    fn is_employer(&self) -> bool {
        EMPLOYER.with(|employer| ptr::eq(employer.get(), self))
    }

    /// Ends the workers when the queue is empty, and returns all tasks that are
    /// not in it.
    fn shut_down(&self) -> BTreeMap<u64, Arc<Task>> {
        let mut state = self.lock();
        state.is_shut_down = true;
        let mut tasks = take(&mut state.tasks);
        for ready in &state.queue {
            tasks.remove(&ready.number);
        }
        drop(state);
        self.changed.notify_all();
        tasks
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[path = "../../../solutions/10-one-queue/src/pool.rs"]
mod pool;
#[path = "../../../solutions/10-one-queue/src/task.rs"]
mod task;
#[path = "../../../solutions/10-one-queue/src/work.rs"]
mod work;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/10-one-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
