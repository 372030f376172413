//! The workers: when they poll and sleep, and what they survive.

use super::*;

async fn threads_of_four_polls() -> Vec<ThreadId> {
    let mut threads = vec![thread::current().id()];
    for _ in 0..3 {
        Yields(1).await;
        threads.push(thread::current().id());
    }
    threads
}

/// Clause 1: a thread-local that says "this thread is a worker" doesn't say of
/// which pool.
#[test]
fn tasks_are_polled_by_the_workers_of_their_own_pool() {
    let lesson = Lesson {
        clause: "1. Workers",
        promise: "A task is polled by the workers of its own pool, even if a task of another pool \
                  spawns or wakes it.",
        usual_cause: "A task that is spawned or woken on a worker goes where that worker looks, or \
                      is polled at once.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let (one, other) = (Pool::new(1), Pool::new(1));
        let worker = other.spawn(async { thread::current().id() });
        let worker = block_on(worker).expect("the task ends");
        let (future, manual) = ManualFuture::new();
        let woken = other.spawn(async move {
            future.await;
            thread::current().id()
        });
        manual.wait_until_polled();
        let handle = other.handle();
        let spawning = one.spawn(async move {
            manual.complete();
            let spawned = handle.spawn(threads_of_four_polls());
            spawned.await.expect("the task ends")
        });
        let from_here = other.spawn(threads_of_four_polls());
        let mut threads = await_all(vec![spawning, from_here]).concat();
        threads.push(block_on(woken).expect("the task ends"));
        let strange = threads.iter().filter(|it| **it != worker).count();
        assert!(strange == 0, "{strange} of 9 polls were on other threads");
    });
}

/// Clause 1: a pool that accepts tasks and polls none would be a trap.
#[test]
fn a_pool_of_no_workers_is_refused() {
    let lesson = Lesson {
        clause: "1. Workers",
        promise: "`Pool::new` panics if it's asked for zero workers.",
        usual_cause: "Nothing checks the number: a loop that starts zero threads is a loop like any \
                      other.",
        read: "scheduler/one-queue.html#the-guard-that-lives-too-long",
    };
    check(lesson, || {
        drop(Pool::new(1));
        let panic = panic_message(|| drop(Pool::new(0)));
        assert!(panic.is_some(), "a pool without workers was created");
    });
}

/// Clause 1: the thread that spawns or wakes has other things to do.
#[test]
fn spawning_and_waking_wait_for_no_poll() {
    let lesson = Lesson {
        clause: "1. Workers",
        promise: "While all workers are busy, `spawn` and a wake-up return at once.",
        usual_cause: "A lock is held while a task is polled: the queue's, or the task's own. Or \
                      the queue has a fixed length, and a thread that finds it full waits.",
        read: "scheduler/one-queue.html#the-guard-that-lives-too-long",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let (_pending, manual) = pending_tasks(&pool, 1).remove(0);
        let opener = Opener::new();
        let (held, waker) = hold(&pool, &opener);
        waker.wake();
        manual.complete();
        let tasks = (0..300).map(|n| pool.spawn(async move { n })).collect();
        drop(opener);
        block_on(held).expect("the task ends");
        assert!(
            await_all(tasks).into_iter().eq(0..300),
            "outputs got mixed up"
        );
    });
}

/// Clause 2: a future is polled by `&mut`. Two of those at once are undefined
/// behavior.
#[test]
fn a_task_is_polled_by_one_worker_at_a_time() {
    let lesson = Lesson {
        clause: "2. One at a time",
        promise: "A task that is woken during its poll is not polled again before that poll ends.",
        usual_cause: "A wake-up puts the task into the queue while a worker is polling it. Another \
                      worker takes it.",
        read: "scheduler/one-queue.html#two-workers-one-task",
    };
    check(lesson, || {
        let pool = Pool::new(3);
        let (inside, polls) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (future, manual) = ManualFuture::new();
        let mut future = Box::pin(future);
        let (sender, receiver) = mpsc::channel();
        drop(pool.spawn(poll_fn(move |cx| {
            if future.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if inside.swap(true, SeqCst) {
                let _ = sender.send("two workers were inside");
                return Poll::Pending;
            }
            if polls.fetch_add(1, SeqCst) == 3 {
                let _ = sender.send("one worker at a time was inside");
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            let waking = thread::spawn(|| waker.wake());
            waking.join().expect("waking does not panic");
            thread::sleep(MOMENT / 2);
            inside.store(false, SeqCst);
            Poll::Pending
        })));
        // Its first poll has ended before the others may overlap.
        let _ = manual.wait_until_asleep();
        manual.complete();
        let seen = receiver.recv().expect("it is polled to its end");
        assert!(
            seen == "one worker at a time was inside",
            "{seen} of the poll of one task"
        );
    });
}

/// Clause 3: otherwise four workers are no better than one.
#[test]
fn as_many_tasks_as_there_are_workers_run_together() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "With n workers, n tasks can wait for one another in their polls, at first and later.",
        usual_cause: "The lock of the queue is held during the poll; or a worker is woken only for \
                      the first of several tasks. Or a flag says that a worker has been notified, \
                      and stays set when that worker finds the queue empty and waits again \
                      (`wait_while`): from then on, no worker is notified. Or such a worker is \
                      counted twice, once by the thread that notified it.",
        read: "scheduler/one-queue.html#the-guard-that-lives-too-long",
    };
    const WORKERS: usize = 3;
    check(lesson, || {
        let pool = Pool::new(WORKERS);
        for _ in 0..20 {
            let probes = meet(&pool, WORKERS);
            meet(&pool, WORKERS);
            probes.iter().for_each(ThreadProbe::wait_until_asleep);
        }
        with_chaos(SEED, || (0..50).for_each(|_| drop(meet(&pool, WORKERS))));
        let probes = meet(&pool, WORKERS);
        probes.iter().for_each(ThreadProbe::wait_until_asleep);
    });
}

/// Clause 3: most tasks are spawned and woken by tasks.
#[test]
fn tasks_spawned_or_woken_by_one_task_run_together() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Tasks that one task spawns, or wakes, are taken by all workers.",
        usual_cause: "A task that becomes ready on a worker wakes no other worker; or a worker is \
                      notified only if the queue was empty, and of several tasks only the first \
                      wakes one.",
        read: "scheduler/one-queue.html#whom-to-wake",
    };
    const WORKERS: usize = 3;
    check(lesson, || {
        let pool = Pool::new(WORKERS);
        let probes = meet(&pool, WORKERS);
        let handle = pool.handle();
        for _ in 0..20 {
            probes.iter().for_each(ThreadProbe::wait_until_asleep);
            let handle = handle.clone();
            let spawning = pool.spawn(async move {
                meeting(WORKERS, |task| handle.spawn(task))
            });
            await_all(block_on(spawning).expect("the task ends"));

            let (futures, manuals): (Vec<_>, Vec<_>) =
                (0..WORKERS).map(|_| ManualFuture::new()).unzip();
            let mut futures = futures.into_iter();
            let tasks = meeting(WORKERS, |task| (task, pool.handle()));
            let tasks = tasks.into_iter().map(|(task, handle)| {
                let future = futures.next().expect("one for each");
                handle.spawn(async {
                    future.await;
                    task.await
                })
            });
            let tasks = tasks.collect();
            manuals.iter().for_each(|it| _ = it.wait_until_asleep());
            let waking = pool.spawn(async move {
                manuals.iter().for_each(|it| it.complete())
            });
            block_on(waking).expect("the task ends");
            await_all::<ThreadProbe>(tasks);
        }
    });
}

/// Clause 3: "this worker looks at the queue next" may mean never.
#[test]
fn what_becomes_ready_in_a_poll_does_not_wait_for_its_end() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "A task that another task spawns or wakes in a poll is polled by a free worker, \
                  even if that poll lasts long.",
        usual_cause: "A task that becomes ready on a worker is kept for that worker, or is put \
                      into the queue at the end of the poll. Push it at once, and wake a sleeping \
                      worker.",
        read: "scheduler/one-queue.html#whom-to-wake",
    };
    check(lesson, || {
        let pool = Pool::new(2);
        let probes = meet(&pool, 2);
        for is_spawned in [true, false] {
            let (sender, receiver) = mpsc::channel();
            let (future, manual) = ManualFuture::new();
            let telling = async move { _ = sender.send(()) };
            let handle = pool.handle();
            let make_ready: Box<dyn FnOnce() + Send> = if is_spawned {
                Box::new(move || drop(handle.spawn(telling)))
            } else {
                drop(handle.spawn(async {
                    future.await;
                    telling.await;
                }));
                manual.wait_until_asleep();
                Box::new(move || manual.complete())
            };
            probes.iter().for_each(ThreadProbe::wait_until_asleep);
            let waiting = pool.spawn(async move {
                make_ready();
                // Within its poll.
                receiver.recv().is_ok()
            });
            let is_told = block_on(waiting).expect("the task ends");
            assert!(is_told, "the other task was dropped");
        }
    });
}

/// Clause 3: what a worker has taken and doesn't poll, no other can.
#[test]
fn a_worker_takes_one_task_at_a_time() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Of many tasks in the queue, one may wait in its poll for all the others, if there \
                  is a second worker.",
        usual_cause: "A worker takes several tasks out of the queue at once, to need the lock less \
                      often. While it polls the first, nothing else can take the others.",
        read: "scheduler/one-queue.html#whom-to-wake",
    };
    check(lesson, || {
        for others in [1, 5, 70] {
            for waits_at in [0, others / 2] {
                let pool = Pool::new(2);
                let opener = Opener::new();
                let held = [(); 2].map(|()| hold(&pool, &opener).0);
                let (sender, receiver) = mpsc::channel();
                let mut receiver = Some(receiver);
                let (mut tasks, mut waiting) = (Vec::new(), None);
                for at in 0..others {
                    if at == waits_at {
                        let receiver = receiver.take().expect("one waits");
                        waiting = Some(pool.spawn(async move {
                            // Within its poll.
                            receiver.iter().take(others).count()
                        }));
                    }
                    let sender = sender.clone();
                    tasks.push(pool.spawn(async move { _ = sender.send(()) }));
                }
                drop(opener);
                let count = block_on(waiting.expect("one waits"));
                let count = count.expect("it ends");
                assert!(
                    count == others,
                    "{count} of {others} tasks were polled"
                );
                await_all(tasks);
                held.into_iter().for_each(|it| _ = block_on(it));
            }
        }
    });
}

/// Clause 3: a worker that waits for another's poll is lost for that time.
#[test]
fn a_wake_up_during_a_poll_costs_no_worker() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "While one worker polls a task that has been woken again, the others are free.",
        usual_cause: "The task is put into the queue at once. The next worker takes it, and waits \
                      for the lock that the first worker holds.",
        read: "scheduler/one-queue.html#two-workers-one-task",
    };
    check(lesson, || {
        let pool = Pool::new(2);
        let opener = Opener::new();
        let (held, waker) = hold(&pool, &opener);
        waker.wake_by_ref();
        for _ in 0..20 {
            block_on(pool.spawn(Yields(1))).expect("the task ends");
            waker.wake_by_ref();
        }
        drop(opener);
        block_on(held).expect("the task ends");
    });
}

/// Clause 4: one task after another, each when the last worker has just run out
/// of work.
#[test]
fn a_task_that_comes_as_a_worker_falls_asleep_is_polled() {
    let lesson = Lesson {
        clause: "4. No lost task",
        promise: "A task that is spawned or woken as the workers go to sleep is polled.",
        usual_cause: "A worker looks at the queue, releases the lock, and takes it again to sleep. \
                      A notification in between reaches no worker. Or a wake-up at the end of a \
                      poll is lost: the worker checks whether there was one, and records in a \
                      second step that the task waits. Do both with one `compare_exchange`, or \
                      under one lock.",
        read: "scheduler/one-queue.html#between-the-look-and-the-wait",
    };
    const TIME: Duration = Duration::from_millis(60);
    check(lesson, || {
        let pool = Pool::new(1);
        let run = |task| block_on(pool.spawn(task)).expect("the task ends");
        race_with_wakes(TIME, run);
        with_chaos(SEED, || race_with_wakes(TIME, run));
        let pool = Pool::new(2);
        for _ in 0..500 {
            block_on(pool.spawn(async {})).expect("the task ends");
        }
    });
}

/// Clause 9: many tasks share a pool, and most have nothing to do with each
/// other.
#[test]
fn a_panic_reaches_the_handle_and_nothing_else() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "Awaiting a task that panics gives the payload of its panic.",
        usual_cause: "Nothing catches the panic, or the code that catches it doesn't complete the \
                      handle.",
        read: "scheduler/one-queue.html#what-a-task-may-break",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let (bystander, manual) = pending_tasks(&pool, 1).remove(0);
        let panicking = pool.spawn(async {
            Yields(2).await;
            std::panic::panic_any("boom");
        });
        let error = block_on(panicking).expect_err("it panics");
        assert!(error.is_panic(), "the error says that it is no panic");
        let thrown = error.into_panic().downcast_ref::<&str>().copied();
        assert!(thrown == Some("boom"), "what was thrown is {thrown:?}");
        manual.complete();
        block_on(bystander).expect("the other task ends");
    });
}

/// Clause 9: a pool whose four workers have died of four panics polls nothing.
#[test]
fn workers_survive_panics() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "After many tasks have panicked, all workers are still there.",
        usual_cause: "The panic unwinds the worker's loop, or poisons a lock.",
        read: "scheduler/one-queue.html#what-a-task-may-break",
    };
    const WORKERS: usize = 3;
    check(lesson, || {
        let pool = Pool::new(WORKERS);
        for _ in 0..WORKERS * 4 {
            drop(pool.spawn(async { panic!("boom") }));
        }
        meet(&pool, WORKERS);
    });
}

/// Clause 9: a poll isn't the only thing that runs arbitrary code.
#[test]
fn workers_survive_what_panics_after_the_poll() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "A worker survives destructors that panic, of a future and of an output, and a \
                  waker that panics.",
        usual_cause: "Only the poll is in `catch_unwind`, and not what comes after it.",
        read: "scheduler/one-queue.html#what-a-task-may-break",
    };
    const WORKERS: usize = 2;
    check(lesson, || {
        let pool = Pool::new(WORKERS);
        for _ in 0..WORKERS * 2 {
            let (future, manual) = ManualFuture::new();
            drop(pool.spawn(async {
                future.await;
                PanicOnDrop
            }));
            manual.complete();
            let owned = PanicOnDrop;
            let _ = block_on(pool.spawn(poll_fn(move |_| {
                let _owned = &owned;
                Poll::Ready(())
            })));
            let opener = Opener::new();
            let (mut held, _) = hold(&pool, &opener);
            let waker = HostileWaker::panicking();
            let mut hostile = Context::from_waker(&waker);
            let poll = Pin::new(&mut held).poll(&mut hostile);
            assert!(
                poll.is_pending(),
                "the handle is ready, but its task's poll is still waiting"
            );
        }
        meet(&pool, WORKERS);
    });
}

/// The time that the idle check watches, and the most that a sleeping thread
/// may cost in that time.
const IDLE_WINDOW: Duration = Duration::from_millis(100);
const IDLE_CPU: Duration = Duration::from_millis(5);
const IDLE_SLEEPS: u64 = 20;

/// Clause 10: most tasks wait most of the time.
#[test]
fn workers_without_a_task_sleep() {
    let lesson = Lesson {
        clause: "10. Idle",
        promise: "While all tasks wait for a waker, the workers cost no CPU time.",
        usual_cause: "A worker checks again and again, in a loop or with a short timeout.",
        read: "scheduler/one-queue.html#between-the-look-and-the-wait",
    };
    check(lesson, || {
        let pool = Pool::new(2);
        let probes = meet(&pool, 2);
        let _pending = pending_tasks(&pool, 3);
        for probe in probes {
            probe.wait_until_asleep();
            let Some(cost) = idle_cost(&probe, IDLE_WINDOW) else {
                return;
            };
            let (cpu, sleeps) = (cost.cpu, cost.sleeps);
            assert!(
                cpu < IDLE_CPU && sleeps < IDLE_SLEEPS,
                "in {IDLE_WINDOW:?} without a task the worker woke up {sleeps} \
                 times and used {cpu:.0?} of CPU time"
            );
        }
    });
}

/// Clause 10: no worker can poll it now, so there is nothing to do.
#[test]
fn a_task_that_is_woken_in_its_poll_keeps_no_worker_busy() {
    let lesson = Lesson {
        clause: "10. Idle",
        promise: "While a task that was woken in its poll is still polled, the other workers sleep.",
        usual_cause: "The task enters the queue when it's woken, before its poll has ended. \
                      Another worker takes it, finds that it can't poll it, puts it back, and \
                      takes it again. Only record the wake-up, and push the task at the end of the \
                      poll.",
        read: "scheduler/one-queue.html#a-wake-up-during-the-poll",
    };
    check(lesson, || {
        let pool = Pool::new(2);
        let probes = meet(&pool, 2);
        let opener = Opener::new();
        let (held, waker) = hold(&pool, &opener);
        waker.wake();
        for probe in probes {
            let Some(cost) = idle_cost(&probe, IDLE_WINDOW) else {
                return;
            };
            let cpu = cost.cpu;
            assert!(
                cpu < IDLE_CPU,
                "in {IDLE_WINDOW:?} in which no task could be polled a worker used {cpu:.0?} of \
                 CPU time"
            );
        }
        drop(opener);
        block_on(held).expect("it ends");
    });
}
