//! Workers that park, each with a parker of its own, and a list of those that
//! do. A thread that puts a task into the queue takes a worker from the list,
//! and must unpark it. It can therefore choose the worker whose caches are
//! warm.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::ptr;
use std::sync::Arc;

use parker::{Parker, Unparker};
use primitives::{Mutex, MutexGuard};

use task::{Next, Task};

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// The part in which this version differs.
mod shared {
    pub(super) use super::Shared;
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<Task>>,
    tasks: BTreeMap<u64, Arc<Task>>,
    sleepers: Vec<Unparker>,
    is_shut_down: bool,
}

primitives::thread_local! {
    static EMPLOYER: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

impl Shared {
    fn admit(&self, task: &Arc<Task>) -> bool {
        let mut state = self.lock();
        if state.is_shut_down {
            return false;
        }
        state.tasks.insert(task.number, task.clone());
        drop(state);
        self.push(task.clone());
        true
    }

    fn push(&self, task: Arc<Task>) {
        let mut state = self.lock();
        if state.is_shut_down {
            return;
        }
        state.queue.push_back(task);
        let sleeper = state.sleepers.pop();
        drop(state);
        if let Some(sleeper) = sleeper {
            sleeper.unpark();
        }
    }

    fn work(&self) {
        EMPLOYER.with(|employer| employer.set(self));
        let parker = Parker::new();
        let mut state = self.lock();
        while !state.is_shut_down {
            let Some(task) = state.queue.pop_front() else {
                state.sleepers.push(parker.unparker());
                drop(state);
                parker.park();
                state = self.lock();
                continue;
            };
            drop(state);
            let next = task.run();
            state = self.lock();
            match next {
                Next::Queue if !state.is_shut_down => {
                    state.queue.push_back(task);
                }
                Next::Leave | Next::Queue => {}
                Next::Forget => _ = state.tasks.remove(&task.number),
            }
        }
    }

    fn is_employer(&self) -> bool {
        EMPLOYER.with(|employer| ptr::eq(employer.get(), self))
    }

    fn shut_down(&self) -> BTreeMap<u64, Arc<Task>> {
        let mut state = self.lock();
        state.is_shut_down = true;
        let (queue, tasks) = (take(&mut state.queue), take(&mut state.tasks));
        let sleepers = take(&mut state.sleepers);
        drop(state);
        sleepers.iter().for_each(Unparker::unpark);
        drop(queue);
        tasks
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
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
