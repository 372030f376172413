//! Breaks clause 5: Fair.
//! Caught by: a_ready_task_has_its_turn
//! Also fails: a_wake_up_from_a_thread_that_ends_counts
//! Also fails: a_late_wake_up_is_for_nobody_after_tens_of_thousands_of_tasks
//! Also fails: a_wake_up_within_another_executor_reaches_its_own
//! Also fails: a_destructor_may_spawn_and_wake
//! Also fails: a_late_wake_up_is_for_nobody
//! Also fails: a_task_may_spawn_and_wake_while_it_is_polled
//! Also fails: a_task_without_a_handle_runs
//! Also fails: a_wake_up_costs_the_same_among_many_tasks
//! Also fails: a_wake_while_nothing_runs_counts
//! Also fails: block_on_ends_with_its_future
//! Also fails: dropping_the_executor_drops_every_task
//! Also fails: each_of_many_tasks_is_found_at_once
//! Also fails: it_does_not_matter_who_woke_a_task
//! Also fails: many_wakes_cause_one_poll
//! Also fails: models::a_wake_up_may_come_as_the_executor_is_dropped
//! Also fails: spawning_polls_nothing
//! Also fails: tasks_that_refer_to_each_other_are_dropped
//! Also fails: the_callers_own_panic_passes
//! Also fails: the_future_is_dropped_when_its_task_is_over
//! Also fails: the_future_of_block_on_has_its_turn
//! Also fails: the_last_waker_does_not_take_the_task_along
//! Also fails: wakers_outlive_the_executor_and_leave_nothing
//! Also fails: many_tasks_woken_from_elsewhere_have_their_turns
//!
//! The queue is a stack: what was woken last is still in the cache. A task that
//! wakes itself is always on top.

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

/// The tasks, each in a place of its own, and those that are ready. No code of a task or of a waker runs in here, so that nobody comes
/// back while it is borrowed.
#[derive(Default)]
struct Tasks {
    places: Vec<Place>,
    vacant: Vec<usize>,
    /// Who is ready, each once.
    ready: Vec<Key>,
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
            self.ready.push(key);
        }
    }

    /// Takes who was woken last. A wake-up from now on counts anew.
    fn pop(&mut self) -> Option<Turn> {
        loop {
            let key = self.ready.pop()?;
            let place = &mut self.places[key.place];
            // Else it is gone since, the future of an earlier `block_on`.
            if place.number == key.number {
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
