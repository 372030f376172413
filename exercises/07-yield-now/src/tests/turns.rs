//! Several tasks, and other executors.

use super::*;

/// Clause 3: concurrency without a second thread.
#[test]
fn two_tasks_take_turns() {
    let lesson = Lesson {
        clause: "3. A turn for the others",
        promise: "Two tasks that yield after each step alternate.",
        usual_cause: "The yield is over within one poll: it polls itself again, yields to another \
                      thread by `thread::yield_now`, or is ready at once.",
        read: "yielding/yield-now.html#pending-and-woken",
    };
    check(lesson, || {
        let mut tasks = RoundRobin::new();
        for name in ['A', 'B'] {
            tasks.spawn(name, async {
                for _ in 0..3 {
                    yield_now().await;
                }
            });
        }
        let order = tasks.run();
        assert!(
            order == "ABABABAB",
            "the tasks were polled in the order {}, not ABABABAB",
            shortened(order)
        );
    });
}

/// Clause 3: the purpose of a yield.
#[test]
fn a_busy_task_shares_its_thread() {
    let lesson = Lesson {
        clause: "3. A turn for the others",
        promise: "While a busy task yields, other tasks that are woken run on the same thread.",
        usual_cause: "The yield is ready at once, or waits inside its poll. Only a poll that \
                      returns `Pending` gives the thread back.",
        read: "yielding/yield-now.html#an-executor-cant-interrupt",
    };
    check(lesson, || {
        const BEATS: u32 = 10;
        let beats = Cell::new(0);
        let mut tasks = RoundRobin::new();
        tasks.spawn('B', async {
            let mut steps = 0;
            while beats.get() < BEATS {
                assert!(
                    steps < 10 * BEATS,
                    "after {steps} yields of a busy task, another task had been polled {} times, not {BEATS}",
                    beats.get()
                );
                steps += 1;
                yield_now().await;
            }
        });
        tasks.spawn('H', async {
            for _ in 0..BEATS {
                beats.set(beats.get() + 1);
                testkit::Yields(1).await;
            }
        });
        tasks.run();
    });
}

/// Clause 5: the executor of exercise 4, as it stands.
#[test]
fn block_on_runs_a_future_that_yields() {
    let lesson = Lesson {
        clause: "5. Any executor",
        promise: "Under `block_on`, a thousand yields take a thousand and one polls.",
        usual_cause: "The yield relies on more than the waker: on another task, or on a queue that \
                      doesn't exist here.",
        read: "yielding/yield-now.html#any-executor",
    };
    check(lesson, || {
        let polls = Cell::new(0);
        let mut yields = pin!(async {
            for _ in 0..1_000 {
                yield_now().await;
            }
        });
        block_on(poll_fn(|cx| {
            polls.set(polls.get() + 1);
            yields.as_mut().poll(cx)
        }));
        let polls = polls.get();
        assert!(polls == 1_001, "a thousand yields took {polls} polls");
    });
}

/// Clause 5: a task that was moved into a `join!` or a set of futures.
#[test]
fn the_second_poll_may_bring_another_waker() {
    let lesson = Lesson {
        clause: "5. Any executor",
        promise: "The second poll is ready, no matter which waker it brings, and calls neither of \
                  the two.",
        usual_cause: "The yield waits for the waker that it knows. Each poll brings its own waker, \
                      and only the latest counts.",
        read: "yielding/yield-now.html#any-executor",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        let (other_waker, other_counts) = CountingWaker::new();
        let mut yielding = pin!(yield_now());
        let _pending = is_ready(&mut yielding, &waker);
        assert!(
            is_ready(&mut yielding, &other_waker),
            "polled with another waker, the yield was pending again"
        );
        let wakes = (counts.wakes(), other_counts.wakes());
        assert!(
            wakes == (1, 0),
            "of two wakers the first was called {} times, the second {}",
            wakes.0,
            wakes.1
        );
    });
}

/// Clause 5: a different worker may poll next.
#[test]
fn a_yield_may_begin_and_end_on_two_threads() {
    let lesson = Lesson {
        clause: "5. Any executor",
        promise: "A yield that began on one thread is ready when another thread polls it.",
        usual_cause: "The state is in a thread-local. Keep it in the future, which moves with its \
                      task.",
        read: "yielding/yield-now.html#any-executor",
    };
    check(lesson, || {
        let (waker, _counts) = CountingWaker::new();
        let mut yielding = Box::pin(yield_now());
        let _pending = is_ready(&mut yielding.as_mut(), &waker);
        let elsewhere =
            thread::spawn(move || is_ready(&mut yielding.as_mut(), &waker));
        let is_ready = elsewhere.join().expect("a yield does not panic");
        assert!(is_ready, "on another thread the yield was pending again");
    });
}

/// Clause 5: a `join!` polls all its branches when one is woken.
#[test]
fn branches_of_one_task_take_turns_too() {
    let lesson = Lesson {
        clause: "5. Any executor",
        promise: "Two branches of one task advance step by step, at one poll a step.",
        usual_cause: "The yield polls itself again until it's over, or waits for a wake-up of its \
                      own. A poll without a wake-up is allowed.",
        read: "yielding/yield-now.html#any-executor",
    };
    check(lesson, || {
        let steps = Rc::new(Cell::new(String::new()));
        let branch = |name: char| {
            let steps = steps.clone();
            async move {
                for _ in 0..3 {
                    let so_far = steps.take();
                    steps.set(so_far + &name.to_string());
                    yield_now().await;
                }
            }
        };
        let mut branches = vec![Box::pin(branch('a')), Box::pin(branch('b'))];
        let both = poll_fn(move |cx| {
            branches.retain_mut(|it| it.as_mut().poll(cx).is_pending());
            match branches.is_empty() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        let mut tasks = RoundRobin::new();
        tasks.spawn('J', both);
        let polls = tasks.run().len();
        let steps = steps.take();
        assert!(steps == "ababab", "the branches stepped {steps}");
        assert!(polls == 4, "three yields of each took {polls} polls");
    });
}
