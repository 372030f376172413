//! How seldom the clock is read.

use super::*;

/// Fails if items had less than 95 % of the time.
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

/// Clause 5: a budget that costs as much as the work is none.
#[test]
fn the_clock_takes_little_of_the_time() {
    let lesson = Lesson {
        clause: "5. Cheap",
        promise: "Items have at least 95 % of the time, even if they are as cheap as a reading of \
                  the clock.",
        usual_cause: "The clock is read at every checkpoint, or the stride grows too slowly.",
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
            }
        }
    });
}

/// Clause 5: to shrink the stride is only half of it.
#[test]
fn cheap_items_are_cheap_again_after_dear_ones() {
    let lesson = Lesson {
        clause: "5. Cheap",
        promise: "When items become cheaper the clock is read more rarely again.",
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
        // At 5 %, and one for each of the dear items, with room for a poll's first ones.
        let most = u64::from(CHEAP) / 20 + 3 * 200;
        assert!(
            readings <= most,
            "for {CHEAP} cheap items after 200 dear ones the clock was read {readings} times; {most} \
             is the most"
        );
    });
}

/// Clause 5: in a runtime each task has a budget, and few have checkpoints.
#[test]
fn a_poll_without_a_checkpoint_reads_no_clock() {
    let lesson = Lesson {
        clause: "5. Cheap",
        promise: "Who reaches no checkpoint does not pay for the clock.",
        usual_cause: "The clock is read when the poll begins. The first checkpoint is soon enough.",
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

/// Clause 6: the trap of every budget that learns.
#[test]
fn dear_items_after_cheap_ones_are_noticed() {
    let lesson = Lesson {
        clause: "6. Wary",
        promise: "When items become dearer, one poll may last longer, by 1,024 items at most. The \
                  next ones are bounded as ever.",
        usual_cause: "The stride that was right for the cheap items is kept, or only halved.",
        read: "yielding/budget.html#what-no-budget-knows",
    };
    check(lesson, || {
        for cheap in [Duration::ZERO, nanos(20), nanos(200)] {
            let clock = FakeClock::new(READING);
            let task = async {
                work(&clock, 200_000, cheap).await;
                work(&clock, 5_000, micros(1_000)).await;
            };
            let polls =
                polls_of(&clock, Duration::ZERO, budget(&clock, SLICE, task));
            assert_wary(&polls, micros(1_000));
        }
    });
}

/// Fails if more than one poll exceeds the bound of clause 2, or one exceeds
/// it by more than clause 6 allows.
#[track_caller]
fn assert_wary(polls: &[Duration], dear: Duration) {
    let bound = longest_poll(SLICE, dear, 1);
    let longest = *polls.iter().max().expect("there was a poll");
    assert!(
        longest <= bound + dear * LONGEST_STRIDE,
        "a poll went on for {} items after they had become dear",
        longest.div_duration_f64(dear) as u64
    );
    let late = polls.iter().filter(|took| **took > bound).count();
    assert!(
        late <= 1,
        "{late} polls were longer than {bound:?}: only the one in which the items become dearer may \
         be"
    );
}

/// Clause 6: a stride that is longer than a poll has checkpoints is never
/// corrected, unless each poll looks twice.
#[test]
fn dear_items_are_noticed_in_short_polls_too() {
    let lesson = Lesson {
        clause: "6. Wary",
        promise: "Polls of a few dear items are bounded, even if the last long poll had cheap ones.",
        usual_cause: "A stride from earlier polls is longer than these polls, so the clock is not \
                      read a second time within any of them. Begin each poll with a stride of one.",
        read: "yielding/budget.html#what-no-budget-knows",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let dear = micros(80);
        let task = async {
            work(&clock, 50_000, nanos(20)).await;
            for _ in 0..100 {
                Yields(1).await;
                work(&clock, 40, dear).await;
            }
        };
        let polls =
            polls_of(&clock, Duration::ZERO, budget(&clock, SLICE, task));
        assert_wary(&polls, dear);
    });
}
