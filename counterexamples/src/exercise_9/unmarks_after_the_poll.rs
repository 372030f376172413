//! Breaks clause 3: No lost wake-up.
//! Caught by: a_wake_while_the_task_is_polled_counts
//! Also fails: a_handle_gives_what_the_task_returned
//! Also fails: a_panic_reaches_the_handle
//! Also fails: a_ready_task_has_its_turn
//! Also fails: a_recursive_run_panics
//! Also fails: it_does_not_matter_who_woke_a_task
//! Also fails: panics_stay_in_their_task
//! Also fails: run_ends_when_no_task_is_left
//! Also fails: spawn_finds_the_executor_of_this_thread
//! Also fails: the_future_of_block_on_has_its_turn
//! Also fails: what_panics_as_it_is_dropped_harms_nobody
//! Also fails: many_tasks_woken_from_elsewhere_have_their_turns
//!
//! The mark that a task is in the queue is taken back when the task is put
//! back. A wake-up during the poll finds the mark still there, and does
//! nothing.

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

/// The tasks, each in a place of its own, and the queue of those that are
/// ready. No code of a task or of a waker runs in here, so that nobody comes
/// back while it is borrowed.
#[derive(Default)]
struct Tasks {
    places: Vec<Place>,
    vacant: Vec<usize>,
    /// Who is ready, in the order of the wake-ups, and each once.
    ready: VecDeque<Key>,
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

    /// Puts a task into the queue, unless it is there or is over.
    fn make_ready(&mut self, key: Key) {
        let Some(place) = self.places.get_mut(key.place) else {
            return;
        };
        if place.number == key.number && !place.is_ready {
            place.is_ready = true;
            self.ready.push_back(key);
        }
    }

    /// Takes who is first in the queue.
    fn pop(&mut self) -> Option<Turn> {
        loop {
            let key = self.ready.pop_front()?;
            let place = &mut self.places[key.place];
            // Else it is gone since, the future of an earlier `block_on`.
            if place.number == key.number {
                return Some(match place.task.take() {
                    Some(task) => Turn::Task(key, task),
                    None => {
                        place.is_ready = false;
                        Turn::Root
                    }
                });
            }
        }
    }

    /// Puts a task back that has been polled and is not over.
    fn put_back(&mut self, key: Key, task: Task) {
        let place = &mut self.places[key.place];
        place.task = Some(task);
        place.is_ready = false;
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
