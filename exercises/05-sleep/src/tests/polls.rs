//! Polls, and sleeps that are dropped.

use super::*;

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
            assert!(
                !is_ready,
                "polled again before its deadline, it is ready: that it is polled once more doesn't \
                 mean that the time has come"
            );
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

/// Clause 4: what is kept is the clone, and a clone may be elsewhere.
#[test]
fn a_waker_is_compared_with_the_clone_that_is_kept() {
    let lesson = Lesson {
        clause: "4. Latest waker",
        promise: "After polls by two wakers that stood at one address, the second is woken.",
        usual_cause: "The next waker is compared with the address of the one before. What is alive \
                      is its clone, which may have another: ask the clone, by `will_wake`.",
        read: "blocking/sleep.html#whose-waker",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let mut sleep = driven.after(SECOND);
        let mut place = StackWakers::new();
        let counts = [(); 3].map(|()| {
            let (is_ready, counts) =
                place.lend(|waker| poll(&mut sleep, waker));
            assert!(!is_ready, "it is ready before its deadline");
            counts
        });
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        let wakes = counts.map(|counts| counts.wakes());
        assert!(
            wakes == [0, 0, 1],
            "of three wakers, one after the other, were woken: {wakes:?}"
        );
    });
}

/// Clause 4: a waker is its data and its vtable.
#[test]
fn wakers_without_data_are_told_apart() {
    let lesson = Lesson {
        clause: "4. Latest waker",
        promise: "After polls by two wakers that have no data, the second is woken.",
        usual_cause: "Wakers are compared by their data pointers only. `will_wake` compares the \
                      vtables, too.",
        read: "blocking/sleep.html#whose-waker",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let mut sleep = driven.after(SECOND);
        let wakers = wakers_without_data();
        for (waker, _) in &wakers {
            let is_ready = poll(&mut sleep, waker);
            assert!(!is_ready, "it is ready before its deadline");
        }
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        let wakes = wakers.map(|(_, wakes)| wakes.load(SeqCst));
        assert!(wakes == [0, 1], "the two were woken {wakes:?} times");
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
        usual_cause: "`Sleep` has no `Drop`: its entry stays until its time comes. Or `Drop` only \
                      marks the entry, and the waker stays in its place.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    check(lesson, || {
        let mut driven = Driven::new();
        let (kept, kept_wakes) = begin(driven.after(SECOND));
        let (dropped, wakes) = begin(driven.after(SECOND + NS));
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
