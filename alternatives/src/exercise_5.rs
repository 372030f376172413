//! Other correct versions of the sleep.

pub mod buckets;
pub mod condvar_and_list;
pub mod flags_and_wakers;
pub mod heap_of_flags;
pub mod heap_with_places;
pub mod ordered_map;
pub mod sharded;

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

/// The timers of the process, and the thread that drives them, with a parker.
macro_rules! process_timers {
    () => {
        /// Creates a future that is ready once `duration` has passed.
        pub fn sleep(duration: Duration) -> Sleep {
            let deadline = Instant::now().checked_add(duration);
            timers_of_process().sleep(deadline)
        }

        /// Creates a future that is ready once `deadline` has come.
        pub fn sleep_until(deadline: Instant) -> Sleep {
            timers_of_process().sleep_until(deadline)
        }

        fn timers_of_process() -> &'static Timers {
            use std::sync::LazyLock;
            static TIMERS: LazyLock<&'static Timers> = LazyLock::new(|| {
                let parker = parker::Parker::new();
                let unparker = parker.unparker();
                let timers = Timers::new(move || unparker.unpark());
                let timers: &'static Timers = Box::leak(Box::new(timers));
                let thread = std::thread::Builder::new().name("timer".into());
                let started = thread.spawn(move || {
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
                });
                started.expect("the timer thread can be started");
                timers
            });
            *TIMERS
        }
    };
}
use process_timers;
