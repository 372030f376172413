//! Timeouts, and what a wait costs.

use super::*;

/// Clause 5: the result says whether there is something to do.
#[test]
fn a_timed_park_takes_a_token_that_is_there() {
    let lesson = Lesson {
        clause: "5. Timeouts",
        promise: "If there is a token, `park_timeout` takes it and returns `true` at once.",
        usual_cause: "It finds the token and leaves it there, because the flag or the state isn't \
                      cleared on this path. Or it sleeps before it looks for a token, or returns \
                      whether the time was up.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        let parker = Parker::new();
        parker.unparker().unpark();
        assert!(parker.park_timeout(HOUR), "`park_timeout` took no token");
        let again = parker.park_timeout(MOMENT);
        assert!(!again, "`park_timeout` didn't take the token away");
    });
}

/// Clause 5: a sleep with a timeout can be ended like any other.
#[test]
fn an_unpark_ends_a_timed_park() {
    let lesson = Lesson {
        clause: "5. Timeouts",
        promise: "An `unpark` wakes a thread that sleeps in `park_timeout`, which then returns \
                  `true`.",
        usual_cause: "It returns what it saw before it slept. At a hang: it sleeps in a way that \
                      `unpark` can't end (`thread::sleep`), or `unpark` notifies before it leaves \
                      the token, so that the thread finds none and sleeps on.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparking = unpark_once_asleep(parker.unparker());
        assert!(
            parker.park_timeout(HOUR),
            "the thread was unparked, but `park_timeout` returned \
                                            `false`"
        );
        unparking.join().expect("unparking doesn't panic");
    });
}

/// Clause 5: a caller that returns early runs a timer twice, or takes a slow
/// answer for a missing one.
#[test]
fn a_timed_park_is_never_early() {
    let lesson = Lesson {
        clause: "5. Timeouts",
        promise: "Without a token, `park_timeout` returns `false`, and not before the time is up.",
        usual_cause: "It returns after a spurious wake-up, instead of sleeping for the time that \
                      is left; or it returns `true` for any wake-up.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    const TRIES: u32 = 60;
    const TIMEOUT: Duration = Duration::from_millis(1);
    check(lesson, || {
        let parker = Parker::new();
        with_chaos(SEED, || {
            for _ in 0..TRIES {
                let start = Instant::now();
                let took = parker.park_timeout(TIMEOUT);
                let slept = start.elapsed();
                assert!(
                    !took,
                    "`park_timeout` says that it took a token, but there was none"
                );
                assert!(
                    slept >= TIMEOUT,
                    "`park_timeout` gave up after {slept:.0?} instead of {TIMEOUT:?}"
                );
            }
        });
    });
}

/// Clause 5: a system call may count in milliseconds, but a `Duration` doesn't.
#[test]
fn a_part_of_a_millisecond_is_waited_for_too() {
    let lesson = Lesson {
        clause: "5. Timeouts",
        promise: "A timeout of nearly two milliseconds isn't over after one millisecond, and a \
                  timeout of nearly one isn't over at once.",
        usual_cause: "The timeout is converted to whole milliseconds, and `as_millis` rounds \
                      down. Keep it as a `Duration`. If you can't, round up.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    // A sleep lasts a little longer than asked for, but rarely by so much.
    const TIMEOUTS: [Duration; 2] =
        [Duration::from_micros(999), Duration::from_micros(1_999)];
    const TRIES: u32 = 20;
    check(lesson, || {
        for timeout in (0..TRIES).flat_map(|_| TIMEOUTS) {
            let parker = Parker::new();
            let start = Instant::now();
            assert!(!parker.park_timeout(timeout), "there was no token");
            let slept = start.elapsed();
            assert!(
                slept >= timeout,
                "`park_timeout` gave up after {slept:.0?} instead of {timeout:?}"
            );
        }
    });
}

/// Clause 5: a caller shouldn't have to know which durations are too long.
#[test]
fn any_timeout_will_do() {
    let lesson = Lesson {
        clause: "5. Timeouts",
        promise: "With `Duration::ZERO`, `park_timeout` takes a token that is there, and doesn't \
                  sleep. With `Duration::MAX`, it sleeps until there is a token.",
        usual_cause: "`Instant::now() + timeout` overflows. Use `checked_add`, and no deadline if \
                      it returns `None`. Or the time is checked before the token, so that a \
                      timeout of zero takes none.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        assert!(!parker.park_timeout(Duration::ZERO), "there was no token");
        for timeout in [Duration::ZERO, Duration::MAX] {
            unparker.unpark();
            let took = parker.park_timeout(timeout);
            assert!(
                took,
                "there was a token, but a timeout of {timeout:?} didn't take it"
            );
        }
        let unparking = unpark_once_asleep(unparker);
        let took = parker.park_timeout(Duration::MAX);
        assert!(
            took,
            "a timeout of `Duration::MAX` was over before there was a token"
        );
        unparking.join().expect("unparking doesn't panic");
    });
}

/// Clause 5: 584 years are 2^64 nanoseconds.
#[test]
fn a_long_timeout_is_not_cut_to_a_short_one() {
    let lesson = Lesson {
        clause: "5. Timeouts",
        promise: "A timeout of 2^32 or 2^64 units, from nanoseconds to seconds, isn't over at once.",
        usual_cause: "The time is converted to a number of nanoseconds or milliseconds, and `as` \
                      truncates it. Keep it as a `Duration` or an `Instant`.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        let parker = Parker::new();
        for timeout in durations_that_wrap() {
            let unparking = unpark_once_asleep(parker.unparker());
            let took = parker.park_timeout(timeout);
            assert!(
                took,
                "a timeout of {timeout:?} was over before there was a token"
            );
            unparking.join().expect("unparking doesn't panic");
        }
    });
}

/// Clause 5: a timeout ends one sleep and nothing else.
#[test]
fn a_park_after_a_time_out_works_as_before() {
    let lesson = Lesson {
        clause: "5. Timeouts",
        promise: "A timeout leaves no trace: the next `park` sleeps, and the next `unpark` counts.",
        usual_cause: "The state still says that the thread sleeps. Reset it when the time is up.",
        read: "one-future/parker.html#three-states",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        for _ in 0..3 {
            assert!(!parker.park_timeout(MOMENT), "there was no token");
        }
        unparker.unpark();
        parker.park();
        assert!(!parker.park_timeout(MOMENT), "there was only one token");
        let unparking = unpark_once_asleep(unparker);
        parker.park();
        unparking.join().expect("unparking doesn't panic");
    });
}

/// Clause 5: a late token is for the next `park`.
#[test]
fn a_token_that_comes_as_time_runs_out_is_taken_once() {
    let lesson = Lesson {
        clause: "5. Timeouts",
        promise: "A token that comes just as the time is up is taken either by this call or by the \
                  next `park`.",
        usual_cause: "On a timeout, the state is reset without a look at what it was. Use a swap, \
                      and return `true` if there was a token. Or it's the reverse: after a \
                      timeout, `park_timeout` returns `true` but leaves the token there, to be \
                      taken again. Look and take in one step, on that path, too.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        histories::unpark_at_each_moment_of_a_timed_park();
        histories::park_at_each_moment_of_an_unpark();
        race_with_the_clock();
        // Now and then the thread whose time is up pauses for a moment before
        // it returns.
        with_chaos(SEED, race_with_the_clock);
    });
}

/// Lets tokens come at about the time when the time is up, one after another.
fn race_with_the_clock() {
    const MOST_ROUNDS: u32 = 800;
    const FEWEST_ROUNDS: u32 = 50;
    const TIME: Duration = Duration::from_millis(150);
    const TIMEOUT: Duration = Duration::from_micros(60);
    const STEP: Duration = Duration::from_micros(1);
    let parker = Parker::new();
    let unparker = parker.unparker();
    let meeting = Arc::new(Rendezvous::new());
    let in_time = Arc::new(AtomicBool::new(false));
    let is_over = Arc::new(AtomicBool::new(false));
    let partner = thread::spawn({
        let meeting = meeting.clone();
        let (in_time, is_over) = (in_time.clone(), is_over.clone());
        move || {
            let mut pause = TIMEOUT;
            while !is_over.load(SeqCst) {
                meeting.meet();
                let moment = Instant::now() + pause;
                while Instant::now() < moment {}
                unparker.unpark();
                meeting.meet();
                // Closes in on the moment at which the other thread gives up.
                pause = match in_time.load(SeqCst) {
                    true => pause + STEP,
                    false => pause.saturating_sub(STEP),
                };
            }
        }
    });
    let end = Instant::now() + TIME;
    for round in 1..=MOST_ROUNDS {
        meeting.meet();
        let took = parker.park_timeout(TIMEOUT);
        if !took {
            parker.park();
        }
        in_time.store(took, SeqCst);
        // On a busy machine each meeting takes long.
        let is_last = round >= FEWEST_ROUNDS && Instant::now() >= end;
        is_over.store(is_last || round == MOST_ROUNDS, SeqCst);
        meeting.meet();
        // This round's token has come, and was taken.
        let again = parker.park_timeout(Duration::ZERO);
        assert!(!again, "one token was taken twice");
        if is_last {
            break;
        }
    }
    partner.join().expect("unparking doesn't panic");
}

/// Clause 5: otherwise a thread that is often unparked never sees its timeout.
#[test]
fn wake_ups_without_a_token_do_not_prolong_a_timed_park() {
    let lesson = Lesson {
        clause: "5. Timeouts",
        promise: "The time runs from the start of the call, no matter what wakes the thread \
                  meanwhile.",
        usual_cause: "Each further sleep gets the whole time again. Compute a deadline first, and \
                      sleep for the time that is left.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    // A sleep that ends halfway leaves half of this.
    const HALVED: Duration = Duration::from_millis(40);
    // Less time than this passes between two unparks, even on a busy machine.
    const TIMEOUT: Duration = Duration::from_millis(200);
    const UNPARKS: u32 = 300;
    const PAUSE: Duration = Duration::from_millis(5);
    check(lesson, || {
        let (took, sleeps) =
            with_late_returns(|| Parker::new().park_timeout(HALVED));
        assert!(!took, "there was no token");
        let too_long = sleeps
            .iter()
            .skip(1)
            .filter(|sleep| **sleep > HALVED * 3 / 4);
        if let Some(sleep) = too_long.max() {
            panic!(
                "half of {HALVED:?} had passed when a sleep ended spuriously, but the next was to \
                 last {sleep:?}"
            );
        }

        let parked = thread::current();
        let is_over = Arc::new(AtomicBool::new(false));
        let partner = thread::spawn({
            let is_over = is_over.clone();
            move || {
                for _ in 0..UNPARKS {
                    if is_over.load(SeqCst) {
                        return;
                    }
                    thread::sleep(PAUSE);
                    parked.unpark();
                }
                panic!(
                    "after {:?}, a timeout of {TIMEOUT:?} still wasn't over",
                    UNPARKS * PAUSE
                );
            }
        });
        assert!(!Parker::new().park_timeout(TIMEOUT), "there was no token");
        is_over.store(true, SeqCst);
        if let Err(panic) = partner.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Clause 6: a parker that spins or polls passes all checks of the other
/// clauses.
#[test]
fn a_parked_thread_is_idle() {
    let lesson = Lesson {
        clause: "6. Idle",
        promise: "A thread in `park` sleeps until it is unparked.",
        usual_cause: "A loop looks for the token, and spins, yields or sleeps for a while. At a \
                      hang: the thread sleeps, as it should, but an `unpark` doesn't wake it. See \
                      clause 2.",
        read: "one-future/parker.html#between-the-look-and-the-sleep",
    };
    check(lesson, || assert_idle(Parker::park));
}

/// Clause 6: it's easy to spin by accident in the loop that looks at the clock.
#[test]
fn a_thread_in_a_timed_park_is_idle() {
    let lesson = Lesson {
        clause: "6. Idle",
        promise: "A thread in `park_timeout` sleeps until it is unparked or the time is up.",
        usual_cause: "A loop looks at the clock again and again. Sleep for all the time that is \
                      left. At a hang: the thread sleeps, as it should, but an `unpark` doesn't \
                      wake it. See clause 2.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        assert_idle(|parker| _ = parker.park_timeout(HOUR))
    });
}

/// Asserts that `park` uses next to no CPU time while there is no token.
#[track_caller]
fn assert_idle(park: impl FnOnce(&Parker)) {
    let parker = Parker::new();
    let unparker = parker.unparker();
    let parked = ThreadProbe::here();
    let watcher = thread::spawn(move || {
        parked.wait_until_asleep();
        let cost = idle_cost(&parked, IDLE_WINDOW);
        unparker.unpark();
        cost
    });
    park(&parker);
    let cost = watcher.join().expect("the watcher doesn't panic");
    if let Some(Cost { cpu, sleeps }) = cost {
        assert!(
            cpu < IDLE_CPU,
            "parked for {IDLE_WINDOW:?}, the thread used {cpu:.0?} of CPU time"
        );
        assert!(
            sleeps < IDLE_SLEEPS,
            "parked for {IDLE_WINDOW:?}, the thread woke up {sleeps} times"
        );
    }
}
