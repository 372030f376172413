//! Breaks clause 4: No lost task.
//! Caught by: a_task_that_comes_as_a_worker_falls_asleep_is_polled
//! Also fails: models::a_task_behind_one_that_was_put_back_is_polled_in_every_order
//! Also fails: models::one_poll_comes_after_the_other_in_every_order
//! Also fails: as_many_tasks_as_there_are_workers_run_together
//! Also fails: dropping_the_pool_ends_workers_that_sleep
//! Also fails: models::a_task_that_comes_as_the_worker_falls_asleep_is_polled_in_every_order
//! Also fails: models::a_wake_up_leads_to_a_poll_in_every_order
//!
//! To look at the queue and to sleep are two functions, and each takes the lock
//! for itself. A task that comes between them is not seen by the first, and its
//! notification is not heard by the second.

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
        if !state.is_shut_down {
            state.queue.push_back(task);
            self.rouse_one(state);
        }
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
        while !self.is_shut_down() {
            let Some(task) = self.pop() else {
                self.sleep();
                continue;
            };
            let next = task.run();
            let mut state = self.lock();
            match next {
                Next::Leave => {}
                Next::Queue => state.queue.push_back(task),
                Next::Forget => _ = state.tasks.remove(&task.number),
            }
        }
    }

    fn is_shut_down(&self) -> bool {
        self.lock().is_shut_down
    }

    fn pop(&self) -> Option<Arc<Task>> {
        self.lock().queue.pop_front()
    }

    fn sleep(&self) {
        let mut state = self.lock();
        // The end of the pool must not be missed.
        if state.is_shut_down {
            return;
        }
        state.sleeping_count += 1;
        let woken = self.changed.wait(state);
        state = woken.unwrap_or_else(PoisonError::into_inner);
        state.sleeping_count -= 1;
    }

    /// Whether the calling thread is a worker of this pool.
    fn is_employer(&self) -> bool {
        EMPLOYER.with(|employer| ptr::eq(employer.get(), self))
    }

    /// Ends the workers, and returns all tasks that are not over. No task comes
    /// in any more.
    fn shut_down(&self) -> BTreeMap<u64, Arc<Task>> {
        let mut state = self.lock();
        state.is_shut_down = true;
        let (queue, tasks) = (take(&mut state.queue), take(&mut state.tasks));
        drop(state);
        self.changed.notify_all();
        drop(queue);
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
