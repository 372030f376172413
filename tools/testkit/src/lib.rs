//! What the workshop's checks are made of. Uses only the standard library, and
//! `imports`, which does the same, so that a first `cargo test -p exercise-1`
//! takes seconds.
//!
//! A check is a body run by [`check`] under a [`Lesson`]. Each body runs in a
//! child process of its own: a check that hangs, crashes or spins neither stops
//! nor slows the others, and the failure says what was promised, what was seen,
//! what usually causes it, and where to read on.
//!
//! ```no_run
//! use testkit::{Lesson, check};
//!
//! const PROMPT: Lesson = Lesson {
//!     clause: "1. Prompt",
//!     promise: "a future that is ready at once is polled once",
//!     usual_cause: "the thread parks before it polls",
//!     read: "one-future/block-on.html#poll-first",
//! };
//!
//! check(PROMPT, || {
//!     let polls = 1; // count the polls of the code under test
//!     assert!(polls == 1, "it was polled {polls} times");
//! });
//! ```
//!
//! With `TESTKIT_INLINE=1` in the environment the bodies run in the test
//! process itself, without a watchdog: for a debugger. `TESTKIT_PATIENCE=10`
//! lets a check take ten times as long as usual before the watchdog ends it: for
//! a sanitizer.

mod allocator;
mod check;
mod child;
mod durations;
mod events;
mod futures;
mod gate;
mod grammar;
mod hangs;
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
mod instruction;
mod interposed;
mod late_stores;
mod lesson;
mod locked;
mod manual;
mod model;
mod odd_wakers;
mod panics;
mod partner;
mod probes;
mod race;
mod round_robin;
mod source;
mod stacks;
mod step_by_step;
#[cfg(all(test, target_os = "linux"))]
mod subject;
mod target;
mod thread_limit;
mod thread_probe;
mod threads;
mod trap;
mod verdict;
mod version;
mod wakers;
mod watchdog;

pub use allocator::{
    Allocations, allocations, live_blocks, live_bytes, with_reused_addresses, with_slow_allocations,
};
pub use check::{check, check_model};
pub use durations::durations_that_wrap;
pub use futures::{MustNotMove, WokenByTurns, WrittenMeanwhile, Yields};
pub use gate::{Gate, Opener, Rendezvous, start_elsewhere, wait_by_thread_park};
pub use interposed::{InterruptedWait, fail_accepts, with_interrupted_waits};
pub use late_stores::{LateAnswer, LateSide, race_with_late_stores};
pub use lesson::Lesson;
pub use locked::locked_instructions;
pub use manual::{ManualFuture, ManualHandle};
pub use model::{model_begins, model_execution, model_sees};
pub use odd_wakers::{ActingWaker, HostileClone, StackWakers, WakerUse, wakers_without_data};
pub use panics::{EndMayBeUnwritten, panic_message};
pub use partner::Partner;
pub use probes::{DropLog, DropProbe, PanicOnDrop, log_of_this_threads_end};
pub use race::{Answer, race_with_wakes};
pub use round_robin::RoundRobin;
pub use step_by_step::{SteppedAnswer, race_step_by_step};
pub use target::{TargetWatch, WakeTarget};
pub use thread_limit::without_new_threads;
pub use thread_probe::{Cost, ThreadProbe, idle_cost};
pub use threads::thread_count;
pub use verdict::STACK_OVERFLOW;
pub use version::version;
pub use wakers::{CountingWaker, HostileWaker, WakeCounts};
