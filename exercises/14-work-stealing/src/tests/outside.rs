//! Remote spawns and wake-ups while the workers are busy.

use super::busy::{Busy, WAYS, Way};
use super::*;

/// How many polls a busy worker may do before it looks at the global queue.
const INTERVAL: u32 = 31;

/// Clause 4: a worker that always has tasks must still look at the global queue.
#[test]
fn busy_workers_look_into_the_global_queue() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "A task that is spawned or woken outside runs within ten intervals of polls, no \
                  matter what the tasks do that keep the only worker busy.",
        usual_cause: "The worker looks at the global queue only when its own is empty; or the tick \
                      isn't counted on every path, for example for the next task or for yields.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            let runtime = one_worker(INTERVAL);
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
                // A wake-up during a poll isn't a remote wake-up.
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
                        "a task that was {why} from outside waited for {waited} polls \
                         of tasks that {what}, with an interval of {INTERVAL}"
                    );
                }
            }
            busy.stop();
        }
    });
}

/// Clause 4: the interval is a promise, and not a rough idea.
#[test]
fn a_worker_takes_from_outside_within_each_interval() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "While a task yields on the only worker, of as many polls in a row as the interval \
                  has, at least one is of a task from the global queue. The default interval is at \
                  most 127 polls.",
        usual_cause: "The default is larger than 127, or the worker looks one poll too late: it \
                      doesn't count the poll of the task that it takes.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        let yields: Way = |busy| drop(spawn(busy.yields()));
        for (interval, most) in [(None, 127), (Some(31), 31), (Some(2), 2)] {
            assert_takes_within(interval, most, "yield", yields);
        }
    });
}

/// Clause 4: a poll counts, no matter where its task came from.
#[test]
fn each_poll_counts_in_the_interval() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "Of as many polls in a row as the interval has, at least one is of a task from the \
                  global queue, too, while the tasks of the only worker spawn and wake one another.",
        usual_cause: "The worker counts polls where it takes a task from its queue, so the polls \
                      of the next task aren't counted.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            for interval in [2, 31] {
                assert_takes_within(
                    Some(interval),
                    interval as usize,
                    what,
                    keep_busy,
                );
            }
        }
    });
}

pub fn assert_takes_within(
    interval: Option<u32>,
    most: usize,
    what: &str,
    keep_busy: Way,
) {
    let mut builder = Runtime::builder();
    builder.worker_threads(1);
    if let Some(interval) = interval {
        builder.global_queue_interval(interval);
    }
    let runtime = builder.build().expect("there are threads left");
    let waited = polls_between_tasks_from_outside(&runtime, keep_busy);
    let longest = waited.iter().max().copied().unwrap_or_default();
    assert!(
        longest < most,
        "with {} a task from outside waited for {longest} polls of tasks that {what}, so that the \
         interval was {} polls",
        match interval {
            Some(interval) => format!("an interval of {interval}"),
            None => "the default interval".into(),
        },
        longest + 1
    );
}

/// Spawns some tasks from outside, each while the one before it is polled, right
/// after the worker has looked. Returns for how many polls of others each of
/// them had to wait.
fn polls_between_tasks_from_outside(
    runtime: &Runtime,
    keep_busy: Way,
) -> Vec<usize> {
    const TASKS: usize = 8;
    let busy = Busy::default();
    let begin = busy.clone();
    runtime
        .block_on(runtime.spawn(async move { keep_busy(begin) }))
        .expect("the task returns");
    busy.let_one_pass();
    let (tell, told) = std::sync::mpsc::channel();
    spawn_next(runtime.handle(), busy.clone(), tell);
    let polls: Vec<_> = told.iter().take(TASKS).collect();
    busy.stop();
    polls.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Spawns a task that reports how many polls there have been, and has a thread
/// spawn the next task while it's polled.
fn spawn_next(
    handle: Handle,
    busy: Busy,
    tell: std::sync::mpsc::Sender<usize>,
) {
    let next = handle.clone();
    drop(handle.spawn(async move {
        if tell.send(busy.polls()).is_ok() {
            let spawning = thread::spawn(|| spawn_next(next, busy, tell));
            spawning.join().expect("it spawns");
        }
    }));
}

/// Clause 4: a worker has taken a task, but hasn't polled it yet.
#[test]
fn what_a_worker_has_taken_does_not_go_back() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "Tasks that come from outside run within five intervals of polls for each of \
                  them, even if the tasks of the only worker spawn more and more others.",
        usual_cause: "If `busy_workers_look_into_the_global_queue` passes: what a worker has taken \
                      from the global queue is in the half of its own queue that moves when the \
                      queue overflows, so it goes back to the end. Let the older half stay, and \
                      take no more than that half has room for. Or the global queue has an older \
                      and a newer part, and what overflows is put behind the older part at once: \
                      it overtakes the tasks in the newer part. Move these first.",
        read: "scheduler/work-stealing.html#what-goes-back",
    };
    check(lesson, || {
        for (spawn_many, count) in [
            (Busy::storm as fn(Busy) -> _, 40),
            (Busy::bursts, 40),
            // More than half a queue, and nearly a queue.
            (Busy::bursts, 140),
            (Busy::bursts, 250),
        ] {
            let waited = polls_before_tasks_from_outside(spawn_many, count);
            let most = 5 * count * INTERVAL as usize;
            let late = waited.iter().filter(|polls| **polls > most).count();
            assert!(
                late == 0,
                "{late} of {count} tasks from outside waited for more than {most} polls of tasks that \
                 spawn others; the last for {}",
                waited.iter().max().unwrap_or(&0)
            );
        }
    });
}

/// Lets `count` tasks come from outside just before the tasks of `spawn_many`.
/// Returns for how many polls of the latter each of them waits.
fn polls_before_tasks_from_outside(
    spawn_many: fn(Busy) -> Pin<Box<dyn Future<Output = ()> + Send>>,
    count: usize,
) -> Vec<usize> {
    let runtime = one_worker(INTERVAL);
    let (busy, opener) = (Busy::default(), Opener::new());
    let (begun, gate) = (Arc::new(Gate::new()), opener.gate());
    let (tell, begin) = (begun.clone(), busy.clone());
    drop(runtime.spawn(async move {
        tell.open();
        gate.wait();
        spawn_many(begin).await;
    }));
    begun.wait();
    let tasks = (0..count).map(|_| {
        let seen = busy.clone();
        runtime.spawn(async move { seen.polls() })
    });
    let tasks = tasks.collect();
    drop(opener);
    let waited = runtime.block_on(all(tasks));
    busy.stop();
    waited
}

/// Clause 4: an interval of one easily leaves no poll for the worker's own queue.
#[test]
fn any_interval_will_do() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "Tasks run even with an interval of 1, and with the largest possible interval.",
        usual_cause: "The tick is taken modulo the interval minus one, or the worker looks at its \
                      own queue only between two looks at the global one.",
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
                polls <= 1_000,
                "with an interval of {interval}, the first task in the worker's own queue waited for \
                 {polls} polls of tasks from outside"
            );
        }
        let refused = panic_message(|| {
            Runtime::builder().global_queue_interval(0);
        });
        assert!(refused.is_some(), "an interval of zero was accepted");
    });
}

/// Lets many tasks come from outside. Returns how many of them are polled before
/// a task that was already in the worker's own queue.
fn polls_before_an_own_task(interval: u32) -> usize {
    let runtime = one_worker(interval);
    let polls = Arc::new(AtomicUsize::new(0));
    let (begun, opener) = (Arc::new(Gate::new()), Opener::new());
    let (tell, gate, seen) = (begun.clone(), opener.gate(), polls.clone());
    let parent = runtime.spawn(async move {
        let own = spawn(async move { seen.load(SeqCst) });
        fill_slot();
        tell.open();
        gate.wait();
        own.await.expect("the task returns")
    });
    begun.wait();
    for _ in 0..MANY {
        let polls = polls.clone();
        drop(runtime.spawn(async move { polls.fetch_add(1, SeqCst) }));
    }
    drop(opener);
    runtime.block_on(parent).expect("the task returns")
}
