//! How rarely the clock is read.

use super::*;

/// Fails if the items took less than 95 % of the time.
#[track_caller]
fn assert_cheap(clock: &FakeClock, items: u32, cost: Duration) {
    let part = (cost * items).div_duration_f64(clock.elapsed());
    assert!(
        part >= 0.95,
        "{items} items of {cost:?} took {:.1} % of the time: the clock was read {} times, and a \
         reading costs {READING:?}",
        100.0 * part,
        clock.readings()
    );
}

/// Clause 5: a budget that costs as much as the work is useless.
#[test]
fn the_clock_takes_little_of_the_time() {
    let lesson = Lesson {
        clause: "5. Cheap",
        promise: "The items get at least 95 % of the time, even if an item costs only about as much \
                  as a reading of the clock, and even within several budgets.",
        usual_cause: "The clock is read at every checkpoint, or the stride grows too slowly. Or \
                      within another budget, each checkpoint reads the clock to see whether the \
                      outer slice is over.",
        read: "yielding/budget.html#the-stride",
    };
    check(lesson, || {
        for slice in [micros(50), SLICE, micros(1_000)] {
            for cost in [20, 25, 100, 1_000].map(nanos) {
                let clock = FakeClock::new(READING);
                let items = 5 * slice.div_duration_f64(cost) as u32;
                let task = budget(&clock, slice, work(&clock, items, cost));
                polls_of(&clock, Duration::ZERO, task);
                assert_cheap(&clock, items, cost);
                // The slice of the whole task ends first.
                let clock = FakeClock::new(READING);
                let task = work(&clock, items, cost);
                let nested =
                    budget(&clock, 2 * slice, budget(&clock, slice, task));
                let task = budget(&clock, slice, async {
                    // The outer slice begins here.
                    work(&clock, 1, cost).await;
                    nested.await;
                });
                polls_of(&clock, Duration::ZERO, task);
                assert_cheap(&clock, items, cost);
            }
        }
    });
}

/// Clause 5: the stride must also grow again.
#[test]
fn cheap_items_are_cheap_again_after_expensive_ones() {
    let lesson = Lesson {
        clause: "5. Cheap",
        promise: "When items become cheaper, the clock is read less often again.",
        usual_cause: "The stride only ever shrinks, or recovers by one at a time.",
        read: "yielding/budget.html#what-no-budget-knows",
    };
    const CHEAP: u32 = 50_000;
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let task = async {
            work(&clock, 200, micros(60)).await;
            work(&clock, CHEAP, nanos(20)).await;
        };
        polls_of(&clock, Duration::ZERO, budget(&clock, SLICE, task));
        let readings = clock.readings();
        // 5 %, and one for each of the expensive items, with room for a
        // poll's first ones.
        let most = u64::from(CHEAP) / 20 + 3 * 200;
        assert!(
            readings <= most,
            "for {CHEAP} cheap items after 200 expensive ones, the clock was read {readings} \
             times, not at most {most}"
        );
    });
}

/// Clause 5: in a runtime, every task has a budget, and few have checkpoints.
#[test]
fn a_poll_without_a_checkpoint_reads_no_clock() {
    let lesson = Lesson {
        clause: "5. Cheap",
        promise: "A poll that reaches no checkpoint doesn't read the clock.",
        usual_cause: "The clock is read when the poll begins. The first checkpoint is early enough.",
        read: "yielding/budget.html#the-stride",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let task = budget(&clock, SLICE, Yields(100));
        let before = clock.readings();
        let polls = polls_of(&clock, micros(1), task).len();
        let readings = clock.readings() - before;
        assert!(
            readings == 0,
            "{polls} polls without a checkpoint read the clock {readings} times"
        );
    });
}

/// Clause 5: a task that supervises others polls each of them in a budget of
/// its own.
#[test]
fn a_nested_poll_without_a_checkpoint_reads_no_clock() {
    let lesson = Lesson {
        clause: "5. Cheap",
        promise: "A poll of a nested budget that reaches no checkpoint doesn't read the clock, \
                  whether the outer slice has begun or not.",
        usual_cause: "When a nested poll begins, the clock is read for the outer budget: to begin \
                      its slice, or to see what is left of it. The first checkpoint is soon \
                      enough, because it's a checkpoint of both.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    const NESTED: u32 = 100;
    check(lesson, || {
        for checkpoints in [0, 1] {
            let clock = FakeClock::new(READING);
            let readings = Cell::new(0);
            let task = async {
                work(&clock, checkpoints, micros(1)).await;
                let before = clock.readings();
                for _ in 0..NESTED {
                    with_budget(SLICE, async { clock.advance(nanos(100)) })
                        .await;
                }
                readings.set(clock.readings() - before);
            };
            poll_once(&clock, pin!(budget(&clock, SLICE, task)));
            let readings = readings.get();
            assert!(
                readings == 0,
                "the outer poll had reached {checkpoints} checkpoints; then {NESTED} nested polls \
                 without a checkpoint read the clock {readings} times"
            );
        }
    });
}

/// Clause 6: the trap for every budget that learns.
#[test]
fn expensive_items_after_cheap_ones_are_noticed() {
    let lesson = Lesson {
        clause: "6. Wary",
        promise: "When items become more expensive, one poll may last longer, by at most 1,024 \
                  items. The polls after it are bounded as before.",
        usual_cause: "If one poll goes on for thousands of items, the stride has no upper limit: it \
                      must never be longer than 1,024, no matter how cheap the items are. If \
                      several polls are too long, the stride that was right for the cheap items \
                      is kept, or is only halved.",
        read: "yielding/budget.html#what-no-budget-knows",
    };
    check(lesson, || {
        for cheap in [Duration::ZERO, nanos(20), nanos(200)] {
            let clock = FakeClock::new(READING);
            let unread = Cell::new(0);
            let task = async {
                unread.set(longest_without_reading(&clock, cheap).await);
                work(&clock, 5_000, micros(1_000)).await;
            };
            let polls =
                polls_of(&clock, Duration::ZERO, budget(&clock, SLICE, task));
            assert_wary(&polls, micros(1_000));
            // The items need not become expensive right after a reading.
            let unread = unread.get();
            assert!(
                unread <= LONGEST_STRIDE,
                "{unread} checkpoints in a row read no clock, so as many items may have become \
                 expensive: {LONGEST_STRIDE} are allowed"
            );
        }
    });
}

/// Does many items of this cost, and returns how many checkpoints in a row read
/// no clock.
async fn longest_without_reading(clock: &FakeClock, cost: Duration) -> u32 {
    let (mut longest, mut unread) = (0, 0);
    for _ in 0..200_000 {
        let before = clock.readings();
        work(clock, 1, cost).await;
        let was_read = clock.readings() > before;
        unread = if was_read { 0 } else { unread + 1 };
        longest = longest.max(unread);
    }
    longest
}

/// Fails if more than one poll exceeds the bound of clause 2, or if one poll
/// exceeds it by more than clause 6 allows.
#[track_caller]
fn assert_wary(polls: &[Duration], expensive: Duration) {
    let bound = longest_poll(SLICE, expensive, 1);
    let longest = *polls.iter().max().expect("there was a poll");
    assert!(
        longest <= bound + expensive * LONGEST_STRIDE,
        "a poll went on for {} items after they had become expensive: more than {LONGEST_STRIDE} \
         checkpoints without a reading of the clock",
        longest.div_duration_f64(expensive) as u64
    );
    let late = polls.iter().filter(|took| **took > bound).count();
    assert!(
        late <= 1,
        "{late} polls were longer than {bound:?}: only the one in which the items become more \
         expensive may be"
    );
}

/// Clause 6: a stride that is longer than a poll has checkpoints is never
/// corrected, unless each poll reads the clock twice.
#[test]
fn expensive_items_are_noticed_in_short_polls_too() {
    let lesson = Lesson {
        clause: "6. Wary",
        promise: "Polls of a few expensive items are bounded, even if the last long poll had cheap \
                  ones.",
        usual_cause: "A stride from earlier polls is longer than these polls, so the clock isn't \
                      read a second time within any of them. Begin each poll with a stride of \
                      one.",
        read: "yielding/budget.html#what-no-budget-knows",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let expensive = micros(80);
        let task = async {
            work(&clock, 50_000, nanos(20)).await;
            for _ in 0..100 {
                Yields(1).await;
                work(&clock, 40, expensive).await;
            }
        };
        let polls =
            polls_of(&clock, Duration::ZERO, budget(&clock, SLICE, task));
        assert_wary(&polls, expensive);
    });
}

/// Clause 6: a stride may contain cheap items and expensive ones, and items may
/// become expensive at its very end.
#[test]
fn items_may_become_expensive_anywhere_in_a_poll() {
    let lesson = Lesson {
        clause: "6. Wary",
        promise: "Whichever item is the first expensive one, only the poll that does it may last \
                  longer. The next poll is bounded again.",
        usual_cause: "What the last poll has learned goes over to the next one: its stride, or \
                      what an item has cost on average. If a stride or a poll had many cheap items \
                      and one expensive item at its end, the average is near to the cheap ones. \
                      Begin each poll with a stride of one.",
        read: "yielding/budget.html#what-no-budget-knows",
    };
    const CHEAP: Duration = nanos(50);
    check(lesson, || {
        let in_a_slice = SLICE.div_duration_f64(CHEAP) as u32;
        for first_expensive in (0..3 * in_a_slice).step_by(97) {
            for expensive in [micros(10), micros(50), micros(200)] {
                // The poll with the first expensive item ends by its slice, or
                // because the task waits.
                for waits_after in [None, Some(1), Some(3)] {
                    assert_next_poll_is_bounded(Change {
                        cheap: CHEAP,
                        first_expensive,
                        expensive,
                        waits_after,
                    });
                }
            }
        }
        // Each item about the end of the first poll.
        for first_expensive in in_a_slice * 9 / 10..in_a_slice * 23 / 20 {
            assert_next_poll_is_bounded(Change {
                cheap: CHEAP,
                first_expensive,
                expensive: micros(50),
                waits_after: None,
            });
        }
    });
}

/// When items become more expensive.
#[derive(Clone, Copy, Debug)]
struct Change {
    cheap: Duration,
    /// The number of cheap items.
    first_expensive: u32,
    expensive: Duration,
    /// The number of expensive items before the task waits for something.
    waits_after: Option<u32>,
}

/// Fails if a poll exceeds the bound of clause 2 after the poll with the first
/// expensive item.
#[track_caller]
fn assert_next_poll_is_bounded(change: Change) {
    let Change {
        cheap,
        first_expensive,
        expensive,
        waits_after,
    } = change;
    let clock = FakeClock::new(READING);
    let has_changed = Cell::new(false);
    let mut task = pin!(budget(&clock, SLICE, async {
        work(&clock, first_expensive, cheap).await;
        has_changed.set(true);
        if let Some(items) = waits_after {
            work(&clock, items, expensive).await;
            Yields(1).await;
        }
        work(&clock, 2 * LONGEST_STRIDE, expensive).await;
    }));
    let mut is_ready = false;
    for _ in 0..TOO_MANY_POLLS {
        is_ready |= poll_once(&clock, task.as_mut()).poll.is_ready();
        if is_ready || has_changed.get() {
            break;
        }
    }
    let bound = longest_poll(SLICE, expensive, 1);
    for after in 1..=3 {
        if is_ready {
            break;
        }
        let Polled { poll, took, .. } = poll_once(&clock, task.as_mut());
        is_ready = poll.is_ready();
        assert!(
            took <= bound,
            "after {first_expensive} items of {cheap:?}, items cost {expensive:?}: poll {after} \
             after the one with the first of them took {took:?}, not at most {bound:?}"
        );
    }
}
