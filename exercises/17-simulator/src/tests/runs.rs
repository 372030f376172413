//! Clauses 10 and 11: the loop.

use super::*;

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
                      that's always ready keeps it from jumping.",
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
