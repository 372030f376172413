//! loom's primitives, and [`model`] to explore them.

pub mod thread;

pub use loom::cell::UnsafeCell;
pub use loom::hint;
pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard};

pub use crate::__thread_local as thread_local;

/// loom's atomics.
pub mod atomic {
    pub use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, fence,
    };
    pub use std::sync::atomic::Ordering;
}

#[doc(hidden)]
pub use loom::thread_local as model_thread_local;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// How often a thread may be interrupted where it did not have to be. loom's
/// documentation says that two or three find most bugs.
const PREEMPTIONS: usize = 3;
/// Loom operations in one execution; more is a loop that never ends.
const BRANCHES: usize = 10_000;
/// An exploration ends, and passes, after this long.
const TIME: Duration = Duration::from_secs(60);

/// Explores every execution of `body` within the bounds above, and prints
/// how many there were.
///
/// # Panics
///
/// When one execution panics, deadlocks, leaks an `Arc` or races.
pub fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.max_branches = BRANCHES;
    builder.max_duration = Some(TIME);
    let explored = std::sync::Arc::new(AtomicU64::new(0));
    let count = explored.clone();
    let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        builder.check(move || {
            count.fetch_add(1, Relaxed);
            body();
        });
    }));
    let explored = explored.load(Relaxed);
    match checked {
        Ok(()) => {
            println!("explored {explored} executions, at most {PREEMPTIONS} preemptions each")
        }
        Err(panic) => panic!(
            "in execution {explored} of the model, {}",
            translate(&panic)
        ),
    }
}

/// Says in words of the book what loom says in its own.
fn translate(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it panicked");
    let meaning = if text.starts_with("deadlock") {
        "every thread sleeps and nobody is left to wake one"
    } else if text.contains("Causality violation") {
        "two threads touched the same data, one of them writing, and nothing ordered them"
    } else if text.contains("leaked") {
        "something was never freed"
    } else if text.contains("exceeded maximum number of branches") {
        "a loop went on for ever"
    } else {
        return text.to_owned();
    };
    format!("{meaning} (loom: {})", text.lines().next().unwrap_or(text))
}
