//! `block_on` on a parker.

use super::*;

/// Clause 10: `yield_now` does exactly this.
#[test]
fn a_wake_by_the_future_itself_is_not_lost() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "A future that wakes itself while it is polled is polled again.",
        usual_cause: "The token is cleared after the poll, or `wake` only wakes a thread that \
                      sleeps already. Or, if all checks that wait in `block_on` hang, it sleeps on \
                      something other than what its waker unparks.",
        read: "one-future/parker.html#block_on-second-version",
    };
    check(lesson, || block_on(Yields(3)));
}

/// Clause 10: made certain by joining the waking thread inside the poll.
#[test]
fn a_wake_from_another_thread_during_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "A wake-up from another thread that comes while the future is polled still counts.",
        usual_cause: "The token is cleared after the poll, or `wake` only wakes a thread that \
                      sleeps already.",
        read: "one-future/parker.html#block_on-second-version",
    };
    check(lesson, || {
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            let waking = thread::spawn(|| waker.wake());
            waking.join().expect("waking doesn't panic");
            Poll::Pending
        }));
    });
}

/// Clause 10: the bug that this exercise is about. Between the wake-up and the
/// end of the poll, the future waits for something with `thread::park`.
#[test]
fn a_wake_up_survives_a_future_that_parks() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "A wake-up still counts if the future calls `thread::park` after it.",
        usual_cause: "The wake-up is kept only in the thread's own token, and the future took that \
                      token. Keep the wake-up in your parker.",
        read: "one-future/parker.html#who-takes-the-token",
    };
    check(lesson, || {
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            wait_by_thread_park();
            Poll::Pending
        }));
    });
}

/// Clause 10: the future waits for something with a `block_on` of its own.
#[test]
fn a_wake_up_survives_a_future_that_calls_block_on() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "A wake-up still counts if the future calls `block_on` after it.",
        usual_cause: "All calls on a thread share one parker, and the inner call takes the token \
                      of the outer call. Create a parker for each call.",
        read: "one-future/parker.html#block_on-second-version",
    };
    check(lesson, || {
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            block_on(Yields(1));
            Poll::Pending
        }));
    });
}

/// Clause 10: no single run can be relied on to hit the moment between the last
/// look and the sleep, but many runs do.
#[test]
fn thousands_of_wakes_between_two_threads_all_arrive() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "A wake-up that comes between the poll and the sleep still counts.",
        usual_cause: "`block_on` doesn't sleep with `Parker::park`, unless a check of clause 2 \
                      fails, too: then `park` loses the token between its last look and its sleep.",
        read: "one-future/parker.html#between-the-look-and-the-sleep",
    };
    const TIME: Duration = Duration::from_millis(150);
    check(lesson, || {
        race_step_by_step(block_on);
        race_with_wakes(TIME, block_on);
        with_chaos(SEED, || race_with_wakes(TIME, block_on));
    });
}

/// Polls without a wake-up that a correct design may make.
const SPARE_POLLS: u32 = 10;

/// Clause 11: a flag that was set once, and stays set, ends every sleep.
#[test]
fn a_wake_up_ends_one_sleep() {
    let lesson = Lesson {
        clause: "11. Polled when woken",
        promise: "After the poll that a wake-up has caused, the thread sleeps again.",
        usual_cause: "Something that says that a wake-up came is never cleared: `park` finds the \
                      token but doesn't take it, or `block_on` has a flag of its own beside the \
                      token. From then on, the thread doesn't sleep, and polls. If the checks of \
                      clause 1 pass, the flag is to blame, and `block_on` doesn't need one.",
        read: "one-future/parker.html#block_on-second-version",
    };
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        // The future is never ready. The thread ends with the process.
        thread::spawn(|| block_on(future));
        let (waker, blocked) = handle.wait_until_asleep();
        idle_cost(&blocked, IDLE_WINDOW);
        let polls_before = handle.polls();
        if polls_before > 1 + SPARE_POLLS {
            // It polls by itself, which is the matter of another check.
            return;
        }
        waker.wake();
        blocked.wait_until_asleep();
        idle_cost(&blocked, IDLE_WINDOW);
        let polls = handle.polls() - polls_before;
        assert!(
            polls <= 1 + SPARE_POLLS,
            "one wake-up caused {polls} polls: the thread doesn't go back to sleep, because it \
             finds the same wake-up again and again"
        );
    });
}

/// Clause 11: polling twice is doing the work twice.
#[test]
fn a_wake_up_causes_one_poll() {
    let lesson = Lesson {
        clause: "11. Polled when woken",
        promise: "The future is polled once, and then once for each wake-up.",
        usual_cause: "The loop polls a second time to be sure. The token is kept, so there is nothing to \
                      be sure of.",
        read: "one-future/parker.html#block_on-second-version",
    };
    const WAKES: u32 = 30;
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let waking = thread::spawn(move || {
            handle.wake_one_by_one(WAKES);
            handle
        });
        block_on(future);
        let polls = waking.join().expect("waking doesn't panic").polls();
        let wakes = WAKES + 1;
        assert!(
            polls <= 1 + wakes + SPARE_POLLS,
            "{wakes} wake-ups caused {polls} polls"
        );
    });
}

/// Clause 11: a parker may be kept for the next call, with what is left in it.
#[test]
fn a_wake_up_of_an_earlier_call_polls_no_later_future() {
    let lesson = Lesson {
        clause: "11. Polled when woken",
        promise: "A wake-up that comes in the last poll of a call, or after it, or even during a \
                  later call, causes no poll of the later call's future.",
        usual_cause: "The parker is kept for the next call, and its token is still there. Take it \
                      before the first poll, or make a new parker. (If a kept parker was made for \
                      one call, the wakers of that call unpark it in the next.)",
        read: "one-future/parker.html#block_on-second-version",
    };
    const CALLS: u32 = 30;
    check(lesson, || {
        let mut polls = 0;
        for _ in 0..CALLS {
            let waker = block_on(poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::Ready(cx.waker().clone())
            }));
            waker.wake_by_ref();
            let (future, handle) = ManualFuture::new();
            let completing = thread::spawn(move || {
                let (_waker, parked) = handle.wait_until_asleep();
                waker.wake();
                parked.wait_until_asleep();
                handle.complete();
                handle
            });
            block_on(future);
            let handle = completing.join().expect("completing doesn't panic");
            polls += handle.polls();
        }
        let needed = 2 * CALLS;
        assert!(
            polls <= needed + SPARE_POLLS,
            "with wake-ups of earlier calls, {needed} polls became {polls}"
        );
    });
}

/// Clause 11: a sleep may end because of a token that is left over from a
/// wake-up that was already seen.
#[test]
fn a_wake_up_within_a_poll_does_not_end_the_next_sleep() {
    let lesson = Lesson {
        clause: "11. Polled when woken",
        promise: "A wake-up that comes while the future is polled causes one further poll, and then \
                  the thread sleeps until the next wake-up.",
        usual_cause: "A wake-up that comes during a poll leaves two things: a flag, which keeps the \
                      thread from sleeping, and a token (in `thread::park`, a parker or a \
                      channel), which ends the next sleep at once. Sleep in a `while` that checks \
                      the flag each time, or use only one of the two.",
        read: "one-future/parker.html#block_on-second-version",
    };
    check(lesson, || {
        let polls = block_on(WokenByTurns::new());
        let needed = WokenByTurns::NEEDED_POLLS;
        let wakes = needed - 1;
        assert!(
            polls <= 10 * needed,
            "{wakes} wake-ups, every other one within a poll, caused {polls} polls: the thread \
             spins. Does `park` take the token that it finds?"
        );
        assert!(
            polls <= needed + WokenByTurns::ROUNDS / 2,
            "{wakes} wake-ups, every other one within a poll, caused {polls} polls, not {needed}"
        );
    });
}

/// Clause 11: since the parker returns only with a token, nothing else has to
/// cause a poll.
#[test]
fn the_future_is_polled_only_when_woken() {
    let lesson = Lesson {
        clause: "11. Polled when woken",
        promise: "Neither the passing of time nor an unpark of the thread causes a poll.",
        usual_cause: "The loop sleeps with `thread::park`, or with `park_timeout` as a safety net.",
        read: "one-future/parker.html#block_on-second-version",
    };
    const UNPARKS: u32 = 50;
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let thread = thread::current();
        let watcher = thread::spawn(move || {
            let (_waker, parked) = handle.wait_until_asleep();
            for _ in 0..UNPARKS {
                thread.unpark();
                parked.wait_until_asleep();
            }
            let cost = idle_cost(&parked, IDLE_WINDOW);
            let polls = handle.polls();
            handle.complete();
            (polls, cost)
        });
        block_on(future);
        let (polls, cost) = watcher.join().expect("the watcher doesn't panic");
        assert!(
            polls <= 1 + SPARE_POLLS,
            "without a wake-up the future was polled {polls} times"
        );
        let sleeps = cost.map_or(0, |cost| cost.sleeps);
        assert!(
            sleeps < IDLE_SLEEPS,
            "in {IDLE_WINDOW:?} without a wake-up the thread woke up {sleeps} times"
        );
    });
}

/// Clause 12: a timer that turned out not to be needed fires after the call.
#[test]
fn a_waker_may_be_used_after_block_on_returned() {
    let lesson = Lesson {
        clause: "12. Wakers live on",
        promise: "A waker may be woken, cloned and dropped on any thread after `block_on` has \
                  returned.",
        usual_cause: "The waker points at something that is gone when the call returns.",
        read: "one-future/parker.html#block_on-second-version",
    };
    check(lesson, || {
        let waker = block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        let clone = waker.clone();
        waker.wake_by_ref();
        let elsewhere = thread::spawn(move || {
            clone.wake_by_ref();
            clone.wake();
        });
        elsewhere.join().expect("a late wake-up doesn't panic");
        block_on(Yields(2));
        waker.wake();
        block_on(Yields(2));
    });
}
