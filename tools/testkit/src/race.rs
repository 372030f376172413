//! A race between a thread that goes to sleep and one that wakes it.

use std::hint;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::step_by_step;

/// This many rounds are run however slow the machine is.
const FEWEST_ROUNDS: u32 = if cfg!(miri) { 20 } else { 100 };
/// After this many rounds the delays start again.
const DELAYS: u32 = 128;
/// Stands for the number of a round that never comes.
const STOP: u32 = u32::MAX;

/// How often the answering thread looks for a question before it sleeps.
const LOOKS: u32 = 100_000;

/// Has `wait` wait for one [`Answer`] after the other until `time` has passed. Another thread
/// answers each at once, and so wakes just about when `wait` goes to sleep: sometimes a little
/// earlier, sometimes a little later. No single round can hit a narrow moment, but many do. After
/// [`race_step_by_step`](crate::race_step_by_step), which hits it without luck, a third of the time
/// is enough.
///
/// # Panics
///
/// Passes on a panic of `wait` or of a waker.
pub fn race_with_wakes(time: Duration, mut wait: impl FnMut(Answer)) {
    race(time, &mut wait);
}

/// The same for any way of waiting, so that it's compiled once.
fn race(time: Duration, wait: &mut dyn FnMut(Answer)) {
    let desk = Arc::new(Desk::default());
    let answering = thread::spawn({
        let desk = desk.clone();
        move || desk.answer_all()
    });
    let time = if step_by_step::has_run() {
        time / 3
    } else {
        time
    };
    let end = Instant::now() + time;
    let mut round = 0;
    while round < FEWEST_ROUNDS || !cfg!(miri) && Instant::now() < end {
        round += 1;
        wait(Answer {
            desk: desk.clone(),
            answering: answering.thread().clone(),
            round,
            is_asked: false,
        });
    }
    desk.ask(STOP, answering.thread());
    answering.join().expect("waking does not panic");
}

/// Asks when it is first polled, and is ready when the other thread has
/// answered.
#[derive(Debug)]
pub struct Answer {
    desk: Arc<Desk>,
    answering: Thread,
    round: u32,
    is_asked: bool,
}

/// What the two threads share.
#[derive(Debug, Default)]
struct Desk {
    /// The waker of the newest question.
    waker: Mutex<Option<Waker>>,
    /// The round of the newest question.
    asked: AtomicU32,
    /// The round of the newest answer.
    answered: AtomicU32,
    /// Whether the answering thread has to be unparked for a question.
    is_asleep: AtomicBool,
}

impl Desk {
    fn ask(&self, round: u32, answering: &Thread) {
        self.asked.store(round, SeqCst);
        if self.is_asleep.load(SeqCst) {
            answering.unpark();
        }
    }

    fn answer_all(&self) {
        for round in 1.. {
            self.wait_for_question(round);
            if self.asked.load(SeqCst) == STOP {
                return;
            }
            let waker = self.lock_waker().take();
            self.answered.store(round, SeqCst);
            waker.expect("it was put there first").wake();
        }
    }

    /// Spins first, because being unparked takes too long to hit a narrow moment. Sleeps in the
    /// end, so that all threads are seen to sleep if no question comes anymore.
    fn wait_for_question(&self, round: u32) {
        let is_asked = || self.asked.load(SeqCst) >= round;
        for look in 1..=LOOKS {
            if is_asked() {
                return;
            }
            if look.is_multiple_of(1_000) {
                thread::yield_now();
            }
            hint::spin_loop();
        }
        self.is_asleep.store(true, SeqCst);
        while !is_asked() {
            thread::park();
        }
        self.is_asleep.store(false, SeqCst);
    }

    fn lock_waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Answer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.desk.answered.load(SeqCst) == self.round {
            return Poll::Ready(());
        }
        if !mem::replace(&mut self.is_asked, true) {
            *self.desk.lock_waker() = Some(cx.waker().clone());
            self.desk.ask(self.round, &self.answering);
            // Each round goes to sleep at a different moment, so that the wake-up hits each moment
            // in time.
            (0..self.round % DELAYS).for_each(|_| hint::spin_loop());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CountingWaker;
    use std::pin::pin;

    #[test]
    fn a_late_question_is_answered() {
        let mut rounds = 0;
        race_with_wakes(Duration::ZERO, |answer| {
            rounds += 1;
            while rounds == 2 && !answer.desk.is_asleep.load(SeqCst) {
                thread::yield_now();
            }
            let mut answer = pin!(answer);
            let mut cx = Context::from_waker(Waker::noop());
            while answer.as_mut().poll(&mut cx).is_pending() {
                thread::yield_now();
            }
        });
    }

    #[test]
    fn each_answer_wakes_once() {
        let mut rounds = 0;
        race_with_wakes(Duration::ZERO, |answer| {
            rounds += 1;
            let mut answer = pin!(answer);
            let (waker, counts) = CountingWaker::new();
            let mut cx = Context::from_waker(&waker);
            assert!(answer.as_mut().poll(&mut cx).is_pending());
            while counts.wakes() == 0 {
                thread::yield_now();
            }
            assert!(answer.as_mut().poll(&mut cx).is_ready());
            assert_eq!(counts.wakes(), 1, "one answer, one wake");
        });
        assert_eq!(rounds, FEWEST_ROUNDS);
    }
}
