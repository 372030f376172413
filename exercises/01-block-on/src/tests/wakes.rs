//! Wake-ups, no matter when they come.

use super::*;

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
