//! Tests a wake-up at each step of a thread that goes to sleep, and a thread that goes to sleep at
//! each step of a wake-up.
//!
//! A race that is run a thousand times hits a gap of a few nanoseconds now and then, and on a busy
//! machine hardly ever. Here one of the two threads is run one machine instruction at a time, with
//! the processor's own trap flag, and stopped after a given number of them. The other thread then
//! does its part until it is done or sleeps. With one round for each instruction, or for each that
//! may touch what the threads share, the gap is hit,
//! no matter how narrow it is and what else the machine does.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::thread_probe::OpenProbe;
use crate::{child, trap, watchdog};

/// How many instructions are stepped through in each of the two sweeps. A
/// step takes a microsecond, or ten in a virtual machine.
const STEPS: u32 = 60_000;
/// With so many, a sweep stops at each instruction.
const STEPS_TO_ALL: u32 = STEPS / 2;
/// After this many instructions a thread isn't going to sleep; it spins.
const MAX_STEPS: u32 = 5_000;
/// How often the other thread may spin instead of going to sleep.
const MAX_SPINS: u32 = 10;
/// How much CPU time shows that the other thread spins.
const SPIN_NS: u64 = 2_000_000;
/// How often the partner looks for a question before it sleeps.
const SPINS_BEFORE_PARK: u32 = 20_000;
/// Stands for the number of a round that never comes.
const STOP: u32 = u32::MAX;

/// Which of the two threads is run step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stepped {
    /// The thread that waits, from the end of its poll until it sleeps.
    Sleeper,
    /// The thread that wakes it, during `wake`.
    Waker,
}

/// Has `wait` wait for one [`SteppedAnswer`] after the other. In each round the whole wake-up comes
/// at one step between the poll and the sleep; then, in each round of a second sweep, everything
/// between the poll and the sleep happens at one step of the wake-up.
///
/// Where a thread can't be stepped (it takes Linux on x86-64, and the child process of a check), it
/// does nothing.
///
/// # Panics
///
/// Passes on a panic of `wait` or of a waker.
pub fn race_step_by_step(mut wait: impl FnMut(SteppedAnswer)) {
    if !child::is_child() || !trap::install(at_stop) {
        return;
    }
    let partner = thread::spawn(answer_all);
    let mut run = Run {
        wait: &mut wait,
        partner: partner.thread(),
        round: 0,
    };
    run.sweep(Stepped::Sleeper);
    run.sweep(Stepped::Waker);
    HAS_RUN.store(true, SeqCst);
    STAGE.ask(STOP, partner.thread());
    partner.join().expect("waking does not panic");
}

/// Whether a race has been run step by step.
static HAS_RUN: AtomicBool = AtomicBool::new(false);

/// Whether this process has hit each moment of a race already, so that luck needn't.
pub(crate) fn has_run() -> bool {
    HAS_RUN.load(SeqCst)
}

struct Run<'a> {
    // Any way of waiting, so that the rest is compiled once.
    wait: &'a mut dyn FnMut(SteppedAnswer),
    partner: &'a Thread,
    round: u32,
}

impl Run<'_> {
    fn sweep(&mut self, stepped: Stepped) {
        STAGE
            .is_waker_stepped
            .store(stepped == Stepped::Waker, SeqCst);
        STAGE.spins.store(0, SeqCst);
        // Once to warm up, because first uses take paths of their own. Once to see how many steps
        // there are.
        self.run(stepped, MAX_STEPS);
        let length = self.run(stepped, MAX_STEPS);
        // With few steps, each of them. With many, as in a debug build, those at which the other
        // thread can tell the difference.
        let stops = match length * (length + 1) / 2 <= STEPS_TO_ALL {
            true => [(1..=length).collect(), Vec::new()],
            false => trap::accesses(),
        };
        let stops = stops.iter().flat_map(|stops| scattered(stops));
        let mut left = STEPS;
        for stop_at in stops {
            left = left.saturating_sub(stop_at);
            if left == 0 || STAGE.spins.load(SeqCst) >= MAX_SPINS {
                return;
            }
            self.run(stepped, stop_at);
        }
    }

    /// Runs one round and returns how many steps were taken.
    fn run(&mut self, stepped: Stepped, stop_at: u32) -> u32 {
        self.round += 1;
        let cpu_before = STAGE.cpu();
        STAGE.stop_at.store(stop_at, SeqCst);
        (self.wait)(SteppedAnswer {
            partner: self.partner.clone(),
            round: self.round,
            stepped,
            is_asked: false,
        });
        while STAGE.partner_done.load(SeqCst) < self.round {
            thread::yield_now();
        }
        if let (Some(before), Some(after)) = (cpu_before, STAGE.cpu()) {
            watchdog::excuse(after.saturating_sub(before));
        }
        trap::steps()
    }
}

/// All of them, with consecutive ones far apart: a sweep that stops early has seen a bit of
/// everything.
fn scattered(stops: &[u32]) -> impl Iterator<Item = u32> {
    let are_coprime = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    let length = stops.len();
    // Near the golden section of the whole.
    let stride = (length * 5 / 8..=length)
        .find(|&stride| are_coprime(stride, length))
        .unwrap_or(1);
    (0..length).map(move |index| stops[index * stride % length])
}

/// What the two threads and the trap handler share.
struct Stage {
    waker: Mutex<Option<Waker>>,
    stop_at: AtomicU32,
    is_waker_stepped: AtomicBool,
    /// How often the other thread was found spinning.
    spins: AtomicU32,
    /// The round whose question has been asked.
    asked: AtomicU32,
    /// The round whose future is ready.
    answered: AtomicU32,
    /// The round in which the thread that isn't stepped may do its part.
    released: AtomicU32,
    /// The round in which it has started its part.
    started: AtomicU32,
    /// The round in which it has done its part.
    done: AtomicU32,
    /// The round in which the partner has nothing left to do.
    partner_done: AtomicU32,
    is_partner_asleep: AtomicBool,
    sleeper: OpenProbe,
    partner: OpenProbe,
}

static STAGE: Stage = Stage {
    waker: Mutex::new(None),
    stop_at: AtomicU32::new(0),
    is_waker_stepped: AtomicBool::new(false),
    spins: AtomicU32::new(0),
    asked: AtomicU32::new(0),
    answered: AtomicU32::new(0),
    released: AtomicU32::new(0),
    started: AtomicU32::new(0),
    done: AtomicU32::new(0),
    partner_done: AtomicU32::new(0),
    is_partner_asleep: AtomicBool::new(false),
    sleeper: OpenProbe::new(),
    partner: OpenProbe::new(),
};

impl Stage {
    fn ask(&self, round: u32, partner: &Thread) {
        self.asked.store(round, SeqCst);
        if self.is_partner_asleep.load(SeqCst) {
            partner.unpark();
        }
    }

    /// The CPU time that both threads have used. `None` before the first round.
    fn cpu(&self) -> Option<Duration> {
        let ns = self.sleeper.cpu_ns()? + self.partner.cpu_ns()?;
        Some(Duration::from_nanos(ns))
    }

    fn lock_waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs in the trap handler, on the thread that is stepped, at the step where it has to stop: has
/// the other thread do its part. Allocates nothing and takes no lock, since that thread may be
/// inside either.
fn at_stop() {
    let round = STAGE.asked.load(SeqCst);
    let other = match STAGE.is_waker_stepped.load(SeqCst) {
        true => &STAGE.sleeper,
        false => &STAGE.partner,
    };
    let cpu_before = other.cpu_ns().unwrap_or(0);
    STAGE.released.store(round, SeqCst);
    loop {
        let has_started = STAGE.started.load(SeqCst) >= round;
        if STAGE.done.load(SeqCst) >= round || has_started && other.is_asleep() {
            return;
        }
        // It may wait for this thread in a loop, with a spin lock.
        let cpu = other.cpu_ns().unwrap_or(u64::MAX);
        if has_started && cpu.saturating_sub(cpu_before) > SPIN_NS {
            STAGE.spins.fetch_add(1, SeqCst);
            return;
        }
        thread::yield_now();
    }
}

/// The partner: answers one question after the other.
fn answer_all() {
    STAGE.partner.open_here();
    for round in 1.. {
        wait_for_question(round);
        if STAGE.asked.load(SeqCst) == STOP {
            return;
        }
        // Ends the wait of the other thread even if the waker panics.
        let _done = PartnerDone(round);
        match STAGE.is_waker_stepped.load(SeqCst) {
            true => wake_step_by_step(round),
            false => wake_once_released(round),
        }
    }
}

struct PartnerDone(u32);

impl Drop for PartnerDone {
    fn drop(&mut self) {
        trap::stop();
        STAGE.released.store(self.0, SeqCst);
        STAGE.partner_done.store(self.0, SeqCst);
    }
}

/// Spins first, for the sake of speed. Sleeps in the end, so that all threads are seen to sleep if
/// no question comes anymore.
fn wait_for_question(round: u32) {
    let is_asked = || STAGE.asked.load(SeqCst) >= round;
    for _ in 0..SPINS_BEFORE_PARK {
        if is_asked() {
            return;
        }
        thread::yield_now();
    }
    STAGE.is_partner_asleep.store(true, SeqCst);
    while !is_asked() {
        thread::park();
    }
    STAGE.is_partner_asleep.store(false, SeqCst);
}

/// Wakes when the sleeper has come to the step at which it stops, or sleeps and won't reach it any
/// more.
fn wake_once_released(round: u32) {
    while STAGE.released.load(SeqCst) < round
        && !STAGE.sleeper.is_asleep()
        && trap::steps() < MAX_STEPS
    {
        thread::yield_now();
    }
    STAGE.started.store(round, SeqCst);
    STAGE.answered.store(round, SeqCst);
    let waker = STAGE.lock_waker().take();
    waker.expect("it was put there first").wake();
    STAGE.done.store(round, SeqCst);
}

fn wake_step_by_step(round: u32) {
    STAGE.answered.store(round, SeqCst);
    let waker = STAGE.lock_waker().take();
    let waker = waker.expect("it was put there first");
    trap::start(STAGE.stop_at.load(SeqCst), MAX_STEPS);
    waker.wake();
    trap::stop();
}

/// Asks when it is first polled, and is ready once the other thread has
/// answered.
#[derive(Debug)]
pub struct SteppedAnswer {
    partner: Thread,
    round: u32,
    stepped: Stepped,
    is_asked: bool,
}

impl Future for SteppedAnswer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let round = self.round;
        if STAGE.answered.load(SeqCst) == round {
            if self.stepped == Stepped::Sleeper {
                trap::stop();
            } else {
                STAGE.done.store(round, SeqCst);
            }
            return Poll::Ready(());
        }
        if self.is_asked {
            return Poll::Pending;
        }
        self.is_asked = true;
        STAGE.sleeper.open_here();
        *STAGE.lock_waker() = Some(cx.waker().clone());
        let stop_at = STAGE.stop_at.load(SeqCst);
        trap::reset();
        STAGE.ask(round, &self.partner);
        match self.stepped {
            Stepped::Sleeper => trap::start(stop_at, MAX_STEPS),
            Stepped::Waker => {
                while STAGE.released.load(SeqCst) < round {
                    thread::yield_now();
                }
                STAGE.started.store(round, SeqCst);
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_step_has_its_round() {
        for length in [0, 1, 2, 7, 8, 60, 5_000] {
            let all: Vec<u32> = (1..=length).collect();
            let steps: BTreeSet<u32> = scattered(&all).collect();
            assert!(steps.into_iter().eq(all), "of {length} steps");
        }
    }
}
