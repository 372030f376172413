//! Every short history of calls on one thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::*;

/// What can happen before a call whose polls are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    WakeHere,
    WakeElsewhere,
    CallReadyAndWoken,
    CallPanicsAndWoken,
    CallRefusesTwo,
}

use Before::*;

const BEFORE: [Before; 5] = [
    WakeHere,
    WakeElsewhere,
    CallReadyAndWoken,
    CallPanicsAndWoken,
    CallRefusesTwo,
];

impl Before {
    fn in_words(self) -> &'static str {
        match self {
            WakeHere => "a wake-up of an earlier waker, on this thread",
            WakeElsewhere => "the same on another thread",
            CallReadyAndWoken => {
                "a call whose future wakes itself and is ready"
            }
            CallPanicsAndWoken => "a call whose future wakes itself and panics",
            CallRefusesTwo => {
                "a call whose future wakes itself and makes two recursive calls"
            }
        }
    }
}

/// Clause 5: what one call leaves behind, the next one finds.
#[test]
fn no_history_costs_a_later_call_a_wake_up_or_a_poll() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "After any calls, and any wake-ups between them, a call polls once, once for each \
                  of its own wake-ups, and at most once for those that came between calls.",
        usual_cause: "What is kept from call to call is left as it was by one way out: by a future \
                      that is ready although it was woken, by a panic, or by a recursive call that \
                      was refused. Put everything in order where a call begins, or in a \
                      destructor.",
        read: "one-future/cached-block-on.html#what-a-call-leaves-behind",
    };
    const LONGEST: u32 = 2;
    check(lesson, || {
        let count = BEFORE.len();
        for length in 0..=LONGEST {
            for number in 0..count.pow(length) {
                let before: Vec<_> = (0..length)
                    .map(|index| BEFORE[number / count.pow(index) % count])
                    .collect();
                run(&before);
            }
        }
    });
}

#[track_caller]
fn run(before: &[Before]) {
    let words: Vec<_> = before.iter().map(|it| it.in_words()).collect();
    let after = format!("after this: {}", words.join("; "));
    let kept = waker_of_this_thread();
    // How many polls the wake-ups so far may still cause.
    let mut spare = 0;
    let mut was_stale = false;
    for it in before {
        match it {
            WakeHere => kept.wake_by_ref(),
            WakeElsewhere => {
                let kept = kept.clone();
                join(thread::spawn(move || kept.wake()));
            }
            CallReadyAndWoken | CallPanicsAndWoken => {
                let panics = *it == CallPanicsAndWoken;
                let call = || {
                    block_on(poll_fn(|cx| {
                        cx.waker().wake_by_ref();
                        if panics {
                            // Skips the panic hook, which would print.
                            resume_unwind(Box::new("the future panics"));
                        }
                        Poll::Ready(())
                    }));
                };
                let caught = catch_unwind(AssertUnwindSafe(call));
                assert!(caught.is_err() == panics, "the panic comes out");
            }
            CallRefusesTwo => refuse_two(&after),
        }
        // All that come between two calls cause one at most.
        let is_stale = matches!(it, WakeHere | WakeElsewhere);
        spare += match it {
            WakeHere | WakeElsewhere => u32::from(!was_stale),
            CallReadyAndWoken | CallPanicsAndWoken => 1,
            CallRefusesTwo => 0,
        };
        was_stale = is_stale;
    }
    let (future, handle) = ManualFuture::new();
    let waking = thread::spawn(move || {
        handle.wait_until_asleep();
        let polls = handle.polls();
        handle.complete();
        polls
    });
    block_on(future);
    let polls = waking.join().expect("waking doesn't panic");
    let most = 1 + spare;
    assert!(
        polls <= most,
        "a future that wasn't woken was polled {polls} times, not at most {most} times, {after}"
    );
}

/// A call within which two are refused, after the future has woken itself.
#[track_caller]
fn refuse_two(after: &str) {
    let (mut polls, mut inner_polls) = (0, 0);
    block_on(poll_fn(|cx| {
        polls += 1;
        if polls == 2 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        for _ in 0..2 {
            let inner = poll_fn(|_| {
                inner_polls += 1;
                Poll::Ready(())
            });
            let refused = panic_message(|| block_on(inner));
            let is_refused = refused.as_deref().is_some_and(|message| {
                message.contains("recursive `block_on`")
            });
            assert!(is_refused, "a recursive call was not refused, {after}");
        }
        Poll::Pending
    }));
    assert!(
        inner_polls == 0,
        "a refused call polled its future, {after}"
    );
}
