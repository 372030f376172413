//! What a pool shares with its workers: the queue, and who sleeps.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::ptr;
use std::sync::{Arc, PoisonError};

use primitives::{Condvar, Mutex, MutexGuard};

use super::task::{Next, Task};

/// What the workers, the handles and the tasks of a pool share. In an `Arc` of
/// std also in a model, since the tasks are.
#[derive(Default)]
pub struct Shared {
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

primitives::thread_local! {
    /// The pool that this thread works for.
    static EMPLOYER: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

impl Shared {
    /// Takes in a new task. Returns `false` if the pool has ended.
    pub fn admit(&self, task: &Arc<Task>) -> bool {
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
    pub fn push(&self, task: Arc<Task>) {
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
                // Nobody need be woken for it: this worker looks next.
                Next::Queue => state.queue.push_back(task),
                Next::Forget => _ = state.tasks.remove(&task.number),
            }
        }
    }
    // ANCHOR_END: work

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
    pub fn is_employer(&self) -> bool {
        EMPLOYER.with(|employer| ptr::eq(employer.get(), self))
    }

    /// Ends the workers, and returns all tasks that are not over. No task comes
    /// in any more.
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
