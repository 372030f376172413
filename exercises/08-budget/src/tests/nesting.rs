//! Budgets within budgets, and after them.

use super::*;

use super::loops::ManyLoops;

/// Clause 7: `block_on` returns to code that knows nothing about budgets.
#[test]
fn after_a_poll_the_thread_has_no_budget() {
    let lesson = Lesson {
        clause: "7. No trace",
        promise: "When a poll of `with_budget` has returned, checkpoints outside it are ready.",
        usual_cause: "The poll doesn't remove the budget.",
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
                "while a task {end}, other code on its thread yields by the task's budget"
            );
            if poll.is_ready() {
                return;
            }
        }
    });
}

/// Clause 7: a runtime catches panics, and continues.
#[test]
fn after_a_panic_the_thread_has_no_budget() {
    let lesson = Lesson {
        clause: "7. No trace",
        promise: "A future that panics leaves no budget on its thread.",
        usual_cause: "The budget is removed by a line after the poll, which a panic skips. Remove \
                      it in a `Drop`.",
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

/// Clause 7: what is typical of one task is a bad guess for another.
#[test]
fn each_task_has_a_budget_of_its_own() {
    let lesson = Lesson {
        clause: "7. No trace",
        promise: "Tasks that are polled alternately each have whole slices, and the cost of one \
                  task's items doesn't lengthen the other's polls.",
        usual_cause: "The stride, or what is left of it, stays in the thread-local when the poll ends.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let expensive = micros(20);
        let mut cheap_task = pin!(budget(&clock, SLICE, async {
            loop {
                work(&clock, 1_000, nanos(20)).await;
                Yields(1).await;
            }
        }));
        let mut expensive_task =
            pin!(budget(&clock, SLICE, work(&clock, 1_000, expensive)));
        let mut polls = Vec::new();
        for _ in 0..10 {
            let others = poll_once::<dyn Future<Output = ()>>(
                &clock,
                cheap_task.as_mut(),
            );
            assert!(others.poll.is_pending(), "its loop has no end");
            polls.push(poll_once(&clock, expensive_task.as_mut()).took);
        }
        assert_slices_were_used(&polls, SLICE);
        assert_bounded(&polls, longest_poll(SLICE, expensive, 1));
    });
}

/// Clause 7: a budget is for the poll that is running, and that is on one
/// thread.
#[test]
fn the_budget_does_not_affect_another_thread() {
    let lesson = Lesson {
        clause: "7. No trace",
        promise: "While a task with a budget runs on one thread, code without a budget on another \
                  thread doesn't yield.",
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

/// Clause 7: tasks of the same runtime run on several threads at once.
#[test]
fn a_task_on_another_thread_does_not_affect_the_budget() {
    let lesson = Lesson {
        clause: "7. No trace",
        promise: "What a task on another thread does during a poll, and what its items cost, \
                  doesn't lengthen the poll.",
        usual_cause: "A part of the budget, such as the stride, is in a `static` that all threads \
                      share.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let (clock, others_clock) =
            (FakeClock::new(READING), FakeClock::new(READING));
        let cost = micros(10);
        let task = budget(&clock, SLICE, async {
            for _ in 0..100 {
                let elsewhere = || {
                    let other = work(&others_clock, 1_000, nanos(20));
                    polls_of(
                        &others_clock,
                        Duration::ZERO,
                        budget(&others_clock, 10 * SLICE, other),
                    );
                };
                let done = thread::scope(|scope| scope.spawn(elsewhere).join());
                done.expect("it doesn't panic");
                work(&clock, 1, cost).await;
            }
        });
        let polls = polls_of(&clock, Duration::ZERO, task);
        assert_bounded(&polls, longest_poll(SLICE, cost, 1));
    });
}

/// Clause 8: otherwise a library could take time that its caller doesn't have.
#[test]
fn a_nested_budget_ends_with_the_outer_one() {
    let lesson = Lesson {
        clause: "8. Nested",
        promise: "Nested budgets don't lengthen the poll, even if their slices are longer, or if \
                  there are many of them.",
        usual_cause: "The nested budget replaces the outer one. It must end when the outer one \
                      does, at any depth of nesting. Or its stride is chosen by its own slice, \
                      although the outer one leaves less, or comes from the last poll, when the \
                      items were cheap. Or a checkpoint begins the slice of the innermost budget \
                      only, so that an outer budget without a checkpoint of its own has no end \
                      yet. Or a poll's first checkpoint is always ready, although the outer slice \
                      may be over there.",
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
        assert_slices_were_used(&polls, SLICE);
        assert_bounded(&polls, longest_poll(SLICE, cost, 2));

        // The middle slice begins together with the innermost one.
        let clock = FakeClock::new(READING);
        let innermost = budget(&clock, 100 * SLICE, work(&clock, 2_000, cost));
        let middle = budget(&clock, 10 * SLICE, innermost);
        let outer = budget(&clock, SLICE, async {
            work(&clock, 90, cost).await;
            middle.await;
        });
        let polls = polls_of(&clock, Duration::ZERO, outer);
        assert_slices_were_used(&polls, SLICE);
        assert_bounded(&polls, longest_poll(SLICE, cost, 3));

        // A library that calls a library that calls a library.
        for depth in [4, 8, 16, 32, 100] {
            let clock = FakeClock::new(READING);
            let outer = budget(&clock, SLICE, async {
                work(&clock, 90, cost).await;
                within(depth, work(&clock, 1_000, cost)).await;
            });
            let polls = polls_of(&clock, Duration::ZERO, outer);
            assert_slices_were_used(&polls, SLICE);
            assert_bounded(&polls, longest_poll(SLICE, cost, 3));
        }

        // Each of them alone is short, down to a single checkpoint.
        for items in [1, 2, 3, 20] {
            let clock = FakeClock::new(READING);
            let many = async {
                for _ in 0..4_000 / items {
                    with_budget(SLICE, work(&clock, items, cost)).await;
                }
            };
            let polls =
                polls_of(&clock, Duration::ZERO, budget(&clock, SLICE, many));
            assert_slices_were_used(&polls, SLICE);
            assert_bounded(&polls, longest_poll(SLICE, cost, 2));
        }

        // Many loops, each in a budget, or in groups.
        for part in [20, 500] {
            let many = ManyLoops::with_items_of(SLICE / part);
            for slice in [SLICE / 4, SLICE, endless] {
                for size in [1, 16] {
                    many.within(slice, size).assert_bounded();
                }
            }
        }
    });
}

/// Clause 8: often all checkpoints of a task are in nested budgets.
#[test]
fn an_outer_slice_begins_at_the_first_nested_checkpoint() {
    let lesson = Lesson {
        clause: "8. Nested",
        promise: "If the first checkpoint of a poll is within a nested budget, both slices begin \
                  there.",
        usual_cause: "The outer slice begins when the nested poll does, so that the time before \
                      the first checkpoint counts; or it begins only after the nested poll, so \
                      that this poll's time doesn't count. The nested poll has to leave behind \
                      when its first checkpoint was.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        // Not before: 1.5 slices pass, then one checkpoint.
        for depth in [1, 2] {
            let clock = FakeClock::new(READING);
            let task = within(depth, work(&clock, 1, SLICE * 3 / 2));
            let polled = poll_once(&clock, pin!(budget(&clock, SLICE, task)));
            assert!(
                polled.poll.is_ready() && polled.wakes == 0,
                "the first checkpoint of a poll, within {} budgets, found a slice over",
                depth + 1
            );
        }
        // Not after: the nested poll uses almost the whole slice.
        let cost = micros(1);
        for depth in [1, 2] {
            let clock = FakeClock::new(READING);
            let task = budget(&clock, SLICE, async {
                within(depth, work(&clock, 90, cost)).await;
                work(&clock, 500, cost).await;
            });
            let polls = polls_of(&clock, Duration::ZERO, task);
            assert_slices_were_used(&polls, SLICE);
            assert_bounded(&polls, longest_poll(SLICE, cost, 2));
        }
    });
}

/// Puts `depth` budgets around a task.
fn within<'a>(
    depth: usize,
    task: impl Future<Output = ()> + 'a,
) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
    let nest = |task, _| Box::pin(with_budget(SLICE, task)) as Pin<Box<_>>;
    (0..depth).fold(Box::pin(task), nest)
}

/// Clause 8: what comes after the nested budget is the outer task's own work
/// again.
#[test]
fn the_outer_slice_goes_on_after_a_nested_one() {
    let lesson = Lesson {
        clause: "8. Nested",
        promise: "When a nested budget's poll has returned, the outer slice is what it would have \
                  been without it.",
        usual_cause: "The end of the nested poll removes the budget instead of restoring the outer \
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

/// Clause 8: a shorter slice within a longer one is useful in a `join!`.
#[test]
fn a_nested_slice_may_be_over_before_the_outer_one() {
    let lesson = Lesson {
        clause: "8. Nested",
        promise: "A nested task yields at the end of its own slice, and leaves the rest of the \
                  outer slice to the other work of the outer task.",
        usual_cause: "The nested budget is ignored; or when its slice is over, so is the outer one.",
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

/// Clause 8: a task that supervises others continues when one of them panics.
#[test]
fn the_outer_slice_goes_on_after_a_nested_panic() {
    let lesson = Lesson {
        clause: "8. Nested",
        promise: "If the poll of a nested budget panics, and the outer task catches the panic, the \
                  outer slice continues.",
        usual_cause: "After a panic, the thread's budget is cleared. Restore the outer one, as \
                      after any other poll. If the outer slice began within the nested poll, it \
                      has begun even if that poll panicked.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let cost = micros(1);
        let slices = [Duration::ZERO, micros(10), Duration::MAX];
        // The outer slice has begun before, or begins within.
        let cases = slices.map(|nested| (10, nested, 0));
        let within = [(0, SLICE, 80), (0, Duration::MAX, 80)];
        for (before, nested, items) in cases.into_iter().chain(within) {
            let clock = FakeClock::new(READING);
            let task = budget(&clock, SLICE, async {
                work(&clock, before, cost).await;
                let panics = async {
                    work(&clock, items, cost).await;
                    panic!("meant to panic")
                };
                let mut panics = Box::pin(with_budget::<
                    Pin<Box<dyn Future<Output = ()>>>,
                >(
                    nested, Box::pin(panics)
                ));
                poll_fn(|cx| {
                    let poll = || panics.as_mut().poll(cx).is_ready();
                    let caught = catch_unwind(AssertUnwindSafe(poll));
                    assert!(caught.is_err(), "the panic is passed on");
                    Poll::Ready(())
                })
                .await;
                work(&clock, 1_000, cost).await;
            });
            let polls = polls_of(&clock, Duration::ZERO, task);
            assert_slices_were_used(&polls, SLICE);
            assert_bounded(&polls, longest_poll(SLICE, cost, 2));
        }
    });
}
