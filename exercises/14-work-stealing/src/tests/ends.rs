//! How the runtime ends, and what it does when it's idle.

use super::busy::{Busy, WAYS};
use super::*;

/// Long enough for a drop that doesn't wait.
const MOMENT: Duration = Duration::from_millis(30);
/// Long enough for a drop that doesn't wait for what ends a bit later.
const SHORT: Duration = Duration::from_millis(2);
/// By then the system no longer lists a thread that has ended.
const SETTLED: Duration = Duration::from_millis(500);

/// A runtime whose end is part of the check.
fn runtime(workers: usize) -> Runtime {
    super::runtime(workers).into_inner()
}

/// Clause 15: even a task that nothing will wake anymore must be dropped.
#[test]
fn shutdown_drops_every_task() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "When the runtime has been dropped, so have the futures of all tasks: those that \
                  wait, those in queues, and one that was being polled; and their handles say so.",
        usual_cause: "The shutdown only empties the queues, so tasks that wait stay; or tasks and \
                      runtime keep each other alive.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for workers in WORKERS {
            let threads = thread_count();
            let runtime = runtime(workers);
            let dropped = Arc::new(AtomicUsize::new(0));
            let probe = Dropped(dropped.clone());
            let mut tasks = Vec::new();
            for _ in 0..10 {
                let (probe, (future, manual)) =
                    (probe.clone(), ManualFuture::new());
                tasks.push(runtime.spawn(async move {
                    future.await;
                    drop(probe);
                }));
                manual.wait_until_polled();
            }
            let opener = Opener::new();
            for _ in 0..workers {
                occupy_worker(&runtime.handle(), &opener);
            }
            for _ in 0..MANY / 10 {
                let probe = probe.clone();
                tasks.push(runtime.spawn(async move {
                    yield_now().await;
                    drop(probe);
                    pending().await
                }));
            }
            drop(probe);
            let opening = opener.open_once_asleep();
            drop(runtime);
            opening.join().expect("it opens");
            let (dropped, all) = (dropped.load(SeqCst), tasks.len() + 1);
            assert!(
                dropped == all,
                "{} futures weren't dropped",
                all - dropped
            );
            // The system may list a thread for a moment after it was joined.
            let begun = Instant::now();
            while thread_count() > threads && begun.elapsed() < SETTLED {
                thread::sleep(Duration::from_millis(1));
            }
            let left = thread_count();
            assert!(
                left == threads,
                "threads: {threads:?} before, {left:?} after"
            );
            for task in tasks {
                let error =
                    parker::block_on(task).expect_err("it was cancelled");
                assert!(error.is_cancelled(), "the handle gives another error");
            }
        }
    });
}

/// Clause 15: destructors may run any code.
#[test]
fn destructors_may_spawn_and_wake_during_shutdown() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "The shutdown drops a future even if its destructor spawns, wakes and aborts \
                  tasks of the same runtime.",
        usual_cause: "The shutdown drops tasks while a queue or the list of tasks is locked.",
        read: "scheduler/runtime.html#shutdown",
    };
    struct Troublemaker(Handle, Waker, JoinHandle<()>);
    impl Drop for Troublemaker {
        fn drop(&mut self) {
            self.1.wake_by_ref();
            self.2.abort();
            drop(self.0.spawn(async {}));
        }
    }
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            for _ in 0..10 {
                let (future, manual) = ManualFuture::new();
                let other = runtime.spawn(future);
                let (waker, _) = manual.wait_until_polled();
                let trouble = Troublemaker(runtime.handle(), waker, other);
                let (future, manual) = ManualFuture::new();
                drop(runtime.spawn(async move {
                    let _trouble = trouble;
                    future.await;
                }));
                manual.wait_until_polled();
            }
        }
    });
}

/// Clause 15: the runtime can't stop a job that has begun, only wait for it.
#[test]
fn shutdown_waits_for_blocking_jobs() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "When the runtime has been dropped, each blocking job that had begun has ended.",
        usual_cause: "The threads of the pool are not joined.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let (begun, ended) =
            (Arc::new(Gate::new()), Arc::new(AtomicBool::new(false)));
        let (signal, set, opener) =
            (begun.clone(), ended.clone(), Opener::new());
        let gate = opener.gate();
        drop(runtime.spawn_blocking(move || {
            signal.open();
            gate.wait();
            set.store(true, SeqCst);
        }));
        begun.wait();
        let returned = Arc::new(AtomicBool::new(false));
        let signal = returned.clone();
        let dropper = thread::spawn(move || {
            drop(runtime);
            signal.store(true, SeqCst);
        });
        thread::sleep(MOMENT);
        let too_soon = returned.load(SeqCst);
        drop(opener);
        dropper.join().expect("the runtime is dropped");
        assert!(!too_soon, "the drop returned while the job was running");
        assert!(ended.load(SeqCst), "the job is still running");
    });
}

/// Clause 15: the runtime can't stop a job, so what the job waits for must happen.
#[test]
fn a_job_that_waits_for_a_task_does_not_hold_up_the_shutdown() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "A blocking job that waits for a task learns during the shutdown that the task \
                  was cancelled, and ends.",
        usual_cause: "The task has ended in another way. At a hang: the shutdown waits for the \
                      blocking jobs first and drops the tasks afterward. Reverse this order.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            let (future, manual) = ManualFuture::new();
            let task = runtime.spawn(future);
            manual.wait_until_polled();
            let begun = Arc::new(Gate::new());
            let signal = begun.clone();
            let (log, logged) = std::sync::mpsc::channel();
            drop(runtime.spawn_blocking(move || {
                signal.open();
                let _ = log.send(parker::block_on(task));
            }));
            begun.wait();
            drop(runtime);
            let seen = logged.recv().expect("the job ends");
            let is_cancelled = seen.is_err_and(|error| error.is_cancelled());
            assert!(is_cancelled, "the task wasn't cancelled");
        }
    });
}

/// Clause 15: some programs never run out of ready tasks.
#[test]
fn busy_tasks_do_not_hold_up_the_shutdown() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "Dropping the runtime ends even tasks that never stop yielding, waking or \
                  spawning.",
        usual_cause: "The drop doesn't wait for the workers. At a hang: a worker checks the \
                      shutdown flag only when it has nothing to do, and it always has something; \
                      or it runs what is queued before it exits; or it exits and leaves tasks in \
                      its queue, while the shutdown waits for them.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for workers in [1, 2, 4] {
            for (what, keep_busy) in WAYS {
                let runtime = runtime(workers);
                let busy = Busy::endless();
                for _ in 0..2 * workers {
                    let begin = busy.clone();
                    drop(runtime.spawn(async move { keep_busy(begin) }));
                }
                busy.let_one_pass();
                drop(runtime);
                let polls = busy.polls();
                thread::sleep(Duration::from_millis(1));
                let more = busy.polls() - polls;
                assert!(
                    more == 0,
                    "after the drop there were {more} polls of tasks that {what}"
                );
            }
        }
    });
}

/// Clause 15: a queue may be long, and so may the polls of its tasks.
#[test]
fn shutdown_does_not_run_what_is_queued() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "Once the shutdown has begun a worker polls at most 127 more tasks; those that are \
                  queued are dropped.",
        usual_cause: "A worker that has seen the shutdown flag empties its queue by running the \
                      tasks in it. Or it checks the flag only when it has nothing to do.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || drop_beside_a_queue(runtime(1)));
}

/// Clause 4: an interval says when to look at the global queue, and nothing else.
#[test]
fn a_long_interval_does_not_delay_the_end() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "However long the interval of the global queue is, a worker polls at most 127 \
                  tasks once the shutdown has begun.",
        usual_cause: "A worker checks the shutdown flag only where it looks at the global queue. \
                      Check it after each poll.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        let mut builder = Runtime::builder();
        let rarely = builder.worker_threads(1).global_queue_interval(5_000);
        drop_beside_a_queue(endless(rarely.build()).into_inner());
    });
}

fn drop_beside_a_queue(runtime: Runtime) {
    let (begun, opener) = (Arc::new(Gate::new()), Opener::new());
    let (signal, gate) = (begun.clone(), opener.gate());
    let polled = Arc::new(AtomicUsize::new(0));
    let count = polled.clone();
    drop(runtime.spawn(async move {
        // The first poll may be of a batch; the next one is of the worker's own queue.
        yield_now().await;
        // These fit into a queue of 256.
        for _ in 0..250 {
            let count = count.clone();
            drop(spawn(async move { count.fetch_add(1, SeqCst) }));
        }
        signal.open();
        gate.wait();
    }));
    begun.wait();
    let opening = opener.open_once_asleep();
    drop(runtime);
    opening.join().expect("it opens");
    let polled = polled.load(SeqCst);
    assert!(
        polled <= 127,
        "of 250 tasks that were queued when the shutdown began, {polled} were polled"
    );
}

/// Clause 15: a worker, or another thread that empties the queue, runs the
/// destructor of a queued task.
#[test]
fn destructors_of_queued_tasks_may_wake_others() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "A queued future whose destructor wakes tasks that wait is dropped by the \
                  shutdown, and so are those tasks.",
        usual_cause: "A destructor wakes a task into a place that was emptied before: the LIFO \
                      slot, or this worker's queue. At a hang: a destructor wakes a task into a \
                      place that was emptied before, and the shutdown waits for that task, since \
                      it's listed.",
        read: "scheduler/runtime.html#shutdown",
    };
    struct WakesOnDrop(Waker);
    impl Drop for WakesOnDrop {
        fn drop(&mut self) {
            self.0.wake_by_ref();
        }
    }
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            let dropped = Arc::new(AtomicUsize::new(0));
            let mut wakers = Vec::new();
            for _ in 0..20 {
                let (future, manual) = ManualFuture::new();
                let probe = Dropped(dropped.clone());
                drop(runtime.spawn(async move {
                    future.await;
                    pending::<()>().await;
                    drop(probe);
                }));
                wakers.push(WakesOnDrop(manual.wait_until_polled().0));
            }
            let opener = Opener::new();
            for _ in 1..workers {
                occupy_worker(&runtime.handle(), &opener);
            }
            let (begun, gate) = (Arc::new(Gate::new()), opener.gate());
            let signal = begun.clone();
            drop(runtime.spawn(async move {
                for wakes in wakers {
                    drop(spawn(async move {
                        pending::<()>().await;
                        drop(wakes);
                    }));
                }
                signal.open();
                gate.wait();
            }));
            begun.wait();
            let opening = opener.open_once_asleep();
            drop(runtime);
            opening.join().expect("it opens");
            let left = 20 - dropped.load(SeqCst);
            assert!(
                left == 0,
                "{left} of 20 futures that were woken weren't dropped"
            );
        }
    });
}

/// Clause 16: a spawn that comes too late must not be lost silently.
#[test]
fn a_task_spawned_too_late_is_cancelled() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "Each task that is spawned while the runtime is being dropped, and after, either \
                  runs to its end or is dropped and cancelled.",
        usual_cause: "A task is put into a queue after the last look into it, so no worker will \
                      ever take it out. At a hang: a handle waits for a task that came after \
                      the last look into the queue; or a worker exits while there are tasks in \
                      its own queue, which are neither run nor dropped.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for round in 0..40 {
            let runtime = runtime(WORKERS[round % WORKERS.len()]);
            let (handle, begun) = (runtime.handle(), Arc::new(Gate::new()));
            let signal = begun.clone();
            let dropped = Arc::new(AtomicUsize::new(0));
            let probe = Dropped(dropped.clone());
            let spawner = thread::spawn(move || {
                let tasks = (0..300).map(|number| {
                    if number == 50 {
                        signal.open();
                    }
                    let probe = probe.clone();
                    handle.spawn(async move {
                        yield_now().await;
                        drop(probe);
                    })
                });
                tasks.collect::<Vec<_>>()
            });
            begun.wait();
            drop(runtime);
            let tasks = spawner.join().expect("it spawns");
            for task in tasks {
                let error = parker::block_on(task).err();
                let is_right = error.is_none_or(|error| error.is_cancelled());
                assert!(is_right, "a handle gives another error");
            }
            let dropped = dropped.load(SeqCst);
            assert!(dropped == 301, "{dropped} of 301 futures were dropped");
        }
    });
}

/// Clause 16: a worker drops the queued tasks last, and that runs user code.
#[test]
fn what_a_queued_task_spawns_as_it_is_dropped_ends_too() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "If a task that was never polled spawns another one in its destructor, the \
                  shutdown drops both, and the handle of the other one is ready.",
        usual_cause: "A worker that exits empties the queues, and what the destructors spawn \
                      meanwhile is neither run nor dropped. At a hang: what a destructor spawns \
                      goes into the queue of the worker that runs it, which has been emptied \
                      already.",
        read: "scheduler/runtime.html#shutdown",
    };
    struct SpawnsInTheEnd(Handle, Dropped, mpsc::Sender<JoinHandle<()>>);
    impl Drop for SpawnsInTheEnd {
        fn drop(&mut self) {
            let dropped = self.1.clone();
            let task = self.0.spawn(async move { drop(dropped) });
            let _ = self.2.send(task);
        }
    }
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            let handle = runtime.handle();
            let dropped = Arc::new(AtomicUsize::new(0));
            let (signal, received) = mpsc::channel();
            let opener = Opener::new();
            (0..workers).for_each(|_| occupy_worker(&handle, &opener));
            let ends = SpawnsInTheEnd(
                handle.clone(),
                Dropped(dropped.clone()),
                signal,
            );
            drop(handle.spawn(async move {
                let _ends = ends;
                pending::<()>().await;
            }));
            // The workers return from their polls once the drop waits for them.
            let opening = opener.open_once_asleep();
            drop(runtime);
            opening.join().expect("opening doesn't panic");
            let task = received.recv().expect("the queued task is dropped");
            let error = parker::block_on(task).err();
            let is_right = error.is_none_or(|error| error.is_cancelled());
            assert!(is_right, "the handle gives another error");
            let dropped = dropped.load(SeqCst);
            assert!(
                dropped == 2,
                "of two futures, a queued one and one that its destructor spawned, {dropped} were \
                 dropped"
            );
        }
    });
}

/// What a task or a job owns that comes after the end: spawns a task and a job when
/// it's dropped, and sends a future that says whether both were cancelled.
struct UsesTheRuntime {
    handle: Handle,
    waker: Waker,
    sender: mpsc::Sender<JobIsRight>,
}

impl Drop for UsesTheRuntime {
    fn drop(&mut self) {
        self.waker.wake_by_ref();
        let task = self.handle.spawn(async {});
        let job = self.handle.spawn_blocking(|| ());
        let _inside = self.handle.enter();
        let tasks = [task, spawn(async {})];
        let jobs = [job, spawn_blocking(|| ())];
        let _ = self.sender.send(Box::pin(async move {
            let mut is_right = true;
            for task in tasks {
                is_right &= task.await.is_err_and(|it| it.is_cancelled());
            }
            for job in jobs {
                is_right &= job.await.is_err_and(|it| it.is_cancelled());
            }
            is_right
        }));
    }
}

/// Clause 16: what is refused is dropped, which may run arbitrary code.
#[test]
fn what_comes_after_the_end_may_use_the_runtime_as_it_is_dropped() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "A task or a blocking job that is cancelled because it comes after the end may \
                  own what wakes a task, and spawns tasks and jobs, when it's dropped. These are \
                  cancelled, too.",
        usual_cause: "What comes late is kept, or runs. Or a cell or a lock is borrowed during the \
                      call, and the destructor panics because it needs it, too. At a hang: what \
                      comes late is dropped under the lock under which it was refused, and its \
                      destructor needs that lock as it spawns. Unlock, and then drop it.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for (is_job, is_inside) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let runtime = runtime(1);
            let (handle, (future, manual)) =
                (runtime.handle(), ManualFuture::new());
            drop(runtime.spawn(future));
            let (waker, _) = manual.wait_until_polled();
            drop(runtime);
            let (sender, receiver) = mpsc::channel();
            let owned = UsesTheRuntime {
                handle: handle.clone(),
                waker,
                sender,
            };
            let _inside = is_inside.then(|| handle.enter());
            let is_cancelled = if is_job {
                let job = move || drop(owned);
                let job = match is_inside {
                    true => spawn_blocking(job),
                    false => handle.spawn_blocking(job),
                };
                parker::block_on(job).is_err_and(|it| it.is_cancelled())
            } else {
                let future = async move { drop(owned) };
                let task = match is_inside {
                    true => spawn(future),
                    false => handle.spawn(future),
                };
                parker::block_on(task).is_err_and(|it| it.is_cancelled())
            };
            let what = if is_job { "a job" } else { "a task" };
            assert!(
                is_cancelled,
                "the handle of {what} that came after the end doesn't say that it was cancelled"
            );
            let others = receiver.recv();
            assert!(
                others.is_ok(),
                "{what} that came after the end owned what spawns when it's dropped, and that \
                 panicked"
            );
            let is_right = others.is_ok_and(parker::block_on);
            assert!(
                is_right,
                "{what} that came after the end spawned others as it was dropped, and one of them \
                 wasn't cancelled"
            );
        }
    });
}

/// Clause 16: wakers may outlive the runtime.
#[test]
fn what_is_left_of_a_task_does_no_harm() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "A waker of a task may be called, cloned and dropped long after the runtime is \
                  gone, and so may a handle.",
        usual_cause: "A wake-up queues the task on a runtime that no longer exists.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            let handle = runtime.handle();
            let (future, manual) = ManualFuture::new();
            let task = runtime.spawn(future);
            let (waker, _) = manual.wait_until_polled();
            drop(runtime);
            thread::spawn(move || {
                waker.wake_by_ref();
                drop(waker.clone());
                waker.wake();
            })
            .join()
            .expect("it wakes");
            task.abort();
            drop(task);
            let late = parker::block_on(handle.spawn(async {}));
            let cancelled = late.is_err_and(|error| error.is_cancelled());
            assert!(cancelled, "a task ran on a runtime that is gone");
            drop(handle.enter());
        }
    });
}

/// Clause 16: the runtime's last owner may be a task.
#[test]
fn a_runtime_may_be_dropped_by_its_own_task() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "A task that drops its own runtime continues to the end of its poll, and then all \
                  other tasks are dropped, too.",
        usual_cause: "The worker waits for its own end.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            let (probe, log) = DropProbe::new();
            let (future, manual) = ManualFuture::new();
            let waiting = runtime.spawn(async move {
                future.await;
                drop(probe);
            });
            manual.wait_until_polled();
            let (give, take) = std::sync::mpsc::channel::<Runtime>();
            let done = Arc::new(Gate::new());
            let signal = done.clone();
            drop(runtime.spawn(async move {
                drop(take.recv());
                signal.open();
            }));
            give.send(runtime).expect("the task waits");
            done.wait();
            let error =
                parker::block_on(waiting).expect_err("it was cancelled");
            assert!(error.is_cancelled(), "the handle gives another error");
            assert!(
                log.count() == 1,
                "the waiting task was dropped {} times",
                log.count()
            );
        }
    });
}

/// Clause 16: another worker may be waiting for this very task.
#[test]
fn a_task_that_drops_its_own_runtime_waits_for_no_other_poll() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "A task that drops its own runtime goes on, even if another worker is in a poll \
                  that waits for it.",
        usual_cause: "The worker joins all workers but itself. At a hang: one of the workers that \
                      the drop joins is in a poll that waits for this task. Let the drop join no \
                      worker.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        let runtime = runtime(2);
        let opener = Opener::new();
        let dropping = BusyWorker::new(&runtime.handle());
        occupy_worker(&runtime.handle(), &opener);
        dropping.run(move || {
            drop(runtime);
            // Only now may the other poll end.
            drop(opener);
        });
    });
}

/// Clause 16: the runtime's last owner may be a job.
#[test]
fn a_runtime_may_be_dropped_by_its_own_job() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "A blocking job that drops its own runtime continues to its end. When the drop \
                  returns, all tasks are dropped, and a job that is submitted then is cancelled.",
        usual_cause: "The drop treats a thread of the pool like a worker: it doesn't wait for the \
                      workers, although they don't need this thread, or it doesn't shut the pool \
                      down. At a hang: the drop waits for all threads of the pool although it is \
                      called on one of them: this thread can't end before the drop returns. Leave \
                      it out.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            let (probe, log) = DropProbe::new();
            let (future, manual) = ManualFuture::new();
            let waiting = runtime.spawn(async move {
                future.await;
                drop(probe);
            });
            manual.wait_until_polled();
            let opener = Opener::new();
            occupy_worker(&runtime.handle(), &opener);
            let (give, take) = mpsc::channel::<Runtime>();
            let (tell, seen) = mpsc::channel();
            let (handle, at_return) = (runtime.handle(), log.clone());
            drop(runtime.handle().spawn_blocking(move || {
                // A worker is in a poll as the drop begins.
                let opening = opener.open_once_asleep();
                drop(take.recv());
                let dropped = at_return.count();
                let late = handle.spawn_blocking(|| ());
                opening.join().expect("it opens");
                let _ = tell.send((dropped, late));
            }));
            give.send(runtime).expect("the job waits");
            let (dropped, late) = seen.recv().expect("the job ends");
            assert!(
                dropped == 1,
                "a job dropped its own runtime, and when the drop returned a task was still there"
            );
            let is_cancelled =
                parker::block_on(late).is_err_and(|it| it.is_cancelled());
            assert!(
                is_cancelled,
                "a job dropped its own runtime, and a job that came after that ran"
            );
            let error =
                parker::block_on(waiting).expect_err("it was cancelled");
            assert!(error.is_cancelled(), "the handle gives another error");
            assert!(
                log.count() == 1,
                "the waiting task was dropped {} times",
                log.count()
            );
        }
    });
}

/// Clause 16: the drop waits for nothing then, but the pool ends all the same.
#[test]
fn a_job_that_comes_after_a_drop_by_a_task_is_cancelled() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "When a task has dropped its own runtime and the shutdown is over, no blocking \
                  job begins: a job that is submitted then is cancelled.",
        usual_cause: "The pool is shut down by the thread that joins the workers. When a task \
                      drops the runtime, no thread joins them, so the last worker has to shut \
                      the pool down.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let handle = runtime.handle();
            let (give, take) = mpsc::channel::<Runtime>();
            drop(runtime.spawn(async move { drop(take.recv()) }));
            give.send(runtime).expect("the task waits");
            let begun = Instant::now();
            let is_cancelled = loop {
                let job = parker::block_on(handle.spawn_blocking(|| ()));
                let is_cancelled = job.is_err_and(|error| error.is_cancelled());
                if is_cancelled || begun.elapsed() > END_AT_LATEST {
                    break is_cancelled;
                }
                // The drop doesn't wait, so the end may take a while.
                thread::sleep(Duration::from_millis(1));
            };
            assert!(
                is_cancelled,
                "{END_AT_LATEST:?} after a task dropped its runtime, blocking jobs still ran"
            );
        }
    });
}

/// Spawns a task that waits, and one whose poll lasts until the gate opens. Also
/// returns how many of the two futures are dropped.
fn spawn_two(runtime: &Runtime) -> (Opener, Arc<AtomicUsize>) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let (future, manual) = ManualFuture::new();
    let probe = Dropped(dropped.clone());
    drop(runtime.spawn(async move {
        let _with_the_future = probe;
        future.await;
    }));
    manual.wait_until_polled();
    let opener = Opener::new();
    let (begun, gate) = (Arc::new(Gate::new()), opener.gate());
    let (probe, signal) = (Dropped(dropped.clone()), begun.clone());
    drop(runtime.spawn(async move {
        signal.open();
        gate.wait();
        drop(probe);
    }));
    begun.wait();
    (opener, dropped)
}

/// Clause 15: only the runtime's own workers can't wait for its end.
#[test]
fn a_runtime_dropped_by_a_task_of_another_is_waited_for() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "A runtime that is dropped in a task of another runtime has ended when the drop \
                  returns: the task that was being polled is over, and all its futures are \
                  dropped.",
        usual_cause: "The drop checks whether this thread is a worker, and waits for nothing then. \
                      Check whether it's a worker of this runtime.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for enters in [false, true] {
            let (outer, inner) = (super::runtime(1), runtime(1));
            let (opener, dropped) = spawn_two(&inner);
            let dropping = outer.spawn(async move {
                let handle = inner.handle();
                let _entered = enters.then(|| handle.enter());
                // The worker of the other runtime is in a poll as the drop begins.
                let opening = opener.open_once_asleep();
                drop(inner);
                let gone = dropped.load(SeqCst);
                opening.join().expect("it opens");
                gone
            });
            let gone = outer.block_on(dropping).expect("the task returns");
            let entered = if enters { "entered and " } else { "" };
            assert!(
                gone == 2,
                "a task {entered}dropped another runtime, and after that {} of its 2 futures were \
                 left",
                2 - gone
            );
        }
    });
}

/// Clause 15: a panic ends a program in order, too.
#[test]
fn a_drop_by_a_panic_waits_for_the_end() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "A runtime that a panic drops has ended when the drop returns, as at any other \
                  time.",
        usual_cause: "The drop doesn't wait if the thread panics, so that a worker's panic can't \
                      become a second one. The workers of this runtime never panic.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let (opener, dropped) = spawn_two(&runtime);
            let (begun, gate) = (Arc::new(Gate::new()), opener.gate());
            let (signal, has_ended) =
                (begun.clone(), Arc::new(AtomicBool::new(false)));
            let ended = has_ended.clone();
            drop(runtime.spawn_blocking(move || {
                signal.open();
                gate.wait();
                thread::sleep(SHORT);
                ended.store(true, SeqCst);
            }));
            begun.wait();
            let panic = panic_message(|| {
                let _runtime = runtime;
                let _opening = opener.open_once_asleep();
                panic!("mine");
            });
            let (gone, has_ended) =
                (dropped.load(SeqCst), has_ended.load(SeqCst));
            assert!(
                panic.as_deref() == Some("mine"),
                "the panic that dropped the runtime became {panic:?}"
            );
            assert!(
                gone == 2,
                "a panic dropped the runtime, and after that {} of its 2 futures were left",
                2 - gone
            );
            assert!(
                has_ended,
                "a panic dropped the runtime, and after that a blocking job was still running"
            );
        }
    });
}

/// How long a shutdown may take for which no thread waits.
const END_AT_LATEST: Duration = Duration::from_secs(3);

/// How long the idle check watches, and what a parked thread may cost in that
/// time.
const IDLE_WINDOW: Duration = Duration::from_millis(100);
const IDLE_CPU: Duration = Duration::from_millis(5);
const IDLE_SLEEPS: u64 = 5;

/// Clause 17: most runtimes are idle most of the time.
#[test]
fn idle_workers_sleep() {
    let lesson = Lesson {
        clause: "17. Idle",
        promise: "A worker without a task uses no CPU time.",
        usual_cause: "A worker that searches never gives up, or parks with a short timeout. At a \
                      hang: as many tasks as workers were to meet in a barrier. There are fewer \
                      workers than the builder says, or one of them sleeps while a task is ready: \
                      see clause 3.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check(lesson, || {
        for workers in [1, 2, 4] {
            let runtime = super::runtime(workers);
            let meeting = Arc::new(Barrier::new(workers));
            let probes = (0..workers).map(|_| {
                let meeting = meeting.clone();
                runtime.spawn(async move {
                    meeting.wait();
                    ThreadProbe::here()
                })
            });
            for probe in probes.collect::<Vec<_>>() {
                let probe = runtime.block_on(probe).expect("the task returns");
                probe.wait_until_asleep();
                let Some(cost) = idle_cost(&probe, IDLE_WINDOW / 2) else {
                    return;
                };
                assert!(
                    cost.cpu < IDLE_CPU && cost.sleeps < IDLE_SLEEPS,
                    "in {:?} without a task, a worker woke up {} times and used \
                     {:.0?} of CPU time",
                    IDLE_WINDOW / 2,
                    cost.sleeps,
                    cost.cpu
                );
            }
        }
    });
}

/// Clause 17: one long poll must not keep all other processors busy.
#[test]
fn workers_without_a_task_sleep_beside_a_busy_one() {
    let lesson = Lesson {
        clause: "17. Idle",
        promise: "While one worker is in a long poll, the others, which have no task, use no CPU \
                  time.",
        usual_cause: "The workers search as long as one of them is busy, because it may spawn \
                      something soon. They have to park, and `notify` unparks one. At a hang: as \
                      many tasks as there are other workers were to meet in a barrier beside the \
                      long poll. One of these workers sleeps while a task is ready: see clause 3.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check(lesson, || {
        for workers in [2, 4] {
            let runtime = super::runtime(workers);
            let opener = Opener::new();
            occupy_worker(&runtime.handle(), &opener);
            // Each of the others has just polled a task, and finds no more.
            let meeting = Arc::new(Barrier::new(workers - 1));
            let probes = (1..workers).map(|_| {
                let meeting = meeting.clone();
                runtime.spawn(async move {
                    meeting.wait();
                    ThreadProbe::here()
                })
            });
            for probe in runtime.block_on(all(probes.collect())) {
                probe.wait_until_asleep();
                let Some(cost) = idle_cost(&probe, IDLE_WINDOW / 2) else {
                    return;
                };
                assert!(
                    cost.cpu < IDLE_CPU && cost.sleeps < IDLE_SLEEPS,
                    "in {:?} beside a worker in a long poll, a worker without a task woke up {} \
                     times and used {:.0?} of CPU time",
                    IDLE_WINDOW / 2,
                    cost.sleeps,
                    cost.cpu
                );
            }
        }
    });
}

/// Clause 15: a program that can't have its threads may want to go on with fewer.
#[test]
fn a_thread_that_is_refused_is_an_error() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "If the system has no thread left, `build` returns its error, and the workers \
                  that have started end.",
        usual_cause: "`build` unwraps the result of `thread::Builder::spawn`. Or it waits for \
                      workers that were never started: take them off the count.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let mut is_error = None;
        let panic = panic_message(|| {
            is_error = without_new_threads(|| {
                let built = Runtime::builder().worker_threads(2).build();
                built.is_err()
            });
        });
        assert!(panic.is_none(), "`build` panicked: {}", panic.unwrap());
        let is_error = is_error.unwrap_or(true);
        assert!(is_error, "`build` returned a runtime without workers");
    });
}
