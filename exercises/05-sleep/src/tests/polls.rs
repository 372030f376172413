//! Polls, and sleeps that are dropped.

use super::*;

/// Clause 4: a sleep may move from one task to another, as in a `select`.
#[test]
fn the_waker_of_the_newest_poll_is_woken() {
    let lesson = Lesson {
        clause: "4. Latest waker",
        promise: "After polls with two wakers, the second is woken, and the first isn't.",
        usual_cause: "If only the first was woken: only the first poll stores the waker. Compare \
                      with `will_wake` at each poll, and replace the waker. If more than one \
                      wake-up came: each poll adds an entry, and leaves the older ones where they \
                      are.",
        read: "blocking/sleep.html#whose-waker",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let (mut sleep, first) = begin(driven.after(SECOND));
        let (waker, second) = CountingWaker::new();
        for _ in 0..3 {
            let is_ready = poll(&mut sleep, &waker);
            assert!(
                !is_ready,
                "polled again before its deadline, the sleep is ready: another poll doesn't mean \
                 that the time has come"
            );
        }
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        let wakes = (first.wakes(), second.wakes());
        assert!(
            wakes == (0, 1),
            "polled once with one waker and three times with another, the sleep woke the first {} \
             times and the second {} times",
            wakes.0,
            wakes.1
        );
        drop(waker);
        for counts in [first, second] {
            let (made, gone) = (counts.clones() + 1, counts.drops());
            assert!(made == gone, "{gone} of {made} wakers were dropped");
        }
    });
}

/// Clause 4: the stored waker is a clone, and a clone may have another address.
#[test]
fn a_waker_is_compared_with_the_clone_that_is_kept() {
    let lesson = Lesson {
        clause: "4. Latest waker",
        promise: "After polls with two wakers that were at the same address, the second is woken.",
        usual_cause: "The next waker is compared with the address of the previous one. Only the \
                      previous one's clone is still alive, and it may have another address: call \
                      `will_wake` on the clone.",
        read: "blocking/sleep.html#whose-waker",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let mut sleep = driven.after(SECOND);
        let mut place = StackWakers::new();
        let counts = [(); 3].map(|()| {
            let (is_ready, counts) =
                place.lend(|waker| poll(&mut sleep, waker));
            assert!(!is_ready, "a sleep is ready before its deadline");
            counts
        });
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        let wakes = counts.map(|counts| counts.wakes());
        assert!(
            wakes == [0, 0, 1],
            "three wakers, one after another, were woken {wakes:?} times"
        );
    });
}

/// Clause 4: a waker consists of its data and its vtable.
#[test]
fn wakers_without_data_differ() {
    let lesson = Lesson {
        clause: "4. Latest waker",
        promise: "After polls with two wakers that have no data, the second is woken.",
        usual_cause: "Only the data pointers of the wakers are compared. `will_wake` compares the \
                      vtables, too.",
        read: "blocking/sleep.html#whose-waker",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let mut sleep = driven.after(SECOND);
        let wakers = wakers_without_data();
        for (waker, _) in &wakers {
            let is_ready = poll(&mut sleep, waker);
            assert!(!is_ready, "a sleep is ready before its deadline");
        }
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        let wakes = wakers.map(|(_, wakes)| wakes.load(SeqCst));
        assert!(wakes == [0, 1], "the two wakers were woken {wakes:?} times");
    });
}

/// Clause 5: no single run can be relied on to hit the moment between the check
/// and the storing of the waker. Many runs may hit it, and the models do.
#[test]
fn a_poll_that_races_with_fire_is_woken_or_ready() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "A sleep that is polled while it fires is ready, or its new waker is woken.",
        usual_cause: "The poll checks whether the sleep has fired, and stores the waker, in two \
                      steps. Do both in one critical section, or check again afterward.",
        read: "blocking/sleep.html#between-the-check-and-the-waker",
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
                    "in round {round} the sleep was pending, and was never woken"
                );
            }
            drop(ask);
            firing.join().expect("firing doesn't panic");
        });
    });
}

/// Clause 6: the task may be gone.
#[test]
fn a_dropped_sleep_is_not_woken() {
    let lesson = Lesson {
        clause: "6. Nothing left behind",
        promise: "A sleep that has been dropped isn't woken, and its waker is dropped at once.",
        usual_cause: "`Sleep` has no `Drop`, so its entry stays until its deadline comes. Or \
                      `Drop` only marks the entry, and the waker stays in its place.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let (kept, kept_wakes) = begin(driven.after(SECOND));
        let (dropped, wakes) = begin(driven.after(SECOND + NS));
        drop(dropped);
        let (made, gone) = (wakes.clones() + 1, wakes.drops());
        assert!(made == gone, "{gone} of {made} wakers were dropped");
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        let wakes = wakes.wakes();
        assert!(wakes == 0, "a sleep that had been dropped was woken");
        assert!(kept_wakes.wakes() == 1, "the other sleep was not woken");
        drop(kept);

        // The clock says that it's due, but the driver is a little late.
        let timers = Timers::new(|| ());
        let (mut waits, _) = begin(timers.sleep_until(driven.now));
        let mut due = timers.sleep_until(Instant::now());
        let (waker, wakes) = CountingWaker::new();
        let is_ready = poll(&mut due, &waker);
        drop(due);
        timers.fire(driven.now + SECOND);
        let wakes = wakes.wakes();
        assert!(
            is_ready || wakes == 0,
            "a sleep was dropped when it was due, and woken after that"
        );
        assert!(poll(&mut waits, &waker), "the other sleep was not woken");
    });
}

/// Clause 6: nearly every timeout is cancelled.
#[test]
fn ten_thousand_dropped_sleeps_leave_no_memory_behind() {
    let lesson = Lesson {
        clause: "6. Nothing left behind",
        promise: "No matter how many sleeps begin and are dropped, the timers keep memory only for \
                  those that are alive.",
        usual_cause: "A dropped sleep is only marked, and stays until its deadline comes, or its \
                      place in a list is never used again.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    const SLEEPS: u32 = 10_000;
    /// The number of bytes that may be kept for each sleep, if any are kept at
    /// all.
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
            "all sleeps have been dropped, but `fire` still waits for one"
        );
    });
}
