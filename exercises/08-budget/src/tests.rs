//! The checks of exercise 8, one or more for each clause of the contract.
//!
//! They run by a clock that stands still: only an item takes time, and a
//! reading of the clock. So they see the same on every machine.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use sync::time::FakeClock;
use testkit::{
    CountingWaker, DropProbe, Lesson, MustNotMove, Yields, allocations, check,
};

use super::{WithBudget, checkpoint, with_budget};

/// What a reading of the clock costs in these checks.
const READING: Duration = Duration::from_nanos(25);
/// A usual slice, long against a reading.
const SLICE: Duration = micros(100);
/// More polls than any check has good reason for.
const TOO_MANY_POLLS: usize = 20_000;
/// What clause 6 allows between two readings.
const LONGEST_STRIDE: u32 = 1_024;

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

const fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// Does so many items, each of that cost, and a checkpoint after each.
async fn work(clock: &FakeClock, items: u32, cost: Duration) {
    for _ in 0..items {
        clock.advance(cost);
        checkpoint().await;
    }
}

/// Polls a task until it is ready, with a pause after each poll, and returns
/// how long each poll took. The task is polled whether it was woken or not.
#[track_caller]
fn polls_of(
    clock: &FakeClock,
    pause: Duration,
    task: impl Future<Output = ()>,
) -> Vec<Duration> {
    let mut task = pin!(task);
    let mut polls = Vec::new();
    loop {
        let polled = poll_once(clock, task.as_mut());
        polls.push(polled.took);
        if polled.poll.is_ready() {
            return polls;
        }
        assert!(
            polls.len() < TOO_MANY_POLLS,
            "after {TOO_MANY_POLLS} polls the task is still not done: it makes no progress"
        );
        clock.advance(pause);
    }
}

/// Makes a budget by the fake clock, by which all else runs, too.
fn budget<F: Future>(
    clock: &FakeClock,
    slice: Duration,
    future: F,
) -> WithBudget<F> {
    clock.run(|| with_budget(slice, future))
}

/// What a poll came to.
#[derive(Debug)]
struct Polled<T> {
    poll: Poll<T>,
    took: Duration,
    /// How often the waker was woken meanwhile.
    wakes: usize,
}

/// Polls a task by the fake clock.
fn poll_once<F: Future + ?Sized>(
    clock: &FakeClock,
    task: Pin<&mut F>,
) -> Polled<F::Output> {
    let (waker, counts) = CountingWaker::new();
    let before = clock.elapsed();
    let poll = clock.run(|| task.poll(&mut Context::from_waker(&waker)));
    Polled {
        poll,
        took: clock.elapsed() - before,
        wakes: counts.wakes(),
    }
}

/// How long a poll may take: clause 2.
fn longest_poll(slice: Duration, item: Duration, loops: u32) -> Duration {
    slice + slice / 2 + item * (loops + 1)
}

/// Fails if a poll other than the last was shorter than the slice.
#[track_caller]
fn assert_slices_were_used(polls: &[Duration], slice: Duration) {
    let (_last, others) = polls.split_last().expect("there was a poll");
    if let Some(at) = others.iter().position(|took| *took < slice) {
        let took = others[at];
        panic!(
            "poll {} of {} was over after {took:?}, and the slice is {slice:?}",
            at + 1,
            polls.len()
        );
    }
}

/// Fails if a poll was longer than the slice, and what may come after it.
#[track_caller]
fn assert_bounded(polls: &[Duration], bound: Duration) {
    if let Some(at) = polls.iter().position(|took| *took > bound) {
        let took = polls[at];
        panic!(
            "poll {} of {} took {took:?}; {bound:?} is the most",
            at + 1,
            polls.len()
        );
    }
}

/// Clause 1: whoever yields early pays for a yield that nobody needs.
#[test]
fn a_checkpoint_is_ready_while_the_slice_lasts() {
    let lesson = Lesson {
        clause: "1. Ready while it lasts",
        promise: "Until the slice is over a checkpoint is ready at once and wakes nobody.",
        usual_cause: "Checkpoints are counted, and not the time; or the end is guessed by what \
                      the items cost so far. Also see whether the clock is read by \
                      `sync::time::now`.",
        read: "yielding/budget.html#a-slice-of-time",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let mut task =
            pin!(budget(&clock, SLICE, work(&clock, 2_000, micros(1))));
        let mut polls = Vec::new();
        let mut total_wakes = 0;
        loop {
            let polled = poll_once(&clock, task.as_mut());
            polls.push(polled.took);
            total_wakes += polled.wakes;
            if polled.poll.is_ready() {
                break;
            }
            assert!(polls.len() < TOO_MANY_POLLS, "it never gets done");
        }
        assert!(
            clock.readings() > 0,
            "the clock of `sync::time::now` was never read"
        );
        assert_slices_were_used(&polls, SLICE);
        let pending = polls.len() - 1;
        assert!(
            total_wakes <= pending,
            "the task was pending {pending} times and woken {total_wakes} times"
        );
    });
}

/// Clause 1: a function with checkpoints may be called from anywhere.
#[test]
fn outside_a_budget_a_checkpoint_is_ready() {
    let lesson = Lesson {
        clause: "1. Ready while it lasts",
        promise: "Outside of any budget checkpoints never yield.",
        usual_cause: "A thread that has no budget is given one of zero, or one by default.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let polls =
            polls_of(&clock, SLICE, work(&clock, 100_000, micros(10_000)));
        let yields = polls.len() - 1;
        assert!(
            yields == 0,
            "without a budget the task yielded {yields} times"
        );
    });
}

/// Clause 1: `Duration::MAX` is a way to say "never".
#[test]
fn a_slice_may_be_endless() {
    let lesson = Lesson {
        clause: "1. Ready while it lasts",
        promise: "Any `Duration` is a slice. One of `Duration::MAX` is never over.",
        usual_cause: "`Instant + Duration` or a multiplication overflows. Use `checked_add`, or \
                      compare what has passed with the slice.",
        read: "yielding/budget.html#a-slice-of-time",
    };
    check(lesson, || {
        for slice in [Duration::MAX, Duration::MAX / 2, Duration::from_secs(1)]
        {
            let clock = FakeClock::new(READING);
            let task = budget(&clock, slice, work(&clock, 5_000, micros(100)));
            let polls = polls_of(&clock, SLICE, task).len();
            assert!(polls == 1, "with a slice of {slice:?} it yielded");
        }
    });
}

/// Clause 2: this is what a budget is for. Whoever waits for the thread waits
/// for the end of the poll.
#[test]
fn a_poll_ends_soon_after_its_slice() {
    let lesson = Lesson {
        clause: "2. Bounded polls",
        promise: "Whatever an item costs, a poll lasts at most one and a half slices and two items.",
        usual_cause: "The clock is read too rarely, because the stride does not depend on what an \
                      item costs, or not on how long the slice is.",
        read: "yielding/budget.html#the-stride",
    };
    check(lesson, || {
        for slice in [micros(20), micros(50), SLICE, micros(1_000)] {
            for cost in
                [20, 100, 300, 1_300, 5_000, 30_000, 3_000_000].map(nanos)
            {
                let clock = FakeClock::new(READING);
                let items = 5 * slice.div_duration_f64(cost) as u32 + 20;
                let task = budget(&clock, slice, work(&clock, items, cost));
                let polls = polls_of(&clock, Duration::ZERO, task);
                assert_bounded(&polls, longest_poll(slice, cost, 1));
            }
        }
    });
}

/// Clause 2: `join!` polls one loop after the other, all in one poll.
#[test]
fn loops_of_one_task_share_its_slice() {
    let lesson = Lesson {
        clause: "2. Bounded polls",
        promise: "Once the slice is over, it is over for all that the task does in this poll.",
        usual_cause: "The checkpoint that yields starts the next slice. It is the next poll that \
                      starts it.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    const LOOPS: u32 = 10;
    let cost = micros(5);
    check(lesson, move || {
        let clock = FakeClock::new(READING);
        let loops = (0..LOOPS).map(|_| work(&clock, 200, cost));
        let task = budget(&clock, SLICE, join(loops));
        let polls = polls_of(&clock, Duration::ZERO, task);
        assert_bounded(&polls, longest_poll(SLICE, cost, LOOPS));
    });
}

/// Waits for all of them within one task, and polls each at every poll.
async fn join(futures: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut left: Vec<_> = futures.map(Box::pin).collect();
    poll_fn(move |cx| {
        left.retain_mut(|future| future.as_mut().poll(cx).is_pending());
        if left.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// Clause 3: nobody else knows that the task wants to go on.
#[test]
fn a_checkpoint_that_is_pending_has_woken_its_task() {
    let lesson = Lesson {
        clause: "3. Pending once",
        promise: "A task that yields has woken itself, even if it is alone.",
        usual_cause: "`Pending` is returned without `cx.waker().wake_by_ref()`: the task would sleep \
                      for ever.",
        read: "yielding/budget.html#a-slice-of-time",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let mut task =
            pin!(budget(&clock, SLICE, work(&clock, 500, micros(10))));
        for poll in 1.. {
            let polled = poll_once(&clock, task.as_mut());
            if polled.poll.is_ready() {
                break;
            }
            assert!(
                polled.wakes > 0,
                "poll {poll} was pending, and nobody had woken the task"
            );
        }
    });
}

/// Clause 3: a slice that is over at once must not mean that nothing is done.
#[test]
fn a_task_gets_on_whatever_its_slice() {
    let lesson = Lesson {
        clause: "3. Pending once",
        promise: "A checkpoint is pending once. The next time it is polled the task gets on, also \
                  with a slice of zero.",
        usual_cause: "A checkpoint that was pending asks the budget again. It must remember that it \
                      has yielded.",
        read: "yielding/budget.html#a-slice-of-time",
    };
    const ITEMS: u32 = 100;
    check(lesson, || {
        for slice in [Duration::ZERO, nanos(1)] {
            let clock = FakeClock::new(READING);
            let task = budget(&clock, slice, work(&clock, ITEMS, micros(1)));
            let polls = polls_of(&clock, micros(1), task).len();
            assert!(
                polls <= ITEMS as usize + 1,
                "{ITEMS} items took {polls} polls"
            );
        }
    });
}

/// Clause 3: an executor within the task polls again whom it finds woken,
/// without an end of the outer poll in between.
#[test]
fn a_checkpoint_that_yielded_is_ready_in_the_same_poll_too() {
    let lesson = Lesson {
        clause: "3. Pending once",
        promise: "The second poll of a checkpoint is ready, also if the task has not returned in \
                  between: an executor within the task must not poll it for ever.",
        usual_cause: "A checkpoint that was pending asks the budget again, and the slice is still \
                      over.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let polls_of_checkpoints = Cell::new(0);
        let ends_its_slice = poll_fn(|cx| {
            for _ in 0..20 {
                clock.advance(SLICE);
                let mut checkpoint = pin!(checkpoint());
                for poll in 1..=3 {
                    polls_of_checkpoints.set(poll);
                    if checkpoint.as_mut().poll(cx).is_ready() {
                        break;
                    }
                }
                if polls_of_checkpoints.get() == 3 {
                    break;
                }
            }
            Poll::Ready(())
        });
        poll_once(&clock, pin!(budget(&clock, SLICE, ends_its_slice)));
        let polls = polls_of_checkpoints.get();
        assert!(
            polls == 2,
            "a checkpoint after the slice was polled {polls} times, and two is right"
        );
    });
}

/// Clause 3: the checkpoint may be polled by an executor within the task,
/// which needs to hear that it is to be polled again.
#[test]
fn it_wakes_the_waker_that_it_is_polled_with() {
    let lesson = Lesson {
        clause: "3. Pending once",
        promise: "A checkpoint wakes by the waker of the context that it is polled with.",
        usual_cause: "The budget keeps the waker of the task's poll. An executor within the task has \
                      wakers of its own.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let yields = Cell::new(0);
        let (inner_waker, inner) = CountingWaker::new();
        let polls_within = poll_fn(|_outer| {
            let mut cx = Context::from_waker(&inner_waker);
            for _ in 0..10 {
                clock.advance(SLICE);
                if pin!(checkpoint()).poll(&mut cx).is_pending() {
                    yields.set(yields.get() + 1);
                }
            }
            Poll::Ready(())
        });
        poll_once(&clock, pin!(budget(&clock, SLICE, polls_within)));
        let (yields, wakes) = (yields.get(), inner.wakes());
        assert!(yields > 0, "no checkpoint found the slice over");
        assert!(
            wakes >= yields,
            "{yields} checkpoints were pending, and their waker was woken {wakes} times"
        );
    });
}

/// Clause 4: the queue may be long. The task did not use that time.
#[test]
fn every_poll_has_a_whole_slice() {
    let lesson = Lesson {
        clause: "4. A slice for each poll",
        promise: "Each poll has a whole slice: neither what earlier polls used nor the time in \
                  between counts.",
        usual_cause: "The slice is begun when the budget is made, or only after the last one is \
                      over.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        for pause in [Duration::ZERO, micros(30), micros(10_000)] {
            let clock = FakeClock::new(READING);
            let task = budget(&clock, SLICE, work(&clock, 1_000, micros(2)));
            clock.advance(pause);
            let polls = polls_of(&clock, pause, task);
            assert_slices_were_used(&polls, SLICE);
        }
    });
}

/// Clause 4: most polls end because there is nothing to do.
#[test]
fn a_slice_that_was_not_used_up_is_not_continued() {
    let lesson = Lesson {
        clause: "4. A slice for each poll",
        promise: "A poll that ends early, since the task waits for something, leaves nothing to the \
                  next one.",
        usual_cause: "A new slice begins only when the last one is over, so time that the task spent \
                      waiting is charged.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    const ROUNDS: usize = 20;
    check(lesson, || {
        for pause in [Duration::ZERO, micros(10_000)] {
            let clock = FakeClock::new(READING);
            let waits_often = async {
                for _ in 0..ROUNDS {
                    work(&clock, 4, micros(10)).await;
                    Yields(1).await;
                }
            };
            let polls =
                polls_of(&clock, pause, budget(&clock, SLICE, waits_often))
                    .len();
            assert!(
                polls == ROUNDS + 1,
                "{ROUNDS} rounds of 40 µs, far from a slice, took {polls} polls"
            );
        }
    });
}

/// Clause 4: an executor with several threads moves tasks about.
#[test]
fn a_task_takes_its_budget_to_another_thread() {
    let lesson = Lesson {
        clause: "4. A slice for each poll",
        promise: "A task that was polled on one thread has its slice on another one too.",
        usual_cause: "The budget stays in a thread-local of the thread that made it or polled it \
                      first.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let cost = micros(2);
        let mut task =
            Box::pin(budget(&clock, SLICE, work(&clock, 1_000, cost)));
        let mut polls = Vec::new();
        for _ in 0..5 {
            let poll = || poll_once(&clock, task.as_mut()).took;
            let took = thread::scope(|scope| scope.spawn(poll).join());
            polls.push(took.expect("the poll does not panic"));
        }
        polls.push(Duration::ZERO);
        assert_slices_were_used(&polls, SLICE);
        assert_bounded(&polls, longest_poll(SLICE, cost, 1));
    });
}

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

/// Clause 7: `block_on` returns to code that knows nothing of budgets.
#[test]
fn after_a_poll_the_thread_has_no_budget() {
    let lesson = Lesson {
        clause: "7. No trace",
        promise: "When a poll of `with_budget` has returned, checkpoints outside of it are ready.",
        usual_cause: "The poll does not take the budget away again.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let is_idle = || {
            let other = work(&clock, 3_000, micros(100));
            polls_of(&clock, Duration::ZERO, other).len() == 1
        };
        let mut task = pin!(budget(&clock, SLICE, async {
            work(&clock, 3, micros(1)).await;
            Yields(1).await;
            work(&clock, 3, SLICE).await;
        }));
        let ends = ["waits", "has yielded", "has yielded again", "goes on"];
        for end in ends {
            let poll = poll_once(&clock, task.as_mut()).poll;
            let end = if poll.is_ready() { "is done" } else { end };
            assert!(
                is_idle(),
                "while a task {end}, other code of its thread yields by its budget"
            );
            if poll.is_ready() {
                return;
            }
        }
    });
}

/// Clause 7: a runtime catches panics, and goes on.
#[test]
fn after_a_panic_the_thread_has_no_budget() {
    let lesson = Lesson {
        clause: "7. No trace",
        promise: "A future that panics leaves no budget on its thread.",
        usual_cause: "The budget is taken away by a line after the poll, which a panic skips. Put it \
                      into a `Drop`.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let panics = budget(&clock, SLICE, async {
            work(&clock, 3, micros(1)).await;
            panic!("meant to panic");
        });
        let mut panics = Box::pin(panics);
        let poll =
            || poll_once::<dyn Future<Output = ()>>(&clock, panics.as_mut());
        assert!(
            catch_unwind(AssertUnwindSafe(poll)).is_err(),
            "the panic is passed on"
        );
        let other = work(&clock, 3_000, micros(100));
        let polls = polls_of(&clock, Duration::ZERO, other).len();
        assert!(
            polls == 1,
            "code without a budget yielded {} times after a task's panic",
            polls - 1
        );
    });
}

/// Clause 7: what is usual for one task is a bad guess for another.
#[test]
fn each_task_has_a_budget_of_its_own() {
    let lesson = Lesson {
        clause: "7. No trace",
        promise: "Tasks that are polled in turns each have whole slices, and what the one's items \
                  cost does not lengthen the polls of the other.",
        usual_cause: "The stride, or what is left of it, stays in the thread-local when the poll \
                      ends.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let dear = micros(20);
        let mut cheap_task = pin!(budget(&clock, SLICE, async {
            loop {
                work(&clock, 1_000, nanos(20)).await;
                Yields(1).await;
            }
        }));
        let mut dear_task =
            pin!(budget(&clock, SLICE, work(&clock, 1_000, dear)));
        let mut polls = Vec::new();
        for _ in 0..10 {
            let others = poll_once::<dyn Future<Output = ()>>(
                &clock,
                cheap_task.as_mut(),
            );
            assert!(others.poll.is_pending(), "it goes on for ever");
            polls.push(poll_once(&clock, dear_task.as_mut()).took);
        }
        assert_slices_were_used(&polls, SLICE);
        assert_bounded(&polls, longest_poll(SLICE, dear, 1));
    });
}

/// Clause 7: a budget is for the poll that runs, and that is on one thread.
#[test]
fn another_thread_has_no_part_in_it() {
    let lesson = Lesson {
        clause: "7. No trace",
        promise: "While a task runs on one thread, code without a budget runs on another and does \
                  not yield.",
        usual_cause: "The budget is in a `static` that all threads share.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let polls_elsewhere = Cell::new(0);
        let task = async {
            work(&clock, 10, micros(1)).await;
            let elsewhere = || {
                let other = work(&clock, 3_000, micros(100));
                polls_of(&clock, Duration::ZERO, other).len()
            };
            let polls = thread::scope(|scope| scope.spawn(elsewhere).join());
            polls_elsewhere.set(polls.expect("it does not panic"));
        };
        poll_once(&clock, pin!(budget(&clock, SLICE, task)));
        let yields = polls_elsewhere.get() - 1;
        assert!(
            yields == 0,
            "code without a budget on another thread yielded {yields} times"
        );
    });
}

/// Clause 8: or a library could take what its caller has not got.
#[test]
fn a_nested_budget_ends_with_the_outer_one() {
    let lesson = Lesson {
        clause: "8. Nested",
        promise: "A longer slice within a shorter one does not lengthen the poll.",
        usual_cause: "The nested budget replaces the outer one. It must end with it.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let (cost, endless) = (micros(1), Duration::MAX);
        let clock = FakeClock::new(READING);
        let nested = budget(&clock, endless, work(&clock, 2_000, cost));
        let outer = budget(&clock, SLICE, async {
            work(&clock, 30, cost).await;
            nested.await;
        });
        let polls = polls_of(&clock, Duration::ZERO, outer);
        assert_bounded(&polls, longest_poll(SLICE, cost, 2));

        // Each for itself is short.
        let many = async {
            for _ in 0..200 {
                with_budget(SLICE, work(&clock, 20, cost)).await;
            }
        };
        let polls =
            polls_of(&clock, Duration::ZERO, budget(&clock, SLICE, many));
        assert_bounded(&polls, longest_poll(SLICE, cost, 2));
    });
}

/// Clause 8: what comes after it is the outer task's own business again.
#[test]
fn the_outer_slice_goes_on_after_a_nested_one() {
    let lesson = Lesson {
        clause: "8. Nested",
        promise: "When a nested budget's poll has returned, the outer slice is as it would have been \
                  without it.",
        usual_cause: "The end of the nested poll removes the budget instead of putting back the outer \
                      one, or leaves its own.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let cost = micros(1);
        for nested in [Duration::ZERO, micros(10), Duration::MAX] {
            let clock = FakeClock::new(READING);
            let task = budget(&clock, SLICE, async {
                work(&clock, 10, cost).await;
                // Ready at its first poll, before a checkpoint can end it.
                with_budget(nested, async { clock.advance(cost) }).await;
                work(&clock, 1_000, cost).await;
            });
            let polls = polls_of(&clock, Duration::ZERO, task);
            assert_slices_were_used(&polls, SLICE);
            assert_bounded(&polls, longest_poll(SLICE, cost, 2));
        }
    });
}

/// Clause 8: a shorter slice within a longer one is what `join!` is for.
#[test]
fn a_nested_slice_may_be_over_before_the_outer_one() {
    let lesson = Lesson {
        clause: "8. Nested",
        promise: "A nested task yields by its own slice, and leaves the rest of the outer one to \
                  whatever else the outer task does.",
        usual_cause: "The nested budget is ignored; or when it is over, the outer one is too.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let (cost, short) = (micros(1), micros(10));
        let clock = FakeClock::new(READING);
        let nested_polls = RefCell::new(Vec::new());
        let nested = async {
            let mut nested = pin!(with_budget(short, work(&clock, 60, cost)));
            poll_fn(|cx| {
                let before = clock.elapsed();
                let poll = nested.as_mut().poll(cx);
                nested_polls.borrow_mut().push(clock.elapsed() - before);
                poll
            })
            .await;
        };
        let others = work(&clock, 1_000, cost);
        let both: [Pin<Box<dyn Future<Output = ()>>>; 2] =
            [Box::pin(nested), Box::pin(others)];
        let task = budget(&clock, SLICE, join(both.into_iter()));
        let polls = polls_of(&clock, Duration::ZERO, task);
        assert_slices_were_used(&polls, SLICE);
        assert_bounded(&nested_polls.borrow(), longest_poll(short, cost, 1));
    });
}

/// Clause 9: checkpoints stand in inner loops, and tasks are many.
#[test]
fn polls_and_checkpoints_allocate_nothing() {
    let lesson = Lesson {
        clause: "9. No allocation",
        promise: "Neither a poll of `with_budget` nor a checkpoint allocates.",
        usual_cause: "Budgets are kept in a `Vec` or a `Box`. A `Cell` in a \
                      thread-local will do, and the guard on the stack keeps the outer one.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let nested = budget(&clock, micros(10), work(&clock, 1_000, micros(1)));
        let mut task = pin!(budget(&clock, SLICE, nested));
        let mut polls = 0;
        let mut cx = Context::from_waker(Waker::noop());
        let ((), counted) = clock.run(|| {
            allocations(|| {
                while task.as_mut().poll(&mut cx).is_pending() {
                    polls += 1;
                    assert!(polls < TOO_MANY_POLLS, "it never gets done");
                }
            })
        });
        let made = counted.count;
        assert!(
            made == 0,
            "{polls} polls and 1,000 checkpoints made {made} allocations"
        );
    });
}

/// Clause 10: an `async` block may hold references into itself.
#[test]
fn the_future_stays_where_it_is_and_is_dropped_once() {
    let lesson = Lesson {
        clause: "10. In good hands",
        promise: "The future is not moved after its first poll, and is dropped once, with \
                  `WithBudget`.",
        usual_cause: "The poll takes the future out of its place and puts it back, or leaks it.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        polls_of(&clock, SLICE, budget(&clock, SLICE, MustNotMove::new(3)));
        for polls in 0..3 {
            let (probe, drops) = DropProbe::new();
            let mut task = Box::pin(budget(&clock, SLICE, async {
                Yields(1).await;
                drop(probe);
            }));
            for _ in 0..polls {
                poll_once(&clock, task.as_mut());
            }
            drop(task);
            let count = drops.count();
            assert!(
                count == 1,
                "after {polls} polls what the future holds was dropped {count} times"
            );
        }
    });
}

/// Clause 10: a budget is no reason to lose a result.
#[test]
fn output_and_panic_of_the_future_come_through() {
    let lesson = Lesson {
        clause: "10. In good hands",
        promise: "`with_budget` returns what the future returns, and panics as it panics.",
        usual_cause: "The panic is caught, or the output is dropped on the way.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let task = pin!(budget(&clock, SLICE, async { "output" }));
        let Polled { poll, wakes, .. } = poll_once(&clock, task);
        assert!(
            poll == Poll::Ready("output") && wakes == 0,
            "it returned {poll:?} and woke {wakes} times"
        );
        let mut panics = Box::pin(budget(&clock, SLICE, async {
            panic!("meant to panic");
        }));
        let poll =
            || poll_once::<dyn Future<Output = ()>>(&clock, panics.as_mut());
        let caught = catch_unwind(AssertUnwindSafe(poll));
        let panic = caught.expect_err("the panic is passed on");
        let message = panic.downcast_ref::<&str>();
        assert!(
            message == Some(&"meant to panic"),
            "the panic came out as {message:?}"
        );
    });
}
