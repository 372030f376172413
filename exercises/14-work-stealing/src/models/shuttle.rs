//! Several workers, and everything that may happen to them. There are far too
//! many interleavings to try each; shuttle tries a thousand, half of them at random,
//! and half by priorities that change now and then.
//!
//! shuttle treats each atomic operation as sequentially consistent. loom explores
//! what weaker ones may do: in the file beside this one, and in the exercises of the
//! parts.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

use primitives::{Condvar, Mutex, thread};
use testkit::{Lesson, check_model};

use super::super::{Handle, JoinHandle, Runtime, spawn, yield_now};
use super::runtime;

/// What became of all tasks, in std's atomics: reading them isn't a step of the model.
#[derive(Clone, Default)]
struct Fates(Arc<Counts>);

#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    dropped: AtomicUsize,
    finished: AtomicUsize,
}

impl Fates {
    /// Returns a future that does what `future` does, and checks that it's polled
    /// and dropped correctly.
    fn follow<F: Future>(
        &self,
        future: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        self.0.made.fetch_add(1, SeqCst);
        let fate = Fate {
            counts: self.0.clone(),
            is_dropped: AtomicBool::new(false),
            is_polled: AtomicBool::new(false),
        };
        async move {
            let fate = fate;
            let mut future = pin!(future);
            let output = poll_fn(|cx| {
                let was_polled = fate.is_polled.swap(true, SeqCst);
                assert!(!was_polled, "two workers poll one task at once");
                let polled = future.as_mut().poll(cx);
                fate.is_polled.store(false, SeqCst);
                polled
            })
            .await;
            fate.counts.finished.fetch_add(1, SeqCst);
            output
        }
    }

    fn assert_all_finished(&self) {
        let Counts { made, finished, .. } = &*self.0;
        let (made, finished) = (made.load(SeqCst), finished.load(SeqCst));
        assert_eq!(finished, made, "how many tasks finished, of all");
    }

    fn assert_all_dropped(&self) {
        let Counts { made, dropped, .. } = &*self.0;
        let (made, dropped) = (made.load(SeqCst), dropped.load(SeqCst));
        assert_eq!(dropped, made, "how many futures were dropped, of all");
    }
}

struct Fate {
    counts: Arc<Counts>,
    is_polled: AtomicBool,
    is_dropped: AtomicBool,
}

impl Drop for Fate {
    fn drop(&mut self) {
        assert!(
            !self.is_dropped.swap(true, SeqCst),
            "a future is dropped twice"
        );
        assert!(
            !self.is_polled.load(SeqCst),
            "a future is dropped in a poll"
        );
        self.counts.dropped.fetch_add(1, SeqCst);
    }
}

/// An event that tasks wait for.
#[derive(Clone, Default)]
struct Event(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    has_happened: bool,
    wakers: Vec<Waker>,
}

impl Event {
    async fn wait(self) {
        poll_fn(|cx| {
            let mut state = self.0.lock().unwrap();
            if state.has_happened {
                return Poll::Ready(());
            }
            state.wakers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Wakes the tasks although the event hasn't happened.
    fn wake_spuriously(&self) {
        let wakers = self.0.lock().unwrap().wakers.clone();
        wakers.iter().for_each(Waker::wake_by_ref);
    }

    fn happen(&self) {
        let mut state = self.0.lock().unwrap();
        state.has_happened = true;
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// A gate that a thread may wait for, for example within a poll.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let mut is_open = self.0.0.lock().unwrap();
        while !*is_open {
            is_open = self.0.1.wait(is_open).unwrap();
        }
    }
}

async fn all(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("the task returns");
    }
}

/// The handle's result, which must be ready because the runtime is gone.
fn result<T>(handle: JoinHandle<T>) -> Option<T> {
    let mut cx = Context::from_waker(Waker::noop());
    match pin!(handle).poll(&mut cx) {
        Poll::Ready(result) => result.ok(),
        Poll::Pending => panic!("a handle waits, and nothing will wake it"),
    }
}

/// Clause 1: tasks come from several threads, and the queue is too short for them.
#[test]
fn every_task_runs_once_in_whatever_order() {
    let lesson = Lesson {
        clause: "1. Every task runs",
        promise: "Each task runs to its end, no matter where it was spawned and in which order the \
                  threads take their steps.",
        usual_cause: "A task is in no queue for a moment, and a worker parks at that moment; or a \
                      full queue loses a task. Or a worker that has found a task in its last look \
                      stays listed as parked, and is notified in place of a worker that is parked. \
                      Or a length that is read without the lock is stored after the lock is \
                      released, and an older length overwrites it: store it under the lock.",
        read: "scheduler/work-stealing.html#where-a-task-goes",
    };
    check_model(lesson, || {
        // ANCHOR: every_task
        primitives::model(|| {
            let (runtime, fates) = (runtime(2), Fates::default());
            let from_outside = {
                let (handle, fates) = (runtime.handle(), fates.clone());
                thread::spawn(move || {
                    let tasks = (0..2).map(|_| {
                        handle.spawn(fates.follow(async { yield_now().await }))
                    });
                    tasks.collect::<Vec<_>>()
                })
            };
            let inner = fates.clone();
            runtime.block_on(async {
                let burst = async move {
                    // The queue holds four in a model, and the LIFO slot one.
                    let tasks = (0..7).map(|_| spawn(inner.follow(async {})));
                    all(tasks.collect()).await;
                };
                spawn(fates.follow(burst)).await.expect("it returns");
            });
            let others = from_outside.join().expect("it doesn't panic");
            runtime.block_on(all(others));
            drop(runtime);
            fates.assert_all_finished();
            fates.assert_all_dropped();
        });
        // ANCHOR_END: every_task
    });
}

/// Clause 2: two threads wake a task during, before and after its polls.
#[test]
fn every_wake_up_leads_to_one_poll_at_a_time_in_whatever_order() {
    let lesson = Lesson {
        clause: "2. One poll",
        promise: "A task that is woken, from any thread and at any time, is polled again, by one \
                  worker at a time.",
        usual_cause: "A wake-up comes while a worker parks, and no worker is notified; or it comes \
                      during a poll, and two workers have the task.",
        read: "scheduler/work-stealing.html#where-a-task-goes",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (runtime, fates) = (runtime(2), Fates::default());
            let events: [Event; 2] = Default::default();
            let tasks = events.clone().map(|event| {
                let [first, second] = [event.clone(), event];
                runtime.spawn(fates.follow(async move {
                    let inner = spawn(first.wait());
                    second.wait().await;
                    inner.await.expect("it returns");
                }))
            });
            let threads = events.map(|event| {
                thread::spawn(move || {
                    event.wake_spuriously();
                    event.happen();
                })
            });
            runtime.block_on(all(tasks.into()));
            for thread in threads {
                thread.join().expect("waking doesn't panic");
            }
            drop(runtime);
            fates.assert_all_finished();
            fates.assert_all_dropped();
        });
    });
}

/// Clause 3: polls that wait for other tasks end only if these run meanwhile.
#[test]
fn no_task_waits_while_a_worker_sleeps_in_whatever_order() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "As many tasks as there are workers run at a time, no matter which thread spawned \
                  or woke them.",
        usual_cause: "A worker searches already, so no other is unparked; and the searcher finds \
                      one task and notifies no worker of the next. Or a worker looks again \
                      before it parks, but at the global queue only: a task waits in another \
                      worker's.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let runtime = runtime(3);
            let gates: [Gate; 3] = Default::default();
            let event = Event::default();
            let woken = {
                let (event, gate) = (event.clone(), gates[0].clone());
                async move {
                    event.wait().await;
                    gate.open();
                }
            };
            let woken = runtime.spawn(woken);
            let [first, second, third] = gates;
            let outer = runtime.spawn(async move {
                let [entered, left] = [second.clone(), third.clone()];
                let inner = spawn(async move {
                    entered.wait();
                    left.open();
                });
                // Moves `inner` out of the LIFO slot, so that it can be stolen.
                let next = spawn(async {});
                first.wait();
                second.open();
                third.wait();
                all(vec![inner, next]).await;
            });
            let waking = thread::spawn(move || event.happen());
            runtime.block_on(all(vec![woken, outer]));
            waking.join().expect("waking doesn't panic");
        });
    });
}

/// Clause 3: a next task is in no queue for a moment, and then isn't next anymore.
#[test]
fn a_next_task_that_gives_way_is_stolen_in_whatever_order() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Each task spawns its successor. When the worker polls a task from its queue \
                  instead, and that poll is long, another worker polls the successor, even if it \
                  was about to park.",
        usual_cause: "The next task that gives way is pushed to the queue without a notification. \
                      But a worker that looked just before that saw an empty queue, and is parked \
                      now.",
        read: "scheduler/work-stealing.html#the-lifo-slot",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (runtime, turn) = (runtime(2), Turn::default());
            let parent = runtime.spawn(async move {
                let waiting = turn.clone();
                let queued = spawn(async move {
                    waiting.is_awaited.store(true, SeqCst);
                    waiting.has_come.wait();
                });
                // Moves `queued` to the queue.
                drop(spawn(turn.pass_on(5)));
                queued.await.expect("it returns");
            });
            runtime.block_on(all(vec![parent]));
        });
    });
}

/// Passes from task to task until a task waits for it, or it was passed often.
#[derive(Clone, Default)]
struct Turn {
    is_awaited: Arc<AtomicBool>,
    has_come: Gate,
}

impl Turn {
    fn pass_on(self, times: u32) -> BoxFuture {
        Box::pin(async move {
            if times == 0 || self.is_awaited.load(SeqCst) {
                self.has_come.open();
            } else {
                drop(spawn(self.pass_on(times - 1)));
            }
        })
    }
}

/// Clause 3: one worker takes both tasks, while the other looks elsewhere.
#[test]
fn what_comes_from_outside_is_shared_in_whatever_order() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Two tasks from outside run on two workers at a time, no matter which workers \
                  take them from the global queue.",
        usual_cause: "A worker carries several tasks to its own queue. A worker that looks \
                      meanwhile finds them in neither queue, parks, and is not notified. Or only \
                      one worker is to be on its way at a time, and it takes work before it says \
                      that it has arrived: what comes in between unparks no worker.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let runtime = runtime(2);
            let gates: [Gate; 2] = Default::default();
            let meet = |own: &Gate, other: &Gate| {
                let (own, other) = (own.clone(), other.clone());
                async move {
                    own.open();
                    other.wait();
                }
            };
            let handle = runtime.handle();
            let [first, second] = &gates;
            let second = meet(second, first);
            let spawning = thread::spawn(move || handle.spawn(second));
            let first = runtime.spawn(meet(first, &gates[1]));
            let second = spawning.join().expect("spawning doesn't panic");
            runtime.block_on(all(vec![first, second]));
        });
    });
}

/// Makes tasks that each wait in their poll until two have begun. With two workers,
/// these polls end only if no task waits while a worker is parked.
fn two_meet(tasks: usize) -> Vec<impl Future<Output = ()> + Send + 'static> {
    let (begun, gate) = (Arc::new(AtomicUsize::new(0)), Gate::default());
    let task = |_| {
        let (begun, gate) = (begun.clone(), gate.clone());
        async move {
            if begun.fetch_add(1, SeqCst) == 1 {
                gate.open();
            }
            gate.wait();
        }
    };
    (0..tasks).map(task).collect()
}

/// Clause 3: a worker that didn't search parks as another's search ends.
#[test]
fn of_three_tasks_from_outside_two_run_at_a_time_in_whatever_order() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Of three tasks from outside two run on two workers at a time, no matter which \
                  worker takes how many of them from the global queue.",
        usual_cause: "A worker that wasn't allowed to search parks without a last look. The worker \
                      that kept it from searching has found a task since, when no worker was \
                      parked yet that it could notify. Or a worker carries several tasks to its \
                      own queue, and notifies no other.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let runtime = runtime(2);
            let handle = runtime.handle();
            let mut tasks = two_meet(3).into_iter();
            let first = runtime.spawn(tasks.next().expect("three"));
            let spawning = thread::spawn(move || {
                tasks.map(|task| handle.spawn(task)).collect::<Vec<_>>()
            });
            let others = spawning.join().expect("spawning doesn't panic");
            runtime.block_on(all(others));
            runtime.block_on(all(vec![first]));
        });
    });
}

/// Makes two tasks that wait for each other in their polls, and others that don't.
fn two_meet_before(others: usize) -> Vec<BoxFuture> {
    let pair = two_meet(2)
        .into_iter()
        .map(|task| Box::pin(task) as BoxFuture);
    let others = (0..others).map(|_| Box::pin(async {}) as BoxFuture);
    pair.chain(others).collect()
}

type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Clause 3: for a moment a batch is in no queue.
#[test]
fn what_a_worker_carries_is_shared_in_whatever_order() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Of some tasks from outside the first two run on two workers at a time, even if \
                  a worker takes both of them from the global queue.",
        usual_cause: "A worker carries several tasks to its own queue: another worker that looks \
                      meanwhile finds them in neither queue, parks, and isn't notified.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check_model(lesson, || {
        // The moment is short. Each number of tasks has schedules of its own.
        for others in 1..=5 {
            primitives::model(move || {
                let runtime = runtime(2);
                let tasks = two_meet_before(others).into_iter();
                let tasks = tasks.map(|task| runtime.spawn(task)).collect();
                runtime.block_on(all(tasks));
            });
        }
    });
}

/// Clause 3: a busy worker takes from the global queue, too.
#[test]
fn what_a_busy_worker_takes_is_shared_in_whatever_order() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Of some tasks from outside the first two run on two workers at a time, even if \
                  one of the workers is busy and takes both of them.",
        usual_cause: "A worker that wasn't allowed to search parks without a last look. Or a busy \
                      worker carries several tasks to its own queue: a worker that looks meanwhile \
                      finds them in neither queue, parks, and isn't notified.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check_model(lesson, || {
        for others in 3..=7 {
            primitives::model(move || {
                let runtime = Runtime::builder()
                    .worker_threads(2)
                    .global_queue_interval(4)
                    .build()
                    .expect("there are threads left");
                // The tasks come while a worker is busy.
                let [is_busy, gate]: [Gate; 2] = Default::default();
                let yields = {
                    let (is_busy, gate) = (is_busy.clone(), gate.clone());
                    runtime.spawn(async move {
                        is_busy.open();
                        gate.wait();
                        for _ in 0..3 {
                            yield_now().await;
                        }
                    })
                };
                is_busy.wait();
                let tasks = two_meet_before(others).into_iter();
                let tasks = tasks.map(|task| runtime.spawn(task)).collect();
                gate.open();
                runtime.block_on(all(tasks));
                runtime.block_on(all(vec![yields]));
            });
        }
    });
}

/// Clause 3: a worker that was woken to search may find a task before it searches.
#[test]
fn two_tasks_from_outside_run_in_whatever_order() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Of two tasks from outside, the second runs while the first is in a long poll, \
                  no matter when it comes.",
        usual_cause: "A worker is woken to search, finds a task in the global queue before it \
                      searches, and polls it while it's still counted as a searcher: as long as \
                      that poll takes, `notify` unparks no worker. Or the global queue seems \
                      empty while a thread moves tasks within it, after that thread has notified.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let runtime = runtime(2);
            // After one of these the workers park, and are woken for the next.
            let short = [(); 2].map(|()| runtime.spawn(async {}));
            runtime.block_on(all(short.into()));
            let handle = runtime.handle();
            let tasks = two_meet(2).into_iter();
            let spawning = thread::spawn(move || {
                tasks.map(|task| handle.spawn(task)).collect::<Vec<_>>()
            });
            let tasks = spawning.join().expect("spawning doesn't panic");
            runtime.block_on(all(tasks));
        });
    });
}

/// Clause 3: a worker finds a task as it parks, and the next one comes while it
/// polls the first.
#[test]
fn a_worker_that_falls_asleep_in_vain_is_not_taken_for_a_sleeper_in_whatever_order()
 {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "While one worker is in a long poll, the other runs what comes from outside.",
        usual_cause: "A worker looks again before it parks, finds a task, and is still listed \
                      as parked while it polls it. The next `notify` names this worker, and the \
                      other stays parked. Leave the list before you take the task.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let runtime = runtime(2);
            // After this task, a worker looks for more and parks.
            let short = runtime.spawn(async {});
            let [begun, gate]: [Gate; 2] = Default::default();
            let long = {
                let (begun, gate) = (begun.clone(), gate.clone());
                runtime.spawn(async move {
                    begun.open();
                    gate.wait();
                })
            };
            begun.wait();
            let other = runtime.spawn(async move { gate.open() });
            runtime.block_on(all(vec![short, long, other]));
        });
    });
}

/// Clause 8: a task is woken, polled and aborted at once, and may be in a queue.
#[test]
fn an_abort_ends_a_task_once_in_whatever_order() {
    let lesson = Lesson {
        clause: "8. Abort",
        promise: "A task that is aborted is dropped once, and its handle is ready, no matter what \
                  else happens to it.",
        usual_cause: "An abort finds a task that is being polled, and takes its future away; or it \
                      finds one in a queue, and no worker takes it out.",
        read: "scheduler/runtime.html#shutdown",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (runtime, fates) = (runtime(2), Fates::default());
            let event = Event::default();
            let task = {
                let event = event.clone();
                runtime.spawn(fates.follow(async move {
                    yield_now().await;
                    event.wait().await;
                }))
            };
            let waking = {
                let event = event.clone();
                thread::spawn(move || event.happen())
            };
            let aborted = runtime.block_on(async {
                yield_now().await;
                task.abort();
                task.await
            });
            if let Err(error) = aborted {
                assert!(
                    error.is_cancelled(),
                    "the error says that the task was cancelled"
                );
            }
            waking.join().expect("waking doesn't panic");
            fates.assert_all_dropped();
        });
    });
}

/// Clause 14: each runtime wakes a task of the other's, and both end.
#[test]
fn two_runtimes_wake_one_another_in_whatever_order() {
    let lesson = Lesson {
        clause: "14. Two runtimes",
        promise: "A task that a worker of another runtime wakes runs, even while either runtime \
                  ends.",
        usual_cause: "A worker pushes each task that it has woken to its own queue, even if the \
                      task belongs to another runtime.",
        read: "scheduler/work-stealing.html#where-a-task-goes",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (one, other, fates) =
                (runtime(1), runtime(1), Fates::default());
            let [first, second]: [Event; 2] = Default::default();
            let waits = {
                let (first, second) = (first.clone(), second.clone());
                async move {
                    first.wait().await;
                    second.happen();
                }
            };
            let waits = one.spawn(fates.follow(waits));
            let wakes = other.spawn(fates.follow(async move {
                first.happen();
                second.wait().await;
            }));
            one.block_on(all(vec![waits]));
            drop(one);
            other.block_on(all(vec![wakes]));
            drop(other);
            fates.assert_all_finished();
            fates.assert_all_dropped();
        });
    });
}

/// A destructor that uses the runtime while it ends.
struct SpawnsOnDrop {
    handle: Handle,
    event: Event,
    fates: Fates,
}

impl Drop for SpawnsOnDrop {
    fn drop(&mut self) {
        self.event.happen();
        drop(self.handle.spawn(self.fates.follow(async {})));
    }
}

/// Clause 15: during the drop, tasks wait, run, yield, spawn and are woken.
#[test]
fn the_runtime_ends_in_whatever_order() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "Dropping the runtime ends its workers and drops each future once, no matter what \
                  happens meanwhile, and then all handles are ready.",
        usual_cause: "Only the workers that seem parked are unparked, or all are before the flag is \
                      set; or a task is pushed when no worker looks at the queues anymore.",
        read: "scheduler/runtime.html#shutdown",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (runtime, fates) = (runtime(2), Fates::default());
            let event = Event::default();
            let spawns_on_drop = SpawnsOnDrop {
                handle: runtime.handle(),
                event: event.clone(),
                fates: fates.clone(),
            };
            let waits = runtime.spawn(fates.follow(async {
                let _spawns_on_drop = spawns_on_drop;
                pending::<()>().await;
            }));
            let (for_event, inner) = (event.clone(), fates.clone());
            let spawns = runtime.spawn(fates.follow(async move {
                let tasks = [(); 2]
                    .map(|()| spawn(inner.follow(for_event.clone().wait())));
                yield_now().await;
                for task in tasks {
                    let _done_or_cancelled = task.await;
                }
            }));
            let foreign = {
                let (handle, fates) = (runtime.handle(), fates.clone());
                thread::spawn(move || {
                    let late = handle.spawn(fates.follow(async {}));
                    event.happen();
                    late
                })
            };
            let aborting = thread::spawn(move || {
                waits.abort();
                waits
            });
            // While the handle exists, what's left in a queue stays there.
            let _handle = runtime.handle();
            drop(runtime);
            let waits = aborting.join().expect("aborting doesn't panic");
            let late = foreign.join().expect("spawning doesn't panic");
            assert_eq!(
                result(waits),
                None,
                "a task that waited forever has returned"
            );
            let _ran_or_not = (result(spawns), result(late));
            fates.assert_all_dropped();
        });
    });
}

/// Clause 15: a thread that has only a waker owns the task, and is about to queue
/// it.
#[test]
fn a_task_that_is_being_woken_is_dropped_in_whatever_order() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "When the runtime has been dropped, so has the future of a task that another \
                  thread was waking.",
        usual_cause: "The shutdown cancels the tasks that wait, and drops those in queues. This \
                      task is in neither state: the waking thread owns it, and queues or drops it \
                      a moment later. Repeat until no task is listed.",
        read: "scheduler/runtime.html#shutdown",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (runtime, fates) = (runtime(1), Fates::default());
            let (event, gate) = (Event::default(), Gate::default());
            let (waits, begun) = (event.clone().wait(), gate.clone());
            drop(runtime.spawn(fates.follow(async move {
                begun.open();
                waits.await;
            })));
            gate.wait();
            let waking = thread::spawn(move || event.happen());
            // While the handle exists, a late wake-up still finds the runtime's parts.
            let _handle = runtime.handle();
            drop(runtime);
            fates.assert_all_dropped();
            waking.join().expect("waking doesn't panic");
        });
    });
}

/// Clause 16: the runtime ends while a thread that has only a waker uses it.
#[test]
fn nobody_is_left_behind_in_whatever_order() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "A runtime that is dropped in one of its tasks ends, and a thread that wakes, \
                  aborts or drops what is left of its tasks does no harm.",
        usual_cause: "A thread wakes a task, and the end of that task is the end of the runtime, \
                      which the thread still uses.",
        read: "scheduler/runtime.html#shutdown",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (runtime, fates) = (runtime(2), Fates::default());
            let [last, other]: [Event; 2] = Default::default();
            let waits = runtime.spawn(fates.follow(other.clone().wait()));
            let dropping = {
                let (handle, last) = (runtime.handle(), last.clone());
                handle.spawn(fates.follow(async move {
                    last.wait().await;
                    drop(runtime);
                }))
            };
            let waking = thread::spawn(move || last.happen());
            other.wake_spuriously();
            drop(dropping);
            waking.join().expect("waking doesn't panic");
            other.happen();
            // The drop doesn't wait for the end of this runtime, so we do.
            while fates.0.dropped.load(SeqCst) < 2 || !waits.is_finished() {
                thread::yield_now();
            }
            fates.assert_all_dropped();
        });
    });
}
