//! When a sleep ends.

use super::*;

/// Clause 1: a task that is woken early reads what hasn't been sent yet.
#[test]
fn no_sleep_is_woken_before_its_deadline() {
    let lesson = Lesson {
        clause: "1. Never early",
        promise: "A nanosecond before its deadline, a sleep isn't woken yet.",
        usual_cause: "Times are rounded down to whole milliseconds, or truncated by `as`. Compare \
                      `Instant`s, or round the deadline up.",
        read: "blocking/sleep.html#never-early",
    };
    check(lesson, || {
        let micros = [1, 999, 1_000, 1_500, 63_999, 64_000, 1_000_001];
        let short = micros.map(Duration::from_micros);
        for duration in short.into_iter().chain(durations_that_wrap()) {
            let mut driven = Driven::new();
            let (_sleep, wakes) = begin(driven.after(duration));
            driven.now += duration - NS;
            driven.fire();
            let wakes = wakes.wakes();
            assert!(wakes == 0, "a sleep of {duration:?} was woken too early");
        }
    });
}

/// Clause 1: a task is polled for other reasons, too.
#[test]
fn a_poll_before_the_deadline_does_not_end_the_sleep() {
    let lesson = Lesson {
        clause: "1. Never early",
        promise: "No matter how often a sleep is polled before its deadline, it is pending.",
        usual_cause: "The second poll is taken to mean that the sleep is over. A task is polled \
                      for other reasons, too, so only a sleep that `fire` has taken out is ready.",
        read: "blocking/sleep.html#never-early",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let duration = Duration::from_millis(10);
        let mut sleep = driven.after(duration);
        for nth in ["first", "second", "third"] {
            let is_ready = poll(&mut sleep, Waker::noop());
            assert!(
                !is_ready,
                "the {nth} poll, 10 ms before the deadline, was ready"
            );
        }
        driven.now += duration - NS;
        driven.fire();
        let is_ready = poll(&mut sleep, Waker::noop());
        assert!(
            !is_ready,
            "a poll one nanosecond before the deadline was ready"
        );
    });
}

/// Clause 1: by the real clock.
#[test]
fn a_sleep_lasts_at_least_its_duration() {
    let lesson = Lesson {
        clause: "1. Never early",
        promise: "From the call of `sleep` until its future is ready, at least the duration \
                  passes.",
        usual_cause: "The time that is left is rounded down to whole milliseconds (`as_millis`), \
                      or a wait that returned is taken to mean that the time has passed. At a \
                      hang: nothing unparks the thread for a new first deadline. Or `fire` \
                      computes its result in one critical section and stores it, or that it has \
                      ended, in a later one, and a sleep that comes in between doesn't unpark the \
                      driver. Or `fire` calls wakers under its lock.",
        read: "blocking/sleep.html#never-early, at a hang #an-earlier-deadline",
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

/// Clause 2: what the driver misses in one call of `fire` may be late by hours.
#[test]
fn each_sleep_is_woken_in_time() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "A driver that calls `fire` at the time that it returned wakes each sleep within \
                  a millisecond.",
        usual_cause: "`fire` doesn't return the earliest deadline: it misses those that are left, \
                      those that came meanwhile, or those on a wheel's next level. Or what is due \
                      right now is left for the next call (`<` for `<=`). Or `fire` returns a \
                      later time than the earliest deadline, but a first poll compares with that \
                      deadline. At a hang: `fire` calls wakers under its lock.",
        read: "blocking/sleep.html#the-next-deadline",
    };
    const SLEEPS: u32 = 400;
    check(lesson, || {
        let random = Cell::new(SEED);
        let mut driven = Driven::new();
        let drawn = RefCell::new(HashSet::new());
        let draw_sleep = |timers: &Timers, now: Instant| {
            // Of every magnitude, from nanoseconds to years.
            let bits = draw(&random) % 58;
            let duration = Duration::from_nanos(draw(&random) >> (63 - bits));
            let mut deadline = now + duration + NS;
            // Other checks are about equal deadlines.
            while !drawn.borrow_mut().insert(deadline) {
                deadline += NS;
            }
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
                assert!(late <= MS, "a sleep still hadn't been woken {late:?} after its deadline");
                !is_woken
            });
            while left > 0 && pending.len() < SLEEPS as usize / 2 {
                left -= 1;
                // A new sleep each time one has ended.
                pending.push(draw_sleep(&timers, now));
            }
        });
        let forgotten = pending.len();
        assert!(forgotten == 0, "`fire` has forgotten {forgotten} sleeps");
        let next = driven.fire();
        assert!(
            next.is_none(),
            "no sleep waits, but `fire` returned {next:?}"
        );
    });
}

/// Clause 2: a wake-up is of use only if the sleep is ready.
#[test]
fn a_sleep_that_was_woken_is_ready() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "Once `fire` has woken a sleep, the sleep's next poll is ready. A sleep is woken \
                  once.",
        usual_cause: "If the sleep was woken 0 times, `poll` doesn't keep a clone of the waker \
                      that it is passed, or two sleeps with the same deadline share an entry. \
                      Otherwise `fire` takes the waker out without recording that the sleep has \
                      fired, or leaves in its place what it has woken, or `poll` reads the clock \
                      instead of that record. At a hang: `poll` blocks its thread until the \
                      deadline (`thread::sleep`). It must return `Pending` at once, and leave the \
                      waking to `fire`.",
        read: "blocking/sleep.html#a-list-of-deadlines",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let mut sleeps = [4, 1, 3, 2].map(|s| begin(driven.after(s * SECOND)));
        let end = driven.now + 3 * SECOND + MS;
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

/// Clause 3: the driver sleeps until the time that `fire` returned.
#[test]
fn an_earlier_deadline_unparks_the_driver() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "A sleep that is due well before `fire` is to be called again unparks the driver.",
        usual_cause: "Only the very first sleep unparks the driver. Or the new deadline is compared \
                      the wrong way round, so that later ones unpark, or with something other than \
                      what `fire` returned.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let mut kept = Vec::new();
        let mut duration = HOUR;
        for _ in 0..8 {
            let before = driven.unparks.load(SeqCst);
            // Polled on another thread, because the driver isn't necessarily on
            // this one.
            let sleep = driven.after(duration);
            let begun = thread::spawn(move || begin(sleep)).join();
            kept.push(begun.expect("polling doesn't panic"));
            let unparks = driven.unparks.load(SeqCst) - before;
            assert!(
                unparks > 0,
                "a sleep of {duration:?}, the first to be due, didn't call `unpark`"
            );
            let next = driven.fire();
            let latest = driven.now + duration + MS;
            assert!(
                next.is_some_and(|next| next <= latest),
                "then `fire` returned {next:?}, which is later than its deadline"
            );
            // `fire` may return a time before the deadline; the next sleep is
            // due even earlier.
            duration = next.map_or(duration, |next| next - driven.now) / 2;
        }
    });
}

/// Clause 3: a driver may wait before there is anything to fire.
#[test]
fn the_first_sleep_unparks_a_driver_that_has_not_fired_yet() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "Before the first `fire`, a sleep calls `unpark`, no matter when it's due.",
        usual_cause: "New timers are created as if `fire` were running, or had returned a time: \
                      begin as if it had returned `None`.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    check(lesson, || {
        for duration in [MS, HOUR, 1_000 * HOUR] {
            let unparks = Arc::new(AtomicUsize::new(0));
            let counted = unparks.clone();
            let timers = Timers::new(move || _ = counted.fetch_add(1, SeqCst));
            let now = Instant::now() + HOUR;
            let _kept = begin(timers.sleep_until(now + duration));
            let unparks = unparks.load(SeqCst);
            assert!(
                unparks > 0,
                "`fire` hadn't been called yet, and a sleep of {duration:?} didn't call `unpark`"
            );
        }
    });
}

/// Clause 3: a part of an hour is more than a millisecond.
#[test]
fn a_deadline_that_is_a_little_earlier_unparks_the_driver() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "A sleep that is due two milliseconds before `fire` is to be called again unparks \
                  the driver, no matter how far away that is.",
        usual_cause: "A deadline that is only a little earlier doesn't unpark the driver, because \
                      the slack is a fraction of the time that is left, or because times are \
                      compared in coarse units. Compare with what `fire` returned, to the \
                      millisecond.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    check(lesson, || {
        for far in [10 * MS, SECOND, 60 * SECOND, HOUR, YEAR] {
            let mut driven = Driven::new();
            let (_far, _wakes) = begin(driven.after(far));
            let Some(next) = driven.fire_until_idle() else {
                continue;
            };
            let before = driven.unparks.load(SeqCst);
            let deadline = next - 2 * MS;
            let (_earlier, wakes) = begin(driven.timers.sleep_until(deadline));
            let is_unparked = driven.unparks.load(SeqCst) > before;
            let left = next - driven.now;
            assert!(
                is_unparked,
                "`fire` was to be called again in {left:?}, but a sleep that is due 2 ms earlier \
                 didn't call `unpark`"
            );
            driven.run_until(deadline + MS, |_| {});
            assert!(wakes.wakes() == 1, "the sleep was not woken in time");
        }
    });
}

/// Clause 3: many small delays may add up to a long one.
#[test]
fn a_sleep_is_compared_with_the_time_that_fire_returned() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "A sleep that is due more than a millisecond before `fire` is to be called again \
                  unparks the driver, even if another sleep is due between the two and didn't \
                  unpark it.",
        usual_cause: "The deadline of a sleep that isn't early enough to unpark the driver is \
                      stored as the time when the driver looks again. The next sleep is compared \
                      with that, and the slack adds up. Only a `fire` or an `unpark` may change \
                      that time.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    /// Less than the millisecond, but twice this is more.
    const A_LITTLE: Duration = Duration::from_micros(800);
    check(lesson, || {
        let mut driven = Driven::new();
        let (_far, _wakes) = begin(driven.after(SECOND));
        let Some(next) = driven.fire_until_idle() else {
            return;
        };
        let before = driven.unparks.load(SeqCst);
        let _sleeps = [1, 2]
            .map(|nth| begin(driven.timers.sleep_until(next - nth * A_LITTLE)));
        let earlier = 2 * A_LITTLE;
        assert!(
            driven.unparks.load(SeqCst) > before,
            "two sleeps, the second due {A_LITTLE:?} before the first, didn't call `unpark`, \
             although the second is due {earlier:?} before `fire` is to be called again"
        );
    });
}

/// Clause 3: the driver is in the middle of a `fire`.
#[test]
fn a_sleep_begun_while_fire_runs_is_not_overslept() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "A sleep that a waker begins during `fire` is part of its result, or unparks the \
                  driver.",
        usual_cause: "`fire` computes its result before it calls the wakers, or it moves all \
                      sleeps out of their place meanwhile. At a hang: it calls wakers under its \
                      lock.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let begun = Arc::new(Mutex::new(None));
        let waker = HostileWaker::new({
            let (timers, begun) = (driven.timers.clone(), begun.clone());
            let deadline = driven.now + 3 * SECOND;
            move || {
                let mut begun = begun.lock().expect("no code panics here");
                *begun = Some(begin(timers.sleep_until(deadline)));
            }
        });
        let mut first = driven.after(SECOND);
        poll(&mut first, &waker);
        let far = begin(driven.after(HOUR));
        driven.fire();
        let deadline = driven.now + 3 * SECOND;
        driven.now += SECOND + MS;
        let before = driven.unparks.load(SeqCst);
        let next = driven.fire();
        let is_unparked = driven.unparks.load(SeqCst) > before;
        assert!(
            is_unparked || next.is_some_and(|next| next <= deadline + MS),
            "the new sleep is not in the result of `fire`, and didn't call `unpark`"
        );
        let end = deadline + MS;
        driven.run_until(end, |_| {});
        let begun = begun.lock().expect("no code panics here").take();
        let wakes = begun.map(|(_, wakes)| wakes.wakes());
        assert!(wakes == Some(1), "the new sleep was woken {wakes:?} times");
        drop(far);
    });
}

/// Clause 3: an `unpark` counts only until the next `fire` begins.
#[test]
fn an_unpark_before_fire_is_not_one_for_a_sleep_begun_meanwhile() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "A sleep that a waker begins during `fire` is part of its result, or unparks the \
                  driver, even if an earlier sleep called `unpark` before that `fire` and no other \
                  `fire` has run since.",
        usual_cause: "The mark \"already unparked\" is cleared when `fire` ends, but the result of \
                      `fire` is computed before that. A sleep that begins in between assumes that \
                      another `fire` will follow the old `unpark`. Clear the mark in the same \
                      critical section in which you compute the result of `fire`. At a hang: \
                      `fire` calls wakers under its lock.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let deadline = driven.now + 3 * SECOND;
        let begun = Arc::new(Mutex::new(None));
        let waker = HostileWaker::new({
            let (timers, begun) = (driven.timers.clone(), begun.clone());
            move || {
                let mut begun = begun.lock().expect("no code panics here");
                *begun = Some(begin(timers.sleep_until(deadline)));
            }
        });
        let _far = begin(driven.after(HOUR));
        let mut first = driven.after(SECOND);
        poll(&mut first, &waker);
        assert!(
            driven.unparks.load(SeqCst) > 0,
            "neither sleep called `unpark`"
        );
        driven.now += SECOND + MS;
        let before = driven.unparks.load(SeqCst);
        let next = driven.fire();
        let is_unparked = driven.unparks.load(SeqCst) > before;
        assert!(
            is_unparked || next.is_some_and(|next| next <= deadline + MS),
            "two sleeps called `unpark`, and `fire` ran; a third sleep, which a waker began during \
             `fire` and which is due in {:?}, neither called `unpark` nor is it in the result of \
             `fire`: {:?} from now",
            deadline - driven.now,
            next.map(|next| next - driven.now)
        );
    });
}

/// Clause 8: a driver that has to call `fire` without need is a thread that
/// wakes up for nothing.
#[test]
fn a_long_sleep_takes_few_calls() {
    let lesson = Lesson {
        clause: "8. Few calls",
        promise: "`fire` has to be called at most ten times for a sleep, even if it lasts for \
                  years.",
        usual_cause: "`fire` returns the next tick, or a time that has come already, whether or not \
                      anything is due.",
        read: "blocking/sleep.html#the-next-deadline",
    };
    const MOST_CALLS: usize = 10;
    check(lesson, || {
        for duration in [MS / 2, SECOND, HOUR, 10 * YEAR] {
            let mut driven = Driven::new();
            let (_sleep, wakes) = begin(driven.after(duration));
            let end = driven.now + duration + MS;
            let woken_in = Cell::new(None);
            let before = driven.calls;
            let mut calls = 0;
            driven.run_until(end, |_| {
                calls += 1;
                if wakes.wakes() > 0 && woken_in.get().is_none() {
                    woken_in.set(Some(calls));
                }
            });
            let calls = driven.calls - before;
            assert!(
                calls <= MOST_CALLS + 2,
                "for a sleep of {duration:?} `fire` asked to be called {calls} times"
            );
            assert!(woken_in.get().is_some(), "the sleep was not woken");
        }
    });
}

/// Clause 8: unparking a thread costs more than all the rest.
#[test]
fn later_deadlines_do_not_unpark_the_driver() {
    let lesson = Lesson {
        clause: "8. Few calls",
        promise: "A sleep that is due after the time that `fire` returned doesn't call `unpark`.",
        usual_cause: "Each first poll calls `unpark`, to be sure, or the deadline is compared with \
                      those of the sleeps that are left. Store what `fire` returned, and compare \
                      with that.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    const SLEEPS: u32 = 200;
    const SPARE: usize = 10;
    check(lesson, || {
        for are_dropped in [false, true] {
            let mut driven = Driven::new();
            let mut kept = vec![begin(driven.after(SECOND))];
            driven.fire();
            let before = driven.unparks.load(SeqCst);
            for seconds in 2..SLEEPS + 2 {
                // A timeout that wasn't needed, and then the next one.
                if are_dropped {
                    kept.clear();
                }
                kept.push(begin(driven.after(seconds * SECOND)));
            }
            let unparks = driven.unparks.load(SeqCst) - before;
            let fate = if are_dropped {
                ", each begun when the one before was dropped,"
            } else {
                ""
            };
            assert!(
                unparks <= SPARE,
                "{SLEEPS} sleeps that are due later{fate} called `unpark` {unparks} times"
            );
        }
    });
}

/// Clause 8: each `select` polls with the waker of the task that it's in.
#[test]
fn another_waker_does_not_unpark_the_driver() {
    let lesson = Lesson {
        clause: "8. Few calls",
        promise: "A sleep that is due after the time that `fire` returned doesn't call `unpark` \
                  when it's polled again, with the same waker or another.",
        usual_cause: "Each poll with a new waker calls `unpark`, as if the driver had the old \
                      waker. The driver needs a waker only when it calls it, and reads it under \
                      the lock then.",
        read: "blocking/sleep.html#whose-waker",
    };
    const POLLS: usize = 100;
    const SPARE: usize = 10;
    check(lesson, || {
        let mut driven = Driven::new();
        let (_first, _wakes) = begin(driven.after(SECOND));
        let (mut later, _older) = begin(driven.after(HOUR));
        driven.fire();
        let before = driven.unparks.load(SeqCst);
        for _ in 0..POLLS {
            let (waker, _) = CountingWaker::new();
            let is_ready = poll(&mut later, &waker);
            assert!(!is_ready, "a sleep is ready before its deadline");
        }
        let unparks = driven.unparks.load(SeqCst) - before;
        assert!(
            unparks <= SPARE,
            "{POLLS} polls of a sleep that is due later called `unpark` {unparks} times"
        );
    });
}

/// Clause 2: a sleep that is created now may be polled much later, for example
/// in a `join`.
#[test]
fn a_sleep_lasts_from_the_call_and_not_from_its_first_poll() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "The deadline of `sleep(duration)` is `duration` after the call, and no poll \
                  changes it.",
        usual_cause: "The clock is read at the first poll. Read it in `sleep`, and store the \
                      deadline.",
        read: "blocking/sleep.html#from-zero-to-forever",
    };
    check(lesson, || {
        let before = Instant::now();
        let long = sleep(HOUR);
        let after = Instant::now();
        thread::sleep(2 * MS);
        let unpolled = long.deadline();
        let (long, _wakes) = begin(long);
        for (when, deadline) in
            [("before", unpolled), ("after", long.deadline())]
        {
            let is_so = deadline.is_some_and(|deadline| {
                (before + HOUR..=after + HOUR).contains(&deadline)
            });
            let late = deadline.map(|it| it.saturating_duration_since(after));
            assert!(
                is_so,
                "{when} its first poll, the deadline of a sleep of an hour is {late:?} after the \
                 call"
            );
        }
    });
}

/// Clause 9: even a sleep of no time at all has to end.
#[test]
fn what_is_due_already_is_ready_or_woken_at_once() {
    let lesson = Lesson {
        clause: "9. Any deadline",
        promise: "`sleep(Duration::ZERO)` and `sleep_until` a time that has passed end at once.",
        usual_cause: "Only deadlines in the future are considered (`>` for `>=`), or a subtraction \
                      of times panics.",
        read: "blocking/sleep.html#from-zero-to-forever",
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
                "a sleep that was due {ago:?} ago is neither ready nor woken"
            );
        }
    });
}

/// Clause 9: a caller shouldn't have to know which durations are too long.
#[test]
fn a_sleep_may_last_forever() {
    let lesson = Lesson {
        clause: "9. Any deadline",
        promise: "`sleep(Duration::MAX)` is pending, has no deadline, and can be dropped.",
        usual_cause: "`Instant::now() + duration` overflows. Use `checked_add`. Or `as` truncates \
                      the time to the bits of a number. Or the sleep gets a deadline decades \
                      away, although it should have none.",
        read: "blocking/sleep.html#from-zero-to-forever",
    };
    check(lesson, || {
        let long = [Duration::MAX, 300 * YEAR]
            .into_iter()
            .chain(durations_that_wrap());
        for duration in long {
            let (endless, wakes) = begin(sleep(duration));
            let expected = Instant::now().checked_add(duration).is_some();
            assert!(
                endless.deadline().is_some() == expected,
                "`deadline` of a sleep of {duration:?} is {:?}",
                endless.deadline()
            );
            wait_for(sleep(MS));
            drop(endless);
            assert!(wakes.wakes() == 0, "the sleep was woken");
        }
        let deadline = Instant::now() + HOUR;
        assert!(
            sleep_until(deadline).deadline() == Some(deadline),
            "`deadline` doesn't return what `sleep_until` was called with"
        );
    });
}

/// Clause 9: the latest deadline that an `Instant` can express isn't special.
#[test]
fn a_sleep_may_end_with_the_latest_instant() {
    let lesson = Lesson {
        clause: "9. Any deadline",
        promise: "A sleep may be due at the latest `Instant` that there is, or just before it, and \
                  then it waits.",
        usual_cause: "Something is added to the deadline, such as slack, or a round-up to a tick, \
                      and the addition panics. Subtract on the other side \
                      (`saturating_duration_since`), or use `checked_add`.",
        read: "blocking/sleep.html#from-zero-to-forever",
    };
    check(lesson, || {
        let latest = latest_instant();
        for before in [Duration::ZERO, NS, MS / 2, MS, 2 * MS, SECOND, HOUR] {
            let deadline = latest - before;
            let mut driven = Driven::new();
            let (waker, wakes) = CountingWaker::new();
            // Something to compare with. Nothing is dropped if the timers
            // panic, since a lock may be poisoned then.
            std::mem::forget(begin(driven.after(100 * YEAR)));
            driven.fire();
            let mut latest_sleep = driven.timers.sleep_until(deadline);
            let (mut is_ready, mut latest_next) = (true, None);
            let said = panic_message(|| {
                is_ready = poll(&mut latest_sleep, &waker);
                for _year in 0..10 {
                    // A design whose clock wraps after some centuries may
                    // return `None`.
                    latest_next = latest_next.max(driven.fire());
                    driven.now += YEAR;
                }
                is_ready |= poll(&mut latest_sleep, Waker::noop());
            });
            if let Some(said) = said {
                // (Not `forget`, which is for types with a destructor, and the
                // stub's `Sleep` has none.)
                let _kept = Box::leak(Box::new((latest_sleep, driven)));
                panic!(
                    "a sleep is due {before:?} before the latest instant, and polling it or \
                     calling `fire` panicked: {said}"
                );
            }
            assert!(
                latest_next.is_none_or(|next| next
                    .saturating_duration_since(deadline)
                    <= MS),
                "a sleep is due {before:?} before the latest instant, but `fire` returned a time \
                 that is later by more than 1 ms"
            );
            assert!(
                !is_ready && wakes.wakes() == 0,
                "a sleep that is due {before:?} before the latest instant has ended"
            );
            // The timer thread still works, too. As above, nothing is dropped.
            let (served, _) = Box::leak(Box::new(begin(sleep_until(deadline))));
            assert!(
                served.deadline() == Some(deadline),
                "the sleep has no deadline"
            );
            let next = Box::leak(Box::new(sleep(MS)));
            let (announce, announced) = mpsc::channel();
            let waker = HostileWaker::new(move || _ = announce.send(()));
            let said = panic_message(|| {
                while !poll(next, &waker) {
                    announced
                        .recv()
                        .expect("the sleep keeps its waker until it is woken");
                }
            });
            assert!(
                said.is_none(),
                "while a sleep is due {before:?} before the latest instant, a sleep of 1 ms \
                 panicked: {said:?}"
            );
        }
    });
}

/// The latest time that an [`Instant`] can express.
fn latest_instant() -> Instant {
    let mut latest = Instant::now();
    let mut step = Duration::MAX;
    while step > Duration::ZERO {
        match latest.checked_add(step) {
            Some(later) => latest = later,
            None => step /= 2,
        }
    }
    latest
}
