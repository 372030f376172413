//! How long a poll lasts.

use super::*;

/// Clause 1: a task that yields early pays for a yield that helps no other
/// task.
#[test]
fn a_checkpoint_is_ready_while_the_slice_lasts() {
    let lesson = Lesson {
        clause: "1. Ready while it lasts",
        promise: "Until the slice is over, a checkpoint is ready at once and calls no waker.",
        usual_cause: "The budget counts checkpoints instead of time; or it guesses the end from \
                      what the items have cost so far; or it keeps a slice that is over for the \
                      next poll. Also check that you read the clock with `primitives::time::now`.",
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
            assert!(polls.len() < TOO_MANY_POLLS, "the task is never ready");
        }
        assert!(
            clock.readings() > 0,
            "the clock of `primitives::time::now` was never read"
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
        promise: "Outside any budget, checkpoints never yield.",
        usual_cause: "A thread without a budget is given a budget of zero, or a default.",
        read: "yielding/budget.html#a-slice-of-time",
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
        promise: "Any `Duration` is a valid slice. A slice of `Duration::MAX` is never over.",
        usual_cause: "`Instant + Duration` or a multiplication overflows, or `as u64` cuts off the \
                      upper bits of the nanoseconds. Use `checked_add`, or compare the elapsed \
                      time with the slice.",
        read: "yielding/budget.html#a-slice-of-time",
    };
    check(lesson, || {
        let seconds = (0..u64::BITS).map(|bit| Duration::from_secs(1 << bit));
        for slice in [Duration::MAX, Duration::MAX / 2]
            .into_iter()
            .chain(seconds)
        {
            let clock = FakeClock::new(READING);
            let task = budget(&clock, slice, work(&clock, 5_000, micros(100)));
            let polls = polls_of(&clock, SLICE, task).len();
            assert!(polls == 1, "with a slice of {slice:?} the task yielded");
        }
    });
}

/// Clause 2: the purpose of a budget. The tasks that wait for the thread wait
/// for the end of the poll.
#[test]
fn a_poll_ends_soon_after_its_slice() {
    let lesson = Lesson {
        clause: "2. Bounded polls",
        promise: "No matter what an item costs, a poll lasts at most one and a half slices and two \
                  items.",
        usual_cause: "The clock is read too rarely, because the stride doesn't depend on the cost \
                      of an item, or on the length of the slice. If the slice is of seconds, some \
                      of the durations have lost their seconds (`subsec_nanos` leaves them out), \
                      or an integer is too small for their nanoseconds.",
        read: "yielding/budget.html#the-stride",
    };
    check(lesson, || {
        let bounded = |slice: Duration, cost| {
            let clock = FakeClock::new(READING);
            let items = 5 * slice.div_duration_f64(cost) as u32 + 20;
            let task = budget(&clock, slice, work(&clock, items, cost));
            let polls = polls_of(&clock, Duration::ZERO, task);
            assert_bounded(&polls, longest_poll(slice, cost, 1));
        };
        for slice in [micros(20), micros(50), SLICE, micros(1_000)] {
            for cost in
                [20, 100, 300, 1_300, 5_000, 30_000, 3_000_000].map(nanos)
            {
                bounded(slice, cost);
            }
        }
        bounded(Duration::from_secs(17), Duration::from_secs(1));
    });
}

/// Clause 2: a checkpoint is a future, and does nothing unless it's polled.
#[test]
fn a_checkpoint_counts_when_it_is_polled() {
    let lesson = Lesson {
        clause: "2. Bounded polls",
        promise: "Checkpoints that were made before the poll bound it, too.",
        usual_cause: "The function `checkpoint` counts, or decides whether to yield. Do both in \
                      the checkpoint's `poll`: only there is it clear whose slice it is.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let (clock, cost) = (FakeClock::new(READING), micros(2));
        let made: Vec<_> = (0..1_000).map(|_| checkpoint()).collect();
        let task = budget(&clock, SLICE, async {
            for checkpoint in made {
                clock.advance(cost);
                checkpoint.await;
            }
        });
        let polls = polls_of(&clock, Duration::ZERO, task);
        assert_bounded(&polls, longest_poll(SLICE, cost, 1));
    });
}

/// Clause 3: nothing else knows that the task wants to continue.
#[test]
fn a_checkpoint_that_is_pending_has_woken_its_task() {
    let lesson = Lesson {
        clause: "3. Pending once",
        promise: "A task that yields has woken itself, even if it is alone.",
        usual_cause: "`Pending` is returned without `cx.waker().wake_by_ref()`: the task would \
                      sleep forever.",
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
                "poll {poll} was pending, and nothing had woken the task"
            );
        }
    });
}

/// Clause 3: a task must make progress even if its slice is over at once.
#[test]
fn a_task_makes_progress_with_any_slice() {
    let lesson = Lesson {
        clause: "3. Pending once",
        promise: "A checkpoint is pending once. At its next poll the task continues, even with a \
                  slice of zero.",
        usual_cause: "A checkpoint that was pending asks the budget again. It must remember that \
                      it has yielded.",
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

/// Clause 3: an executor inside the task polls a woken future again within the
/// same outer poll.
#[test]
fn a_checkpoint_that_yielded_is_ready_in_the_same_poll_too() {
    let lesson = Lesson {
        clause: "3. Pending once",
        promise: "The second poll of a checkpoint is ready, even if the task hasn't returned in \
                  between: an executor inside the task must not poll it forever.",
        usual_cause: "A checkpoint that was pending asks the budget again, and the slice is still \
                      over. Or the budget, instead of the checkpoint, remembers that one \
                      checkpoint may pass, and a different one passes in its place.",
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
            "a checkpoint after the slice was polled {polls} times, not twice"
        );
    });
}

/// Clause 3: an executor inside the task may poll the checkpoint, and needs to
/// learn that it must poll it again.
#[test]
fn it_wakes_the_waker_that_it_is_polled_with() {
    let lesson = Lesson {
        clause: "3. Pending once",
        promise: "A checkpoint calls the waker of the context that it's polled with.",
        usual_cause: "The budget keeps the waker of the task's poll. An executor inside the task \
                      has wakers of its own.",
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
            "{yields} checkpoints were pending, and their waker was called {wakes} times"
        );
    });
}

/// Clause 3: some executors run a task right where it's woken.
#[test]
fn a_waker_may_poll_other_tasks() {
    struct PollsAnother(FakeClock);
    impl Wake for PollsAnother {
        fn wake(self: Arc<Self>) {
            let clock = &self.0;
            for task in [0, 1, 10].map(|items| work(clock, items, micros(1))) {
                poll_once(clock, pin!(budget(clock, SLICE, task)));
            }
            poll_once(clock, pin!(work(clock, 1, micros(1))));
        }
    }

    let lesson = Lesson {
        clause: "3. Pending once",
        promise: "A checkpoint calls its waker, which may poll other tasks before it returns.",
        usual_cause: "The thread's budget is still borrowed while the waker is called. Let go of \
                      it before.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let waker = Waker::from(Arc::new(PollsAnother(clock.clone())));
        let mut cx = Context::from_waker(&waker);
        let mut task =
            pin!(budget(&clock, SLICE, work(&clock, 200, micros(10))));
        let mut polls = 1;
        while clock.run(|| task.as_mut().poll(&mut cx)).is_pending() {
            polls += 1;
            assert!(polls < TOO_MANY_POLLS, "the task is never ready");
        }
        assert!(polls > 1, "no checkpoint found the slice over");
    });
}

/// Clause 4: the queue may be long. The task didn't use that time.
#[test]
fn every_poll_has_a_whole_slice() {
    let lesson = Lesson {
        clause: "4. A slice for each poll",
        promise: "Each poll has a whole slice: neither the time that earlier polls used nor the \
                  time between polls counts.",
        usual_cause: "The slice is kept from poll to poll: it begins once, when the budget is \
                      created or in the first poll, instead of in each poll. Or it begins only \
                      after the last slice is over.",
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
        promise: "A poll that ends early, because the task waits for something, doesn't affect the \
                  slice of the next poll.",
        usual_cause: "A new slice begins only when the last one is over, so the task is charged \
                      for time that it spent waiting.",
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
                "{ROUNDS} rounds of 40 µs, much less than a slice, took {polls} polls"
            );
        }
    });
}

/// Clause 4: an executor with several threads moves tasks between them.
#[test]
fn a_task_takes_its_budget_to_another_thread() {
    let lesson = Lesson {
        clause: "4. A slice for each poll",
        promise: "A task that was polled on one thread has its slice on another thread too.",
        usual_cause: "The budget stays in a thread-local of the thread that created it or polled \
                      it first.",
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
