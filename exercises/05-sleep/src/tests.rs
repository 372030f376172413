//! The checks of exercise 5, one or more for each clause of the contract.
//!
//! Most drive the timers themselves, by times that lie an hour ahead. So they
//! need not wait, and nothing depends on how loaded the machine is.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

use std::cell::Cell;
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use sync::chaos::with_chaos;
use testkit::{
    CountingWaker, Gate, HostileWaker, Lesson, PanicOnDrop, ThreadProbe,
    WakeCounts, check, idle_cost, live_bytes, panic_message, thread_count,
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

    /// Drives the timers as a thread would that is never late, until `end`.
    /// After each turn `look` is told what time it is.
    fn run_until(&mut self, end: Instant, mut look: impl FnMut(Instant)) {
        loop {
            let rouses = self.rouses.load(SeqCst);
            let next = self.fire();
            look(self.now);
            assert!(
                self.turns < 100_000,
                "`fire` was called {} times and still wants more",
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

/// Numbers that look random: xorshift64 (Marsaglia, 2003).
fn draw(state: &Cell<u64>) -> u64 {
    let mut number = state.get();
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    state.set(number);
    number
}

/// Runs a sleep on this thread, without help of any `block_on`.
fn wait_for(mut sleep: Sleep) {
    let (tell, told) = mpsc::channel();
    let waker = HostileWaker::new(move || _ = tell.send(()));
    while !poll(&mut sleep, &waker) {
        told.recv().expect("the waker is there");
    }
}

/// Clause 1: whoever is early reads what has not been sent yet.
#[test]
fn nobody_is_woken_before_the_deadline() {
    let lesson = Lesson {
        clause: "1. Never early",
        promise: "A nanosecond before its deadline a sleep is neither ready nor woken.",
        usual_cause: "Times are cut to whole milliseconds. Compare `Instant`s, or round the \
                      deadline up.",
        read: "blocking/sleep.html#never-early",
    };
    check(lesson, || {
        let micros = [1, 999, 1_000, 1_500, 63_999, 64_000, 1_000_001];
        for duration in micros.map(Duration::from_micros) {
            let mut driven = Driven::new();
            let (mut sleep, wakes) = begin(driven.after(duration));
            driven.now += duration - NS;
            driven.fire();
            let wakes = wakes.wakes();
            assert!(wakes == 0, "a sleep of {duration:?} was woken too early");
            let is_ready = poll(&mut sleep, Waker::noop());
            assert!(!is_ready, "a sleep of {duration:?} was ready too early");
        }
    });
}

/// Clause 1: by the real clock.
#[test]
fn a_sleep_lasts_at_least_its_duration() {
    let lesson = Lesson {
        clause: "1. Never early",
        promise: "From the call of `sleep` until its future is ready at least the duration passes.",
        usual_cause: "The rest of the time is cut to whole milliseconds (`as_millis`), or a wait \
                      that returned is taken for time that has passed.",
        read: "blocking/sleep.html#never-early",
    };
    check(lesson, || {
        with_chaos(SEED, || {
            for micros in (1..3_000).step_by(97) {
                let duration = Duration::from_micros(micros);
                let start = Instant::now();
                wait_for(sleep(duration));
                let slept = start.elapsed();
                assert!(
                    slept >= duration,
                    "a sleep of {duration:?} was over after {slept:?}"
                );
            }
        });
    });
}

/// Clause 2: what is late by a turn of the driver may be late by hours.
#[test]
fn each_sleep_is_woken_in_time() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "Whoever calls `fire` when it says wakes each sleep within a millisecond.",
        usual_cause: "What `fire` returns is not the earliest deadline: of those that are left, of \
                      those that came meanwhile, or of a wheel's next level.",
        read: "blocking/sleep.html#who-is-next",
    };
    const SLEEPS: u32 = 400;
    check(lesson, || {
        let random = Cell::new(SEED);
        let mut driven = Driven::new();
        let draw_sleep = |timers: &Timers, now: Instant| {
            // Of every magnitude, from nanoseconds to years.
            let bits = draw(&random) % 58;
            let duration = Duration::from_nanos(draw(&random) >> (63 - bits));
            let deadline = now + duration + NS;
            (deadline, begin(timers.sleep_until(deadline)))
        };
        let mut pending: Vec<_> = (0..SLEEPS / 2)
            .map(|_| draw_sleep(&driven.timers, driven.now))
            .collect();
        let mut left = SLEEPS / 2;
        let timers = driven.timers.clone();
        let end = driven.now + 20 * YEAR;
        driven.run_until(end, |now| {
            pending.retain(|(deadline, (_, wakes))| {
                let is_woken = wakes.wakes() > 0;
                assert!(
                    !is_woken || now >= *deadline,
                    "a sleep was woken {:?} before its deadline",
                    *deadline - now
                );
                let late = now.saturating_duration_since(*deadline);
                assert!(late <= MS, "a sleep was still asleep {late:?} late");
                !is_woken
            });
            while left > 0 && pending.len() < SLEEPS as usize / 2 {
                left -= 1;
                // A new one each time that one has ended.
                pending.push(draw_sleep(&timers, now));
            }
        });
        let forgotten = pending.len();
        assert!(forgotten == 0, "`fire` has forgotten {forgotten} sleeps");
        let next = driven.fire();
        assert!(next.is_none(), "nobody sleeps, and `fire` says {next:?}");
    });
}

/// Clause 2: woken for what?
#[test]
fn a_sleep_that_was_woken_is_ready() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "Once `fire` has woken a sleep, its next poll is ready. A sleep is woken once.",
        usual_cause: "`fire` takes the waker out and keeps no note that the sleep has fired, or \
                      leaves what it has woken where it was.",
        read: "blocking/sleep.html#a-list-of-deadlines",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let mut sleeps = [3, 1, 2, 1].map(|s| begin(driven.after(s * SECOND)));
        let end = driven.now + 2 * SECOND + MS;
        driven.run_until(end, |_| {});
        for ((sleep, wakes), is_due) in
            sleeps.iter_mut().zip([false, true, true, true])
        {
            let (is_ready, wakes) = (poll(sleep, Waker::noop()), wakes.wakes());
            assert!(
                is_ready == is_due && wakes == usize::from(is_due),
                "due: {is_due}; woken {wakes} times; ready: {is_ready}"
            );
        }
    });
}

/// Clause 3: the driver sleeps until the time that it was told.
#[test]
fn an_earlier_deadline_rouses() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "A sleep that is due before `fire` is to be called again rouses the driver.",
        usual_cause: "Only the first sleep of all rouses, or the new deadline is compared with \
                      something else than what `fire` has returned.",
        read: "blocking/sleep.html#an-earlier-one",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let mut kept = Vec::new();
        let mut duration = HOUR;
        for _ in 0..8 {
            let before = driven.rouses.load(SeqCst);
            // Polled on another thread: the driver's may be anywhere.
            let sleep = driven.after(duration);
            let begun = thread::spawn(move || begin(sleep)).join();
            kept.push(begun.expect("polling does not panic"));
            let rouses = driven.rouses.load(SeqCst) - before;
            assert!(
                rouses > 0,
                "a sleep of {duration:?}, the first to be due, did not rouse"
            );
            let next = driven.fire();
            let latest = driven.now + duration + MS;
            assert!(
                next.is_some_and(|next| next <= latest),
                "then `fire` returned {next:?}, which is later than its deadline"
            );
            // `fire` may be earlier than the deadline; who comes next, still earlier.
            duration = next.map_or(duration, |next| next - driven.now) / 2;
        }
    });
}

/// Clause 3: the driver is in the middle of a turn.
#[test]
fn a_sleep_begun_while_fire_runs_is_not_overslept() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "A sleep that a waker begins during `fire` is in its answer, or rouses.",
        usual_cause: "`fire` works out its answer before it calls the wakers, or takes all that \
                      there is to sleep out of its place meanwhile.",
        read: "blocking/sleep.html#an-earlier-one",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let begun = Arc::new(Mutex::new(None));
        let waker = HostileWaker::new({
            let (timers, begun) = (driven.timers.clone(), begun.clone());
            let deadline = driven.now + 3 * SECOND;
            move || {
                let mut begun = begun.lock().expect("nothing panics here");
                *begun = Some(begin(timers.sleep_until(deadline)));
            }
        });
        let mut first = driven.after(SECOND);
        poll(&mut first, &waker);
        let far = begin(driven.after(HOUR));
        driven.fire();
        let deadline = driven.now + 3 * SECOND;
        driven.now += SECOND + MS;
        let before = driven.rouses.load(SeqCst);
        let next = driven.fire();
        let is_roused = driven.rouses.load(SeqCst) > before;
        assert!(
            is_roused || next.is_some_and(|next| next <= deadline + MS),
            "the driver is neither told of the new sleep nor roused"
        );
        let end = deadline + MS;
        driven.run_until(end, |_| {});
        let begun = begun.lock().expect("nothing panics here").take();
        let wakes = begun.map(|(_, wakes)| wakes.wakes());
        assert!(wakes == Some(1), "the new sleep was woken {wakes:?} times");
        drop(far);
    });
}

/// Clause 4: a sleep may move from one task to another, as in a `select`.
#[test]
fn the_waker_of_the_newest_poll_is_woken() {
    let lesson = Lesson {
        clause: "4. Latest waker",
        promise: "After polls by two wakers the second is woken, and the first is not.",
        usual_cause: "The waker is kept at the first poll only. Compare by `will_wake` at each \
                      poll, and replace it.",
        read: "blocking/sleep.html#whose-waker",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let (mut sleep, first) = begin(driven.after(SECOND));
        let (waker, second) = CountingWaker::new();
        for _ in 0..3 {
            let is_ready = poll(&mut sleep, &waker);
            assert!(!is_ready, "it is ready before its deadline");
        }
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        assert!(second.wakes() == 1, "the newest waker was not woken once");
        assert!(first.wakes() == 0, "an older waker was woken");
        drop(waker);
        for counts in [first, second] {
            let (made, gone) = (counts.clones() + 1, counts.drops());
            assert!(made == gone, "of {made} wakers {gone} were given up");
        }
    });
}

/// Clause 5: no single run can hit the moment between the look and the
/// keeping of the waker; many runs may, and the models do.
#[test]
fn a_poll_that_races_with_fire_is_woken_or_ready() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "A sleep that is polled while it fires is ready, or its new waker is woken.",
        usual_cause: "The poll looks whether it has fired and keeps the waker in two steps. Do both \
                      under one lock, or look again afterwards.",
        read: "blocking/sleep.html#between-the-look-and-the-waker",
    };
    const ROUNDS: u32 = 1_000;
    check(lesson, || {
        with_chaos(SEED, || {
            let mut driven = Driven::new();
            let (ask, asked) = mpsc::channel::<Instant>();
            let (answer, answered) = mpsc::channel();
            let timers = driven.timers.clone();
            let firing = thread::spawn(move || {
                for now in asked {
                    timers.fire(now);
                    let _ = answer.send(());
                }
            });
            let start = Instant::now();
            let rounds = (0..ROUNDS).take_while(|_| start.elapsed() < LUCK);
            for round in rounds {
                let (mut sleep, _old) = begin(driven.after(SECOND));
                driven.now += SECOND + MS;
                ask.send(driven.now).expect("the other thread listens");
                (0..round % 50).for_each(|_| std::hint::spin_loop());
                let (waker, new) = CountingWaker::new();
                let is_ready = poll(&mut sleep, &waker);
                answered.recv().expect("the other thread fires");
                driven.fire();
                assert!(
                    is_ready || new.wakes() > 0,
                    "in round {round} it was pending, and never woken"
                );
            }
            drop(ask);
            firing.join().expect("firing does not panic");
        });
    });
}

/// Clause 6: the task may be gone.
#[test]
fn a_dropped_sleep_is_not_woken() {
    let lesson = Lesson {
        clause: "6. Nothing left behind",
        promise: "A sleep that is dropped is not woken, and its waker is given up at once.",
        usual_cause: "`Sleep` has no `Drop`: its entry stays until its time comes.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let (kept, kept_wakes) = begin(driven.after(SECOND));
        let (dropped, wakes) = begin(driven.after(SECOND));
        drop(dropped);
        let (made, gone) = (wakes.clones() + 1, wakes.drops());
        assert!(made == gone, "of {made} wakers {gone} were given up");
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        let wakes = wakes.wakes();
        assert!(wakes == 0, "a sleep was woken that had been dropped");
        assert!(kept_wakes.wakes() == 1, "the other one was not woken");
        drop(kept);
    });
}

/// Clause 6: nearly every time-out is cancelled.
#[test]
fn ten_thousand_dropped_sleeps_leave_no_memory_behind() {
    let lesson = Lesson {
        clause: "6. Nothing left behind",
        promise: "However many sleeps begin and are dropped, no more is kept than for those alive.",
        usual_cause: "A dropped sleep is only marked, and stays until its time comes; or what stands \
                      for its place in a list is never used again.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    const SLEEPS: u32 = 10_000;
    /// Of bytes that may be kept for each, if any are kept at all.
    const SPARE: isize = 8;
    check(lesson, || {
        let mut driven = Driven::new();
        let (earliest, _wakes) = begin(driven.after(SECOND));
        let begin_and_drop = |driven: &mut Driven, first: u32| {
            for seconds in first..first + SLEEPS {
                let mut sleep = driven.after(seconds * SECOND);
                poll(&mut sleep, Waker::noop());
            }
            driven.fire();
        };
        begin_and_drop(&mut driven, 2);
        let before = live_bytes();
        begin_and_drop(&mut driven, 2 + SLEEPS);
        let kept = live_bytes() - before;
        assert!(
            kept < SLEEPS as isize * SPARE,
            "{SLEEPS} dropped sleeps left {kept} bytes behind"
        );
        drop(earliest);
        driven.now += MS;
        let next = driven.fire();
        assert!(
            next.is_none(),
            "all sleeps are dropped, and `fire` still waits for one"
        );
    });
}

/// Clause 7: the panic is of one task.
#[test]
fn a_waker_that_panics_hinders_nobody() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When a waker panics, all others that are due are woken, now and later.",
        usual_cause: "The panic goes out of `fire`, past the other wakers, or poisons the mutex. \
                      Call each waker within `catch_unwind`, without the lock.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || assert_hinders_nobody(&HostileWaker::panicking()));
}

/// Clause 7: to drop what was thrown is to run foreign code once more.
#[test]
fn what_a_waker_throws_may_panic_in_turn() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When a waker throws what panics when it is dropped, all others are woken.",
        usual_cause: "What `catch_unwind` returns is dropped at once, and nobody catches what that \
                      throws.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        assert_hinders_nobody(&HostileWaker::new(|| panic_any(PanicOnDrop)));
    });
}

/// Asserts that all others are woken when this waker is.
#[track_caller]
fn assert_hinders_nobody(hostile: &Waker) {
    let mut driven = Driven::new();
    let mut first = begin(driven.after(SECOND));
    let mut other = driven.after(SECOND);
    poll(&mut other, hostile);
    let mut second = begin(driven.after(SECOND));
    let mut later = begin(driven.after(2 * SECOND));
    let end = driven.now + 3 * SECOND;
    driven.run_until(end, |_| {});
    for (sleep, wakes) in [&mut first, &mut second, &mut later] {
        let wakes = wakes.wakes();
        assert!(wakes == 1, "another sleep was woken {wakes} times");
        let is_ready = poll(sleep, Waker::noop());
        assert!(is_ready, "another sleep is not ready");
    }
}

/// Clause 7: a waker may run its task on the spot.
#[test]
fn a_waker_may_make_poll_and_drop_sleeps() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "A waker that is called may itself begin sleeps and drop them.",
        usual_cause: "`fire` calls wakers under its lock, and the waker waits for that lock: for \
                      ever. Take the wakers out, unlock, then call them.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let is_called = Arc::new(AtomicBool::new(false));
        let begun = Arc::new(Mutex::new(Some(begin(driven.after(HOUR)))));
        let waker = HostileWaker::new({
            let (timers, now) = (driven.timers.clone(), driven.now);
            let is_called = is_called.clone();
            move || {
                drop(begin(timers.sleep_until(now + 2 * HOUR)));
                drop(begun.lock().expect("nothing panics here").take());
                is_called.store(true, SeqCst);
            }
        });
        let mut sleep = driven.after(SECOND);
        poll(&mut sleep, &waker);
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        assert!(is_called.load(SeqCst), "the waker was not called");
    });
}

/// A waker's target that owns a sleep, as a task does that waits for two.
struct OwnsASleep {
    _sleep: Mutex<Sleep>,
}

impl Wake for OwnsASleep {
    fn wake(self: Arc<Self>) {}
}

/// Clause 7: with the last waker goes the task, and with it what it owns.
#[test]
fn a_waker_may_drop_sleeps_when_it_is_dropped() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "A waker may be the last owner of a task that has sleeps of its own.",
        usual_cause: "A waker is dropped under the lock: by the drop of its sleep, when a newer one \
                      takes its place, or after it was called.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        let driven = Driven::new();
        let begin_with_owner = || {
            let (owned, _wakes) = begin(driven.after(2 * HOUR));
            let owner = OwnsASleep {
                _sleep: Mutex::new(owned),
            };
            let mut sleep = driven.after(SECOND);
            poll(&mut sleep, &Arc::new(owner).into());
            sleep
        };
        // The sleep is dropped, and with it its waker.
        drop(begin_with_owner());
        // A newer waker takes its place.
        let mut replaced = begin_with_owner();
        poll(&mut replaced, Waker::noop());
        // It is called.
        let called = begin_with_owner();
        driven.timers.fire(driven.now + SECOND + MS);
        drop((replaced, called));
    });
}

/// Clause 8: a driver that is called without need is a thread that wakes up.
#[test]
fn a_long_sleep_takes_few_turns() {
    let lesson = Lesson {
        clause: "8. Few turns",
        promise: "`fire` has to be called at most ten times for a sleep, even for one of years.",
        usual_cause: "`fire` returns the next tick, or a time that has come already, whether or not \
                      anything is due.",
        read: "blocking/sleep.html#who-is-next",
    };
    const MOST_TURNS: usize = 10;
    check(lesson, || {
        for duration in [MS / 2, SECOND, HOUR, 10 * YEAR] {
            let mut driven = Driven::new();
            let (_sleep, wakes) = begin(driven.after(duration));
            let end = driven.now + duration + MS;
            let woken_in = Cell::new(None);
            let before = driven.turns;
            let mut turns = 0;
            driven.run_until(end, |_| {
                turns += 1;
                if wakes.wakes() > 0 && woken_in.get().is_none() {
                    woken_in.set(Some(turns));
                }
            });
            let turns = driven.turns - before;
            assert!(
                turns <= MOST_TURNS + 2,
                "for a sleep of {duration:?} `fire` asked to be called {turns} times"
            );
            assert!(woken_in.get().is_some(), "it was not woken");
        }
    });
}

/// Clause 8: to rouse a thread costs more than all the rest.
#[test]
fn later_deadlines_do_not_rouse() {
    let lesson = Lesson {
        clause: "8. Few turns",
        promise: "A sleep that is due after the time that `fire` has returned does not rouse.",
        usual_cause: "Each first poll rouses, to be sure. Remember what `fire` has returned, and \
                      compare.",
        read: "blocking/sleep.html#an-earlier-one",
    };
    const SLEEPS: u32 = 200;
    const SPARE: usize = 10;
    check(lesson, || {
        let mut driven = Driven::new();
        let mut kept = vec![begin(driven.after(SECOND))];
        driven.fire();
        let before = driven.rouses.load(SeqCst);
        for seconds in 2..SLEEPS + 2 {
            kept.push(begin(driven.after(seconds * SECOND)));
        }
        let rouses = driven.rouses.load(SeqCst) - before;
        assert!(
            rouses <= SPARE,
            "{SLEEPS} sleeps that are due later roused {rouses} times"
        );
    });
}

/// Clause 9: how long is no time at all?
#[test]
fn what_is_due_already_is_ready_or_woken_at_once() {
    let lesson = Lesson {
        clause: "9. Any deadline",
        promise: "`sleep(Duration::ZERO)`, and `sleep_until` a time that has passed, end at once.",
        usual_cause: "Only deadlines in the future are looked for (`>` for `>=`), or a subtraction \
                      of times panics.",
        read: "blocking/sleep.html#from-zero-to-for-ever",
    };
    check(lesson, || {
        let start = Instant::now();
        thread::sleep(2 * MS);
        wait_for(sleep(Duration::ZERO));
        wait_for(sleep_until(start));
        if let Some(before) = start.checked_sub(HOUR) {
            wait_for(sleep_until(before));
        }
        let mut driven = Driven::new();
        for ago in [Duration::ZERO, SECOND, HOUR] {
            let Some(deadline) = driven.now.checked_sub(ago) else {
                continue;
            };
            let (waker, counts) = CountingWaker::new();
            let mut sleep = driven.timers.sleep_until(deadline);
            let is_ready = poll(&mut sleep, &waker);
            let end = driven.now + MS;
            driven.run_until(end, |_| {});
            assert!(
                is_ready || counts.wakes() > 0,
                "due {ago:?} ago, it is neither ready nor woken"
            );
        }
    });
}

/// Clause 9: nobody should need to know which durations are too long.
#[test]
fn a_sleep_may_last_for_ever() {
    let lesson = Lesson {
        clause: "9. Any deadline",
        promise: "`sleep(Duration::MAX)` is pending, has no deadline, and can be dropped.",
        usual_cause: "`Instant::now() + duration` overflows. Use `checked_add`.",
        read: "blocking/sleep.html#from-zero-to-for-ever",
    };
    check(lesson, || {
        for duration in [Duration::MAX, 300 * YEAR] {
            let (endless, wakes) = begin(sleep(duration));
            let expected = Instant::now().checked_add(duration).is_some();
            assert!(
                endless.deadline().is_some() == expected,
                "`deadline` of a sleep of {duration:?} is {:?}",
                endless.deadline()
            );
            wait_for(sleep(MS));
            drop(endless);
            assert!(wakes.wakes() == 0, "it was woken");
        }
        let deadline = Instant::now() + HOUR;
        assert!(
            sleep_until(deadline).deadline() == Some(deadline),
            "`deadline` is not what `sleep_until` was called with"
        );
    });
}

/// Clause 10: a thread that sleeps costs a stack, and a switch.
#[test]
fn ten_thousand_sleeps_share_one_thread() {
    let lesson = Lesson {
        clause: "10. One thread",
        promise: "However many sleeps there are, one thread named `timer` serves them all.",
        usual_cause: "Each sleep has a thread of its own, or each caller's thread has one.",
        read: "blocking/sleep.html#a-thread-for-them-all",
    };
    const SLEEPS: usize = 10_000;
    check(lesson, || {
        let before = thread_count();
        let (tell, told) = mpsc::channel();
        let waker = HostileWaker::new(move || {
            let name = thread::current().name().map(str::to_owned);
            let _ = tell.send((thread::current().id(), name));
        });
        let begin_half = |waker: Waker| {
            let durations =
                (0..SLEEPS as u32 / 2).map(|index| MS * (index % 20));
            let mut sleeps: Vec<_> = durations.map(sleep).collect();
            sleeps.retain_mut(|sleep| !poll(sleep, &waker));
            sleeps
        };
        let elsewhere = waker.clone();
        let there = thread::spawn(move || begin_half(elsewhere));
        let here = begin_half(waker);
        let there = there.join().expect("polling does not panic");
        if let (Some(before), Some(after)) = (before, thread_count()) {
            let more = after.saturating_sub(before);
            assert!(more <= 2, "{SLEEPS} sleeps started {more} threads");
        }
        let mut threads = Vec::new();
        for _ in 0..here.len() + there.len() {
            let (id, name) = told.recv().expect("the waker is there");
            assert!(
                name.as_deref() == Some("timer"),
                "a waker was called by a thread named {name:?}"
            );
            if !threads.contains(&id) {
                threads.push(id);
            }
        }
        let count = threads.len();
        assert!(count <= 1, "{count} threads called the wakers");
    });
}

/// Clause 10: one bad task must not take everybody's clock away.
#[test]
fn the_timer_thread_survives_a_waker_that_panics() {
    let lesson = Lesson {
        clause: "10. One thread",
        promise: "After a waker has panicked on the timer thread, sleeps go on to end.",
        usual_cause: "The panic ends the thread. Catch it where the waker is called.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        for _ in 0..3 {
            let mut hostile = sleep(MS);
            let is_ready = poll(&mut hostile, &HostileWaker::panicking());
            wait_for(sleep(3 * MS));
            let is_ready = is_ready || poll(&mut hostile, Waker::noop());
            assert!(is_ready, "the sleep itself has not fired");
        }
    });
}

/// Clause 11: the thread is asleep when the short one comes.
#[test]
fn a_short_sleep_interrupts_a_long_one() {
    let lesson = Lesson {
        clause: "11. Interruptible",
        promise: "While the timer thread sleeps until a far deadline, a short sleep ends in time.",
        usual_cause: "The thread sleeps by `thread::sleep`, which nobody can end; or the new \
                      deadline rouses nobody.",
        read: "blocking/sleep.html#an-earlier-one",
    };
    check(lesson, || {
        let timer_thread = probe_timer_thread();
        for long in [HOUR, SECOND * 600, SECOND * 60] {
            let (_long, wakes) = begin(sleep(long));
            timer_thread.wait_until_asleep();
            wait_for(sleep(5 * MS));
            assert!(wakes.wakes() == 0, "the long one was woken");
        }
    });
}

/// The thread that calls the wakers.
fn probe_timer_thread() -> ThreadProbe {
    let (tell, told) = mpsc::channel();
    let waker = HostileWaker::new(move || _ = tell.send(ThreadProbe::here()));
    let _sleep = begin_soon(&waker);
    told.recv().expect("the waker is called")
}

/// A short sleep that was polled before it was over. On a busy machine that
/// may take a few tries.
fn begin_soon(waker: &Waker) -> Sleep {
    for tries in 0..10 {
        let mut short = sleep(2 * MS * (1 << tries));
        if !poll(&mut short, waker) {
            return short;
        }
    }
    panic!("ten sleeps were ready at their first polls, the last of 1 s");
}

/// Clause 12: an idle program should use no battery.
#[test]
fn the_thread_rests_while_nothing_is_due() {
    let lesson = Lesson {
        clause: "12. Idle",
        promise: "While all deadlines are far off, or there is none, the thread sleeps.",
        usual_cause: "The thread looks again every millisecond, or polls its list in a loop.",
        read: "blocking/sleep.html#who-is-next",
    };
    const WINDOW: Duration = Duration::from_millis(100);
    const MOST_SLEEPS: u64 = 10;
    check(lesson, || {
        let timer_thread = probe_timer_thread();
        for far in [None, Some(HOUR)] {
            let far = far.map(|duration| begin(sleep(duration)));
            timer_thread.wait_until_asleep();
            let Some(cost) = idle_cost(&timer_thread, WINDOW) else {
                return;
            };
            assert!(
                cost.sleeps < MOST_SLEEPS && cost.cpu < WINDOW / 5,
                "in {WINDOW:?} the thread woke up {} times and used {:.1?} of CPU time",
                cost.sleeps,
                cost.cpu
            );
            drop(far);
        }
    });
}

/// Clause 12: the last part of a millisecond is the longest.
#[test]
fn the_thread_does_not_spin_towards_a_deadline() {
    let lesson = Lesson {
        clause: "12. Idle",
        promise: "Also in the last millisecond before a deadline the thread sleeps.",
        usual_cause: "The time that is left is cut to whole milliseconds: zero, so that the thread \
                      waits for nothing and looks again, and again.",
        read: "blocking/sleep.html#never-early",
    };
    check(lesson, || {
        let timer_thread = probe_timer_thread();
        let Some(before) = timer_thread.cost() else {
            return;
        };
        let chain = Arc::new(Chain::default());
        let _first = begin_soon(&chain.clone().into());
        chain.end.wait();
        let Some(after) = timer_thread.cost() else {
            return;
        };
        let cpu = after.cpu - before.cpu;
        let whole = Chain::DURATION * Chain::LENGTH as u32;
        assert!(
            cpu < whole / 4,
            "in {whole:.0?} of sleeps the thread used {cpu:.1?} of CPU time"
        );
    });
}

/// Sleeps one after the other, each begun where the one before has ended: on
/// the timer thread. So that thread waits for no other one, and if it spins, it
/// does so until the last has ended, however busy the machine is.
#[derive(Default)]
struct Chain {
    begun: Mutex<Vec<Sleep>>,
    end: Gate,
}

impl Chain {
    const LENGTH: usize = 100;
    const DURATION: Duration = Duration::from_micros(900);

    fn begun(&self) -> MutexGuard<'_, Vec<Sleep>> {
        self.begun.lock().expect("nothing panics here")
    }
}

impl Wake for Chain {
    fn wake(self: Arc<Self>) {
        while self.begun().len() < Self::LENGTH {
            let mut next = sleep(Self::DURATION);
            let is_ready = poll(&mut next, &self.clone().into());
            self.begun().push(next);
            if !is_ready {
                return;
            }
        }
        self.end.open();
    }
}

/// Clause 13: tasks move, and what they own moves with them.
#[test]
fn a_sleep_may_move_to_another_thread() {
    fn assert_anywhere<T: Send + Sync + Unpin + 'static>(_: &T) {}
    let lesson = Lesson {
        clause: "13. Anywhere",
        promise: "A sleep that was polled here may be moved, and polled and dropped elsewhere.",
        usual_cause: "The sleep keeps something of the thread or of the place where it was first \
                      polled.",
        read: "blocking/sleep.html#whose-waker",
    };
    check(lesson, || {
        let short = begin_soon(Waker::noop());
        let (long, _wakes) = begin(sleep(HOUR));
        assert_anywhere(&short);
        let moved = Box::new((short, long));
        let elsewhere = thread::spawn(move || {
            let (short, long) = *moved;
            panic_message(|| {
                wait_for(short);
                drop(long);
            })
        });
        let message = elsewhere.join().expect("panics are caught");
        assert!(
            message.is_none(),
            "on another thread it panicked: {message:?}"
        );
        wait_for(sleep(MS));
    });
}
