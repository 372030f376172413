//! The checks of exercise 1, one or more for each clause of the contract.

use std::cell::Cell;
use std::future::poll_fn;
use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use testkit::{
    Cost, DropProbe, LateSide, Lesson, ManualFuture, MustNotMove, ThreadProbe,
    WokenByTurns, WrittenMeanwhile, Yields, check, idle_cost,
    race_step_by_step, race_with_late_stores, race_with_wakes,
};

use super::block_on;

/// Clause 1: a future may be ready at once, and then no wake-up will ever come.
#[test]
fn a_ready_future_needs_no_wake_up() {
    let lesson = Lesson {
        clause: "1. Prompt",
        promise: "A future that is ready at its first poll is polled once, and its output is \
                  returned.",
        usual_cause: "The thread parks before the first poll, or parks no matter what the first \
                      poll returned. Poll first, and sleep only after `Pending`.",
        read: "one-future/block-on.html#poll-first",
    };
    check(lesson, || {
        let polls = Cell::new(0);
        let output = block_on(poll_fn(|_| {
            polls.set(polls.get() + 1);
            Poll::Ready("output")
        }));
        assert!(output == "output", "`block_on` returned `{output}`");
        assert!(
            polls.get() == 1,
            "a ready future was polled {} times",
            polls.get()
        );
    });
}

/// Clause 1: `block_on` can't know how many polls a future needs.
#[test]
fn a_future_is_polled_until_it_is_ready() {
    let lesson = Lesson {
        clause: "1. Prompt",
        promise: "A future that is woken is polled again, as many times as it takes, until it is \
                  ready.",
        usual_cause: "The loop stops after a fixed number of polls. At a hang: a wake-up that the \
                      future sends itself during its poll is lost. See clauses 3 and 4.",
        read: "one-future/block-on.html#poll-first",
    };
    check(lesson, || {
        let mut polls_left = 1_200;
        let output = block_on(poll_fn(|cx| {
            polls_left -= 1;
            if polls_left == 0 {
                return Poll::Ready("ready at last");
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
        assert!(output == "ready at last", "`block_on` returned `{output}`");
        assert!(
            polls_left == 0,
            "`block_on` returned with {polls_left} polls still to come"
        );
    });
}

/// How long the idle checks watch the thread.
const IDLE_WINDOW: Duration = Duration::from_millis(200);
/// The CPU time that a sleeping thread may use in that window: a hundred times
/// what it does use.
const IDLE_CPU: Duration = Duration::from_millis(10);

/// What a blocked thread did in [`IDLE_WINDOW`], as far as the operating system
/// reports it.
struct Idling {
    cost: Option<Cost>,
    sleeps_by_the_clock: Option<bool>,
    /// How often the future had been polled by the end of the window.
    polls: u32,
}

/// Blocks on a future that is woken only after [`IDLE_WINDOW`].
fn wait_idly() -> Idling {
    let (future, handle) = ManualFuture::new();
    let watcher = thread::spawn(move || {
        let (_waker, blocked) = handle.wait_until_asleep();
        let sleeps_by_the_clock = blocked.sleeps_by_the_clock();
        let cost = idle_cost(&blocked, IDLE_WINDOW);
        let polls = handle.polls();
        handle.complete();
        Idling {
            cost,
            sleeps_by_the_clock,
            polls,
        }
    });
    block_on(future);
    watcher.join().expect("the watcher doesn't panic")
}

/// Clause 2: a thread that spins passes all checks of the other clauses, and
/// burns a core.
#[test]
fn waiting_does_not_spin() {
    let lesson = Lesson {
        clause: "2. Idle",
        promise: "While the future waits, the thread sleeps and uses no CPU time.",
        usual_cause: "The loop polls again, spins or yields instead of sleeping with \
                      `thread::park`. At a hang: the thread sleeps, as it should, but a wake-up \
                      from another thread doesn't reach it: `wake` unparks another thread, or \
                      unparks before it sets its flag. See clauses 3 and 4.",
        read: "one-future/block-on.html#sleep-dont-spin, at a hang #whose-thread-to-wake",
    };
    check(lesson, || {
        if let Some(cost) = wait_idly().cost {
            let cpu = cost.cpu;
            assert!(
                cpu < IDLE_CPU,
                "in {IDLE_WINDOW:?} of waiting for a wake-up the thread used {cpu:.0?} of CPU time"
            );
        }
    });
}

/// Clause 2: a timer that polls again now and then hides lost wake-ups, and
/// keeps the machine from sleeping.
#[test]
fn waiting_does_not_poll_by_a_timer() {
    let lesson = Lesson {
        clause: "2. Idle",
        promise: "The future is polled because it was woken, not because some time has passed.",
        usual_cause: "The loop calls `park_timeout` or `sleep`, as a safety net. A wake-up that \
                      isn't lost needs no net. At a hang: a wake-up from another thread is lost: \
                      `wake` unparks another thread, or unparks before it sets its flag. See \
                      clauses 3 and 4.",
        read: "one-future/block-on.html#sleep-dont-spin, at a hang #whose-thread-to-wake",
    };
    check(lesson, || {
        let Idling {
            sleeps_by_the_clock,
            polls,
            ..
        } = wait_idly();
        assert!(
            sleeps_by_the_clock != Some(true),
            "the thread sleeps until a timeout, not until it is woken"
        );
        assert!(
            polls <= 2,
            "in {IDLE_WINDOW:?} without a wake-up the future was polled {polls} times"
        );
    });
}

/// Clause 3: `yield_now` does exactly this.
#[test]
fn a_wake_by_the_future_itself_is_not_lost() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A future that wakes itself while it is polled is polled again.",
        usual_cause: "The flag is cleared after the poll, which erases a wake-up that came during \
                      the poll. Clear the flag before the poll, or at the moment when you see that \
                      it is set.",
        read: "one-future/block-on.html#a-wake-up-that-comes-early",
    };
    check(lesson, || block_on(Yields(3)));
}

/// Clause 3: several events may come at once, and each of them wakes the
/// future.
#[test]
fn several_wakes_in_one_poll_are_no_trouble() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A waker may be called again before the future is polled again. `wake` returns at \
                  once, and the future is polled.",
        usual_cause: "`wake` waits until there is room to store the wake-up, for example by \
                      sending into a bounded channel that is full. If a wake-up is stored already, \
                      `wake` has nothing to wait for.",
        read: "one-future/block-on.html#a-wake-up-that-comes-early",
    };
    check(lesson, || {
        let mut polls_left = 3;
        block_on(poll_fn(|cx| {
            polls_left -= 1;
            if polls_left == 0 {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
    });
}

/// Clause 3: a socket may be woken many times before its reader gets to poll.
#[test]
fn any_number_of_wakes_in_one_poll_count() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "No matter how many wake-ups come before a poll, the future is polled.",
        usual_cause: "The wake-ups are counted in a small integer, and the count wraps: after 256 \
                      wake-ups, a `u8` says that there was none. All that matters is whether there \
                      was one, so set a flag.",
        read: "one-future/block-on.html#a-wake-up-that-comes-early",
    };
    check(lesson, || {
        for bits in [8, 16] {
            let mut is_first = true;
            block_on(poll_fn(|cx| {
                if !std::mem::take(&mut is_first) {
                    return Poll::Ready(());
                }
                for _ in 0..1 << bits {
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            }));
        }
    });
}

/// Clause 3: made certain by joining the waking thread inside the poll.
#[test]
fn a_wake_from_another_thread_during_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up from another thread that comes while the future is polled still counts.",
        usual_cause: "The wake-up only unparks a thread that sleeps already (a condition variable \
                      without a flag), or its flag is cleared after the poll.",
        read: "one-future/block-on.html#a-wake-up-that-comes-early",
    };
    check(lesson, || {
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            thread::spawn(|| waker.wake())
                .join()
                .expect("waking doesn't panic");
            Poll::Pending
        }));
    });
}

/// Clause 3: no single run can be relied on to hit the moment between the last
/// look and the sleep. Therefore the check runs the thread one instruction at a
/// time, and wakes it after each; then it does the same with the thread that
/// wakes it. Where that can't be done, many runs hit the moment now and then.
#[test]
fn thousands_of_wakes_between_two_threads_all_arrive() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up that comes between the poll and the sleep still counts.",
        usual_cause: "A wake-up that comes after the last look at the flag and before the sleep is \
                      lost. Either the mutex is released in between, or `wake` sets the flag or \
                      notifies without having locked the mutex, or gives up when the mutex is \
                      locked, or notifies or unparks before it sets the flag. `thread::park` keeps \
                      a token for this moment, but only if `wake` always unparks: if a second flag \
                      says whether the thread sleeps, each side may miss what the other has \
                      stored, unless there's a `fence(SeqCst)` between its store and its load.",
        read: "one-future/block-on.html#a-wake-up-that-comes-early",
    };
    const TIME: Duration = Duration::from_millis(100);
    check(lesson, || {
        race_step_by_step(block_on);
        race_with_wakes(TIME, block_on);
    });
}

/// Clause 3: even x86 lets a load overtake a store of the same thread. For the
/// few nanoseconds for which it does, the check sees to it that the store takes
/// as long as it can.
#[test]
fn a_wake_up_counts_even_if_stores_arrive_late() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up that comes just after the thread has cleared its flag, or has said \
                  that it will sleep, still counts.",
        usual_cause: "The thread stores and then loads, and the waking thread does the same in the \
                      reverse order, so each may miss what the other has stored. For example, a \
                      plain store clears the flag that a wake-up came, and then the future is \
                      polled. The waking thread may still see the old flag, and then it doesn't \
                      unpark. Clear the flag with a `swap`, or always unpark.",
        read: "one-future/block-on.html#a-wake-up-that-comes-early",
    };
    check(lesson, || {
        race_with_late_stores(LateSide::Waiting, RACE_TIME, block_on);
    });
}

/// On a quiet machine a race ends much earlier.
const RACE_TIME: Duration = Duration::from_secs(2);

/// Clause 3: the same for the stores of the thread that wakes. Its wake-up
/// follows another one, which has its poll still to come.
#[test]
fn a_second_wake_up_counts_even_if_stores_arrive_late() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "What a thread writes before its wake-up is seen by the poll that follows, even \
                  if another wake-up has come before and its poll has yet to begin.",
        usual_cause: "`wake` looks at the flag, finds it set, and returns. But a load makes \
                      nothing visible: the thread may clear the flag just after it, poll, and \
                      miss what was written before this wake-up, which is still on its way. No \
                      other poll follows. Set the flag with a `swap` each time, or under a mutex.",
        read: "one-future/block-on.html#a-wake-up-that-comes-early",
    };
    check(lesson, || {
        race_with_late_stores(LateSide::Waking, RACE_TIME, block_on);
    });
}

/// Clause 4: `Waker::noop()` is enough to poll a future, but nothing can wake the
/// future through it.
#[test]
fn the_future_gets_a_waker_that_wakes() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "The waker that a poll gets wakes this `block_on`.",
        usual_cause: "The `Context` is made from `Waker::noop()`. No wake-up can reach the thread \
                      through it, so the thread sleeps forever, or polls on a timer, or spins. \
                      Write a type that knows which thread to wake, implement `Wake` for it, and \
                      make the waker from an `Arc` of it.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let does_nothing = block_on(poll_fn(|cx| {
            Poll::Ready(cx.waker().will_wake(Waker::noop()))
        }));
        assert!(
            !does_nothing,
            "the future was polled with `Waker::noop()`, which does nothing when it's called"
        );
    });
}

/// Clause 4: the usual case. A timer or a socket wakes the future from its own
/// thread.
#[test]
fn a_wake_from_another_thread_ends_the_sleep() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A wake-up from another thread wakes the thread that sleeps in `block_on`.",
        usual_cause: "`wake` unparks `thread::current()`, which is the thread that calls it. Or it \
                      unparks the right thread first and sets its flag after that: the thread \
                      finds no flag, and parks again. Or the flag is in a `thread_local!`, so that \
                      the thread that wakes sets its own. Store the flag and the handle of the \
                      thread that called `block_on` in the waker, and set the flag before you \
                      unpark.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let waking = thread::spawn(move || {
            handle.wait_until_asleep();
            handle.complete();
        });
        block_on(future);
        waking.join().expect("waking doesn't panic");
    });
}

/// Clause 4: combinators clone wakers, and keep only the newest.
#[test]
fn every_clone_of_the_waker_wakes() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "Every clone of the waker, even a clone of a clone, wakes both by value and by \
                  reference.",
        usual_cause: "The clones share something that the first wake-up uses up.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            let clone = cx.waker().clone();
            let by_reference = polls % 2 == 0;
            let waking = thread::spawn(move || {
                let clone_of_clone = clone.clone();
                drop(clone);
                if by_reference {
                    clone_of_clone.wake_by_ref()
                } else {
                    clone_of_clone.wake()
                }
            });
            waking.join().expect("waking doesn't panic");
            if polls == 5 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
    });
}

/// Clause 4: a future may keep the waker of its first poll, and hand it on
/// later.
#[test]
fn a_waker_of_an_earlier_poll_wakes() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A waker from an earlier poll of the same `block_on` still wakes it.",
        usual_cause: "Each poll gets a flag of its own, and the thread waits only for the newest \
                      flag. Make one waker for each call of `block_on`, before the loop.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let mut polls = 0;
        let mut first = None;
        let mut waking = None;
        block_on(poll_fn(|cx| {
            polls += 1;
            match polls {
                1 => first.insert(cx.waker().clone()).wake_by_ref(),
                2 => {
                    let asleep = ThreadProbe::here();
                    waking = first.take().map(|first| {
                        thread::spawn(move || {
                            asleep.wait_until_asleep();
                            first.wake();
                        })
                    });
                }
                _ => return Poll::Ready(()),
            }
            Poll::Pending
        }));
        let waking = waking.expect("the second poll has begun it");
        waking.join().expect("waking doesn't panic");
    });
}

/// Clause 4: two threads wait at once, and only one of them is woken.
#[test]
fn two_waiting_threads_do_not_take_each_others_wake_ups() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A waker wakes the `block_on` that it was made for, no matter how many others are \
                  waiting.",
        usual_cause: "All calls share one flag or one condition variable, for example in a \
                      `static`, and one call takes the wake-up that was meant for another.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    const ROUNDS: u32 = 10;
    check(lesson, || {
        let mut needless_polls = 0;
        for _ in 0..ROUNDS {
            let [first, second] = [(); 2].map(|()| {
                let (future, handle) = ManualFuture::new();
                let waiting = thread::spawn(|| block_on(future));
                handle.wait_until_asleep();
                (handle, waiting)
            });
            // The thread that went to sleep first is usually woken first, so
            // the wake-up is for the other one.
            let polls_before = first.0.polls();
            second.0.complete();
            second.1.join().expect("waiting doesn't panic");
            needless_polls += first.0.polls() - polls_before;
            first.0.complete();
            first.1.join().expect("waiting doesn't panic");
        }
        assert!(
            needless_polls < ROUNDS / 2,
            "{ROUNDS} wake-ups of other calls caused {needless_polls} polls"
        );
    });
}

/// When a future is woken after the call in its poll.
#[derive(Clone, Copy)]
enum After {
    AtOnce,
    OnceAsleep,
}

use After::{AtOnce, OnceAsleep};

/// Clause 4: a future may call a library that blocks.
#[test]
fn a_waker_still_wakes_after_a_call_within_the_poll() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "If a future calls `block_on` during its poll, its waker still wakes the outer \
                  call afterward. If the inner call doesn't sleep, a wake-up before it counts, too.",
        usual_cause: "The calls of one thread share something that the inner call replaces, clears \
                      or removes: a flag in a thread-local, or an entry under the thread's id in a \
                      map. Then the outer call's waker sets nothing that the outer call looks at, \
                      and the thread sleeps forever. Make a signal for each call, and keep it in \
                      that call's waker.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let is_ready = || block_on(async {});
        let panics = || block_on(async { panic!("the inner future panics") });
        for call in [is_ready, panics] {
            wait_with_calls_within(true, call, None);
        }
        for call in [is_ready, panics, block_on_yields] {
            for after in [AtOnce, OnceAsleep] {
                wait_with_calls_within(false, call, Some(after));
            }
        }
    });
}

/// Clause 4: the thread sleeps during the poll, and that may take a wake-up that
/// has come by then.
#[test]
fn a_wake_up_counts_if_the_poll_has_slept_since_the_one_before() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A future is woken, puts the thread to sleep during its poll, and is woken again. \
                  That sleep may take the first wake-up, but not the second.",
        usual_cause: "A flag says that the thread has been unparked, and until the next poll it \
                      saves `wake` another call of `unpark`. But a sleep during the poll takes the \
                      token and leaves the flag. The next wake-up finds it set, so it leaves no \
                      token, and `block_on` parks without a look at the flag. Look at the flag \
                      before you park, or always unpark.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        for sleep in [park, block_on_yields] {
            for after in [AtOnce, OnceAsleep] {
                wait_with_calls_within(true, sleep, Some(after));
            }
        }
    });
}

fn block_on_yields() {
    block_on(Yields(2));
}

/// Takes the thread's token, which is there, no matter what a wake-up leaves.
fn park() {
    thread::current().unpark();
    thread::park();
}

/// Waits for a future that needs two wake-ups, and makes a call in the poll
/// before each. The future is woken before the call, after it, or both.
fn wait_with_calls_within(before: bool, call: fn(), after: Option<After>) {
    let mut polls = 0;
    let mut waking = Vec::new();
    block_on(poll_fn(|cx| {
        polls += 1;
        if polls == 3 {
            return Poll::Ready(());
        }
        if before {
            cx.waker().wake_by_ref();
        }
        // It may refuse such a call.
        let _ = catch_unwind(call);
        match after {
            None => {}
            Some(AtOnce) => cx.waker().wake_by_ref(),
            Some(OnceAsleep) => {
                let (waker, asleep) = (cx.waker().clone(), ThreadProbe::here());
                waking.push(thread::spawn(move || {
                    asleep.wait_until_asleep();
                    waker.wake();
                }));
            }
        }
        Poll::Pending
    }));
    for thread in waking {
        thread.join().expect("waking doesn't panic");
    }
}

/// How many polls without a wake-up a correct design may make.
const SPARE_POLLS: u32 = 10;

/// Clause 5: a flag that was set once, and stays set, ends every sleep.
#[test]
fn a_wake_up_ends_one_sleep() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "After the poll that a wake-up has caused, the thread sleeps again.",
        usual_cause: "The flag that says that a wake-up came is never cleared. From then on, the \
                      thread finds it set each time it looks, doesn't sleep, and polls. Clear the \
                      flag at the moment when you see that it's set.",
        read: "one-future/block-on.html#one-wake-up-one-poll",
    };
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        // The future is never ready. The thread ends with the process.
        thread::spawn(|| block_on(future));
        let (waker, blocked) = handle.wait_until_asleep();
        idle_cost(&blocked, IDLE_WINDOW);
        let polls_before = handle.polls();
        if polls_before > 1 + SPARE_POLLS {
            // It polls by itself, which is a matter of clause 2.
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

/// Clause 5: polling twice is doing the work twice.
#[test]
fn a_wake_up_causes_one_poll() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "The future is polled once, and then once for each wake-up.",
        usual_cause: "The loop polls a second time to be sure, although the wake-up would be kept. Or \
                      `thread::park` finds a token of a wake-up that was already seen: sleep in a \
                      `while`.",
        read: "one-future/block-on.html#one-wake-up-one-poll",
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
            polls <= 10 * wakes,
            "{wakes} wake-ups caused {polls} polls: the thread spins. Is the flag cleared when a \
             wake-up has been seen?"
        );
        assert!(
            polls <= wakes + 1 + SPARE_POLLS,
            "{wakes} wake-ups caused {polls} polls"
        );
    });
}

/// Clause 5: a sleep may end because of a token that is left over from a
/// wake-up that was already seen.
#[test]
fn a_wake_up_within_a_poll_does_not_end_the_next_sleep() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "A wake-up that comes while the future is polled causes one further poll, and then \
                  the thread sleeps until the next wake-up.",
        usual_cause: "A wake-up that comes during a poll leaves two things: a flag, which keeps the \
                      thread from sleeping, and a token (in `thread::park`, a parker or a \
                      channel), which ends the next sleep at once. Sleep in a `while` that checks \
                      the flag each time, or use only one of the two.",
        read: "one-future/block-on.html#one-wake-up-one-poll",
    };
    check(lesson, || {
        let polls = block_on(WokenByTurns::new());
        let needed = WokenByTurns::NEEDED_POLLS;
        let wakes = needed - 1;
        assert!(
            polls <= 10 * needed,
            "{wakes} wake-ups, every other one within a poll, caused {polls} polls: the thread \
             spins. Is the flag cleared when a wake-up has been seen?"
        );
        assert!(
            polls <= needed + WokenByTurns::ROUNDS / 2,
            "{wakes} wake-ups, every other one within a poll, caused {polls} polls, not {needed}"
        );
    });
}

/// Clause 6: an `async` block may hold references into itself.
#[test]
fn the_future_does_not_move_between_polls() {
    let lesson = Lesson {
        clause: "6. Pinned",
        promise: "Once polled, the future stays at its address until it is dropped.",
        usual_cause: "The future is moved by value after its first poll, or stored elsewhere \
                      between two polls: pin it once, with `std::pin::pin!`, and poll it through \
                      `as_mut`. Or it is taken out of its place to be dropped (`Option::take`), so \
                      that its destructor runs at another address: drop it in place.",
        read: "one-future/block-on.html#pin-it-first",
    };
    check(lesson, || {
        block_on(MustNotMove::new(3));
        block_on(WrittenMeanwhile::default());
    });
}

/// Clause 6: the only bound on the future's type is `Future`.
#[test]
fn a_future_may_borrow_and_be_bound_to_its_thread() {
    let lesson = Lesson {
        clause: "6. Pinned",
        promise: "The future may borrow from the caller, and doesn't have to be `Send` or `Unpin`.",
        usual_cause: "The future is moved to another thread or into a `'static` box.",
        read: "one-future/block-on.html#pin-it-first",
    };
    check(lesson, || {
        let local = String::from("borrowed");
        let not_send = Rc::new(Cell::new(0));
        let length = block_on(async {
            let _not_unpin = PhantomPinned;
            Yields(1).await;
            not_send.set(local.len());
            Yields(1).await;
            not_send.get()
        });
        assert!(length == local.len(), "the future returned {length}");
    });
}

/// Clause 7: a future may hold a lock, a file or a connection.
#[test]
fn the_future_is_dropped_once_before_block_on_returns() {
    let lesson = Lesson {
        clause: "7. One drop",
        promise: "When `block_on` returns, the future has been dropped, once, on the calling thread.",
        usual_cause: "The future is leaked to get a `'static` or pinned reference to it \
                      (`Box::leak`, `ManuallyDrop`, `mem::forget`).",
        read: "one-future/block-on.html#one-drop",
    };
    check(lesson, || {
        let (probe, log) = DropProbe::new();
        let mut yields = pin!(Yields(2));
        block_on(poll_fn(move |cx| {
            let _held = &probe;
            yields.as_mut().poll(cx)
        }));
        assert!(
            log.count() == 1,
            "the future has been dropped {} times",
            log.count()
        );
        assert!(
            log.threads() == [thread::current().id()],
            "the future was dropped on another thread"
        );
    });
}

/// Clause 7: the same holds when the future panics, and afterward the thread
/// can block again.
#[test]
fn a_panic_of_the_future_reaches_the_caller() {
    let lesson = Lesson {
        clause: "7. One drop",
        promise: "When the future panics, it is dropped once, and the panic comes out of \
                  `block_on`. The next call works.",
        usual_cause: "The panic is caught, or it leaves a guard or a flag behind.",
        read: "one-future/block-on.html#one-drop",
    };
    check(lesson, || {
        let (probe, log) = DropProbe::new();
        let mut yields = pin!(Yields(1));
        // Not an `async` block, which drops its variables when it panics.
        let future = poll_fn(move |cx| {
            let _held = &probe;
            match yields.as_mut().poll(cx) {
                Poll::Ready(()) => panic!("the future panics"),
                Poll::Pending => Poll::<()>::Pending,
            }
        });
        let caught = catch_unwind(AssertUnwindSafe(|| block_on(future)));
        assert!(caught.is_err(), "the panic did not come out of `block_on`");
        assert!(
            log.count() == 1,
            "the future has been dropped {} times",
            log.count()
        );
        block_on(Yields(2));
    });
}

/// Clause 8: a timer that turned out not to be needed fires after the call.
#[test]
fn a_waker_may_be_used_after_block_on_returned() {
    let lesson = Lesson {
        clause: "8. Wakers live on",
        promise: "A waker may be woken, cloned and dropped on any thread after `block_on` has \
                  returned.",
        usual_cause: "The waker points at something that is gone when the call returns: what a \
                      waker points at must be reference-counted, for example by an `Arc`. Or \
                      `wake` panics when it finds that no call waits anymore, for example because \
                      it unwraps the result of `send` on a closed channel, or asks for a \
                      thread-local that is gone as the thread ends.",
        read: "one-future/block-on.html#the-waker-may-outlive-the-call",
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

        // Thread-locals that the thread used later are gone by then.
        let ends = thread::spawn(|| {
            LAST.with(|last| {
                let waker =
                    block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
                last.0.set(Some(waker));
            });
        });
        ends.join()
            .expect("a wake-up at the thread's end doesn't panic");
    });
}

thread_local! {
    static LAST: WakesAtTheEnd = const { WakesAtTheEnd(Cell::new(None)) };
}

/// Wakes when its thread ends.
struct WakesAtTheEnd(Cell<Option<Waker>>);

impl Drop for WakesAtTheEnd {
    fn drop(&mut self) {
        if let Some(waker) = self.0.take() {
            waker.wake_by_ref();
        }
    }
}
