//! Wrong versions of the sleep.

// The build lists the files in the folder of this name.
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/exercise_5.rs"));
#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/exercise_5.tested.rs"));

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// Called when the driver has to look again.
type Unpark = Box<dyn Fn() + Send + Sync>;

/// Wakes, and ignores a panic of the waker.
fn call(waker: Waker) {
    let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
    // The panic's payload may itself panic when it is dropped.
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(woken)));
    dropped.unwrap_or_else(std::mem::forget);
}

/// Starts timers and the thread that drives them, as given or with a parker.
macro_rules! start_timers {
    () => {
        super::start_timers!(drive);

        /// What the timer thread does.
        fn drive(timers: &Timers, parker: &parker::Parker) {
            loop {
                match timers.fire(Instant::now()) {
                    Some(next) => {
                        let now = Instant::now();
                        let left = next.saturating_duration_since(now);
                        parker.park_timeout(left);
                    }
                    None => parker.park(),
                }
            }
        }
    };
    ($drive:ident) => {
        fn start() -> &'static Timers {
            let parker = parker::Parker::new();
            let unparker = parker.unparker();
            let timers = Timers::new(move || unparker.unpark());
            let timers: &'static Timers = Box::leak(Box::new(timers));
            let thread = std::thread::Builder::new().name("timer".into());
            let started = thread.spawn(move || $drive(timers, &parker));
            started.expect("the timer thread can be started");
            timers
        }
    };
}
use start_timers;

/// The timers of the process, and the thread that drives them.
macro_rules! process_timers {
    ($($drive:ident)?) => {
        /// Creates a future that is ready once `duration` has passed.
        pub fn sleep(duration: Duration) -> Sleep {
            let deadline = Instant::now().checked_add(duration);
            PROCESS.sleep(deadline)
        }

        /// Creates a future that is ready once `deadline` has come.
        pub fn sleep_until(deadline: Instant) -> Sleep {
            PROCESS.sleep_until(deadline)
        }

        static PROCESS: std::sync::LazyLock<&'static Timers> =
            std::sync::LazyLock::new(start);

        super::start_timers!($($drive)?);
    };
}
use process_timers;
