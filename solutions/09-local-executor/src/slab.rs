//! The tasks of an executor, and which of them is next.

use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::task::Waker;

/// The future of a task: a job, whose result doesn't matter here.
pub type BoxedFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Identifies a task. Its index may be reused later; its generation never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    index: usize,
    generation: u64,
}

/// The part of an entry that is taken out to be polled.
pub struct Task {
    pub future: BoxedFuture,
    pub waker: Waker,
}

/// What to poll next: see [`Slab::pop`].
pub enum Next {
    /// The future of `block_on`, which is polled in place.
    Root,
    Task(Key, Task),
}

// ANCHOR: slab
/// The tasks, each in an entry of its own, and the queue of those that are
/// ready. No code of a task or of a waker runs in here, so nothing can reenter
/// it while it's borrowed.
#[derive(Default)]
pub struct Slab {
    entries: Vec<Entry>,
    vacant: Vec<usize>,
    /// The ready tasks, in the order of the wake-ups, each once.
    ready: VecDeque<Key>,
    /// The newest task's generation.
    last_generation: u64,
}

struct Entry {
    /// The task's generation, or [`NO_TASK`].
    generation: u64,
    is_ready: bool,
    /// `None` while the task is polled, and for the future of `block_on`.
    task: Option<Task>,
}
// ANCHOR_END: slab

/// The generation of no task.
const NO_TASK: u64 = 0;

impl Slab {
    /// Adds a task, which is ready, and creates its waker with `waker`.
    pub fn add(
        &mut self,
        future: BoxedFuture,
        waker: impl FnOnce(Key) -> Waker,
    ) {
        let key = self.occupy();
        let entry = &mut self.entries[key.index];
        entry.task = Some(Task {
            future,
            waker: waker(key),
        });
        self.make_ready(key);
    }

    /// Adds the future of `block_on`, which is ready, and is stored elsewhere.
    pub fn add_root(&mut self) -> Key {
        let key = self.occupy();
        self.make_ready(key);
        key
    }

    fn occupy(&mut self) -> Key {
        self.last_generation += 1;
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.entries.push(Entry::VACANT);
            self.entries.len() - 1
        });
        self.entries[index].generation = self.last_generation;
        Key {
            index,
            generation: self.last_generation,
        }
    }

    /// Returns `true` if there is neither a task nor a future of `block_on`.
    pub fn is_empty(&self) -> bool {
        self.vacant.len() == self.entries.len()
    }

    /// Puts a task into the queue, unless it's there already or is over.
    pub fn make_ready(&mut self, key: Key) {
        let Some(entry) = self.entries.get_mut(key.index) else {
            return;
        };
        if entry.generation == key.generation && !entry.is_ready {
            entry.is_ready = true;
            self.ready.push_back(key);
        }
    }

    /// Takes the first task from the queue. A later wake-up queues it again.
    pub fn pop(&mut self) -> Option<Next> {
        loop {
            let key = self.ready.pop_front()?;
            let entry = &mut self.entries[key.index];
            // If they differ, this was the future of an earlier `block_on`.
            if entry.generation == key.generation {
                entry.is_ready = false;
                let task = entry.task.take();
                return Some(match task {
                    Some(task) => Next::Task(key, task),
                    None => Next::Root,
                });
            }
        }
    }

    /// Puts back a task that has been polled and isn't over.
    pub fn put_back(&mut self, key: Key, task: Task) {
        self.entries[key.index].task = Some(task);
    }

    /// Frees the entry of a task that is over. Later wake-ups have no effect.
    pub fn remove(&mut self, key: Key) {
        self.entries[key.index] = Entry::VACANT;
        self.vacant.push(key.index);
    }

    /// Takes all tasks, ready or not, and clears the queue.
    pub fn take_all(&mut self) -> impl Iterator<Item = Task> + use<> {
        let Self { entries, .. } = mem::take(self);
        entries.into_iter().filter_map(|entry| entry.task)
    }
}

impl Entry {
    const VACANT: Self = Self {
        generation: NO_TASK,
        is_ready: false,
        task: None,
    };
}
