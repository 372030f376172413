//! loom's primitives, and [`model`] to explore them.

pub mod atomic;
mod barrier;
mod cell;
mod condvar;
mod heard;
mod lock;
pub mod mpsc;
mod run_time;
pub mod thread;

pub use barrier::{Barrier, BarrierWaitResult};
pub use cell::UnsafeCell;
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lock::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use loom::hint;
pub use loom::sync::Arc;

pub use crate::__thread_local as thread_local;

#[doc(hidden)]
pub use loom::thread_local as model_thread_local;

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use run_time::RunTime;

use crate::record::{self, Mode};

/// How often, in one execution, a thread may be preempted where it could have gone on. loom's
/// documentation says that two or three find most bugs.
const PREEMPTIONS: usize = 3;
/// Loom operations in one execution; more is a loop that never ends.
const BRANCHES: usize = 10_000;
/// An exploration ends, and passes, after it has run for this long. Only the time that its thread
/// runs counts, so that a busy machine doesn't explore less.
const TIME: Duration = Duration::from_secs(20);
/// The same for the exploration that records what fails. Recording takes twice as long.
const TIME_OF_RECORDING: Duration = Duration::from_secs(40);
/// How many executions pass between two checks of the clock.
const CHECK_INTERVAL: u64 = 100;

/// Explores every execution of `body` within the bounds above, and prints
/// how many there were.
///
/// # Panics
///
/// If one execution panics, deadlocks, leaks an `Arc` or races.
pub fn model(body: impl Fn() + Send + Sync + 'static) {
    explore(PREEMPTIONS, TIME, body);
}

/// Like [`model`], with another bound on the number of preemptions: with many steps, one or two can
/// be explored where three would never end.
///
/// # Panics
///
/// Like [`model`].
pub fn model_within(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    explore(preemptions, TIME, body);
}

/// Like [`model`], and each load of an atomic is tried before and after each
/// write that another thread makes: see [`atomic`]. There are many more
/// executions.
///
/// # Panics
///
/// Like [`model`].
pub fn model_every_load(body: impl Fn() + Send + Sync + 'static) {
    model_every_load_within(PREEMPTIONS, body);
}

/// Like [`model_every_load`], with the bound of [`model_within`].
///
/// # Panics
///
/// Like [`model`].
pub fn model_every_load_within(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    atomic::with_every_access(|| explore(preemptions, TIME, body));
}

fn explore(preemptions: usize, limit: Duration, body: impl Fn() + Send + Sync + 'static) {
    testkit::model_begins();
    let body = std::sync::Arc::new(body);
    let file = record::file();
    let (explored, is_complete) = match file {
        Some(_) => explore_recorded(preemptions, body),
        None => search(preemptions, limit, body),
    };
    let end = match is_complete {
        true => "",
        false => ", until the time was up",
    };
    println!("explored {explored} executions, at most {preemptions} preemptions each{end}");
}

/// Explores it again, to record the execution that fails. One in which every load returns the
/// newest value is easier to read, so such a one is looked for first. The executions that are known
/// not to have failed aren't recorded the second time, since that takes twice as long.
fn explore_recorded(
    preemptions: usize,
    body: std::sync::Arc<impl Fn() + Send + Sync + 'static>,
) -> (u64, bool) {
    record::watch_panics("loom");
    let with_mode = |mode, first, limit| {
        record::set_mode_from(first, mode);
        let searched = heard::with_ears(|| search(preemptions, limit, body.clone()));
        record::set_mode(Mode::Off);
        searched
    };
    let failed = record::failed_execution();
    let (_, is_complete) = with_mode(Mode::Newest, 1, time_of_newest(failed));
    if is_complete {
        record::note_newest_passed();
    }
    match failed {
        Some(failed) => with_mode(Mode::Plain, failed, TIME),
        None => with_mode(Mode::Plain, 1, TIME_OF_RECORDING),
    }
}

/// How long to look for an execution that fails and in which every load returns the newest value.
/// The more executions there were before the one that `failed`, the longer it takes to come to
/// that one again: seconds, from ten thousand on.
fn time_of_newest(failed: Option<u64>) -> Duration {
    Duration::from_millis(match failed {
        Some(20_000..) => 300,
        Some(10_000..) => 1_000,
        _ => 3_000,
    })
}

/// Returns how many executions there were, and whether those were all.
fn search(
    preemptions: usize,
    limit: Duration,
    body: std::sync::Arc<impl Fn() + Send + Sync + 'static>,
) -> (u64, bool) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = BRANCHES;
    // A data race is reported with both accesses.
    builder.location = true;
    let start = RunTime::now();
    let explored = std::sync::Arc::new(AtomicU64::new(0));
    let count = explored.clone();
    let checked = panic::catch_unwind(AssertUnwindSafe(|| {
        builder.check(move || {
            let before = count.fetch_add(1, Relaxed);
            if before.is_multiple_of(CHECK_INTERVAL) && start.elapsed() >= limit {
                // loom's own limit counts the time that other processes run, too.
                panic::resume_unwind(Box::new(TimeIsUp));
            }
            testkit::model_execution(before + 1);
            record::begin_execution(before + 1);
            body();
        });
    }));
    let explored = explored.load(Relaxed);
    let Err(panic) = checked else {
        return (explored, true);
    };
    if panic.is::<TimeIsUp>() {
        return (explored - 1, false);
    }
    if let Some(generator::Error::StackErr) = panic.downcast_ref() {
        // No order of the steps causes that.
        panic::resume_unwind(Box::new(testkit::STACK_OVERFLOW));
    }
    record::finish_panicked(&*panic);
    println!("failed in execution {explored}");
    panic::resume_unwind(panic);
}

/// The panic that ends an exploration.
struct TimeIsUp;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exploration_ends_when_its_time_is_up_and_the_next_one_begins() {
        let executions = std::sync::Arc::new(AtomicU64::new(0));
        for (limit, expected) in [(Duration::ZERO, 0), (TIME, 1)] {
            let counted = executions.clone();
            explore(PREEMPTIONS, limit, move || {
                counted.fetch_add(1, Relaxed);
            });
            assert_eq!(executions.load(Relaxed), expected, "limit {limit:?}");
        }
    }

    #[test]
    fn a_stack_that_overflows_is_told_in_words() {
        let large = || {
            std::hint::black_box([0_u64; 1 << 16]);
        };
        let thrown = panic::catch_unwind(|| explore(PREEMPTIONS, TIME, large));
        let text = thrown.unwrap_err().downcast::<&str>();
        assert_eq!(*text.expect("it is text"), testkit::STACK_OVERFLOW);
    }

    #[test]
    fn only_the_time_that_this_thread_runs_counts() {
        let start = RunTime::now();
        std::thread::sleep(Duration::from_millis(200));
        match start {
            RunTime::Thread(_) => assert!(start.elapsed() < Duration::from_millis(150)),
            RunTime::Wall(_) => assert!(start.elapsed() >= Duration::from_millis(200)),
        }
    }
}
