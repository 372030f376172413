//! Which task is next.

use std::collections::HashMap;

use super::busy::{Busy, WAYS, Way};
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
                      limit. Or the count of polls from the slot in a row begins again when a task \
                      yields.",
        read: "scheduler/work-stealing.html#the-lifo-slot",
    };
    check(lesson, || {
        let yields_too: Way = |busy| drop(spawn(busy.yielding_chain()));
        let yields_too = ("spawn their successors and yield", yields_too);
        for (what, keep_busy) in WAYS.into_iter().chain([yields_too]) {
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

/// Clause 5: the cap on the LIFO slot counts until the queue has its turn.
#[test]
fn tasks_from_outside_do_not_give_the_slot_more_polls() {
    let lesson = Lesson {
        clause: "5. Next is not always",
        promise: "The first task in the queue is polled after at most a hundred polls, even if \
                  tasks from outside come between those that wake or spawn one another.",
        usual_cause: "The count of polls from the LIFO slot in a row is reset by a poll of a task \
                      from the global queue. If there's one after every second poll, the count \
                      never reaches its limit. Reset it only when the queue has had its turn.",
        read: "scheduler/work-stealing.html#the-lifo-slot",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            for interval in [2, 3, 61] {
                for guests in 1..=3 {
                    let waited =
                        polls_beside_guests(interval, guests, keep_busy);
                    assert!(
                        waited <= 100,
                        "with an interval of {interval}, and {guests} tasks waiting in the global \
                         queue at all times, the first task in the worker's own queue waited for \
                         {waited} polls of these and of tasks that {what}"
                    );
                }
            }
        }
    });
}

/// Has a task spawn another one, and then keep the only worker busy, while so
/// many tasks wait in the global queue at all times. Returns for how many polls
/// the former waited.
fn polls_beside_guests(interval: u32, guests: usize, keep_busy: Way) -> usize {
    let runtime = endless(
        Runtime::builder()
            .worker_threads(1)
            .global_queue_interval(interval)
            .build(),
    );
    let (handle, busy) = (runtime.handle(), Busy::default());
    let (seen, begin) = (busy.clone(), busy.clone());
    let parent = runtime.spawn(async move {
        let queued = spawn(async move { seen.polls() });
        keep_busy(begin.clone());
        let coming = move || {
            for _ in 0..guests {
                come_again(&handle, begin.clone());
            }
        };
        thread::spawn(coming).join().expect("it spawns");
        queued.await.expect("the task returns")
    });
    let waited = runtime.block_on(parent).expect("the task returns");
    busy.stop();
    waited
}

/// Spawns a task from outside that has another thread spawn the next one.
fn come_again(handle: &Handle, busy: Busy) {
    let next = handle.clone();
    drop(handle.spawn(async move {
        if busy.go_on() {
            let coming = thread::spawn(move || come_again(&next, busy));
            coming.join().expect("it spawns");
        }
    }));
}

/// Clause 13: ready tasks come before the task that yields.
#[test]
fn a_yield_lets_the_ready_tasks_run_first() {
    let lesson = Lesson {
        clause: "13. Yield",
        promise: "A task that yields is polled again after all tasks that were ready on its worker, \
                  at least four times out of five: those that it has spawned or woken, and others \
                  that yield.",
        usual_cause: "A task that yields goes into the LIFO slot, or is polled again at once. Or \
                      it does so only while the queue or the slot is empty: then the ready tasks \
                      are in the other one.",
        read: "scheduler/work-stealing.html#the-lifo-slot",
    };
    check(lesson, || {
        for (what, begin) in SCENES {
            for others in 1..=3 {
                let runtime = runtime(1);
                let log = Log::default();
                let parent = {
                    let log = log.clone();
                    runtime.spawn(async move { all(begin(&log, others)).await })
                };
                runtime.block_on(parent).expect("the task returns");
                let (yields, in_turn) = log.yields_in_turn();
                assert!(
                    5 * in_turn >= 4 * yields,
                    "of {yields} yields beside {what}, {others} at a time, {} were over before one \
                     of these was polled",
                    yields - in_turn
                );
            }
        }
    });
}

/// Spawns tasks that yield while as many others as it's told are ready.
type Scene = fn(&Log, usize) -> Vec<JoinHandle<()>>;

const SCENES: [(&str, Scene); 4] = [
    ("tasks that the yielding task had spawned", |log, others| {
        let log = log.clone();
        vec![spawn(log.clone().logged(0, async move {
            for round in 0..YIELDS {
                for other in 0..others {
                    let name = 1 + round * others + other;
                    log.add(Seen::Ready(name));
                    spawn(log.clone().logged(name, async {}));
                }
                log.yields(0).await;
            }
        }))]
    }),
    ("tasks that the yielding task had woken", |log, others| {
        let bells = (1..=others).map(|name| Bell::new(log, name));
        vec![rings_and_yields(log, 0, bells.collect())]
    }),
    ("others that yield", |log, others| {
        (0..=others)
            .map(|name| rings_and_yields(log, name, Vec::new()))
            .collect()
    }),
    (
        "others that yield, each after waking a task",
        |log, others| {
            (0..=others)
                .map(|name| {
                    let bell = Bell::new(log, 100 + name);
                    rings_and_yields(log, name, vec![bell])
                })
                .collect()
        },
    ),
];

/// How often a task yields.
const YIELDS: usize = 50;

/// Spawns a task that wakes the others, yields, and repeats this.
fn rings_and_yields(
    log: &Log,
    name: usize,
    bells: Vec<Bell>,
) -> JoinHandle<()> {
    let log = log.clone();
    spawn(log.clone().logged(name, async move {
        for _ in 0..YIELDS {
            bells.iter().for_each(Bell::ring);
            log.yields(name).await;
        }
    }))
}

/// Wakes a task that waits again and again.
struct Bell {
    name: usize,
    log: Log,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Bell {
    fn new(log: &Log, name: usize) -> Self {
        let waker: Arc<Mutex<Option<Waker>>> = Arc::default();
        let waits = {
            let waker = waker.clone();
            poll_fn(move |cx| {
                *waker.lock().unwrap() = Some(cx.waker().clone());
                Poll::<()>::Pending
            })
        };
        drop(spawn(log.clone().logged(name, waits)));
        Self {
            name,
            log: log.clone(),
            waker,
        }
    }

    /// Wakes the task if it waits.
    fn ring(&self) {
        let waker = self.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            self.log.add(Seen::Ready(self.name));
            waker.wake();
        }
    }
}

/// What happened to the tasks of the only worker, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Seen>>>);

#[derive(Clone, Copy)]
enum Seen {
    /// The task with this number was spawned or woken.
    Ready(usize),
    Polled(usize),
    Yielded(usize),
}

impl Log {
    fn add(&self, seen: Seen) {
        self.0.lock().unwrap().push(seen);
    }

    /// Logs each poll of `future`.
    async fn logged(self, name: usize, future: impl Future<Output = ()>) {
        let mut future = Box::pin(future);
        poll_fn(|cx| {
            self.add(Seen::Polled(name));
            future.as_mut().poll(cx)
        })
        .await;
    }

    async fn yields(&self, name: usize) {
        self.add(Seen::Yielded(name));
        yield_now().await;
    }

    /// Returns how many yields there were while other tasks were ready, and
    /// after how many of them all these were polled before the one that had
    /// yielded.
    fn yields_in_turn(&self) -> (usize, usize) {
        // For each ready task, those that were ready when it yielded, and
        // whether it has yielded.
        let mut ready: HashMap<usize, Option<HashSet<usize>>> = HashMap::new();
        let (mut yields, mut in_turn) = (0, 0);
        for seen in self.0.lock().unwrap().iter() {
            match *seen {
                Seen::Ready(name) => {
                    ready.insert(name, None);
                }
                Seen::Yielded(name) => {
                    let before: HashSet<_> = ready.keys().copied().collect();
                    let before = Some(before).filter(|it| !it.is_empty());
                    ready.insert(name, before);
                }
                Seen::Polled(name) => {
                    if let Some(Some(before)) = ready.remove(&name) {
                        yields += 1;
                        in_turn += usize::from(before.is_empty());
                    }
                    for before in ready.values_mut().flatten() {
                        before.remove(&name);
                    }
                }
            }
        }
        (yields, in_turn)
    }
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
