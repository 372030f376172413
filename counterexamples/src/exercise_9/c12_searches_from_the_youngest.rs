//! Breaks clause 12: No scan.
//! Caught by: each_of_many_tasks_is_found_at_once
//!
//! A queue says who is next, by a number, and the task is searched for in the
//! list of all. It begins at the end, where the young ones are: those it finds
//! at once, and in a small program they all are young.

#[path = "../../../solutions/09-local-executor/src/enter.rs"]
mod enter;
#[path = "../../../solutions/09-local-executor/src/executor.rs"]
mod executor;
#[path = "../../../solutions/09-local-executor/src/inbox.rs"]
mod inbox;

use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::task::Waker;

pub use enter::spawn;
use enter::{EnterGuard, wake_here};
use executor::Core;
pub use executor::LocalExecutor;
use inbox::{Inbox, Signal};
pub use local_executor::{
    CatchUnwind, Completer, JoinError, JoinHandle, job, outcome,
};

/// The future of a task: a job, whose result is nobody's business here.
type BoxedFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Identifies a task, by a number that is never another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key(u64);

/// What is taken out of its entry to be polled.
struct Task {
    future: BoxedFuture,
    waker: Waker,
}

/// Whoever is next: see [`Slab::pop`].
enum Turn {
    /// The future of `block_on`, which is polled where it is.
    Root,
    Task(Key, Task),
}

/// The tasks, each in an entry of its own, and the queue of those that are
/// ready. No code of a task or of a waker runs in here, so that nobody comes
/// back while it is borrowed.
#[derive(Default)]
struct Slab {
    /// In the order of their numbers.
    entries: Vec<Entry>,
    /// Who is ready, in the order of the wake-ups, and each once.
    ready: VecDeque<Key>,
    /// The newest task's generation.
    last_generation: u64,
}

struct Entry {
    key: Key,
    is_ready: bool,
    /// `None` while it is polled, and for the future of `block_on`.
    task: Option<Task>,
}

impl Slab {
    /// Adds a task, which is ready, and gets a waker made for its key.
    fn add(&mut self, future: BoxedFuture, waker: impl FnOnce(Key) -> Waker) {
        let key = self.occupy();
        let waker = waker(key);
        self.put_back(key, Task { future, waker });
        self.make_ready(key);
    }

    /// Adds the future of `block_on`, which is ready, and stays elsewhere.
    fn add_root(&mut self) -> Key {
        let key = self.occupy();
        self.make_ready(key);
        key
    }

    fn occupy(&mut self) -> Key {
        self.last_generation += 1;
        let key = Key(self.last_generation);
        self.entries.push(Entry {
            key,
            is_ready: false,
            task: None,
        });
        key
    }

    /// Finds a task. The young ones are woken most, so it begins with them.
    fn find(&mut self, key: Key) -> Option<&mut Entry> {
        self.entries.iter_mut().rfind(|entry| entry.key == key)
    }

    /// Returns `true` if there is neither a task nor a future of `block_on`.
    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Puts a task into the queue, unless it is there or is over.
    fn make_ready(&mut self, key: Key) {
        let Some(entry) = self.find(key) else { return };
        if !entry.is_ready {
            entry.is_ready = true;
            self.ready.push_back(key);
        }
    }

    /// Takes who is first in the queue. A wake-up from now on counts anew.
    fn pop(&mut self) -> Option<Turn> {
        loop {
            let key = self.ready.pop_front()?;
            // Else it is gone since, the future of an earlier `block_on`.
            if let Some(entry) = self.find(key) {
                entry.is_ready = false;
                return Some(match entry.task.take() {
                    Some(task) => Turn::Task(key, task),
                    None => Turn::Root,
                });
            }
        }
    }

    /// Puts a task back that has been polled and is not over.
    fn put_back(&mut self, key: Key, task: Task) {
        if let Some(entry) = self.find(key) {
            entry.task = Some(task);
        }
    }

    /// Forgets a task that is over. Later wake-ups are for nobody.
    fn remove(&mut self, key: Key) {
        self.entries.retain(|entry| entry.key != key);
    }

    /// Takes all tasks, ready or not, and forgets who is ready.
    fn take_all(&mut self) -> impl Iterator<Item = Task> + use<> {
        let Self { entries, .. } = mem::take(self);
        entries.into_iter().filter_map(|entry| entry.task)
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
