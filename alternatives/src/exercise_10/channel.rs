//! The queue is std's channel. Its receiver is for one thread, so it's in a
//! mutex: one worker waits in `recv` *with* the lock, and the others wait for
//! the lock. At the end, a last message goes to each worker.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem::take;
use std::ptr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};

use task::{Next, Task};

pub use local_executor::{JoinError, JoinHandle};
pub use pool::{Handle, Pool};

/// The part in which this version differs.
mod shared {
    pub(super) use super::Shared;
}

struct Shared {
    sender: Sender<Message>,
    receiver: Mutex<Receiver<Message>>,
    registry: Mutex<Registry>,
}

/// A worker that takes the last message sends it on to the next.
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
        // The receiver is ours, so it lives as long as we do.
        let _ = self.sender.send(message);
    }

    fn work(&self) {
        EMPLOYER.set(self);
        // A separate statement, at whose end the lock is released.
        while let Message::Task(task) = self.receive() {
            match task.run() {
                Next::Leave => {}
                Next::Queue => self.push(task),
                Next::Forget => _ = self.registry().tasks.remove(&task.number),
            }
        }
        self.send(Message::Last);
    }

    fn receive(&self) -> Message {
        let receiver = self.receiver.lock().expect("no thread panics with it");
        receiver.recv().unwrap_or(Message::Last)
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
        self.registry.lock().expect("no thread panics with it")
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
