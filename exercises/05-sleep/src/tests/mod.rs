//! The checks of exercise 5, one or more for each clause of the contract.
//!
//! Most drive the timers themselves, by times that lie an hour ahead. So they
//! need not wait, and nothing depends on how loaded the machine is.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

mod deadlines;
mod due_together;
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
/// Decides what happens under chaos, and which durations are drawn.
const SEED: u64 = 5;
/// For so long a check repeats what only luck can show. On a machine that is
/// busy with other things it is content with fewer rounds.
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

/// Timers driven by hand, which count how often they rouse.
struct Driven {
    timers: Arc<Timers>,
    rouses: Arc<AtomicUsize>,
    /// What time the driver says it is: so far ahead that std's clock does not
    /// come there.
    now: Instant,
    turns: usize,
}

impl Driven {
    fn new() -> Self {
        let rouses = Arc::new(AtomicUsize::new(0));
        let counted = rouses.clone();
        let timers = Timers::new(move || _ = counted.fetch_add(1, SeqCst));
        let mut driven = Self {
            timers: Arc::new(timers),
            rouses,
            now: Instant::now() + HOUR,
            turns: 0,
        };
        driven.fire();
        driven
    }

    fn after(&self, duration: Duration) -> Sleep {
        self.timers.sleep_until(self.now + duration)
    }

    fn fire(&mut self) -> Option<Instant> {
        self.turns += 1;
        self.timers.fire(self.now)
    }

    /// Fires until there is time before it has to be done again: a wheel may
    /// have to turn first. Returns when that is; `None` if never.
    fn fire_until_idle(&mut self) -> Option<Instant> {
        let mut next = self.fire();
        while let Some(soon) = next.filter(|it| *it < self.now + 4 * MS) {
            self.now = self.now.max(soon);
            next = self.fire();
        }
        next
    }

    /// Drives the timers as a thread would that is never late, until `end`.
    /// After each turn `look` is told what time it is.
    fn run_until(&mut self, end: Instant, mut look: impl FnMut(Instant)) {
        loop {
            let rouses = self.rouses.load(SeqCst);
            let next = self.fire();
            look(self.now);
            let why = match next.is_some_and(|next| next <= self.now) {
                true => {
                    ": it returns a time that has come, and leaves what is due then asleep \
                     (`<` for `<=`?)"
                }
                false => "",
            };
            assert!(
                self.turns < 100_000,
                "`fire` was called {} times and still wants more{why}",
                self.turns
            );
            if self.rouses.load(SeqCst) > rouses {
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

/// A sleep that was polled once, by a waker that counts.
fn begin(mut sleep: Sleep) -> (Sleep, Arc<WakeCounts>) {
    let (waker, counts) = CountingWaker::new();
    let is_ready = poll(&mut sleep, &waker);
    assert!(!is_ready, "it is ready before its deadline");
    (sleep, counts)
}

/// Runs a sleep on this thread, without help of any `block_on`.
fn wait_for(mut sleep: Sleep) {
    let (tell, told) = mpsc::channel();
    let waker = HostileWaker::new(move || _ = tell.send(()));
    while !poll(&mut sleep, &waker) {
        told.recv()
            .expect("the sleep keeps its waker until it is woken");
    }
}
