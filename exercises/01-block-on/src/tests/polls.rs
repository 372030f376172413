//! How often the future is polled.

use super::*;

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
