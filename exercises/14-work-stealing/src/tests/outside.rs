//! What comes from outside, when the workers are busy.

use super::busy::{Busy, WAYS};
use super::*;

/// How many polls a busy worker may go without the global queue.
const INTERVAL: u32 = 31;

/// Clause 4: a worker that always has something to do must look outside, too.
#[test]
fn busy_workers_look_into_the_global_queue() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "A task that is spawned or woken outside runs within ten intervals of polls, \
                  whatever the tasks do that keep the only worker busy.",
        usual_cause: "The global queue is looked at only when the own one is empty; or the tick is \
                      not counted on every path, such as for the next task or for yields.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            let runtime = endless(
                Runtime::builder()
                    .worker_threads(1)
                    .global_queue_interval(INTERVAL)
                    .build(),
            );
            let busy = Busy::default();
            let begin = busy.clone();
            runtime
                .block_on(runtime.spawn(async move { keep_busy(begin) }))
                .expect("the task returns");
            for _ in 0..5 {
                let seen = busy.clone();
                let (wait, waking) = ManualFuture::new();
                let task = runtime.spawn(async move {
                    let first = seen.polls();
                    wait.await;
                    (first, seen.polls())
                });
                let spawned = busy.polls();
                waking.wait_until_polled();
                // Who is woken in a poll is not woken from outside.
                busy.let_one_pass();
                waking.complete();
                let woken = busy.polls();
                let (first, second) =
                    runtime.block_on(task).expect("the task returns");
                for (before, at, why) in
                    [(spawned, first, "spawned"), (woken, second, "woken")]
                {
                    let waited = at.saturating_sub(before);
                    assert!(
                        waited <= 10 * INTERVAL as usize,
                        "when it was {why}, it waited for {waited} polls of \
                         tasks that {what}, with an interval of {INTERVAL}"
                    );
                }
            }
            busy.stop();
        }
    });
}

/// Clause 4: to be taken by a worker is not to be polled.
#[test]
fn what_a_worker_has_taken_does_not_go_back() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "Forty tasks that come from outside run within two hundred intervals of polls, though \
                  the tasks of the only worker spawn more and more others.",
        usual_cause: "If `busy_workers_look_into_the_global_queue` passes: what a worker has taken from \
                      the global queue is in that half of its own queue which moves when it overflows, \
                      and goes back to the end. Let the older half stay, and take no more than has room \
                      in it.",
        read: "scheduler/work-stealing.html#what-goes-back",
    };
    check(lesson, || {
        for spawn_many in [Busy::storm, Busy::bursts] {
            let waited = polls_before_tasks_from_outside(spawn_many);
            let most = 200 * INTERVAL as usize;
            let late = waited.iter().filter(|polls| **polls > most).count();
            assert!(
                late == 0,
                "{late} of {} tasks from outside waited for more than {most} polls of tasks that \
                 spawn others; the last for {}",
                waited.len(),
                waited.iter().max().unwrap_or(&0)
            );
        }
    });
}

/// How many polls of the tasks of `spawn_many` each of forty tasks waits for
/// that have come from outside just before these.
fn polls_before_tasks_from_outside(
    spawn_many: fn(Busy) -> Pin<Box<dyn Future<Output = ()> + Send>>,
) -> Vec<usize> {
    let runtime = endless(
        Runtime::builder()
            .worker_threads(1)
            .global_queue_interval(INTERVAL)
            .build(),
    );
    let (busy, opener) = (Busy::default(), Opener::new());
    let (begun, gate) = (Arc::new(Gate::new()), opener.gate());
    let (tell, begin) = (begun.clone(), busy.clone());
    drop(runtime.spawn(async move {
        tell.open();
        gate.wait();
        spawn_many(begin).await;
    }));
    begun.wait();
    let tasks = (0..40).map(|_| {
        let seen = busy.clone();
        runtime.spawn(async move { seen.polls() })
    });
    let tasks = tasks.collect();
    drop(opener);
    let waited = runtime.block_on(all(tasks));
    busy.stop();
    waited
}

/// Clause 4: an interval of one leaves nothing for the own queue, if one is
/// not careful.
#[test]
fn any_interval_will_do() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "With an interval of 1 and of the largest number there is, tasks run all the same.",
        usual_cause: "The tick is taken modulo the interval minus one, or the own queue is looked \
                      at only between two looks into the global one.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for interval in [1, 2, u32::MAX] {
            let runtime = endless(
                Runtime::builder()
                    .worker_threads(2)
                    .global_queue_interval(interval)
                    .build(),
            );
            let parent = runtime.spawn(async {
                for _ in 0..300 {
                    spawn(yield_now()).await.expect("the task returns");
                }
            });
            runtime.block_on(parent).expect("the task returns");
            let polls = polls_before_an_own_task(interval);
            assert!(
                polls < 10_000,
                "with an interval of {interval} a task of the worker's own waited for {polls} polls of \
                 others, of which the global queue was never empty"
            );
        }
        let refused = panic_message(|| {
            Runtime::builder().global_queue_interval(0);
        });
        assert!(refused.is_some(), "an interval of zero was accepted");
    });
}

/// How many polls of tasks that spawn more and more others go by before a task
/// that begins beside them has yielded a few times, and a task of its is polled.
fn polls_before_an_own_task(interval: u32) -> usize {
    let runtime = endless(
        Runtime::builder()
            .worker_threads(1)
            .global_queue_interval(interval)
            .build(),
    );
    let busy = Busy::default();
    let (begin, seen) = (busy.clone(), busy.clone());
    let parent = runtime.spawn(async move {
        spawn(begin.clone().storm());
        while begin.polls() < 50 {
            yield_now().await;
        }
        let own = spawn(async move { seen.polls() });
        own.await.expect("the task returns")
    });
    let polls = runtime.block_on(parent).expect("the task returns");
    busy.stop();
    polls
}
