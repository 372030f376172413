//! A scheduler in the model's own time, from which parts can be taken out.
//!
//! The book's figure `<ws-scheduler>` runs these rules in the browser, in
//! `web/src/figures/scheduler/model.js`. Here they are written a second time, from
//! the text below, and `digests.txt` says what both have to do, event by event: a
//! test of this crate compares it with this code, a test of `web` with the other.
//!
//! With throttling and notification, its decisions are also compared with those that
//! `Sleepers` of solution 13 makes.
//!
//! It is a model and not a measurement: the costs are those of [`cost`], and each
//! worker has a core of its own.
//!
//! # The rules
//!
//! 1. **One thing happens at a time.** Time is whole tenths of a microsecond. The
//!    earliest action is the next. At the same time, the thread that is not a
//!    worker comes first, and then the workers in the order of their indices. An
//!    action takes effect at once; its cost delays only the thread that acts.
//! 2. **Where a worker looks.** At each [`INTERVAL`]th poll, it takes one task from
//!    the injector, if there is any (part: interval). Otherwise it looks into its
//!    LIFO slot, its queue and the injector, in this order. If all are empty, it
//!    searches (rule 5), and if it may not or finds nothing, it parks (rule 7).
//! 3. **The LIFO slot** (part: slot) gets what a task of this worker spawns or
//!    wakes. The task that it displaces goes to the back of the queue, followed by
//!    a `notify`. No other worker takes from the slot. When it has given out
//!    [`STREAK`] tasks in a row while others are in the queue, its task goes to the
//!    back of the queue instead, followed by a `notify`, and the front of the queue
//!    is polled. Without the slot, all these tasks go to the back of the queue, each
//!    followed by a `notify`. A task that yields always goes there; a `notify`
//!    follows only if a task is in the slot.
//! 4. **The injector** gets what the thread that is not a worker spawns, each task
//!    followed by a `notify`. A worker with nothing else to do takes its share of it,
//!    the length divided by the number of workers, rounded up: one is polled, the
//!    others go to its queue.
//! 5. **Searching** (part: stealing). A worker looks at the other workers' queues,
//!    in the order of their indices from a random one on. From the first that isn't
//!    empty, it takes half of the tasks, rounded up, the oldest: the first is
//!    polled, the others go to its own queue. If all are empty, it looks into the
//!    injector again. Without stealing, a push to a queue is followed by no
//!    `notify`.
//! 6. **Throttling** (part: throttle). A `notify` unparks none while a worker is
//!    counted as searching, and at most half of the workers search, rounded up. A
//!    searcher that begins a poll isn't counted anymore; if it was the last, it
//!    calls `notify`. Without throttling, there's no such limit, and no such call.
//! 7. **Parking.** A worker that parks isn't counted as searching anymore. If now no
//!    worker is, or always without throttling, it looks again at all that it could
//!    take; if there is something, it goes on, as a searcher if there is stealing.
//! 8. **`notify`** (part: notification) unparks the parked worker with the lowest
//!    index, if there is one. From then on it's counted as searching. Without
//!    notification, it does nothing.

mod digest;
mod event;
mod loads;
mod random;
mod scheduler;

pub use digest::{digests, runs_of};
pub use event::{Event, Origin, Outcome, What};
pub use loads::{Ends, LoadName};
pub use scheduler::{Scheduler, TaskState};

/// What takes time, in tenths of a microsecond. What isn't here takes none.
///
/// The first two are what the book's chapter "Who wakes whom" says of unparking: a
/// microsecond or two for the caller, and a few more until the other thread runs.
/// The others are guesses of the least that the model can tell from nothing.
pub mod cost {
    /// Unparking a worker, for the thread that does it.
    pub const UNPARK: u32 = 15;
    /// From being unparked to running.
    pub const WAKE: u32 = 50;
    /// Looking at another worker's queue, and once more at all of them.
    pub const LOOK: u32 = 1;
    /// Taking tasks from the injector.
    pub const TAKE: u32 = 1;
    /// Taking tasks from another worker's queue.
    pub const STEAL: u32 = 2;
    /// Fetching a task that another thread made ready.
    pub const MOVE: u32 = 1;
}

/// How many tasks a queue has room for on the page, which is as many as these loads
/// ever need: no queue overflows. In solution 14, it's 256.
pub const CAPACITY: usize = 8;
/// A worker looks at the injector first at each poll of this number; in tokio, it's 61
/// at first.
pub const INTERVAL: u32 = 7;
/// How many tasks in a row come from the LIFO slot while others wait.
pub const STREAK: u32 = 3;

/// Which parts the scheduler has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The LIFO slot.
    pub slot: bool,
    /// Taking from other workers' queues.
    pub stealing: bool,
    /// The limits for those that search.
    pub throttle: bool,
    /// Unparking workers at all.
    pub notification: bool,
    /// The look at the injector at each [`INTERVAL`]th poll.
    pub interval: bool,
}

impl Parts {
    /// All of them.
    pub const ALL: Self = Self::from_bits(0b11111);

    /// The lowest bit is the slot, and the others follow in the fields' order.
    pub const fn from_bits(bits: u32) -> Self {
        Self {
            slot: bits & 1 != 0,
            stealing: bits & 2 != 0,
            throttle: bits & 4 != 0,
            notification: bits & 8 != 0,
            interval: bits & 16 != 0,
        }
    }
}

/// Which run it is: the same settings give the same events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What the workers have to do.
    pub load: LoadName,
    /// How many there are.
    pub workers: usize,
    /// Decides how long polls are, and where searches start.
    pub seed: u32,
    /// What the scheduler has.
    pub parts: Parts,
    /// What unparking a worker costs the thread that does it, instead of
    /// [`cost::UNPARK`].
    pub unpark: u32,
    /// When an unparked worker runs, instead of [`cost::WAKE`].
    pub wake: u32,
}
