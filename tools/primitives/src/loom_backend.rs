//! loom's primitives, and [`model`] to explore them.

pub mod atomic;
mod barrier;
mod cell;
mod condvar;
mod lock;
pub mod mpsc;
pub mod thread;

pub use barrier::{Barrier, BarrierWaitResult};
pub use cell::UnsafeCell;
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lock::{Mutex, RwLock};
pub use loom::hint;
pub use loom::sync::{Arc, MutexGuard, RwLockReadGuard, RwLockWriteGuard};

pub use crate::__thread_local as thread_local;

#[doc(hidden)]
pub use loom::thread_local as model_thread_local;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How often, in one execution, a thread may be preempted where it could have gone on. loom's
/// documentation says that two or three find most bugs.
const PREEMPTIONS: usize = 3;
/// Loom operations in one execution; more is a loop that never ends.
const BRANCHES: usize = 10_000;
/// An exploration ends, and passes, after this long.
const TIME: Duration = Duration::from_secs(20);

/// Explores every execution of `body` within the bounds above, and prints
/// how many there were.
///
/// # Panics
///
/// If one execution panics, deadlocks, leaks an `Arc` or races.
pub fn model(body: impl Fn() + Send + Sync + 'static) {
    explore(PREEMPTIONS, body);
}

/// Like [`model`], with another bound on the number of preemptions: with many steps, one or two can
/// be explored where three would never end.
///
/// # Panics
///
/// Like [`model`].
pub fn model_within(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    explore(preemptions, body);
}

/// Like [`model`], and each load of an atomic is tried before and after each
/// write that another thread makes: see [`atomic`]. There are many more
/// executions.
///
/// # Panics
///
/// Like [`model`].
pub fn model_every_load(body: impl Fn() + Send + Sync + 'static) {
    atomic::with_every_access(|| explore(PREEMPTIONS, body));
}

fn explore(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = BRANCHES;
    // A data race is reported with both accesses.
    builder.location = true;
    builder.max_duration = Some(TIME);
    // How many executions pass between two checks of the clock.
    builder.checkpoint_interval = 100;
    let start = Instant::now();
    let explored = std::sync::Arc::new(AtomicU64::new(0));
    let count = explored.clone();
    let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        builder.check(move || {
            count.fetch_add(1, Relaxed);
            body();
        });
    }));
    let explored = explored.load(Relaxed);
    if let Err(panic) = checked {
        println!("failed in execution {explored}");
        std::panic::resume_unwind(panic);
    }
    let end = if start.elapsed() < TIME {
        ""
    } else {
        ", until the time was up"
    };
    println!("explored {explored} executions, at most {preemptions} preemptions each{end}");
}
