//! Clause 7: deadlines, in the same wait.

use super::*;

/// Clause 7: the time that's left has to be rounded, and only one direction is
/// right.
#[test]
fn a_sleep_is_never_early_and_its_thread_does_not_spin() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "No sleep ends before its deadline, and the thread that waits for it wakes up \
                  only a few times.",
        usual_cause: "The time left is rounded down to milliseconds. The wait then ends early, and \
                      the last millisecond is a busy loop.",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        let mut driver = driver();
        let handle = driver.handle();
        for micros in [1, 100, 900, 1_100, 2_500, 20_300, 70_900] {
            let asked = Duration::from_micros(micros);
            let start = Instant::now();
            let mut sleep = pin!(handle.sleep(asked));
            let mut cx = Context::from_waker(Waker::noop());
            let mut waits = 0;
            while sleep.as_mut().poll(&mut cx).is_pending() {
                turn(&mut driver);
                waits += 1;
            }
            let took = start.elapsed();
            assert!(took >= asked, "{asked:?} ended after {took:?}");
            assert!(waits <= 12, "{waits} waits for {asked:?}");
        }
        // While something else ends each wait, the driver looks at the time more
        // often.
        for _ in 0..20 {
            let asked = Duration::from_millis(2);
            let start = Instant::now();
            let mut sleep = pin!(handle.sleep(asked));
            let mut cx = Context::from_waker(Waker::noop());
            while sleep.as_mut().poll(&mut cx).is_pending() {
                handle.unpark();
                turn(&mut driver);
            }
            let took = start.elapsed();
            assert!(took >= asked, "{asked:?} ended after {took:?}");
        }
    });
}

/// Clause 7: a sleep with an earlier deadline has to interrupt the wait for a
/// later one.
#[test]
fn a_shorter_sleep_interrupts_the_wait_for_a_longer_one() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "A sleep that begins while the driver waits for a longer sleep, or for none, ends \
                  on time.",
        usual_cause: "The timers' function doesn't end the driver's wait. At a hang: the timers' \
                      function doesn't end a wait of the driver, or not every wait.",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let long = runtime.spawn(sleep_for(Duration::from_secs(3_600)));
        for _ in 0..100 {
            let start = Instant::now();
            let short = Duration::from_millis(1);
            runtime.block_on(sleep_for(short));
            assert!(start.elapsed() >= short, "it ended early");
        }
        assert!(!long.is_finished());
    });
}

async fn sleep_for(duration: Duration) {
    sleep(duration).await;
}

/// Clause 7: each delay of the machine adds to a sleep, but not to all of many.
#[test]
fn of_many_sleeps_not_all_are_late() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "A sleep's task is woken at most two milliseconds after the deadline, as far as \
                  the machine lets it.",
        usual_cause: "The time left is rounded up by more than a millisecond, or the driver waits \
                      for a fixed time at least.",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        const TRIES: usize = 100;
        let mut driver = driver();
        let handle = driver.handle();
        for micros in [300, 1_700, 4_000] {
            let mut least = Duration::MAX;
            for _ in 0..TRIES {
                let asked = Duration::from_micros(micros);
                let nap = handle.sleep(asked);
                let deadline = nap.deadline();
                drive(&mut driver, nap);
                least = least.min(deadline.elapsed());
                // The machine may be busy, so the first that's in time will do.
                if least <= Duration::from_millis(2) {
                    break;
                }
            }
            assert!(
                least <= Duration::from_millis(2),
                "of {TRIES} sleeps of {micros} us, each ended at least {least:?} late"
            );
        }
    });
}

/// Clause 7: a timeout of `Duration::MAX` is how a program says "never".
#[test]
fn a_sleep_may_last_for_years() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "A sleep of `Duration::MAX` is pending, and its deadline is years away. After a \
                  reset to a time in the past, it's ready.",
        usual_cause: "This code is given: did you change `sleep`?",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
        let mut driver = driver();
        let handle = driver.handle();
        let begun = Instant::now();
        let mut nap = Box::pin(handle.sleep(Duration::MAX));
        let counts = begin(&mut nap);
        assert!(
            nap.deadline() >= begun + 20 * YEAR,
            "the sleep ends {:?} after it began",
            nap.deadline() - begun
        );
        driver.look();
        while driver.dispatch(usize::MAX) {}
        assert!(counts.wakes() == 0, "a look of the driver has ended it");
        nap.reset(begun);
        assert!(nap.deadline() == begun);
        let mut cx = Context::from_waker(Waker::noop());
        while nap.as_mut().poll(&mut cx).is_pending() {
            turn(&mut driver);
        }
    });
}

/// Clause 7: a sleep may begin just as the driver begins to wait.
#[test]
fn a_sleep_that_begins_as_the_wait_begins_ends_in_time() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "A sleep that begins on another thread just as the driver begins to wait isn't \
                  overlooked.",
        usual_cause: "The driver asks for the first deadline and only then says that it waits. A \
                      sleep that begins in between interrupts nothing.",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        race_sleeps_with_waits();
        with_chaos(SEED, race_sleeps_with_waits);
    });
}

/// Begins a sleep at each moment of the driver's turn.
fn race_sleeps_with_waits() {
    let mut driver = driver();
    let handle = driver.handle();
    let [begun, ended] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let (begins, ends) = (begun.clone(), ended.clone());
    let sleeping = thread::spawn(move || {
        for round in rounds() {
            begins.store(round, SeqCst);
            // Meanwhile, the driver begins to wait.
            spin(Duration::from_nanos(round as u64 % 100 * 20));
            let soon = Instant::now() + Duration::from_micros(10);
            block_on::block_on(handle.sleep_until(soon));
            ends.store(round, SeqCst);
            handle.unpark();
        }
        begins.store(OVER, SeqCst);
    });
    for round in 1.. {
        wait_for(&begun, round);
        if begun.load(SeqCst) == OVER {
            break;
        }
        while ended.load(SeqCst) < round {
            turn(&mut driver);
        }
    }
    sleeping.join().unwrap();
}

/// Clause 7: a driver that always has events mustn't forget the time.
#[test]
fn a_sleep_ends_while_events_keep_coming() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "A sleep ends although each wait of the driver ends with an event.",
        usual_cause: "`dispatch` wakes sleeps only if there were no events, or only if the wait \
                      timed out.",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        let mut driver = driver();
        let handle = driver.handle();
        let _entered = handle.enter();
        let (stream, mut peer) = pair();
        let mut nap = Box::pin(handle.sleep(Duration::from_millis(5)));
        let woken = begin(&mut nap);
        while woken.wakes() == 0 {
            let mut buffer = [0; 64];
            let mut reading = Box::pin(stream.read(&mut buffer));
            let mut cx = Context::from_waker(Waker::noop());
            let mut is_over = reading.as_mut().poll(&mut cx).is_ready();
            peer.write_all(b"!").unwrap();
            while !is_over {
                turn(&mut driver);
                is_over = reading.as_mut().poll(&mut cx).is_ready();
            }
        }
        assert!(poll_once(nap).is_ready());
    });
}

/// Clause 7: the workers of a runtime wait, too.
#[test]
fn idle_workers_do_not_use_the_processor() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "While a runtime waits for a socket and for a distant deadline, its workers use \
                  no processor time.",
        usual_cause: "The worker waits in the driver with a short timeout, or polls it in a loop.",
        read: "io/reactor.html#which-thread-waits",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let (sender, probes) = mpsc::channel();
        let (stream, _peer) = runtime.block_on(async { pair() });
        runtime.spawn(async move {
            sender.send(ThreadProbe::here()).unwrap();
            let _ = stream.read(&mut [0]).await;
        });
        runtime.spawn(sleep_for(Duration::from_secs(3_600)));
        let probe = probes.recv().unwrap();
        probe.wait_until_asleep();
        if let Some(cost) = idle_cost(&probe, Duration::from_millis(300)) {
            assert!(
                cost.cpu < Duration::from_millis(30) && cost.sleeps < 30,
                "in 300 ms a worker has used {:?} and woken up {} times",
                cost.cpu,
                cost.sleeps
            );
        }
    });
}

/// Clause 7: a profiler's signal comes again and again.
#[test]
#[cfg(target_os = "linux")]
fn signals_make_no_sleep_late() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "If a signal interrupts the driver's wait again and again, each wait for a sleep \
                  lasts only as long as is left of it.",
        usual_cause: "After the error `Interrupted`, the wait begins again with the same timeout, \
                      which counts from the signal on. Return from the wait, or compute what is \
                      left of the timeout.",
        read: "io/reactor.html#waking-the-worker-in-the-seat",
    };
    check(lesson, || {
        let mut driver = driver();
        let nap = driver.handle().sleep(Duration::from_millis(100));
        let deadline = nap.deadline();
        let ((), waits) = with_interrupted_waits(8, || drive(&mut driver, nap));
        for pair in waits.windows(2) {
            let left = deadline.saturating_duration_since(pair[0].end);
            // The time left may be rounded up to milliseconds.
            assert!(
                pair[1].timeout <= left + Duration::from_millis(2),
                "{left:.0?} before the deadline a signal interrupted a wait, and the next wait was \
                 one of {:.0?}",
                pair[1].timeout
            );
        }
    });
}
