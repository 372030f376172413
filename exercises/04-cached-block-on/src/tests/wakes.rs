//! Wake-ups, and which thread gets them.

use super::*;

/// Clause 1: `block_on` can't know how many polls a future needs.
#[test]
fn a_future_is_polled_until_it_is_ready() {
    let lesson = Lesson {
        clause: "1. Prompt",
        promise: "A future is polled at once, and again until it is ready, and its output is \
                  returned.",
        usual_cause: "The thread sleeps before the first poll, or the loop ends after the second \
                      poll, or it gives up on a future that wakes itself again and again.",
        read: "one-future/block-on.html#poll-first",
    };
    check(lesson, || {
        let polls = Cell::new(0);
        let output = block_on(poll_fn(|_| {
            polls.set(polls.get() + 1);
            Poll::Ready("at once")
        }));
        assert!(output == "at once", "`block_on` returned `{output}`");
        let polls = polls.get();
        assert!(polls == 1, "a ready future was polled {polls} times");
        block_on(Yields(1_000));
    });
}

/// How long the idle check watches the thread, and what a sleeping thread may
/// cost in that time: a hundred times what it does cost.
const IDLE_WINDOW: Duration = Duration::from_millis(200);
const IDLE_CPU: Duration = Duration::from_millis(20);
const IDLE_SLEEPS: u64 = 20;

/// Clause 2: this also holds after wake-ups, whose flags have to be cleared.
#[test]
fn waiting_is_idle() {
    let lesson = Lesson {
        clause: "2. Idle",
        promise: "While the future waits, the thread sleeps until it is woken.",
        usual_cause: "The loop spins, or polls by a timer, or it finds a flag that an earlier \
                      wake-up set and that was never cleared.",
        read: "one-future/block-on.html#sleep-dont-spin",
    };
    check(lesson, || {
        block_on(Yields(3));
        let (future, handle) = ManualFuture::new();
        let watcher = thread::spawn(move || {
            let (_waker, blocked) = handle.wait_until_asleep();
            let cost = idle_cost(&blocked, IDLE_WINDOW);
            let by_the_clock = blocked.sleeps_by_the_clock();
            handle.complete();
            (cost, by_the_clock)
        });
        block_on(async {
            Yields(3).await;
            future.await;
        });
        let (cost, by_the_clock) =
            watcher.join().expect("the watcher doesn't panic");
        if let Some(Cost { cpu, sleeps }) = cost {
            assert!(
                cpu < IDLE_CPU && sleeps < IDLE_SLEEPS,
                "in {IDLE_WINDOW:?} of waiting the thread used {cpu:.0?} of CPU time and woke up \
                 {sleeps} times"
            );
        }
        assert!(
            by_the_clock != Some(true),
            "the thread sleeps until a timeout, not until it is woken"
        );
    });
}

/// Clause 3: a future wakes itself during the poll, as `yield_now` does, or
/// another thread wakes it.
#[test]
fn a_wake_during_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up during the poll counts, both from this thread and from another one.",
        usual_cause: "The flag is cleared after the poll, or before the sleep, without a look at \
                      it; or a wake-up only wakes a thread that sleeps already.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
    };
    check(lesson, || {
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            let waker = cx.waker().clone();
            match polls {
                1 => waker.wake_by_ref(),
                2 => waker.wake(),
                3 => join(thread::spawn(move || waker.wake_by_ref())),
                4 => join(thread::spawn(move || waker.wake())),
                _ => return Poll::Ready(()),
            }
            Poll::Pending
        }));
    });
}

/// Clause 3: the next poll answers both wake-ups, and after it both ways must
/// work again.
#[test]
fn wakes_by_both_ways_at_once_are_not_lost() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "When the future and another thread wake during one poll, the future is polled \
                  again, and after that each of the two can wake again.",
        usual_cause: "Taking this thread's wake-up takes half of the other thread's with it: its \
                      token and not its flag, or its flag and not its token.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
    };
    check(lesson, || {
        for own_first in [true, false] {
            let (rest, handle) = ManualFuture::new();
            let waking = thread::spawn(move || {
                handle.wait_until_asleep();
                handle.complete();
            });
            let mut is_first = true;
            block_on(async {
                poll_fn(|cx| {
                    if !std::mem::take(&mut is_first) {
                        return Poll::Ready(());
                    }
                    let wake_here = || cx.waker().wake_by_ref();
                    let waker = cx.waker().clone();
                    if own_first {
                        wake_here();
                    }
                    join(thread::spawn(|| waker.wake()));
                    if !own_first {
                        wake_here();
                    }
                    Poll::Pending
                })
                .await;
                rest.await;
                Yields(2).await;
            });
            join(waking);
        }
    });
}

/// Clause 3: no single run can be relied on to hit the moment between the last
/// look and the sleep. Many runs do hit it, and even more so with delays in
/// between.
#[test]
fn thousands_of_wakes_between_two_threads_all_arrive() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up that comes between the poll and the sleep still counts.",
        usual_cause: "The thread looks for a wake-up, and then sleeps without looking again, or it \
                      announces its sleep only after its last look.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
    };
    const TIME: Duration = Duration::from_millis(150);
    check(lesson, || {
        race_step_by_step(block_on);
        race_both_ways(TIME);
        with_chaos(4, || race_both_ways(TIME));
    });
}

/// Waits for answers from another thread, with a wake-up of its own in every
/// third round.
fn race_both_ways(time: Duration) {
    let mut round = 0;
    race_with_wakes(time, |answer| {
        round += 1;
        let mut wakes_itself = round % 3 == 0;
        let mut answer = pin!(answer);
        block_on(poll_fn(|cx| {
            let poll = answer.as_mut().poll(cx);
            if std::mem::take(&mut wakes_itself) {
                cx.waker().wake_by_ref();
            }
            poll
        }));
    });
}

/// Clause 3: between a wake-up and the end of the poll, the future waits for
/// something with `thread::park`, as a lock or a channel may.
#[test]
fn a_wake_up_survives_a_future_that_parks() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up still counts if the future calls `thread::park` after it.",
        usual_cause: "The wake-up is kept only in the thread's own token, and the future took that \
                      token.",
        read: "one-future/parker.html#who-takes-the-token",
    };
    check(lesson, || {
        for from_elsewhere in [false, true] {
            let mut is_first = true;
            block_on(poll_fn(|cx| {
                if !std::mem::take(&mut is_first) {
                    return Poll::Ready(());
                }
                let waker = cx.waker().clone();
                if from_elsewhere {
                    join(thread::spawn(|| waker.wake()));
                } else {
                    waker.wake();
                }
                wait_by_thread_park();
                Poll::Pending
            }));
        }
    });
}

/// Clause 3: a `Context` stays on its thread, but a `&Waker` doesn't have to.
#[test]
fn another_thread_wakes_by_a_borrowed_waker() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "Another thread may borrow the waker in the `Context`, and wake with it, without \
                  a clone.",
        usual_cause: "The waker in the `Context` is assumed to stay on the thread, since the \
                      `Context` does, and only its clones check which thread they're on. However, \
                      a `Waker` is `Sync`, and a scoped thread may borrow it: check in every \
                      waker.",
        read: "one-future/cached-block-on.html#whose-flag-is-it",
    };
    check(lesson, || {
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            if polls > 3 {
                return Poll::Ready(());
            }
            let waker = cx.waker();
            thread::scope(|scope| {
                scope.spawn(|| waker.wake_by_ref());
            });
            Poll::Pending
        }));
    });
}

/// Clause 4: two threads wait at once, and only one of them is woken.
#[test]
fn two_waiting_threads_do_not_take_each_others_wake_ups() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A waker wakes the thread that it was made for, no matter how many others are \
                  waiting.",
        usual_cause: "All threads share one cache, a `static` where a `thread_local!` is needed.",
        read: "one-future/cached-block-on.html#what-a-call-pays-for",
    };
    check(lesson, || {
        for _ in 0..10 {
            let [first, second] = [(); 2].map(|()| {
                let (future, handle) = ManualFuture::new();
                let waiting = thread::spawn(|| block_on(future));
                handle.wait_until_asleep();
                (handle, waiting)
            });
            for (handle, waiting) in [second, first] {
                handle.complete();
                join(waiting);
            }
        }
    });
}

/// Clause 4: a thread that runs a `block_on` of its own wakes another thread's.
/// Then "Is this thread polling?" is the wrong question.
#[test]
fn a_waker_wakes_its_thread_from_within_another_block_on() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A future that `block_on` polls on one thread can wake a `block_on` on another.",
        usual_cause: "The waker checks whether its caller is polling, but not whether that poll is \
                      for this waker. Compare the caller with the thread that the waker was made \
                      for.",
        read: "one-future/cached-block-on.html#whose-flag-is-it",
    };
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let waiting = thread::spawn(|| block_on(future));
        handle.wait_until_asleep();
        block_on(poll_fn(|_| {
            handle.complete();
            Poll::Ready(())
        }));
        join(waiting);
    });
}
