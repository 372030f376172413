//! How a pool ends.

use super::*;

#[track_caller]
fn assert_cancelled<T>(result: Result<T, JoinError>) {
    let is_cancelled = result.is_err_and(|error| error.is_cancelled());
    assert!(
        is_cancelled,
        "the handle doesn't say that its task was cancelled"
    );
}

#[track_caller]
fn assert_dropped_once(logs: &[DropLog]) {
    let counts: Vec<_> = logs.iter().map(DropLog::count).collect();
    let is_once = counts.iter().all(|count| *count == 1);
    assert!(is_once, "the futures were dropped {counts:?} times");
}

/// Clause 11: no worker will ever poll them again, and they own sockets and
/// files.
#[test]
fn dropping_the_pool_drops_the_futures_that_wait_for_a_waker() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "When the pool has been dropped, so have the futures that waited, and their \
                  wakers do nothing.",
        usual_cause: "Only the queue is emptied. A task that waits for a waker isn't in the queue, \
                      and its waker keeps it. Or a later task had its place in the list of all \
                      tasks.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(2);
        let (manuals, tasks): (Vec<_>, Vec<_>) = (0..5)
            .map(|_| {
                let (future, manual) = ManualFuture::new();
                let (probe, log) = DropProbe::new();
                let task = pool.spawn(async {
                    let _owned = probe;
                    future.await;
                });
                (manual, (task, log))
            })
            .unzip();
        manuals.iter().for_each(|it| _ = it.wait_until_asleep());
        // More than a byte can number.
        await_all((0..300).map(|_| pool.spawn(async {})).collect());
        drop(pool);
        let (tasks, logs): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
        assert_dropped_once(&logs);
        manuals.iter().for_each(ManualHandle::complete);
        tasks
            .into_iter()
            .for_each(|task| assert_cancelled(block_on(task)));
    });
}

/// Clause 11: they have never been polled, and never will be.
#[test]
fn dropping_the_pool_drops_what_is_in_the_queue() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "When the pool has been dropped, so have the futures that were still in the queue.",
        usual_cause: "The queue is left as it is: its tasks keep the pool, and the pool keeps them.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let opener = Opener::new();
        let (held, _) = hold(&pool, &opener);
        let tasks = (0..10).map(|_| {
            let (probe, log) = DropProbe::new();
            (pool.spawn(async move { drop(probe) }), log)
        });
        let (tasks, logs): (Vec<_>, Vec<_>) = tasks.unzip();
        let opening = opener.open_once_asleep();
        drop(pool);
        assert_dropped_once(&logs);
        tasks
            .into_iter()
            .for_each(|task| assert_cancelled(block_on(task)));
        let _ = block_on(held);
        opening.join().expect("opening does not panic");
    });
}

/// Clause 11: one of them is always ready.
#[test]
fn tasks_that_never_end_do_not_keep_the_pool() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "Dropping the pool ends tasks that would wake themselves forever.",
        usual_cause: "The workers continue until the queue is empty.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let tasks = (0..4).map(|_| {
            let (probe, log) = DropProbe::new();
            let task = pool.spawn(async move {
                let _owned = probe;
                loop {
                    Yields(1).await;
                }
            });
            (task, log)
        });
        let (tasks, logs): (Vec<JoinHandle<()>>, Vec<_>) = tasks.unzip();
        block_on(pool.spawn(Yields(20))).expect("the task ends");
        drop(pool);
        tasks
            .into_iter()
            .for_each(|it| assert_cancelled(block_on(it)));
        assert_dropped_once(&logs);
    });
}

/// Clause 11: a worker has the future at that moment.
#[test]
fn a_task_that_is_polled_as_the_pool_ends_ends_with_the_poll() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "A future that is polled as the pool is dropped is dropped after that poll.",
        usual_cause: "The thread that ends the pool finds no future in the task, and the worker \
                      that polls it puts it back to wait for a waker; or a wake-up in that poll \
                      takes the task out of its last stage.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        for is_woken in [false, true] {
            let pool = Pool::new(1);
            let opener = Opener::new();
            let (sender, receiver) = mpsc::channel();
            let (probe, log) = DropProbe::new();
            let gate = opener.gate();
            let task = pool.spawn(poll_fn(move |cx| {
                let _owned = &probe;
                let _ = sender.send(cx.waker().clone());
                gate.wait();
                if is_woken {
                    cx.waker().wake_by_ref();
                }
                Poll::<()>::Pending
            }));
            let _waker = receiver.recv().expect("the task is polled");
            let opening = opener.open_once_asleep();
            drop(pool);
            assert_dropped_once(&[log]);
            assert_cancelled(block_on(task));
            opening.join().expect("opening does not panic");
        }
    });
}

/// Clause 11: what belongs to a thread must not outlive the pool.
#[test]
fn dropping_the_pool_waits_for_polls_and_threads() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "When the pool has been dropped, no poll runs, and its threads have ended.",
        usual_cause: "The workers are told to end, but nothing joins them.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    const WORKERS: usize = 3;
    check(lesson, || {
        for _ in 0..10 {
            let pool = Pool::new(WORKERS);
            let ends = meeting(WORKERS, |task| {
                pool.spawn(async {
                    task.await;
                    log_of_this_threads_end()
                })
            });
            let ends = await_all(ends);
            let opener = Opener::new();
            let (held, _) = hold(&pool, &opener);
            let opening = opener.open_once_asleep();
            drop(pool);
            let count = ends.iter().filter(|end| end.count() == 1).count();
            assert!(
                count == WORKERS,
                "of {WORKERS} threads, {count} have ended"
            );
            block_on(held).expect("its poll has ended");
            opening.join().expect("opening does not panic");
        }
    });
}

/// Clause 11: every sleeping worker must learn of the end.
#[test]
fn dropping_the_pool_ends_workers_that_sleep() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "A pool whose workers sleep, or are just going to sleep, can be dropped.",
        usual_cause: "At a hang: only one worker is notified; or the flag is set without the lock, and \
                      a worker that has looked and doesn't sleep yet misses it; or all are notified \
                      before the flag is set.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        for workers in [1, 2, 3] {
            drop(Pool::new(workers));
            let pool = Pool::new(workers);
            let probes = meet(&pool, workers);
            probes.iter().for_each(ThreadProbe::wait_until_asleep);
            drop(pool);
        }
        with_chaos(SEED, || {
            for round in 0..60 {
                let pool = Pool::new(3);
                meet(&pool, 1 + round % 3);
            }
        });
    });
}

/// Clause 11: a destructor may run arbitrary code.
#[test]
fn destructors_may_spawn_and_wake_as_the_pool_ends() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "A future that is dropped with the pool may wake other tasks, and spawn.",
        usual_cause: "The futures are dropped while a lock is held that spawning and waking need, too.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let manuals: Vec<_> = (0..4).map(|_| ManualFuture::new()).collect();
        let handles: Vec<_> =
            manuals.iter().map(|(_, it)| it.clone()).collect();
        let (sender, spawned) = mpsc::channel();
        for (future, _) in manuals {
            let (others, handle) = (handles.clone(), pool.handle());
            let sender = sender.clone();
            let on_drop = OnDrop(move || {
                others.iter().for_each(ManualHandle::complete);
                let _ = sender.send(handle.spawn(async {}));
            });
            drop(pool.spawn(async move {
                let _on_drop = on_drop;
                future.await;
                pending::<()>().await;
            }));
        }
        handles.iter().for_each(|it| _ = it.wait_until_asleep());
        drop(pool);
        let spawned: Vec<_> = spawned.try_iter().collect();
        assert!(spawned.len() == 4, "{} of 4 were dropped", spawned.len());
        spawned
            .into_iter()
            .for_each(|it| assert_cancelled(block_on(it)));
    });
}

/// Clause 9: nor does it reach the thread that drops the pool.
#[test]
fn a_destructor_that_panics_as_the_pool_ends_harms_nothing_else() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "If the destructor of a future panics as its pool is dropped, the other futures \
                  are still dropped, and the panic doesn't reach the thread that drops the pool.",
        usual_cause: "The panic of a future's destructor isn't caught, and reaches the thread that \
                      drops the pool. Catch it separately for each future.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    const TASKS: usize = 4;
    check(lesson, || {
        let pool = Pool::new(1);
        let dropped = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..TASKS)
            .map(|nth| {
                let (future, manual) = ManualFuture::new();
                let panics = (nth == 0).then(|| PanicOnDrop);
                let owned = (CountOnDrop(dropped.clone()), panics);
                let handle = pool.spawn(async move {
                    let _owned = owned;
                    future.await;
                });
                manual.wait_until_polled();
                handle
            })
            .collect();
        let panic = panic_message(|| drop(pool));
        assert!(
            panic.is_none(),
            "dropping the pool panicked: {}",
            panic.unwrap()
        );
        let dropped = dropped.load(SeqCst);
        assert!(
            dropped == TASKS,
            "of {TASKS} futures, {dropped} were dropped"
        );
        handles
            .into_iter()
            .for_each(|it| assert_cancelled(block_on(it)));
    });
}

struct CountOnDrop(Arc<AtomicUsize>);

impl Drop for CountOnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Clause 8: wakers may be anywhere, and nothing tells them of the end.
#[test]
fn wakers_of_a_pool_that_has_ended_leave_no_memory_behind() {
    let lesson = Lesson {
        clause: "8. The end",
        promise: "When the pool is gone, and then the wakers and handles of its tasks, so is all \
                  memory.",
        usual_cause: "A task that is woken after the end of the pool goes into its queue. Nothing \
                      takes it out, and the queue and the task keep each other alive. Under the \
                      lock of the queue, check whether the pool has ended, or whether the task \
                      has. Or a task keeps a waker of its own between its polls, and only its \
                      last poll takes it out: a cancelled task has no last poll, so take it out \
                      there, too.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    const POOLS: isize = 40;
    check(lesson, || {
        let end_one = |_| {
            let pool = Pool::new(1);
            let (task, manual) = pending_tasks(&pool, 1).remove(0);
            let (waker, _) = manual.wait_until_polled();
            drop(pool);
            waker.wake_by_ref();
            waker.wake();
            assert_cancelled(block_on(task));
        };
        (0..2).for_each(end_one);
        let before = live_blocks();
        (0..POOLS).for_each(end_one);
        let more = live_blocks() - before;
        assert!(
            more < POOLS,
            "after {POOLS} pools have ended, and then a task of each was woken, {more} blocks of \
             memory are left"
        );
    });
}

/// Clause 8: a poll may end after the pool has ended, and before its task is
/// cancelled.
#[test]
fn a_task_that_wakes_itself_as_the_pool_ends_leaves_no_memory_behind() {
    let lesson = Lesson {
        clause: "8. The end",
        promise: "A task that is woken in its poll leaves no memory behind, even if that poll ends \
                  while the pool is being dropped.",
        usual_cause: "The worker puts the task back into the queue without asking whether the pool \
                      has ended. The queue was emptied before, and the task is cancelled after, so \
                      nothing takes it out: the queue and the task keep each other. Ask under the \
                      lock of the queue, as for any other push.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    const POOLS: isize = 40;
    check(lesson, || {
        let end_one = |_| {
            let pool = Pool::new(1);
            let opener = Opener::new();
            let (sender, receiver) = mpsc::channel();
            let worker = Arc::new(Mutex::new(Some(receiver)));
            // In either order of cancelling the tasks, one of these comes
            // before the task between them.
            let first = waits_for_the_worker(&pool, &worker);
            let gate = opener.gate();
            let (begin, begun) = mpsc::channel();
            let woken = pool.spawn(poll_fn(move |cx| {
                cx.waker().wake_by_ref();
                let _ = begin.send(());
                gate.wait();
                let _ =
                    sender.send((thread::current().id(), ThreadProbe::here()));
                Poll::<()>::Pending
            }));
            let last = waits_for_the_worker(&pool, &worker);
            begun.recv().expect("it is polled");
            let opening = opener.open_once_asleep();
            drop(pool);
            opening.join().expect("opening does not panic");
            [first, woken, last]
                .into_iter()
                .for_each(|it| assert_cancelled(block_on(it)));
        };
        (0..2).for_each(end_one);
        let before = live_blocks();
        (0..POOLS).for_each(end_one);
        let more = live_blocks() - before;
        assert!(
            more < POOLS,
            "{POOLS} pools have ended during the poll of a task that had woken itself: {more} \
             blocks of memory are left"
        );
    });
}

/// A worker, which its task announces when the poll is about to end.
type Announced = mpsc::Receiver<(ThreadId, ThreadProbe)>;

/// Spawns a task whose destructor returns when the worker sleeps or is gone,
/// and so has finished with the task that announced it.
fn waits_for_the_worker(
    pool: &Pool,
    worker: &Arc<Mutex<Option<Announced>>>,
) -> JoinHandle<()> {
    let worker = worker.clone();
    let on_drop = OnDrop(move || {
        let receiver = worker.lock().expect("nothing panics with it").take();
        let Some(Ok((id, probe))) = receiver.map(|receiver| receiver.recv())
        else {
            return;
        };
        if id != thread::current().id() {
            probe.wait_until_asleep();
        }
    });
    pool.spawn(async move {
        let _on_drop = on_drop;
        pending::<()>().await;
    })
}

/// Clause 12: a task may own what owns the pool.
#[test]
fn a_task_may_drop_its_own_pool() {
    let lesson = Lesson {
        clause: "12. From within",
        promise: "A task that drops the last owner of its pool finishes its poll, and all tasks end.",
        usual_cause: "The worker waits for all threads of the pool, including itself.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        for (workers, ends) in [(1, true), (2, true), (1, false), (2, false)] {
            let pool = Pool::new(workers);
            let waiting = pending_tasks(&pool, 2);
            let owner = Arc::new(Mutex::new(None));
            let last = owner.clone();
            let opener = Opener::new();
            let gate = opener.gate();
            let dropping = pool.spawn(poll_fn(move |cx| {
                gate.wait();
                let pool: Option<Pool> = last.lock().unwrap().take();
                // It's still a worker of its own pool when it has had another.
                drop(Pool::new(1));
                drop(pool.expect("it is polled once"));
                cx.waker().wake_by_ref();
                if ends {
                    Poll::Ready("went on")
                } else {
                    Poll::Pending
                }
            }));
            *owner.lock().unwrap() = Some(pool);
            drop(opener);
            match block_on(dropping) {
                Ok(output) => assert!(ends, "pending, it gave {output:?}"),
                result if ends => panic!("its output is lost: {result:?}"),
                cancelled => assert_cancelled(cancelled),
            }
            for (task, _) in waiting {
                assert_cancelled(block_on(task));
            }
        }
    });
}

/// Clause 12: a worker of one pool is an ordinary thread for another.
#[test]
fn a_task_that_drops_another_pool_waits_for_it() {
    let lesson = Lesson {
        clause: "12. From within",
        promise: "A task that drops a pool that it doesn't belong to waits like any other caller.",
        usual_cause: "A thread knows that it is a worker, but not of which pool.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let outer = Pool::new(1);
        let dropping = outer.spawn(async {
            let inner = Pool::new(1);
            let end =
                block_on(inner.spawn(async { log_of_this_threads_end() }));
            let opener = Opener::new();
            let (mut held, _) = hold(&inner, &opener);
            let opening = opener.open_once_asleep();
            drop(inner);
            let mut no_task = Context::from_waker(Waker::noop());
            let is_ready = Pin::new(&mut held).poll(&mut no_task).is_ready();
            opening.join().expect("opening does not panic");
            is_ready && end.is_ok_and(|end| end.count() == 1)
        });
        let is_over = block_on(dropping).expect("the task ends");
        assert!(is_over, "the other pool's poll or thread has not ended");
    });
}

/// Clause 13: a handle that is never ready is worse than an error.
#[test]
fn a_task_that_is_spawned_after_the_end_is_cancelled() {
    let lesson = Lesson {
        clause: "13. Too late",
        promise: "Spawning on a pool that is gone drops the future, and the handle says so.",
        usual_cause: "The task goes into a queue that nothing looks at anymore.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let handle = pool.handle();
        block_on(handle.spawn(async {})).expect("the task ends");
        drop(pool);
        let (probe, log) = DropProbe::new();
        let late = handle.clone().spawn(async move { drop(probe) });
        assert!(
            log.count() == 1,
            "the future was dropped {} times",
            log.count()
        );
        assert_cancelled(block_on(late));
    });
}

/// Clause 13: the future's destructor may run arbitrary code, too.
#[test]
fn a_future_that_comes_too_late_may_spawn_and_wake_as_it_is_dropped() {
    let lesson = Lesson {
        clause: "13. Too late",
        promise: "A future that is spawned after the end may wake tasks and spawn in its destructor.",
        usual_cause: "It's dropped under the lock under which it was refused, and spawning needs \
                      that lock. Unlock first, then drop it.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let (_task, manual) = pending_tasks(&pool, 1).remove(0);
        let (handle, inner) = (pool.handle(), pool.handle());
        drop(pool);
        let (sender, spawned) = mpsc::channel();
        let on_drop = OnDrop(move || {
            manual.complete();
            let _ = sender.send(inner.spawn(async {}));
        });
        assert_cancelled(block_on(handle.spawn(async move { drop(on_drop) })));
        let inner = spawned.recv().expect("the future was dropped");
        assert_cancelled(block_on(inner));
    });
}

/// Clause 13: there is a moment when the pool has ended for some threads, and
/// not for others.
#[test]
fn every_handle_is_ready_though_the_pool_ends_as_it_is_spawned() {
    let lesson = Lesson {
        clause: "13. Too late",
        promise: "A thread that spawns while another drops the pool gets a handle that becomes ready.",
        usual_cause: "The check whether the pool has ended comes before the lock of the queue is \
                      taken, or without it.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        with_chaos(SEED, || {
            for _ in 0..60 {
                let pool = Pool::new(2);
                let handle = pool.handle();
                let start = Arc::new(Barrier::new(2));
                let meeting = start.clone();
                let spawning = thread::spawn(move || {
                    meeting.wait();
                    let spawn = |_| handle.spawn(async {});
                    (0..20).map(spawn).collect::<Vec<_>>()
                });
                start.wait();
                drop(pool);
                let handles = spawning.join().expect("spawning doesn't panic");
                for handle in handles {
                    let result = block_on(handle);
                    assert!(
                        !result.is_err_and(|it| it.is_panic()),
                        "a task that was spawned late panicked"
                    );
                }
            }
        });
    });
}

/// Clause 11: a destructor runs on a thread like any other.
#[test]
fn what_a_destructor_spawns_as_the_pool_ends_ends_with_it() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "If the destructor of a future spawns a task as the pool is dropped, that task has \
                  ended, too, when the pool has been dropped.",
        usual_cause: "The tasks are listed and cancelled first, and the pool refuses tasks only \
                      after that: what comes in between is on no list. Refuse tasks and take the \
                      list under one lock.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let (future, manual) = ManualFuture::new();
        let (handle, waker) = (pool.handle(), Arc::new(Mutex::new(None)));
        let (sender, spawned) = mpsc::channel();
        let slot = waker.clone();
        let on_drop = OnDrop(move || {
            let (probe, log) = DropProbe::new();
            let (polled, over) = mpsc::channel();
            let slot = slot.clone();
            let late = handle.spawn(poll_fn(move |cx| {
                let _owned = &probe;
                *slot.lock().unwrap() = Some(cx.waker().clone());
                let _ = polled.send(());
                Poll::<()>::Pending
            }));
            // It's polled, or dropped.
            let _ = over.recv();
            let _ = sender.send((late, log));
        });
        let first = pool.spawn(async move {
            let _on_drop = on_drop;
            future.await;
        });
        manual.wait_until_asleep();
        drop(pool);
        let (late, log) = spawned.recv().expect("the future was dropped");
        assert_dropped_once(&[log]);
        assert_cancelled(block_on(late));
        assert_cancelled(block_on(first));
        drop(waker.lock().unwrap().take());
    });
}

/// Clause 11: the worker drops such a future, as other code of the pool does
/// others.
#[test]
fn a_future_that_is_cancelled_in_its_poll_may_do_anything_as_it_is_dropped() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "A future whose pool ends during its poll may wake its own task and spawn when \
                  it's dropped.",
        usual_cause: "The worker drops it under the lock of its task, which waking the task needs, \
                      too. Unlock, and then drop it.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let opener = Opener::new();
        let (begin, begun) = mpsc::channel::<Waker>();
        let (sender, spawned) = mpsc::channel();
        let (handle, waker) = (pool.handle(), Arc::new(Mutex::new(None)));
        let own = waker.clone();
        let on_drop = OnDrop(move || {
            let own: Option<Waker> = own.lock().unwrap().take();
            own.into_iter().for_each(Waker::wake);
            let _ = sender.send(handle.spawn(async {}));
        });
        let gate = opener.gate();
        let task = pool.spawn(poll_fn(move |cx| {
            let _owned = &on_drop;
            let _ = begin.send(cx.waker().clone());
            gate.wait();
            Poll::<()>::Pending
        }));
        *waker.lock().unwrap() = begun.recv().ok();
        let opening = opener.open_once_asleep();
        drop(pool);
        assert_cancelled(block_on(task));
        let spawned = spawned.recv().expect("the future was dropped");
        assert_cancelled(block_on(spawned));
        opening.join().expect("opening does not panic");
    });
}

/// Clause 9: each place where a future is dropped needs it.
#[test]
fn the_panic_of_a_destructor_goes_no_further_wherever_it_comes_from() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "The panic of a future's destructor reaches neither the thread that drops the \
                  pool, nor a worker, nor a thread that spawns too late, even if what was thrown \
                  panics when it's dropped.",
        usual_cause: "A pool drops futures in several places: as it ends, at the end of a poll \
                      during which it ended, and when a task comes too late. One of them catches no \
                      panic, or drops what was thrown outside `catch_unwind`.",
        read: "scheduler/one-queue.html#what-a-task-may-break",
    };
    check(lesson, || {
        for payload_panics in [false, true] {
            let bomb = || {
                OnDrop(move || match payload_panics {
                    // That's what a guard does that isn't to panic twice.
                    _ if thread::panicking() => {}
                    true => std::panic::panic_any(PanicOnDrop),
                    false => panic!("this panic is part of the check"),
                })
            };
            let pool = Pool::new(1);
            let handle = pool.handle();
            let (future, manual) = ManualFuture::new();
            let owned = bomb();
            let waits = pool.spawn(async move {
                let _owned = owned;
                future.await;
            });
            manual.wait_until_asleep();
            let opener = Opener::new();
            let (begin, begun) = mpsc::channel();
            let (gate, owned) = (opener.gate(), bomb());
            let polled = pool.spawn(poll_fn(move |_| {
                let _owned = &owned;
                let _ = begin.send(());
                gate.wait();
                Poll::<()>::Pending
            }));
            begun.recv().expect("it is polled");
            let owned = bomb();
            let queued = pool.spawn(async move { drop(owned) });
            let opening = opener.open_once_asleep();
            let panic = panic_message(|| drop(pool));
            opening.join().expect("opening does not panic");
            assert!(
                panic.is_none(),
                "dropping the pool panicked, because the destructor of a future does: {panic:?}"
            );
            let (owned, mut late) = (bomb(), None);
            let panic = panic_message(|| {
                late = Some(handle.spawn(async move { drop(owned) }));
            });
            assert!(
                panic.is_none(),
                "spawning too late panicked, because the destructor of the future does: {panic:?}"
            );
            let late = late.expect("it was spawned");
            for task in [waits, polled, queued, late] {
                // The handle is ready, as other checks say with what.
                let _ended = block_on(task);
            }
        }
    });
}

/// Clause 12: it would wait for what may wait for it.
#[test]
fn a_task_that_drops_its_own_pool_waits_for_no_other_poll() {
    let lesson = Lesson {
        clause: "12. From within",
        promise: "A task that drops its own pool goes on, even if another worker is in a poll that \
                  waits for it.",
        usual_cause: "The worker joins all threads of the pool but its own. At a hang: the worker \
                      joins all threads of the pool but its own, and one of them is in a poll \
                      that waits for this task. Join none.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(2);
        let opener = Opener::new();
        let (held, _) = hold(&pool, &opener);
        let owner = Arc::new(Mutex::new(None));
        let last = owner.clone();
        let gate = Opener::new();
        let begin = gate.gate();
        let dropping = pool.spawn(async move {
            begin.wait();
            let pool: Option<Pool> = last.lock().unwrap().take();
            drop(pool);
            // Only now may the other poll end.
            drop(opener);
        });
        *owner.lock().unwrap() = Some(pool);
        drop(gate);
        block_on(dropping).expect("the task ends");
        let _either = block_on(held);
    });
}
