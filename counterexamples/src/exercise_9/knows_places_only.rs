//! Breaks clause 2: Many wakes, one poll.
//! Caught by: a_late_wake_up_is_for_nobody
//! Also fails: a_late_wake_up_is_for_nobody_after_tens_of_thousands_of_tasks
//!
//! A waker holds the place of its task. When the task is over, the place is
//! given to the next one, and a late wake-up polls a task that is not its own.

#[path = "../../../solutions/09-local-executor/src/executor.rs"]
mod executor;
#[path = "../../../solutions/09-local-executor/src/here.rs"]
mod here;
#[path = "../../../solutions/09-local-executor/src/inbox.rs"]
mod inbox;

use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::task::Waker;

use executor::Core;
pub use executor::LocalExecutor;
pub use here::spawn;
use here::{Here, wake_here};
use inbox::{Inbox, Signal};
pub use local_executor::{Completer, Job, JoinError, JoinHandle, job, outcome};

/// The future of a task: a job, whose result is nobody's business here.
type BoxedFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Names a task by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    place: usize,
}

/// What is taken out of its place to be polled.
struct Task {
    future: BoxedFuture,
    waker: Waker,
}

/// Whoever is next: see [`Tasks::pop`].
enum Turn {
    /// The future of `block_on`, which is polled where it is.
    Root,
    Task(Key, Task),
}

/// The tasks, each in a place of its own, and the queue of those that are
/// ready. No code of a task or of a waker runs in here, so that nobody comes
/// back while it is borrowed.
#[derive(Default)]
struct Tasks {
    places: Vec<Place>,
    vacant: Vec<usize>,
    /// Who is ready, in the order of the wake-ups, and each once.
    ready: VecDeque<Key>,
}

struct Place {
    is_occupied: bool,
    is_ready: bool,
    /// `None` while it is polled, and for the future of `block_on`.
    task: Option<Task>,
}

impl Tasks {
    /// Adds a task, which is ready, and gets a waker made for its key.
    fn add(&mut self, future: BoxedFuture, waker: impl FnOnce(Key) -> Waker) {
        let key = self.occupy();
        let place = &mut self.places[key.place];
        place.task = Some(Task {
            future,
            waker: waker(key),
        });
        self.make_ready(key);
    }

    /// Adds the future of `block_on`, which is ready, and stays elsewhere.
    fn add_root(&mut self) -> Key {
        let key = self.occupy();
        self.make_ready(key);
        key
    }

    fn occupy(&mut self) -> Key {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.places.push(Place::VACANT);
            self.places.len() - 1
        });
        self.places[place].is_occupied = true;
        Key { place }
    }

    /// Returns `true` if there is neither a task nor a future of `block_on`.
    fn is_empty(&self) -> bool {
        self.vacant.len() == self.places.len()
    }

    /// Puts a task into the queue, unless it is there or is over.
    fn make_ready(&mut self, key: Key) {
        let Some(place) = self.places.get_mut(key.place) else {
            return;
        };
        if place.is_occupied && !place.is_ready {
            place.is_ready = true;
            self.ready.push_back(key);
        }
    }

    /// Takes who is first in the queue. A wake-up from now on counts anew.
    fn pop(&mut self) -> Option<Turn> {
        loop {
            let key = self.ready.pop_front()?;
            let place = &mut self.places[key.place];
            // Else it is gone since, the future of an earlier `block_on`.
            if place.is_occupied {
                place.is_ready = false;
                let task = place.task.take();
                return Some(match task {
                    Some(task) => Turn::Task(key, task),
                    None => Turn::Root,
                });
            }
        }
    }

    /// Puts a task back that has been polled and is not over.
    fn put_back(&mut self, key: Key, task: Task) {
        self.places[key.place].task = Some(task);
    }

    /// Frees the place of a task that is over. Later wake-ups are for nobody.
    fn remove(&mut self, key: Key) {
        self.places[key.place] = Place::VACANT;
        self.vacant.push(key.place);
    }

    /// Takes all tasks, ready or not, and forgets who is ready.
    fn take_all(&mut self) -> impl Iterator<Item = Task> + use<> {
        let Self { places, .. } = mem::take(self);
        places.into_iter().filter_map(|place| place.task)
    }
}

impl Place {
    const VACANT: Self = Self {
        is_occupied: false,
        is_ready: false,
        task: None,
    };
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
