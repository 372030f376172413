//! Breaks clause 3: All workers.
//! Caught by: as_many_tasks_as_there_are_workers_run_together
//! Also fails: what_becomes_ready_in_a_poll_does_not_wait_for_its_end
//! Also fails: a_task_that_is_woken_in_its_poll_keeps_no_worker_busy
//! Also fails: tasks_spawned_or_woken_by_one_task_run_together
//! Also fails: a_wake_up_during_a_poll_costs_no_worker
//! Also fails: workers_survive_panics
//! Also fails: workers_survive_what_panics_after_the_poll
//! Also fails: workers_without_a_task_sleep
//! Also fails: dropping_the_pool_waits_for_polls_and_threads
//! Also fails: dropping_the_pool_ends_workers_that_sleep
//!
//! The guard in the head of a `while let` has no name, and yet it lives until
//! the end of the body. So the lock of the receiver is held while the task is
//! polled, and no other worker can receive the next one.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem::take;
use std::ptr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};

use task::{Next, Task};

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// What this version has of its own.
mod shared {
    pub(super) use super::Shared;
}

struct Shared {
    sender: Sender<Message>,
    receiver: Mutex<Receiver<Message>>,
    registry: Mutex<Registry>,
}

/// A worker that takes the last one sends it on to the next.
enum Message {
    Task(Arc<Task>),
    Last,
}

#[derive(Default)]
struct Registry {
    tasks: BTreeMap<u64, Arc<Task>>,
    is_shut_down: bool,
}

thread_local! {
    static EMPLOYER: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

impl Default for Shared {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self {
            sender,
            receiver: Mutex::new(receiver),
            registry: Mutex::default(),
        }
    }
}

impl Shared {
    fn admit(&self, task: &Arc<Task>) -> bool {
        let mut registry = self.registry();
        if registry.is_shut_down {
            return false;
        }
        registry.tasks.insert(task.number, task.clone());
        self.send(Message::Task(task.clone()));
        true
    }

    fn push(&self, task: Arc<Task>) {
        let registry = self.registry();
        if !registry.is_shut_down {
            self.send(Message::Task(task));
        }
    }

    fn send(&self, message: Message) {
        // The receiver is ours: it is there as long as we are.
        let _ = self.sender.send(message);
    }

    fn work(&self) {
        EMPLOYER.set(self);
        // ANCHOR: bug
        while let Ok(Message::Task(task)) = self.receiver().recv() {
            match task.run() {
                Next::Leave => {}
                Next::Queue => self.push(task),
                Next::Forget => _ = self.registry().tasks.remove(&task.number),
            }
        }
        // ANCHOR_END: bug
        self.send(Message::Last);
    }

    fn receiver(&self) -> MutexGuard<'_, Receiver<Message>> {
        self.receiver.lock().expect("nobody panics with it")
    }

    fn is_employer(&self) -> bool {
        ptr::eq(EMPLOYER.get(), self)
    }

    fn shut_down(&self) -> BTreeMap<u64, Arc<Task>> {
        let mut registry = self.registry();
        registry.is_shut_down = true;
        // What is in the channel is cancelled until it is received.
        self.send(Message::Last);
        take(&mut registry.tasks)
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().expect("nobody panics with it")
    }
}

#[path = "../../../solutions/10-one-queue/src/pool.rs"]
mod pool;
#[path = "../../../solutions/10-one-queue/src/task.rs"]
mod task;
#[path = "../../../solutions/10-one-queue/src/work.rs"]
mod work;

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
