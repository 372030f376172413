//! Who is next.

use super::*;

/// Longer than any check may last.
const HOUR: Duration = Duration::from_secs(3_600);

/// How many polls a busy worker may go without the global queue.
const INTERVAL: u32 = 31;
/// More tasks than most queues of fixed length hold.
const BURST: usize = 300;
/// After so many polls a busy task gives up.
const TOO_MANY: usize = 50_000;

/// Polls of tasks that keep a worker busy.
#[derive(Clone, Default)]
struct Busy(Arc<AtomicUsize>);

impl Busy {
    /// Counts a poll. Returns `true` as long as there should be more.
    fn go_on(&self) -> bool {
        self.0.fetch_add(1, SeqCst) < TOO_MANY
    }

    fn polls(&self) -> usize {
        self.0.load(SeqCst)
    }

    fn stop(&self) {
        self.0.store(TOO_MANY, SeqCst);
    }

    /// Tasks that spawn their successors.
    fn chain(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if self.go_on() {
                spawn(self.chain());
            }
        })
    }

    /// Tasks each of which spawns eight others, some 80,000 together.
    fn storm(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if self.go_on() && self.polls() < 10_000 {
                (0..8).for_each(|_| drop(spawn(self.clone().storm())));
            }
        })
    }

    /// A task that spawns a queue full of others, yields, and does it again.
    fn bursts(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            while self.go_on() {
                for _ in 0..BURST {
                    let busy = self.clone();
                    spawn(async move { busy.go_on() });
                }
                yield_now().await;
            }
        })
    }

    async fn yields(self) {
        while self.go_on() {
            yield_now().await;
        }
    }

    async fn wakes_itself(self) {
        poll_fn(|cx| match self.go_on() {
            true => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            false => Poll::Ready(()),
        })
        .await;
    }

    /// Two tasks of which each wakes the other.
    fn pair(self) {
        let wakers: Arc<[Mutex<Option<Waker>>; 2]> = Arc::default();
        for me in [0, 1] {
            let (busy, wakers) = (self.clone(), wakers.clone());
            spawn(poll_fn(move |cx| {
                *wakers[me].lock().unwrap() = Some(cx.waker().clone());
                let other = wakers[1 - me].lock().unwrap().take();
                match other {
                    Some(waker) => waker.wake(),
                    None => cx.waker().wake_by_ref(),
                }
                match busy.go_on() {
                    true => Poll::Pending,
                    false => Poll::Ready(()),
                }
            }));
        }
    }
}

/// What keeps a worker busy for ever.
type Way = fn(Busy);

const WAYS: [(&str, Way); 4] = [
    ("spawn their successors", |busy| drop(spawn(busy.chain()))),
    ("yield", |busy| drop(spawn(busy.yields()))),
    ("wake themselves", |busy| drop(spawn(busy.wakes_itself()))),
    ("wake one another", Busy::pair),
];

/// Clause 4: a worker that always has something to do must look outside, too.
#[test]
fn busy_workers_look_into_the_global_queue() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "A task that comes from outside runs within ten intervals of polls, whatever the \
                  tasks do that keep the only worker busy.",
        usual_cause: "The global queue is looked at only when the own one is empty; or the tick is \
                      not counted on every path, such as for the next task or for yields.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            let runtime = Runtime::builder()
                .worker_threads(1)
                .global_queue_interval(INTERVAL)
                .build()
                .expect("there are threads left");
            let busy = Busy::default();
            let begin = busy.clone();
            runtime
                .block_on(runtime.spawn(async move { keep_busy(begin) }))
                .expect("the task returns");
            for _ in 0..5 {
                let seen = busy.clone();
                let task = runtime.spawn(async move { seen.polls() });
                let before = busy.polls();
                let at = runtime.block_on(task).expect("the task returns");
                let waited = at.saturating_sub(before);
                assert!(
                    waited <= 10 * INTERVAL as usize,
                    "it waited for {waited} polls of tasks that {what}, with \
                     an interval of {INTERVAL}"
                );
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
    let runtime = Runtime::builder()
        .worker_threads(1)
        .global_queue_interval(INTERVAL)
        .build()
        .expect("there are threads left");
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
            let runtime = Runtime::builder()
                .worker_threads(2)
                .global_queue_interval(interval)
                .build()
                .expect("there are threads left");
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
    let runtime = Runtime::builder()
        .worker_threads(1)
        .global_queue_interval(interval)
        .build()
        .expect("there are threads left");
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

/// Clause 5: the slot for the next task is a way past the queue.
#[test]
fn tasks_that_wake_one_another_do_not_own_the_worker() {
    let lesson = Lesson {
        clause: "5. Next is not always",
        promise: "A task in the queue is polled after at most a hundred polls of tasks that wake or \
                  spawn one another.",
        usual_cause: "The slot for the next task is emptied before the queue, without an end.",
        read: "scheduler/work-stealing.html#the-slot-for-the-next-task",
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
            assert!(
                waited <= 400,
                "it waited for {waited} polls of tasks that {what}"
            );
            busy.stop();
        }
    });
}

/// Clause 6: nobody else looks at the clock.
#[test]
fn sleeps_end_though_all_workers_are_busy() {
    let lesson = Lesson {
        clause: "6. Time goes on",
        promise: "A sleep ends, and not early, though every worker has tasks that yield all the \
                  time.",
        usual_cause: "A worker looks at the timers only when it has nothing else to do.",
        read: "scheduler/work-stealing.html#time",
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
                assert!(slept >= nap, "{nap:?} were over in {slept:?}");
            }
            is_over.store(true, SeqCst);
        }
    });
}

/// Clause 6: a worker that sleeps must know until when.
#[test]
fn sleeps_end_though_all_workers_sleep() {
    let lesson = Lesson {
        clause: "6. Time goes on",
        promise: "A short sleep ends when all workers are asleep, also if it begins later than a \
                  long one.",
        usual_cause: "A worker parks without a time-out though sleeps wait, or with that of another \
                      one, and nobody rouses it for an earlier one.",
        read: "scheduler/work-stealing.html#time",
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

/// Clause 13: what is ready comes first.
#[test]
fn a_yield_lets_the_ready_tasks_run_first() {
    let lesson = Lesson {
        clause: "13. Yield",
        promise: "A task that spawns others and yields goes on after they were polled, at least four \
                  times out of five.",
        usual_cause: "A task that yields goes into the slot for the next task, or is polled again \
                      at once.",
        read: "scheduler/work-stealing.html#the-slot-for-the-next-task",
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
            "in {} of 50 rounds it was polled again before all of the others",
            50 - in_turn
        );
    });
}

/// Clause 13: a yield that is next again is none.
#[test]
fn tasks_that_yield_take_turns() {
    let lesson = Lesson {
        clause: "13. Yield",
        promise: "Of tasks that yield on one worker, none gets twice as many turns as another.",
        usual_cause: "A task that yields goes into the slot for the next task.",
        read: "scheduler/work-stealing.html#the-slot-for-the-next-task",
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
            "of 150 turns the four tasks had {counts:?}"
        );
    });
}
