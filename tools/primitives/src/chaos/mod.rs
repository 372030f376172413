//! std's primitives, made hostile within what their contracts allow.
//!
//! While [`with_chaos`] runs, a condition variable and `park` return
//! spuriously, a weak compare-exchange fails spuriously, and threads are
//! delayed before they touch anything shared. A seed determines when; each
//! thread draws its own numbers from it.
//!
//! [`at_moment`] has something happen before a given operation of a thread, and
//! [`hold_after_timeout`] holds a thread at a given moment after its time was up.
//!
//! Chaos or not, each thread counts its atomic read-modify-writes:
//! [`read_modify_writes`].

pub mod atomic;
mod hold;
mod late;
mod lock;
mod moment;
pub mod thread;

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub use hold::{Hold, hold_after_timeout};
pub use late::with_late_returns;
pub use lock::{Condvar, Mutex, WaitTimeoutResult};
pub use moment::{at_moment, plan_moment};

/// Zero while chaos is off.
static SEED: AtomicU64 = AtomicU64::new(0);
/// Stands for no seed, while [`at_moment`] runs without chaos.
const ONLY_MOMENTS: u64 = u64::MAX;
/// Numbers the threads, so that each draws different numbers.
static THREADS: AtomicU64 = AtomicU64::new(1);

std::thread_local! {
    /// The seed that this thread draws for, and its last number.
    static STATE: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Runs `body` with chaos for every thread of the process. Prints the seed,
/// so that a failure can be repeated as far as threads can.
///
/// # Panics
///
/// Passes on a panic of `body`. `seed` must not be zero.
pub fn with_chaos<R>(seed: u64, body: impl FnOnce() -> R) -> R {
    assert!(seed != 0, "the seed must not be zero");
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            SEED.store(0, Relaxed);
        }
    }
    SEED.store(seed, Relaxed);
    let _off = Off;
    println!("chaos with seed {seed}");
    body()
}

std::thread_local! {
    static READ_MODIFY_WRITES: Cell<u64> = const { Cell::new(0) };
}

/// How many atomic read-modify-writes this thread has made with the types of
/// this module: swaps, compare-exchanges and arithmetic. Locking a [`Mutex`]
/// and [`park`](thread::park) count as one each, for what they do inside. An
/// [`Arc`](std::sync::Arc) isn't counted.
///
/// Unlike a time, the count is the same on every machine.
pub fn read_modify_writes() -> u64 {
    READ_MODIFY_WRITES.get()
}

fn count_read_modify_write() {
    // `try_with`: threads also lock and park while their locals are destroyed.
    let _ = READ_MODIFY_WRITES.try_with(|count| count.set(count.get() + 1));
}

/// Draws a number, or `None` while chaos is off.
fn draw() -> Option<u64> {
    let seed = SEED.load(Relaxed);
    if seed == 0 || seed == ONLY_MOMENTS {
        return None;
    }
    STATE.with(|state| {
        let (drawn_for, mut number) = state.get();
        if drawn_for != seed {
            let thread = THREADS.fetch_add(1, Relaxed);
            number = seed ^ thread.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        }
        // xorshift64 (Marsaglia, 2003).
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        state.set((seed, number));
        Some(number)
    })
}

/// Whether to do what is allowed one time in four.
fn strikes() -> bool {
    draw().is_some_and(|number| number >> 32 & 3 == 0)
}

/// Delays the thread a little, or lets others run.
fn delay() {
    hold::pass();
    if SEED.load(Relaxed) == 0 {
        return;
    }
    moment::pass();
    let Some(number) = draw() else { return };
    match number >> 32 & 7 {
        0 => std::thread::yield_now(),
        1 | 2 => (0..number >> 40 & 255).for_each(|_| std::hint::spin_loop()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::atomic::{AtomicU32, Ordering::Relaxed};
    use super::*;

    const SEED: u64 = 42;
    const TRIES: u32 = 1_000;

    /// Held by each test that chaos would disturb: the switch is the process's.
    pub(super) static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

    #[test]
    fn what_may_fail_fails_only_while_there_is_chaos() {
        let _alone = ALONE.lock();
        let failures = |value: &AtomicU32| {
            let fails = |n: &u32| {
                value
                    .compare_exchange_weak(*n, n + 1, Relaxed, Relaxed)
                    .is_err()
            };
            value.store(0, Relaxed);
            let mut failures = 0;
            let mut next = 0;
            while next < TRIES {
                if fails(&next) {
                    failures += 1
                } else {
                    next += 1
                }
            }
            failures
        };
        let value = AtomicU32::new(0);
        assert!(
            with_chaos(SEED, || failures(&value)) > TRIES / 10,
            "a weak exchange fails now and then"
        );
        assert_eq!(
            failures(&value),
            0,
            "without chaos it does not, on this machine"
        );

        assert!(
            with_chaos(SEED, returns_of_waits) > ROUNDS,
            "a wait returns without cause now and then"
        );
    }

    #[test]
    fn read_modify_writes_are_counted_and_plain_accesses_are_not() {
        let counted = |access: &dyn Fn(&AtomicU32)| {
            let before = read_modify_writes();
            access(&AtomicU32::new(0));
            read_modify_writes() - before
        };
        let plain = counted(&|value| value.store(value.load(Relaxed), Relaxed));
        assert_eq!(plain, 0, "a load and a store");
        let modified = counted(&|value| {
            value.swap(1, Relaxed);
            value.fetch_add(1, Relaxed);
            let _ = value.compare_exchange(2, 3, Relaxed, Relaxed);
            let _ = value.compare_exchange_weak(3, 4, Relaxed, Relaxed);
            drop(Mutex::new(()).lock());
        });
        assert_eq!(modified, 5, "four on the atomic, one by the mutex");
        std::thread::scope(|scope| {
            let other = scope.spawn(read_modify_writes);
            let elsewhere = other.join().expect("counting does not panic");
            assert_eq!(elsewhere, 0, "each thread counts its own");
        });
    }

    const ROUNDS: u32 = 100;

    /// How often `wait` returned until it had been notified [`ROUNDS`] times.
    fn returns_of_waits() -> u32 {
        let (flag, condvar) = (std::sync::Mutex::new(false), Condvar::new());
        let meeting = std::sync::Barrier::new(2);
        let mut returns = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    meeting.wait();
                    *flag.lock().expect("no thread panics") = true;
                    condvar.notify_one();
                }
            });
            for _ in 0..ROUNDS {
                let mut guard = flag.lock().expect("no thread panics");
                meeting.wait();
                while !*guard {
                    guard = condvar.wait(guard).expect("no thread panics");
                    returns += 1;
                }
                *guard = false;
            }
        });
        returns
    }
}
