//! Solution 13: which workers are parked, which search, and which one to wake.
//!
//! Two counts in one word decide *whether* a worker is woken, and how many may
//! search. A bit for each worker says *which* workers are parked. Most calls of
//! `notify` come while all are busy, or while one searches: they cost a fence
//! and a load.
//!
//! *Memory ordering.* A task is pushed, and then the counts are looked at; the
//! counts are changed, and then the queues are looked at. On both sides a
//! `SeqCst` fence is between the two. So one side sees the other: either the
//! notifier sees the change of the counts, or the thread that made it sees the
//! task.
//!
//! Two changes matter, since no other thread might look after them: one more
//! worker is parked, and the last search ends. `transition_to_parked` has the
//! fence after both. `transition_from_searching` has none, but requires its
//! caller to make one, or to call `notify`, which begins with one. Other changes
//! are relaxed as far as pushes go: a search may miss one, but the worker that
//! ends the last search doesn't.
//!
//! Searchers also *move* work, from one queue to another, without a
//! notification. So `transition_from_searching` releases, and the fence of the
//! worker that ends the last search acquires.
//!
//! # Contract
//!
//! 1. **No task waits.** Work is published, and then `notify` is called. If a
//!    worker is parked and none searches, it chooses a parked worker. If it
//!    chooses none, a worker that parks or ends its search meanwhile sees the
//!    work: once its `transition_to_parked` has returned `true`, or once its
//!    `transition_from_searching` has and it has called `notify` or made a
//!    `SeqCst` fence.
//! 2. **Whom to wake.** `notify` chooses a worker that is parked, even if its
//!    thread isn't yet. From then on that worker searches: it isn't chosen
//!    again before it has parked again.
//! 3. **One is enough.** `notify` chooses no worker while another one searches.
//! 4. **Half.** `transition_to_searching` lets at most half of the workers
//!    search at once, rounded up; fewer is fine. If none searches and no
//!    `notify` is under way, it lets one.
//! 5. **One leads to the next.** `transition_from_searching` makes a searcher
//!    busy, at once, and returns `true` if none searches now. In that case its
//!    caller has to call `notify` before it starts on the work. Instead, it may
//!    make a `SeqCst` fence, look at all queues, and call `notify` only if it
//!    sees work.
//! 6. **The last look.** `transition_to_parked` makes a worker parked, whether
//!    it was busy or searching, and returns `true` if none searches now. In
//!    that case its caller has to look at all queues before its thread parks.
//!    The last searcher sees there what the others have moved before their
//!    `transition_from_searching`. The same holds for the look of clause 5.
//! 7. **Unparking.** A parked worker that goes on, for any reason, calls
//!    `transition_from_parked`. If no `notify` has chosen it, it is `Busy` from
//!    then on, and won't be chosen. If one has, it is `Searching`. A worker
//!    that knows that it was chosen need not call it.
//! 8. **Any number.** One worker is enough, and so are 256; all of them may be
//!    parked at once.
//! 9. **Made once.** After `new` nothing is allocated.
//!
//! # Examples
//!
//! ```no_run
//! use solution_13::{Activity, Sleepers};
//!
//! let sleepers = Sleepers::new(2);
//! // Worker 1 has no work of its own, and finds none elsewhere.
//! assert!(sleepers.transition_to_searching());
//! let is_last = sleepers.transition_to_parked(1, Activity::Searching);
//! assert!(is_last, "no other worker searches, so this one looks again");
//! // Worker 0 pushes a task, and another.
//! assert_eq!(sleepers.notify(), Some(1));
//! assert_eq!(sleepers.notify(), None, "one is searching");
//! // Worker 1 finds one of them.
//! assert!(sleepers.transition_from_searching(), "none searches now");
//! assert_eq!(sleepers.notify(), None, "no worker is parked");
//! ```

#[path = "../../../exercises/13-sleepers/src/activity.rs"]
mod activity;
mod counts;
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/13-sleepers/src/models.rs"]
mod models;
mod sleeper_set;
mod sleepers;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests/mod.rs"]
mod tests;

pub use activity::Activity;
pub use sleepers::Sleepers;
