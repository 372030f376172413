//! The checks of exercise 5, one or more for each clause of the contract.
//!
//! Most of them drive the timers themselves, with times that are an hour ahead.
//! As a result, they don't have to wait, and nothing depends on how loaded the
//! machine is.
#![allow(clippy::drop_non_drop, reason = "the stub's types own nothing yet")]

mod deadlines;
mod due_together;
mod histories;
mod places;
mod polls;
mod timer_thread;
mod wakers;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use primitives::chaos::with_chaos;
use testkit::{
    CountingWaker, Gate, HostileClone, HostileWaker, Lesson, PanicOnDrop,
    StackWakers, ThreadProbe, WakeCounts, check, durations_that_wrap,
    idle_cost, live_bytes, panic_message, thread_count, wakers_without_data,
    with_slow_allocations,
};

use super::{Sleep, Timers, sleep, sleep_until};

const NS: Duration = Duration::from_nanos(1);
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);
const YEAR: Duration = HOUR.saturating_mul(24 * 365);
/// The seed for what happens under chaos, and for which durations are drawn.
const SEED: u64 = 5;
/// How long a check repeats what only luck can show. On a machine that is busy
/// with other things, that makes fewer rounds.
const LUCK: Duration = Duration::from_secs(2);

/// Numbers that look random: xorshift64 (Marsaglia, 2003).
fn draw(state: &Cell<u64>) -> u64 {
    let mut number = state.get();
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    state.set(number);
    number
}

/// Timers driven by hand, which count how often they call `unpark`.
struct Driven {
    timers: Arc<Timers>,
    unparks: Arc<AtomicUsize>,
    /// The time that the driver passes to `fire`: so far ahead that std's clock
    /// doesn't get there.
    now: Instant,
    calls: usize,
}

impl Driven {
    fn new() -> Self {
        Self::starting_at(Instant::now() + HOUR)
    }

    fn starting_at(now: Instant) -> Self {
        let unparks = Arc::new(AtomicUsize::new(0));
        let counted = unparks.clone();
        let timers = Timers::new(move || _ = counted.fetch_add(1, SeqCst));
        let mut driven = Self {
            timers: Arc::new(timers),
            unparks,
            now,
            calls: 0,
        };
        driven.fire();
        driven
    }

    fn after(&self, duration: Duration) -> Sleep {
        self.timers.sleep_until(self.now + duration)
    }

    fn fire(&mut self) -> Option<Instant> {
        self.calls += 1;
        self.timers.fire(self.now)
    }

    /// Calls `fire` until it doesn't have to be called again soon, since a
    /// wheel may have to advance first. Returns when it has to be called next;
    /// `None` if never.
    fn fire_until_idle(&mut self) -> Option<Instant> {
        let mut next = self.fire();
        while let Some(soon) = next.filter(|it| *it < self.now + 4 * MS) {
            self.now = self.now.max(soon);
            next = self.fire();
        }
        next
    }

    /// Drives the timers until `end`, as a thread would that is never late.
    /// After each `fire`, calls `look` with the time.
    fn run_until(&mut self, end: Instant, mut look: impl FnMut(Instant)) {
        loop {
            let unparks = self.unparks.load(SeqCst);
            let next = self.fire();
            look(self.now);
            let why = match next.is_some_and(|next| next <= self.now) {
                true => {
                    ": it returns a time that has come, and doesn't wake what is due then (`<` for \
                     `<=`?)"
                }
                false => "",
            };
            assert!(
                self.calls < 100_000,
                "`fire` was called {} times and still asks to be called again{why}",
                self.calls
            );
            if self.unparks.load(SeqCst) > unparks {
                continue;
            }
            match next {
                Some(next) if next <= end => self.now = self.now.max(next),
                _ => break,
            }
        }
        look(self.now);
        self.now = end.max(self.now);
        self.fire();
        look(self.now);
    }
}

/// Polls once. Returns `true` if the sleep is ready.
fn poll(sleep: &mut Sleep, waker: &Waker) -> bool {
    let mut cx = Context::from_waker(waker);
    Pin::new(sleep).poll(&mut cx).is_ready()
}

/// Polls a sleep once, with a waker that counts.
fn begin(mut sleep: Sleep) -> (Sleep, Arc<WakeCounts>) {
    let (waker, counts) = CountingWaker::new();
    let is_ready = poll(&mut sleep, &waker);
    assert!(!is_ready, "a sleep is ready before its deadline");
    (sleep, counts)
}

/// Runs a sleep on this thread, without any `block_on`.
fn wait_for(mut sleep: Sleep) {
    let (announce, announced) = mpsc::channel();
    let waker = HostileWaker::new(move || _ = announce.send(()));
    while !poll(&mut sleep, &waker) {
        announced
            .recv()
            .expect("the sleep keeps its waker until it is woken");
    }
}
