//! Exercise 13: which workers are parked, which search, and which one to wake.
//!
//! The chapter is `src/scheduler/sleepers.md`. Check your version with
//! `cargo test -p exercise-13`, and then have every interleaving tried:
//! `cargo test -p exercise-13 --release --features loom`.
//!
//! Import atomics, fences and locks from `primitives`, as in exercise 2. The
//! models treat a `SeqCst` load or store as a weaker one: where one thread
//! writes and then reads, and another does the same in the opposite order, they
//! require a `fence(SeqCst)`, an RMW of one word, or one lock, on both sides.
//!
//! `work` in `workers.rs` shows how a worker uses what you write.

mod activity;
#[cfg(all(test, feature = "loom"))]
mod models;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

pub use activity::Activity;

/// Knows which of a scheduler's workers are parked and which search, and
/// decides which one to wake.
///
/// It has no threads and no queues; the workers report to it what they do. A
/// worker is *busy* with its own work, or *searches* the queues of others, or
/// is *parked*: its thread is, or is about to be. At first all are busy.
///
/// # Contract
///
/// 1. **No task waits.** Work is published, and then `notify` is called. If a
///    worker is parked and none searches, it chooses a parked worker. If it
///    chooses none, a worker that parks or ends its search meanwhile sees the
///    work: once its `transition_to_parked` has returned `true`, or once its
///    `transition_from_searching` has and it has called `notify` or made a
///    `SeqCst` fence.
/// 2. **Whom to wake.** `notify` chooses a worker that is parked, even if its
///    thread isn't yet. From then on that worker searches: it isn't chosen
///    again before it has parked again.
/// 3. **One is enough.** `notify` chooses no worker while another one searches.
/// 4. **Half.** `transition_to_searching` lets at most half of the workers
///    search at once, rounded up; fewer is fine. If none searches and no
///    `notify` is under way, it lets one.
/// 5. **One leads to the next.** `transition_from_searching` makes a searcher
///    busy, at once, and returns `true` if none searches now. In that case its
///    caller has to call `notify` before it starts on the work. Instead, it may
///    make a `SeqCst` fence, look at all queues, and call `notify` only if it
///    sees work.
/// 6. **The last look.** `transition_to_parked` makes a worker parked, whether
///    it was busy or searching, and returns `true` if none searches now. In
///    that case its caller has to look at all queues before its thread parks.
///    The last searcher sees there what the others have moved before their
///    `transition_from_searching`. The same holds for the look of clause 5.
/// 7. **Unparking.** A parked worker that goes on, for any reason, calls
///    `transition_from_parked`. If no `notify` has chosen it, it is `Busy` from
///    then on, and won't be chosen. If one has, it is `Searching`. A worker
///    that knows that it was chosen need not call it.
/// 8. **Any number.** One worker is enough, and so are 256; all of them may be
///    parked at once.
/// 9. **Made once.** After `new` nothing is allocated.
///
/// # Examples
///
/// ```no_run
/// use exercise_13::{Activity, Sleepers};
///
/// let sleepers = Sleepers::new(2);
/// // Worker 1 has no work of its own, and finds none elsewhere.
/// assert!(sleepers.transition_to_searching());
/// let is_last = sleepers.transition_to_parked(1, Activity::Searching);
/// assert!(is_last, "no other worker searches, so this one looks again");
/// // Worker 0 pushes a task, and another.
/// assert_eq!(sleepers.notify(), Some(1));
/// assert_eq!(sleepers.notify(), None, "one is searching");
/// // Worker 1 finds one of them.
/// assert!(sleepers.transition_from_searching(), "none searches now");
/// assert_eq!(sleepers.notify(), None, "no worker is parked");
/// ```
pub struct Sleepers {}

impl Sleepers {
    /// Makes the sleepers of `workers` workers, numbered from 0.
    ///
    /// # Panics
    ///
    /// If there is no worker.
    pub fn new(workers: usize) -> Self {
        let _ = workers;
        todo!("make what says which workers are parked and how many search")
    }

    /// To be called after work was published. Returns the worker to unpark.
    pub fn notify(&self) -> Option<usize> {
        todo!("if one is parked and none searches, make one of them search")
    }

    /// A busy worker has no work. Returns `true` if it may search.
    pub fn transition_to_searching(&self) -> bool {
        todo!("count one more searcher, unless half of the workers search")
    }

    /// A searcher has found work, and is busy. Returns `true` if no worker
    /// searches now: the caller must call [`notify`](Self::notify) before it
    /// starts on the work, or look (clause 5).
    #[must_use]
    pub fn transition_from_searching(&self) -> bool {
        todo!("count one searcher less; was it the last?")
    }

    /// A worker is parked from now on. Returns `true` if no worker searches
    /// now: the caller must look at all queues again before its thread parks.
    #[must_use]
    pub fn transition_to_parked(&self, worker: usize, was: Activity) -> bool {
        let _ = (worker, was);
        todo!("list it; count one searcher less if it was one; is any left?")
    }

    /// A parked worker goes on, for any reason. Returns what it does from
    /// now on.
    #[must_use]
    pub fn transition_from_parked(&self, worker: usize) -> Activity {
        let _ = worker;
        todo!("if it is still listed, take it off the list")
    }
}
