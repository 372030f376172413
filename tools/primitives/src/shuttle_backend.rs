//! shuttle's primitives, and [`model`] to explore them.

pub mod atomic;
mod cell;
mod condvar;
mod failing;
mod lock;
pub mod mpsc;
mod schedule;
pub mod thread;

pub use cell::UnsafeCell;
pub use condvar::{Barrier, BarrierWaitResult, Condvar, WaitTimeoutResult};
pub use lock::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use shuttle::hint;
pub use shuttle::sync::Arc;

pub use crate::__thread_local as thread_local;

#[doc(hidden)]
pub use shuttle::thread_local as model_thread_local;

use std::time::{Duration, Instant};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

use crate::record;

/// This many schedules are tried of each kind.
const SCHEDULES: usize = 500;
/// The number of priority changes in a schedule is less than this: a bug that needs at most this
/// many steps in one order is found with a known probability (Burckhardt and others, 2010).
const DEPTH: usize = 3;
/// The same schedules each time: a model that has passed passes again. `SHUTTLE_RANDOM_SEED`
/// selects others.
const SEED: u64 = 1;
/// Steps in one execution; more is a loop that never ends. With priorities, a thread that spins can
/// starve the thread that it waits for, forever: such a schedule is given up, and says nothing.
const STEPS: usize = 50_000;
/// An exploration of one kind ends, and passes, after this long: some fifty times what ours take on
/// an idle machine.
const TIME: Duration = Duration::from_secs(60);

/// Runs `body` under many random schedules, and then under as many with few changes of priority
/// (PCT), and prints how many there were. The former switch threads at every other step; the latter
/// let some threads stand still for long.
///
/// # Panics
///
/// If `body` panics, deadlocks or, under a random schedule, never ends; shuttle prints the
/// schedule, which `shuttle::replay` repeats.
pub fn model(body: impl Fn() + Send + Sync + 'static) {
    let start = Instant::now();
    let body = Arc::new(body);
    if record::file().is_some() {
        failing::record(&body);
    }
    let random = RandomScheduler::new_from_seed(SEED, SCHEDULES);
    let random = try_all(random, MaxSteps::FailAfter(STEPS), body.clone());
    let priorities = PctScheduler::new_from_seed(SEED, DEPTH, SCHEDULES);
    let priorities = try_all(priorities, MaxSteps::ContinueAfter(STEPS), body);
    let seconds = start.elapsed().as_secs_f32();
    let end = match random.min(priorities) {
        SCHEDULES => "",
        _ => ", until the time was up",
    };
    println!(
        "tried {random} schedules at random and {priorities} by priorities in {seconds:.1} s{end}"
    );
}

/// Returns how many schedules were tried.
fn try_all(
    scheduler: impl Scheduler + 'static,
    max_steps: MaxSteps,
    body: Arc<impl Fn() + Send + Sync + 'static>,
) -> usize {
    Runner::new(scheduler, config(max_steps)).run(move || body())
}

fn config(max_steps: MaxSteps) -> Config {
    let mut config = Config::new();
    // Without optimization frames are large.
    config.stack_size = 1 << 18;
    config.max_steps = max_steps;
    config.max_time = Some(TIME);
    config.silence_warnings = true;
    if record::file().is_some() {
        config.failure_persistence = FailurePersistence::None;
    }
    config
        .ungraceful_shutdown_config
        .immediately_return_on_panic = true;
    config
}

/// Like [`model`]: shuttle leaves out no order on purpose.
///
/// # Panics
///
/// Like [`model`].
pub fn model_every_load(body: impl Fn() + Send + Sync + 'static) {
    model(body);
}
