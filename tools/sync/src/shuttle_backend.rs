//! shuttle's primitives, and [`model`] to explore them.

pub use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use shuttle::{hint, thread};

pub use crate::__thread_local as thread_local;

/// shuttle's atomics.
pub mod atomic {
    pub use shuttle::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, fence,
    };
    pub use std::sync::atomic::Ordering;
}

#[doc(hidden)]
pub use shuttle::thread_local as model_thread_local;

/// Random schedules tried by [`model`].
const SCHEDULES: usize = 2_000;
/// How many changes of priority a schedule has: a bug that needs at most so
/// many ordered steps is found with a known probability (Burckhardt and
/// others, 2010).
const DEPTH: usize = 3;

/// Runs `body` under [`SCHEDULES`] random schedules with few changes of
/// priority (PCT), and prints how many there were.
///
/// # Panics
///
/// When `body` panics, deadlocks or never ends under one of them; shuttle
/// prints the schedule, which `shuttle::replay` repeats.
pub fn model(body: impl Fn() + Send + Sync + 'static) {
    shuttle::check_pct(body, SCHEDULES, DEPTH);
    println!("tried {SCHEDULES} schedules of depth {DEPTH}");
}

/// Like [`model`]: shuttle leaves out no order on purpose.
///
/// # Panics
///
/// Like [`model`].
pub fn model_every_load(body: impl Fn() + Send + Sync + 'static) {
    model(body);
}
