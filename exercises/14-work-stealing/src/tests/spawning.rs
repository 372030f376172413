//! Which worker polls a task, and how often.

use super::*;

/// Clause 1: a spawn takes another path on each kind of thread.
#[test]
fn a_task_runs_wherever_it_was_spawned() {
    let lesson = Lesson {
        clause: "1. Every task runs",
        promise: "A task runs, whether a task, a blocking job, `block_on`'s future or a foreign \
                  thread has spawned it.",
        usual_cause: "A remote spawn pushes to the queue of a worker, which only its owner may do; \
                      or it wakes no worker.",
        read: "scheduler/work-stealing.html#where-a-task-goes",
    };
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            let handle = runtime.handle();
            let outside = runtime.spawn(async { 1 });
            let elsewhere = thread::spawn(move || handle.spawn(async { 10 }));
            let job = runtime.spawn_blocking(|| spawn(async { 100 }));
            let sum = runtime.block_on(async {
                let inside = spawn(async {
                    let inner = spawn(async { spawn(async { 1_000 }).await });
                    inner.await.unwrap().unwrap()
                });
                let elsewhere = elsewhere.join().expect("it spawns");
                let job = job.await.expect("the job returns").await.unwrap();
                let foreign = elsewhere.await.unwrap();
                outside.await.unwrap() + foreign + job + inside.await.unwrap()
            });
            assert!(sum == 1_111, "the outputs of the tasks add up to {sum}");
        }
    });
}

/// Clause 1: a full queue moves some of its tasks elsewhere.
#[test]
fn each_of_many_tasks_runs_once() {
    let lesson = Lesson {
        clause: "1. Every task runs",
        promise: "Of many tasks that spawn tasks, each runs exactly once.",
        usual_cause: "A full queue loses the task that doesn't fit, or a part of what it moves to \
                      the global queue; or a worker drops tasks that it drained from the global \
                      queue and didn't take; or a task is taken twice while it is stolen.",
        read: "scheduler/work-stealing.html#where-a-task-goes",
    };
    check(lesson, || {
        for workers in WORKERS {
            let runs: Arc<Vec<_>> =
                Arc::new((0..MANY).map(|_| AtomicUsize::new(0)).collect());
            let runtime = runtime(workers);
            let (half, begun) = (MANY / 2, runs.clone());
            // One task spawns the first half, a foreign thread the other.
            let inside = runtime.spawn(async move {
                let tasks = (0..half).map(|at| {
                    let begun = begun.clone();
                    spawn(async move { begun[at].fetch_add(1, SeqCst) })
                });
                for task in tasks.collect::<Vec<_>>() {
                    task.await.expect("the task returns");
                }
            });
            let outside = (half..MANY).map(|at| {
                let begun = runs.clone();
                runtime.spawn(async move { begun[at].fetch_add(1, SeqCst) })
            });
            let outside: Vec<_> = outside.collect();
            runtime.block_on(async {
                inside.await.expect("the task returns");
                for task in outside {
                    task.await.expect("the task returns");
                }
            });
            drop(runtime);
            let wrong = runs.iter().find(|runs| runs.load(SeqCst) != 1);
            assert!(wrong.is_none(), "a task ran {wrong:?} times");
        }
    });
}

/// Clause 1: wake-ups get lost at the moment at which the last worker parks.
#[test]
fn a_task_runs_though_all_workers_fall_asleep() {
    let lesson = Lesson {
        clause: "1. Every task runs",
        promise: "Tasks that come or are woken one at a time, each just when the workers run out \
                  of work, all run.",
        usual_cause: "A worker looks into the queues, then announces that it parks, and doesn't \
                      look again, or not into all of them: the global one and those of all \
                      workers. No worker sees what came in between. Or a thread that spawns looks \
                      for parked workers before the task is in the queue. Or a length that is read \
                      without a queue's lock is stored after the lock is released, and an older \
                      length overwrites it: the queue seems empty. Or a worker that `notify` has \
                      chosen goes on as a busy one, and stays counted as a searcher, so no worker \
                      is ever unparked again.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    const TIME: Duration = Duration::from_millis(40);
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            for _ in 0..500 {
                let task = runtime.spawn(async {});
                runtime.block_on(task).expect("the task returns");
            }
            let run = |answer| {
                let task = runtime.spawn(answer);
                runtime.block_on(task).expect("the task returns");
            };
            race_with_wakes(TIME, run);
            with_chaos(SEED, || race_with_wakes(TIME, run));
        }
    });
}

/// Clause 1: the workers may not have started yet.
#[test]
fn a_new_runtime_runs_a_task_at_once() {
    let lesson = Lesson {
        clause: "1. Every task runs",
        promise: "A task that is spawned as soon as the runtime is built runs, and so does a task \
                  whose handle was dropped.",
        usual_cause: "A worker counts as parked, or as busy, before it has started. Or dropping \
                      the handle ends the task.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check(lesson, || {
        for round in 0..40 {
            let runtime = runtime(WORKERS[round % WORKERS.len()]);
            let done = Arc::new(Gate::new());
            let signal = done.clone();
            drop(runtime.spawn(async move { signal.open() }));
            done.wait();
        }
    });
}

/// Clause 2: two polls at a time would be two `&mut` to one future.
#[test]
fn a_task_is_polled_by_one_worker_at_a_time() {
    let lesson = Lesson {
        clause: "2. One poll",
        promise: "However fast a task is woken, by itself and by other threads, no two workers \
                  poll it at once.",
        usual_cause: "A wake-up during the poll queues the task at once, and another worker takes \
                      it from the queue. At a hang: a task that another thread wakes or spawns \
                      isn't noticed, because that thread notifies a worker before the task is in \
                      the queue, or no worker at all.",
        read: "scheduler/task.html#woken-while-running",
    };
    check(lesson, || {
        let runtime = runtime(4);
        let (inside, twice) = (AtomicBool::new(false), AtomicBool::new(false));
        let state = Arc::new((inside, twice, Mutex::new(None::<Waker>)));
        let polled = state.clone();
        let mut polls = 0;
        let task = runtime.spawn(poll_fn(move |cx| {
            let (inside, twice, waker) = &*polled;
            twice.fetch_or(inside.swap(true, SeqCst), SeqCst);
            *waker.lock().unwrap() = Some(cx.waker().clone());
            polls += 1;
            cx.waker().wake_by_ref();
            thread::yield_now();
            inside.store(false, SeqCst);
            if polls < 200 {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        }));
        while !task.is_finished() {
            if let Some(waker) = &*state.2.lock().unwrap() {
                waker.wake_by_ref();
            }
            thread::yield_now();
        }
        let twice = state.1.load(SeqCst);
        assert!(!twice, "two workers were inside one future's `poll`");
    });
}

/// Clause 2: a queued task needn't be queued again.
#[test]
fn many_wake_ups_are_one_poll() {
    let lesson = Lesson {
        clause: "2. One poll",
        promise: "A task that is woken a hundred times before it is polled is polled once.",
        usual_cause: "Each wake-up puts the task into a queue, even if it's in one already.",
        read: "scheduler/task.html#woken-while-running",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let (polls, (future, manual)) =
            (Arc::new(AtomicUsize::new(0)), ManualFuture::new());
        let task = runtime.spawn(counted(future, polls.clone()));
        let (waker, _) = manual.wait_until_polled();
        let opener = Opener::new();
        occupy_worker(&runtime.handle(), &opener);
        (0..100).for_each(|_| waker.wake_by_ref());
        drop(opener);
        // The only worker polls in order: these tasks come after those before them.
        runtime.block_on(runtime.spawn(async {})).unwrap();
        runtime.block_on(runtime.spawn(yield_now())).unwrap();
        let polls = polls.load(SeqCst);
        assert!(polls == 2, "100 wake-ups led to {} polls", polls - 1);
        manual.complete();
        runtime.block_on(task).expect("the task returns");
    });
}

/// Clause 2: the worker must look for a wake-up when the poll ends.
#[test]
fn a_wake_up_during_a_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "2. One poll",
        promise: "A task that another thread wakes while it is polled is polled again.",
        usual_cause: "A wake-up during a poll is lost. At a hang: a wake-up of a running task is \
                      ignored, or forgotten when the poll ends. Or, if it's the runtime's `drop` \
                      that hangs, it unparks the workers before it sets the shutdown flag, and a \
                      worker that looks in between parks again.",
        read: "scheduler/task.html#woken-while-running",
    };
    check(lesson, || {
        let runtime = runtime(2);
        let mut polls = 0;
        let task = runtime.spawn(poll_fn(move |cx| {
            polls += 1;
            let waker = cx.waker().clone();
            thread::spawn(move || waker.wake())
                .join()
                .expect("it wakes");
            if polls < 20 {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        }));
        runtime.block_on(task).expect("the task returns");
    });
}

/// Clause 3: this is what workers are for.
#[test]
fn as_many_tasks_run_as_there_are_workers() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "As many tasks as there are workers can wait for one another within their polls, \
                  whether they come from outside or from one task.",
        usual_cause: "A worker that takes several tasks, or finds one while it searches, wakes no \
                      other worker for the next; or a queue is not open to thieves.",
        read: "scheduler/sleepers.html#one-leads-to-the-next",
    };
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            for round in 0..20 {
                let tasks = match round % 2 {
                    0 => meet(&runtime.handle(), workers),
                    _ => {
                        let handle = runtime.handle();
                        let parent = runtime.spawn(async move {
                            let tasks = meet(&handle, workers);
                            fill_slot();
                            tasks
                        });
                        runtime.block_on(parent).expect("the task returns")
                    }
                };
                runtime.block_on(all(tasks));
            }
        }
    });
}

/// Clause 3: waking makes a task ready, just as spawning does.
#[test]
fn as_many_woken_tasks_run_as_there_are_workers() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "If one thread or one task wakes as many tasks as there are workers, they run at \
                  the same time.",
        usual_cause: "A wake-up queues the task without notifying a parked worker, or always \
                      notifies the same one.",
        read: "scheduler/sleepers.html#one-leads-to-the-next",
    };
    check(lesson, || {
        for workers in WORKERS {
            let runtime = runtime(workers);
            for from_a_task in [false, true] {
                let meeting = Arc::new(Barrier::new(workers));
                let (mut tasks, mut wakers) = (Vec::new(), Vec::new());
                for _ in 0..workers {
                    let (future, manual) = ManualFuture::new();
                    let meeting = meeting.clone();
                    tasks.push(runtime.spawn(async move {
                        future.await;
                        meeting.wait();
                    }));
                    manual.wait_until_polled();
                    wakers.push(manual);
                }
                let wake =
                    move || wakers.iter().for_each(|waker| waker.complete());
                match from_a_task {
                    true => drop(runtime.spawn(async move {
                        wake();
                        fill_slot();
                    })),
                    false => wake(),
                }
                runtime.block_on(async {
                    for task in tasks {
                        task.await.expect("the task returns");
                    }
                });
            }
        }
    });
}

/// Clause 3: tasks queued behind a long poll shouldn't wait for its end.
#[test]
fn the_queue_behind_a_long_poll_is_stolen() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "While a worker is in a poll, others run the tasks in its queue.",
        usual_cause: "Workers take only from their own queue and from the global one, or park \
                      although another worker's queue isn't empty.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check(lesson, || {
        for workers in [2, 4, 8] {
            let runtime = runtime(workers);
            let begun = Arc::new(AtomicUsize::new(0));
            let parent = runtime.spawn(async move {
                for _ in 0..50 {
                    let begun = begun.clone();
                    spawn(async move { begun.fetch_add(1, SeqCst) });
                }
                // The last task may be in this worker's LIFO slot.
                while begun.load(SeqCst) < 49 {
                    thread::sleep(Duration::from_micros(100));
                }
            });
            runtime.block_on(parent).expect("the task returns");
        }
    });
}

/// Clause 3: a next task is no longer next when the queue goes first.
#[test]
fn a_next_task_that_gives_way_to_the_queue_is_stolen() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Each task spawns its successor, so that one of them is always the worker's next \
                  task. When the worker polls a task from its queue instead, and that poll is \
                  long, another worker polls the next task.",
        usual_cause: "The next task waits for two polls. At a hang: the LIFO slot has given out \
                      as many tasks in a row as it may, so the queue goes first, and meanwhile the \
                      task in the slot stays where no other worker can take it. Move it to the \
                      queue, and notify.",
        read: "scheduler/work-stealing.html#the-lifo-slot",
    };
    check(lesson, || {
        for workers in [2, 4] {
            let runtime = runtime(workers);
            for _ in 0..10 {
                let (others, turn) = (Opener::new(), Arc::new(Turn::default()));
                for _ in 1..workers {
                    occupy_worker(&runtime.handle(), &others);
                }
                let parent = runtime.spawn(async move {
                    let after = turn.clone();
                    let queued = spawn(async move {
                        after.is_awaited.store(true, SeqCst);
                        drop(others);
                        after.has_come.wait();
                    });
                    drop(spawn(turn.pass_on()));
                    queued
                });
                let queued = runtime.block_on(parent);
                let queued = queued.expect("the task returns");
                runtime.block_on(queued).expect("the task returns");
            }
        }
    });
}

/// Passes from task to task until a task waits for it.
#[derive(Default)]
struct Turn {
    is_awaited: AtomicBool,
    has_come: Gate,
}

impl Turn {
    fn pass_on(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if self.is_awaited.load(SeqCst) {
                self.has_come.open();
            } else {
                drop(spawn(self.pass_on()));
            }
        })
    }
}

/// Clause 3: a task that yields is ready, so another worker may run it.
#[test]
fn a_task_that_yields_to_a_long_poll_is_stolen() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "A task spawns another, which becomes the next task and waits in its poll for the \
                  first. When the first task yields, a second worker polls it, so both go on.",
        usual_cause: "Other workers can't take a task that yields. At a hang: a task that yields \
                      goes into the queue without a notification, since the worker that pushed it \
                      would poll it anyway. But the LIFO slot comes first, and that poll may be \
                      long.",
        read: "scheduler/work-stealing.html#the-lifo-slot",
    };
    check(lesson, || {
        for workers in [2, 4, 8] {
            let runtime = runtime(workers);
            let probes = Arc::new(probes_of_workers(&runtime, workers));
            for _ in 0..20 {
                let (went_on, probes) = (Arc::new(Gate::new()), probes.clone());
                let parent = runtime.spawn(async move {
                    // A worker that isn't parked yet might find the task anyway.
                    let here = thread::current().id();
                    for (_, probe) in
                        probes.iter().filter(|(id, _)| *id != here)
                    {
                        probe.wait_until_asleep();
                    }
                    let gate = went_on.clone();
                    let next = spawn(async move { gate.wait() });
                    yield_now().await;
                    went_on.open();
                    next.await.expect("the task returns");
                });
                runtime.block_on(parent).expect("the task returns");
            }
        }
    });
}

/// Returns the threads of all workers.
fn probes_of_workers(
    runtime: &Runtime,
    workers: usize,
) -> Vec<(ThreadId, ThreadProbe)> {
    let meeting = Arc::new(Barrier::new(workers));
    let tasks = (0..workers).map(|_| {
        let meeting = meeting.clone();
        runtime.spawn(async move {
            meeting.wait();
            (thread::current().id(), ThreadProbe::here())
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let probes = tasks.into_iter().map(|task| runtime.block_on(task));
    probes
        .map(|probe| probe.expect("the task returns"))
        .collect()
}

/// Clause 3: a user who asks for four workers should get four.
#[test]
fn there_are_as_many_workers_as_asked_for() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "All tasks run on as many threads as the builder's setting says, with the name \
                  that it says.",
        usual_cause: "`build` starts a thread too many or too few, or doesn't pass the name on; or \
                      the caller of `block_on` also runs tasks. Or `build` moves the name out of \
                      the builder, which may build a second runtime: clone it.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check(lesson, || {
        for workers in WORKERS {
            let runtime = endless(
                Runtime::builder()
                    .worker_threads(workers)
                    .thread_name("ant")
                    .build(),
            );
            let handle = runtime.handle();
            let tasks = (0..200).map(|_| {
                runtime.spawn(async {
                    yield_now().await;
                    let this = thread::current();
                    (this.id(), this.name().unwrap_or_default().to_owned())
                })
            });
            let tasks: Vec<_> = tasks.collect();
            let mut threads: HashSet<_> = runtime.block_on(async {
                let mut threads = HashSet::new();
                for task in tasks {
                    threads.insert(task.await.expect("the task returns"));
                }
                threads
            });
            let workers = runtime.block_on(all(meet(&handle, workers)));
            threads.retain(|(thread, name)| {
                assert!(name == "ant", "a worker's thread is named `{name}`");
                !workers.contains(thread)
            });
            let other = threads.len();
            assert!(
                other == 0,
                "tasks ran on {other} threads that aren't workers"
            );
        }
        let mut builder = Runtime::builder();
        builder.worker_threads(2).thread_name("bee");
        let built = [(); 2].map(|()| endless(builder.build()));
        for (number, runtime) in (1..).zip(&built) {
            let name = runtime
                .spawn(async { thread::current().name().map(str::to_owned) });
            let name = runtime.block_on(name).expect("the task returns");
            let name = name.unwrap_or_default();
            assert!(
                name == "bee",
                "in runtime {number} of one builder, a worker's thread is `{name}`, not `bee`"
            );
        }
        for runtime in &built {
            runtime.block_on(all(meet(&runtime.handle(), 2)));
        }
        let refused = panic_message(|| {
            Runtime::builder().worker_threads(0);
        });
        assert!(refused.is_some(), "a runtime without workers was accepted");
    });
}

/// Clause 3: the name comes from the user, and may be any string.
#[test]
fn a_name_that_no_thread_can_have_is_an_error() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "If a thread of this name can't be started, `build` returns an error.",
        usual_cause: "std's `thread::Builder::spawn` panics if the name contains a NUL, although \
                      it returns any other failure as an error. Check the name first.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let mut is_error = false;
        let panic = panic_message(|| {
            let built = Runtime::builder().thread_name("a\0b").build();
            is_error = built.is_err();
        });
        assert!(panic.is_none(), "`build` panicked: {}", panic.unwrap());
        assert!(is_error, "a thread was named with a NUL");
    });
}
