//! Breaks clause 12: No scan.
//! Caught by: a_wake_up_costs_the_same_among_many_tasks
//!
//! A wake-up sets a flag, and a turn looks for the next task whose flag is set.
//! That needs no queue and is fair. Among ten thousand tasks that wait, it is
//! ten thousand looks for each poll.

#[path = "../../../solutions/09-local-executor/src/executor.rs"]
mod executor;
#[path = "../../../solutions/09-local-executor/src/here.rs"]
mod here;
#[path = "../../../solutions/09-local-executor/src/inbox.rs"]
mod inbox;

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

/// Names a task. Its place may be another's later, its number never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    place: usize,
    number: u64,
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

/// The tasks, each in a place of its own, and a flag for those that are
/// ready. No code of a task or of a waker runs in here, so that nobody comes
/// back while it is borrowed.
#[derive(Default)]
struct Tasks {
    places: Vec<Place>,
    vacant: Vec<usize>,
    /// Where to look for the next one that is ready.
    next: usize,
    /// The number of the newest task.
    newest: u64,
}

struct Place {
    /// The task's number, or [`NOBODY`].
    number: u64,
    is_ready: bool,
    /// `None` while it is polled, and for the future of `block_on`.
    task: Option<Task>,
}

/// Is no task's number.
const NOBODY: u64 = 0;

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
        self.newest += 1;
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.places.push(Place::VACANT);
            self.places.len() - 1
        });
        self.places[place].number = self.newest;
        Key {
            place,
            number: self.newest,
        }
    }

    /// Returns `true` if there is neither a task nor a future of `block_on`.
    fn is_empty(&self) -> bool {
        self.vacant.len() == self.places.len()
    }

    /// Marks a task, unless it is marked or is over.
    fn make_ready(&mut self, key: Key) {
        let Some(place) = self.places.get_mut(key.place) else {
            return;
        };
        if place.number == key.number && !place.is_ready {
            place.is_ready = true;
        }
    }

    /// Takes the next one that is ready, round and round. A wake-up from now on
    /// counts anew.
    fn pop(&mut self) -> Option<Turn> {
        let (done, ahead) = self.places.split_at(self.next);
        let places = ahead.iter().chain(done);
        let steps = { places }.position(|place| place.is_ready)?;
        let at = (self.next + steps) % self.places.len();
        self.next = (at + 1) % self.places.len();
        let place = &mut self.places[at];
        place.is_ready = false;
        let (number, task) = (place.number, place.task.take());
        Some(match task {
            Some(task) => Turn::Task(Key { place: at, number }, task),
            None => Turn::Root,
        })
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
        number: NOBODY,
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
