//! `block_on` with a waker made by hand.

use super::*;

/// Clause 9: a wake-up asks for a poll; it doesn't mean that the future is
/// ready.
#[test]
fn block_on_polls_until_the_future_is_ready() {
    let lesson = Lesson {
        clause: "9. Prompt",
        promise: "`block_on` polls at once, and again after each wake-up until the future is ready.",
        usual_cause: "The thread sleeps before the first poll, or takes a wake-up to mean that the \
                      future is ready.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    check(lesson, || {
        assert!(
            block_on(async { 7 }) == 7,
            "the output of a ready future wasn't returned"
        );
        let mut polls_left = 1_000;
        block_on(poll_fn(|cx| {
            polls_left -= 1;
            if polls_left == 0 {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
    });
}

/// Clause 10: a loop that spins is right in every other way, and burns a core.
#[test]
fn block_on_sleeps_while_it_waits() {
    let lesson = Lesson {
        clause: "10. Idle",
        promise: "While the future waits, the thread sleeps until a wake-up comes from any thread, \
                  whether there were wake-ups before or not.",
        usual_cause: "The loop spins, or wakes up after a timeout (`wait_timeout`, \
                      `park_timeout`), as a safety net. A wake-up that isn't lost needs no net. Or \
                      the flag that the first wake-up sets is never cleared.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    const WINDOW: Duration = Duration::from_millis(200);
    const CPU: Duration = Duration::from_millis(20);
    const SLEEPS: u64 = 20;
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let watcher = thread::spawn(move || {
            let (_waker, blocked) = handle.wait_until_asleep();
            let cost = idle_cost(&blocked, WINDOW);
            let polls = handle.polls();
            let by_the_clock = blocked.sleeps_by_the_clock();
            handle.complete();
            (cost, polls, by_the_clock)
        });
        block_on(async {
            Yields(3).await;
            future.await;
        });
        let (cost, polls, by_the_clock) =
            watcher.join().expect("the watcher doesn't panic");
        assert!(
            polls <= 2,
            "in {WINDOW:?} without a wake-up the future was polled {polls} times"
        );
        if let Some(cost) = cost {
            assert!(
                cost.cpu < CPU && cost.sleeps < SLEEPS,
                "in {WINDOW:?} without a wake-up the thread woke up {} times \
                 and used {:.0?} of CPU time",
                cost.sleeps,
                cost.cpu
            );
        }
        assert!(
            by_the_clock != Some(true),
            "the thread sleeps until a timeout, not until it is woken"
        );
    });
}

/// Clause 11: made certain by joining the waking thread inside the poll.
#[test]
fn a_wake_during_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "A wake-up that comes while the future is polled still counts.",
        usual_cause: "The flag is cleared after the poll, or there is no flag and a wake-up only \
                      wakes a thread that sleeps already.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    check(lesson, || {
        block_on(Yields(3));
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !take(&mut is_first) {
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            let waking = thread::spawn(|| waker.wake());
            waking.join().expect("waking doesn't panic");
            Poll::Pending
        }));
    });
}

/// Clause 11: no single run can be relied on to hit the moment between the last
/// look and the sleep, but many runs do.
#[test]
fn thousands_of_wakes_between_two_threads_all_arrive() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "A wake-up that comes between the poll and the sleep still counts.",
        usual_cause: "The thread reads the flag, and then sleeps without looking again. Keep the \
                      flag under the mutex of the condition variable, and set it under that mutex, \
                      too.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    const TIME: Duration = Duration::from_millis(300);
    check(lesson, || {
        race_step_by_step(block_on);
        race_with_wakes(TIME, block_on);
    });
}

/// Clause 11: this is what the previous exercise was about.
#[test]
fn a_future_that_parks_does_not_take_the_wake_up() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "A wake-up still counts when the future itself uses `thread::park`.",
        usual_cause: "The wake-up is kept only in the park token, which belongs to the whole \
                      thread. Keep a flag of your own.",
        read: "one-future/parker.html#who-takes-the-token",
    };
    check(lesson, || {
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !take(&mut is_first) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            // Takes the token, if there is one.
            thread::park_timeout(Duration::ZERO);
            Poll::Pending
        }));
    });
}

/// Clause 11: the future waits for something with a `block_on` of its own.
#[test]
fn a_future_that_calls_block_on_does_not_take_the_wake_up() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "A wake-up still counts when the future calls `block_on` after it.",
        usual_cause: "All calls on a thread sleep on the same object, in a `thread_local!`, and \
                      the inner call takes the wake-up of the outer call. Create one for each \
                      call.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    check(lesson, || {
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !take(&mut is_first) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            // A nested call may also panic.
            let _ = catch_unwind(AssertUnwindSafe(|| block_on(Yields(1))));
            Poll::Pending
        }));
    });
}

/// Clause 12: a timer that turned out not to be needed fires after the call.
#[test]
fn a_waker_may_be_used_after_block_on_returned() {
    let lesson = Lesson {
        clause: "12. Wakers live on",
        promise: "A waker may be woken, cloned and dropped on any thread after `block_on` has \
                  returned.",
        usual_cause: "The waker points at something that is gone when the call returns. Put it \
                      into an `Arc`, and let the waker hold a count.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
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

/// Clause 12: a panic of the future leaves the call by another path.
#[test]
fn a_call_whose_future_panics_leaves_no_memory_behind() {
    let lesson = Lesson {
        clause: "12. Wakers live on",
        promise: "A call that propagates a panic of its future leaves no memory behind either.",
        usual_cause: "The waker is in a `ManuallyDrop`, and is dropped by hand when the future is \
                      ready. A panic skips that line, so leave it to a destructor.",
        read: "one-future/raw-waker.html#when-a-wake-panics",
    };
    const CALLS: isize = 1_000;
    check(lesson, || {
        let call = || {
            let future = poll_fn(|cx| -> Poll<()> {
                // The compiler would leave out a waker that isn't used.
                black_box(cx.waker());
                // Like a panic, but without the panic hook, which would record
                // it.
                resume_unwind(Box::new(()))
            });
            catch_unwind(|| block_on(future)).expect_err("it panics")
        };
        call();
        let before = live_blocks();
        (0..CALLS).for_each(|_| drop(call()));
        let left = live_blocks() - before;
        assert!(
            left < CALLS / 4,
            "{CALLS} calls whose future panicked left {left} blocks of memory behind"
        );
    });
}

/// Clause 12: a runtime calls `block_on` for as long as it runs.
#[test]
fn calls_of_block_on_leave_no_memory_behind() {
    let lesson = Lesson {
        clause: "12. Wakers live on",
        promise: "When a call and its wakers are gone, so is what the call slept on.",
        usual_cause: "What the thread sleeps on is leaked so that wakers can point at it \
                      (`Box::leak`), or a waker is never dropped.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    const CALLS: isize = 1_000;
    check(lesson, || {
        let before = live_blocks();
        for _ in 0..CALLS {
            let waker = block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
            waker.wake();
        }
        // The watchdog runs meanwhile, so a few blocks come and go.
        let left = live_blocks() - before;
        assert!(
            left < CALLS / 4,
            "{CALLS} calls left {left} blocks of memory behind"
        );
    });
}
