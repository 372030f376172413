//! Which task is next.

use super::busy::{Busy, WAYS};
use super::*;

/// Longer than any check may take.
const HOUR: Duration = Duration::from_secs(3_600);

/// Clause 5: tasks in the LIFO slot overtake the queue.
#[test]
fn tasks_that_wake_one_another_do_not_own_the_worker() {
    let lesson = Lesson {
        clause: "5. Next is not always",
        promise: "The first task in the queue is polled after at most a hundred polls of tasks \
                  that wake or spawn one another.",
        usual_cause: "The worker empties the LIFO slot before it looks at the queue, with no \
                      limit.",
        read: "scheduler/work-stealing.html#the-lifo-slot",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            let runtime = runtime(1);
            let busy = Busy::default();
            let (seen, begin) = (busy.clone(), busy.clone());
            let parent = runtime.spawn(async move {
                // Both are ready when this poll ends, the queued one first.
                let queued = spawn(async move { seen.polls() });
                keep_busy(begin);
                queued.await.expect("the task returns")
            });
            let waited = runtime.block_on(parent).expect("the task returns");
            busy.stop();
            assert!(
                waited <= 100,
                "the first task in the queue waited for {waited} polls of tasks that {what}"
            );
        }
    });
}

/// Clause 6: sleeps mustn't depend on an idle worker.
#[test]
fn sleeps_end_though_all_workers_are_busy() {
    let lesson = Lesson {
        clause: "6. Time goes on",
        promise: "A sleep ends, and not early, even if every worker has tasks that yield all the \
                  time.",
        usual_cause: "The deadline comes from a clock that was read once, when the runtime was \
                      built. At a hang: the timer thread isn't a worker, so what it wakes goes to \
                      the global queue, where a worker looks only when its own queue is empty; or \
                      a worker looks at the timers only then.",
        read: "scheduler/runtime.html#timers",
    };
    check(lesson, || {
        for workers in [1, 2, 4] {
            let runtime = runtime(workers);
            let is_over = Arc::new(AtomicBool::new(false));
            for _ in 0..workers * 2 {
                let is_over = is_over.clone();
                runtime.spawn(async move {
                    while !is_over.load(SeqCst) {
                        yield_now().await;
                    }
                });
            }
            for nap in [30; 3].map(Duration::from_millis) {
                let begun = Instant::now();
                let sleeper = runtime.spawn(async move { sleep(nap).await });
                runtime.block_on(sleeper).expect("the task returns");
                let slept = begun.elapsed();
                assert!(
                    slept >= nap,
                    "a sleep of {nap:?} was over in {slept:?}"
                );
            }
            is_over.store(true, SeqCst);
        }
    });
}

/// Clause 6: something must wake a worker when the first sleep ends.
#[test]
fn sleeps_end_though_all_workers_sleep() {
    let lesson = Lesson {
        clause: "6. Time goes on",
        promise: "A short sleep ends when all workers are parked, even if it begins later than a \
                  long one.",
        usual_cause: "A worker parks without a timeout although sleeps wait, or with another \
                      sleep's timeout, and isn't unparked for an earlier sleep. Or a worker that \
                      was woken, finds nothing and parks again still counts as on its way, so the \
                      next task wakes no worker.",
        read: "scheduler/runtime.html#timers",
    };
    check(lesson, || {
        let ms = Duration::from_millis(1);
        for workers in [1, 2, 4] {
            let runtime = runtime(workers);
            let long = runtime.spawn(async { sleep(HOUR).await });
            for _ in 0..5 {
                let naps = [5, 1, 3].map(|length| {
                    runtime.spawn(async move { sleep(length * ms).await })
                });
                runtime.block_on(async {
                    sleep(2 * ms).await;
                    for nap in naps {
                        nap.await.expect("the task returns");
                    }
                });
            }
            assert!(!long.is_finished(), "a sleep of an hour is over");
        }
    });
}

/// Clause 13: ready tasks come before the task that yields.
#[test]
fn a_yield_lets_the_ready_tasks_run_first() {
    let lesson = Lesson {
        clause: "13. Yield",
        promise: "A task that spawns others and yields continues after they were polled, at least \
                  four times out of five.",
        usual_cause: "A task that yields goes into the LIFO slot, or is polled again at once.",
        read: "scheduler/work-stealing.html#the-lifo-slot",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let parent = runtime.spawn(async {
            let mut in_turn = 0;
            for _ in 0..50 {
                let begun = Arc::new(AtomicUsize::new(0));
                for _ in 0..3 {
                    let begun = begun.clone();
                    spawn(async move { begun.fetch_add(1, SeqCst) });
                }
                yield_now().await;
                in_turn += usize::from(begun.load(SeqCst) == 3);
            }
            in_turn
        });
        let in_turn = runtime.block_on(parent).expect("the task returns");
        assert!(
            in_turn >= 40,
            "in {} of 50 rounds the task that yields was polled again before all of the others",
            50 - in_turn
        );
    });
}

/// Clause 13: a task that yields and is next again hasn't yielded.
#[test]
fn tasks_that_yield_take_turns() {
    let lesson = Lesson {
        clause: "13. Yield",
        promise: "Of tasks that yield on one worker, none is polled twice as often as another.",
        usual_cause: "A task that yields goes into the LIFO slot.",
        read: "scheduler/work-stealing.html#the-lifo-slot",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let turns = Arc::new(Mutex::new(Vec::new()));
        let list = turns.clone();
        let parent = runtime.spawn(async move {
            let tasks = (0..4).map(|name| {
                let list = list.clone();
                spawn(async move {
                    for _ in 0..50 {
                        list.lock().unwrap().push(name);
                        yield_now().await;
                    }
                })
            });
            all(tasks.collect()).await;
        });
        runtime.block_on(parent).expect("the task returns");
        let turns = turns.lock().unwrap();
        let mut counts = [0; 4];
        for &name in turns.iter().take(150) {
            counts[name] += 1;
        }
        let (fewest, most) = (counts.iter().min(), counts.iter().max());
        assert!(
            fewest.zip(most).is_some_and(|(few, most)| 2 * few >= *most),
            "of 150 polls, the four tasks had {counts:?}"
        );
    });
}
