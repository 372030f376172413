//! Clauses 10 and 11: the loop.

use super::*;

/// Clause 10: other tasks' deadlines come while a task is polled.
#[test]
fn a_deadline_does_not_end_a_poll() {
    let lesson = Lesson {
        clause: "10. Tasks first",
        promise: "Each poll takes `POLL`, even if a deadline of another task comes in the middle \
                  of it.",
        usual_cause: "After a poll, the clock is advanced to the next deadline if that comes \
                      earlier, instead of by `POLL`.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        let simulation = Simulation::new(10);
        let times = simulation.run(async {
            for part in [2, 3, 5, 7] {
                let naps = async move {
                    for _ in 0..4 {
                        sleep(3 * POLL + POLL / part).await;
                    }
                };
                drop(spawn("naps", naps));
            }
            let mut times = Vec::new();
            for _ in 0..40 {
                times.push(now());
                Yields(1).await;
            }
            times
        });
        let times = times.expect("the main task ends");
        // Some task is ready all the time, so the clock never jumps.
        let is_whole =
            |time: &Duration| time.as_nanos().is_multiple_of(POLL.as_nanos());
        let wrong = times.iter().find(|time| !is_whole(time));
        let all_differ = times.is_sorted_by(|one, next| one < next);
        assert!(
            wrong.is_none() && all_differ,
            "a task is ready all the time, a poll takes {POLL:?}, and the polls of a task began at \
             {times:?}"
        );
    });
}

/// Clause 10: otherwise a sleep would take as long as in reality.
#[test]
fn the_clock_jumps_when_nothing_is_ready() {
    let lesson = Lesson {
        clause: "10. Tasks first",
        promise: "If no task is ready, the clock jumps to the next deadline, and shows exactly \
                  that time.",
        usual_cause: "The loop waits for real time to pass, goes on in steps, or jumps past the \
                      deadline.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        let simulation = Simulation::new(10);
        let woken = simulation.run(async {
            let mut woken = Vec::new();
            for length in [20 * SECOND, Duration::from_nanos(7), 30 * SECOND] {
                sleep(length).await;
                woken.push(now());
            }
            woken
        });
        let exact = Simulation::new(10);
        let late = exact.run(async {
            for nanos in [1, 7, 999, 20_001, 1_234_567] {
                // The poll takes some of this time.
                let deadline = now() + POLL + Duration::from_nanos(nanos);
                sleep_until(deadline).await;
                if now() != deadline {
                    return Some((deadline, now()));
                }
            }
            None
        });
        let Ok(late) = late else {
            panic!("five sleeps ended with {late:?}");
        };
        assert!(
            late.is_none(),
            "no task was ready. The next deadline and the time to which the clock jumped: {late:?}"
        );
        let first = 20 * SECOND;
        let Ok([one, two, three]) = woken.as_deref() else {
            panic!("three sleeps ended with {woken:?}");
        };
        assert!(*one == first, "a sleep of 20 s ended at {one:?}");
        let is_late =
            *two > first + 2 * POLL || *three > *two + 30 * SECOND + 2 * POLL;
        assert!(!is_late, "sleeps of 20 s, 7 ns and 30 s ended at {woken:?}");
    });
}

/// Clause 10: a poll may take longer than a sleep.
#[test]
fn each_poll_takes_its_time() {
    let lesson = Lesson {
        clause: "10. Tasks first",
        promise: "Each poll takes `POLL`, and while a task is ready, no more time passes than \
                  that.",
        usual_cause: "The clock jumps to the next deadline after each poll, although a task is \
                      ready, or it stands still while there's always a task that's ready.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        let simulation = Simulation::new(10);
        let times = simulation.run(async {
            drop(spawn("sleeper", sleep(SECOND)));
            let other = spawn("other", Yields(40));
            let start = now();
            Yields(60).await;
            other.await.expect("it's never cancelled");
            (start, now())
        });
        let (start, end) = times.expect("it ends");
        let passed = end - start;
        // 41 and 61 polls of the two tasks; one of the sleeper; at most one
        // after the other task is over.
        assert!(
            (100 * POLL..=104 * POLL).contains(&passed),
            "in 102 or 103 polls, {passed:?} passed, where each takes {POLL:?}"
        );
        let simulation = Simulation::new(10);
        let counted = simulation.run(async {
            let (start, count) = (now(), Rc::new(Cell::new(0)));
            for _ in 0..30 {
                let count = count.clone();
                drop(spawn("short", async move { count.set(count.get() + 1) }));
            }
            let mut polls = 0;
            while count.get() < 30 {
                Yields(1).await;
                polls += 1;
            }
            (now() - start, 30 + polls)
        });
        let (passed, polls) = counted.expect("it ends");
        assert!(
            passed == polls * POLL,
            "in {polls} polls, 30 of which were the last of their task, {passed:?} passed, where \
             each takes {POLL:?}"
        );
    });
}

/// Clause 10: a seed must be able to have a task overtake those that are ready.
#[test]
fn what_a_poll_spawns_may_be_polled_next() {
    let lesson = Lesson {
        clause: "10. Tasks first",
        promise: "A task that becomes ready during a poll is as likely to be polled next as those \
                  that were ready before.",
        usual_cause: "The loop takes several tasks out of the queue, and then polls one after the \
                      other. What a poll wakes has to wait for the rest of them.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        for count in [2, 3] {
            let seeds = 600;
            let overtakes = (0..seeds).filter(|seed| {
                let simulation = Simulation::new(*seed);
                let overtakes = simulation.run(async move {
                    // `None` is the task that one of the others spawns.
                    let order = Rc::new(RefCell::new(Vec::new()));
                    for number in 0..count {
                        let order = order.clone();
                        drop(spawn("ready", async move {
                            let is_first = order.borrow().is_empty();
                            order.borrow_mut().push(Some(number));
                            if is_first {
                                let spawned = async move {
                                    order.borrow_mut().push(None);
                                };
                                drop(spawn("spawned", spawned));
                            }
                        }));
                    }
                    sleep(MS).await;
                    order.take().get(1) == Some(&None)
                });
                overtakes.expect("it ends")
            });
            let (overtakes, expected) = (overtakes.count(), 600 / count);
            // Some six standard deviations.
            assert!(
                overtakes.abs_diff(expected) <= 75,
                "of {count} tasks that are ready, the first one spawns another: with {seeds} \
                 seeds, that one was polled next {overtakes} times, and not about {expected} times"
            );
        }
    });
}

/// Clause 10: the order of time.
#[test]
fn sleeps_end_in_the_order_of_their_deadlines() {
    let lesson = Lesson {
        clause: "10. Tasks first",
        promise: "A task whose deadline is earlier is polled first.",
        usual_cause: "The clock jumps past several deadlines at once.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        for seed in 0..20 {
            let simulation = Simulation::new(seed);
            let order = simulation.run(async {
                let order = Rc::new(RefCell::new(Vec::new()));
                let sleepers = [4, 1, 3, 5, 2].map(|seconds| {
                    let order = order.clone();
                    spawn(format!("sleeper {seconds}"), async move {
                        sleep(seconds * SECOND).await;
                        order.borrow_mut().push(seconds);
                    })
                });
                for sleeper in sleepers {
                    sleeper.await.expect("it's never cancelled");
                }
                order.take()
            });
            assert!(
                order == Ok(vec![1, 2, 3, 4, 5]),
                "with seed {seed}, sleeps of 4, 1, 3, 5 and 2 s ended in the order {order:?}"
            );
        }
    });
}

/// Clause 11: what comes then isn't part of the run.
#[test]
fn the_run_ends_with_its_main_task() {
    let lesson = Lesson {
        clause: "11. Stops",
        promise: "When the main task is over, `drive` returns `Ok`, and polls no other task.",
        usual_cause: "The loop goes on until no task is ready or left, or ends when any task is \
                      over.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        let polls = Rc::new(Cell::new(0));
        let counted = polls.clone();
        let simulation = Simulation::new(11);
        let result = simulation.run(async move {
            drop(spawn("over soon", async {}));
            drop(spawn("never over", async move {
                loop {
                    counted.set(counted.get() + 1);
                    Yields(1).await;
                }
            }));
            sleep(5 * MS).await;
            17
        });
        assert!(
            result == Ok(17),
            "the main task returned 17, the run {result:?}"
        );
        let count = polls.get();
        // It's polled while the main task sleeps, and may be polled once more
        // when both are ready, for as long as it's chosen.
        let most = (5 * MS).as_micros() / POLL.as_micros() + 50;
        assert!(
            u128::from(count as u32) <= most,
            "in 5 ms, a task was polled {count} times, where {most} fit"
        );
    });
}

/// Clause 11: the main task is the one that is passed.
#[test]
fn a_simulation_may_run_another_main_task() {
    let lesson = Lesson {
        clause: "11. Stops",
        promise: "`drive` returns when the task that it was given is over, even if that isn't the \
                  first task of the world.",
        usual_cause: "The loop compares with the number 1 instead of `main`.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        let simulation = Simulation::new(11);
        for number in 0..3 {
            let result = simulation.run(async move {
                drop(spawn("over soon", async {}));
                drop(spawn("never over", pending::<()>()));
                sleep(MS).await;
                number
            });
            assert!(
                result == Ok(number),
                "the main task returned {number}, the run {result:?}"
            );
        }
    });
}

/// Clause 11: in reality, this program would hang.
#[test]
fn a_task_that_nothing_wakes_is_a_deadlock() {
    let lesson = Lesson {
        clause: "11. Stops",
        promise: "If no task is ready and none waits for a time, `drive` returns `Deadlock`, with \
                  the tasks that wait.",
        usual_cause: "The loop parks the thread and waits for a wake-up. In a simulation, there's \
                      no other thread that could cause one.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        let simulation = Simulation::new(11);
        let result = simulation.run(async {
            sleep(2 * SECOND).await;
            let stuck = spawn("stuck", pending::<()>());
            let _ = stuck.await;
        });
        let Err(Stop::Deadlock(waiting)) = result else {
            panic!(
                "two tasks wait for nothing, and the run returned {result:?}"
            );
        };
        let names: Vec<_> =
            waiting.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names == ["main", "stuck"], "the tasks that wait: {names:?}");
    });
}

/// Clause 11: a program that tries again forever.
#[test]
fn a_run_without_end_reaches_the_limit() {
    let lesson = Lesson {
        clause: "11. Stops",
        promise: "Before the clock would show a time after `TIME_LIMIT`, `drive` returns \
                  `TimeLimit`.",
        usual_cause: "There's no limit, or the loop looks at it only when it jumps, and a task \
                      that's always ready keeps it from jumping. Or a deadline beyond the limit \
                      is taken for none.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        let simulation = Simulation::new(11);
        let sleeping: Result<(), _> = simulation.run(async {
            loop {
                sleep(7 * SECOND).await;
            }
        });
        let time = simulation.now();
        assert!(
            matches!(sleeping, Err(Stop::TimeLimit(_))) && time <= TIME_LIMIT,
            "a task that sleeps again and again ended with {sleeping:?} at {time:?}"
        );
        for length in [TIME_LIMIT + SECOND, 3 * TIME_LIMIT, Duration::MAX] {
            let simulation = Simulation::new(11);
            let sleeping = simulation.run(async move { sleep(length).await });
            let time = simulation.now();
            assert!(
                matches!(sleeping, Err(Stop::TimeLimit(_)))
                    && time <= TIME_LIMIT,
                "a task that sleeps for {length:?} ended with {sleeping:?} at {time:?}"
            );
        }
        let simulation = Simulation::new(11);
        let last = simulation.run(async {
            sleep(TIME_LIMIT - SECOND).await;
            loop {
                Yields(1).await;
            }
        });
        let last: Result<(), _> = last;
        let time = simulation.now();
        assert!(
            matches!(last, Err(Stop::TimeLimit(_))) && time <= TIME_LIMIT,
            "a task that yields again and again ended with {last:?} at {time:?}"
        );
    });
}

/// Clause 11: the limit itself isn't a time after the limit.
#[test]
fn a_run_may_end_at_the_limit() {
    let lesson = Lesson {
        clause: "11. Stops",
        promise: "If the main task sleeps until `TIME_LIMIT` and is then over, the run ends well, \
                  because the clock never shows a later time.",
        usual_cause: "The loop stops as soon as the clock would show the limit itself, or it \
                      stops before a poll that begins there, because it would end after the limit.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        let simulation = Simulation::new(11);
        let ended = simulation.run(async {
            sleep_until(TIME_LIMIT).await;
            now()
        });
        assert!(
            ended == Ok(TIME_LIMIT),
            "a sleep until the limit of {TIME_LIMIT:?} ended with {ended:?}"
        );
    });
}

/// Clause 11: also if nothing awaits the task.
#[test]
fn a_panic_of_any_task_ends_the_run() {
    let lesson = Lesson {
        clause: "11. Stops",
        promise: "If a poll panics, `drive` returns `Panicked`.",
        usual_cause: "The error of `World::poll` is ignored. The task is gone then, and the run \
                      goes on without it.",
        read: "io/simulator.html#the-loop",
    };
    check(lesson, || {
        let simulation = Simulation::new(11);
        let result = simulation.run(async {
            drop(spawn("broken", async {
                sleep(MS).await;
                panic!("out of cheese");
            }));
            sleep(SECOND).await;
        });
        assert!(
            result == Err(Stop::Panicked("out of cheese".into())),
            "a task panicked with \"out of cheese\", and the run returned {result:?}"
        );
    });
}
