//! std's primitives, made hostile within what their contracts allow.
//!
//! While [`with_chaos`] runs, a condition variable and `park` return without
//! cause, a weak exchange fails without cause, and threads are delayed before
//! they touch anything shared. A seed decides; each thread draws its own
//! numbers from it.
//!
//! Chaos or not, each thread counts its atomic read-modify-writes:
//! [`read_modify_writes`].

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LockResult, MutexGuard, PoisonError, TryLockResult};
use std::time::Duration;

/// Zero while chaos is off.
static SEED: AtomicU64 = AtomicU64::new(0);
/// Numbers the threads, so that each draws other numbers.
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

/// How many atomic read-modify-writes this thread has made by the types of
/// this module: swaps, exchanges and arithmetic. To lock a [`Mutex`] and to
/// [`park`](thread::park) count as one each, for what they do inside. An
/// [`Arc`](std::sync::Arc) is not counted.
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
    if seed == 0 {
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

/// Whether to do what is allowed once in four times.
fn strikes() -> bool {
    draw().is_some_and(|number| number >> 32 & 3 == 0)
}

/// Delays the thread a little, or lets others run.
fn delay() {
    let Some(number) = draw() else { return };
    match number >> 32 & 7 {
        0 => std::thread::yield_now(),
        1 | 2 => (0..number >> 40 & 255).for_each(|_| std::hint::spin_loop()),
        _ => {}
    }
}

/// Whether a timed wait ended because its time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the time was up.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A [`std::sync::Mutex`], delayed before it is locked while there is chaos.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Makes an unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Takes the value out.
    ///
    /// # Errors
    ///
    /// When the mutex is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until nobody else holds the mutex, and takes it.
    ///
    /// # Errors
    ///
    /// When the mutex is poisoned.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        delay();
        count_read_modify_write();
        self.0.lock()
    }

    /// Takes the mutex if nobody holds it.
    ///
    /// # Errors
    ///
    /// When somebody holds it, and when it is poisoned.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        delay();
        count_read_modify_write();
        self.0.try_lock()
    }

    /// Reaches the value without a lock: nobody else can.
    ///
    /// # Errors
    ///
    /// When the mutex is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }
}

/// A [`std::sync::Condvar`] that returns without cause while there is chaos.
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// Makes a condition variable.
    pub const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    /// Waits until notified, or without cause.
    ///
    /// # Errors
    ///
    /// When the mutex is poisoned.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        delay();
        if strikes() {
            return Ok(guard);
        }
        self.0.wait(guard)
    }

    /// Waits until notified, for at most `limit`, or without cause.
    ///
    /// # Errors
    ///
    /// When the mutex is poisoned.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        delay();
        if strikes() {
            return Ok((guard, WaitTimeoutResult(false)));
        }
        match self.0.wait_timeout(guard, limit) {
            Ok((guard, result)) => Ok((guard, WaitTimeoutResult(result.timed_out()))),
            Err(poisoned) => {
                let (guard, result) = poisoned.into_inner();
                Err(PoisonError::new((
                    guard,
                    WaitTimeoutResult(result.timed_out()),
                )))
            }
        }
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        delay();
        self.0.notify_one();
    }

    /// Wakes every waiting thread.
    pub fn notify_all(&self) {
        delay();
        self.0.notify_all();
    }
}

/// [`std::thread`], with a `park` that returns without cause while there is
/// chaos.
pub mod thread {
    pub use std::thread::*;

    /// Waits for the token, or returns without cause.
    pub fn park() {
        super::delay();
        super::count_read_modify_write();
        if !super::strikes() {
            std::thread::park();
        }
    }

    /// Waits for the token for at most `limit`, or returns without cause.
    pub fn park_timeout(limit: std::time::Duration) {
        super::delay();
        super::count_read_modify_write();
        if !super::strikes() {
            std::thread::park_timeout(limit);
        }
    }
}

/// std's atomics, delayed before each operation while there is chaos, and
/// with a weak exchange that fails without cause.
pub mod atomic {
    pub use std::sync::atomic::{Ordering, fence};

    /// Wraps one of std's atomics.
    macro_rules! chaotic {
        ($name:ident, $value:ty) => {
            #[doc = concat!("A [`std::sync::atomic::", stringify!($name), "`] under chaos.")]
            #[derive(Debug, Default)]
            pub struct $name(std::sync::atomic::$name);

            impl $name {
                /// Makes an atomic with this value.
                pub const fn new(value: $value) -> Self {
                    Self(std::sync::atomic::$name::new(value))
                }

                chaotic!(@forward load() -> $value);
                chaotic!(@forward store(value: $value) -> ());
                chaotic!(@modify swap(value: $value) -> $value);

                /// Exchanges if the value is `current`.
                ///
                /// # Errors
                ///
                /// The value found, if it is another.
                pub fn compare_exchange(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    super::delay();
                    super::count_read_modify_write();
                    self.0.compare_exchange(current, new, success, failure)
                }

                /// Exchanges if the value is `current`, and now and then not
                /// even then.
                ///
                /// # Errors
                ///
                /// The value found.
                pub fn compare_exchange_weak(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    super::delay();
                    super::count_read_modify_write();
                    if super::strikes() {
                        return Err(self.0.load(failure));
                    }
                    self.0.compare_exchange_weak(current, new, success, failure)
                }
            }
        };
        (@forward $method:ident($($argument:ident: $type:ty)?) -> $result:ty) => {
            #[doc = concat!("Like the `", stringify!($method), "` of std.")]
            pub fn $method(&self, $($argument: $type,)? ordering: Ordering) -> $result {
                super::delay();
                self.0.$method($($argument,)? ordering)
            }
        };
        (@modify $method:ident($argument:ident: $type:ty) -> $result:ty) => {
            #[doc = concat!("Like the `", stringify!($method), "` of std; counted.")]
            pub fn $method(&self, $argument: $type, ordering: Ordering) -> $result {
                super::delay();
                super::count_read_modify_write();
                self.0.$method($argument, ordering)
            }
        };
    }

    /// Adds the arithmetic of the integer types.
    macro_rules! chaotic_integer {
        ($name:ident, $value:ty) => {
            chaotic!($name, $value);

            impl $name {
                chaotic!(@modify fetch_add(value: $value) -> $value);
                chaotic!(@modify fetch_sub(value: $value) -> $value);
                chaotic!(@modify fetch_and(value: $value) -> $value);
                chaotic!(@modify fetch_or(value: $value) -> $value);
            }
        };
    }

    chaotic!(AtomicBool, bool);
    chaotic_integer!(AtomicU8, u8);
    chaotic_integer!(AtomicU32, u32);
    chaotic_integer!(AtomicU64, u64);
    chaotic_integer!(AtomicUsize, usize);

    pub use std::sync::atomic::AtomicPtr;
}

#[cfg(test)]
mod tests {
    use super::atomic::{AtomicU32, Ordering::Relaxed};
    use super::*;

    const SEED: u64 = 42;
    const TRIES: u32 = 1_000;

    // One test, since the switch is the process's.
    #[test]
    fn what_may_fail_fails_only_while_there_is_chaos() {
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
                    *flag.lock().expect("nobody panics") = true;
                    condvar.notify_one();
                }
            });
            for _ in 0..ROUNDS {
                let mut guard = flag.lock().expect("nobody panics");
                meeting.wait();
                while !*guard {
                    guard = condvar.wait(guard).expect("nobody panics");
                    returns += 1;
                }
                *guard = false;
            }
        });
        returns
    }
}
