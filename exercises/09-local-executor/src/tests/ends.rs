//! How tasks and the executor end, and where.

use super::super::LocalExecutor as Whole;
use super::*;

/// Waits forever, and owns something.
async fn keep<T>(_kept: T) {
    pending::<()>().await;
}

/// Clause 6: an `async fn` panics when it's resumed after its end.
#[test]
fn a_task_that_is_over_is_not_polled_again() {
    let lesson = Lesson {
        clause: "6. Over",
        promise: "A task that was ready is never polled again, no matter whether it's woken late \
                  or in its last poll.",
        usual_cause: "The task stays where its waker finds it, or is put back into its entry after \
                      its last poll.",
        read: "scheduler/local-executor.html#when-a-task-is-over",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let polls = Rc::new(Cell::new(0));
        let kept = Rc::new(RefCell::new(None));
        let (counted, keeper) = (polls.clone(), kept.clone());
        drop(executor.spawn(poll_fn(move |cx| {
            counted.set(counted.get() + 1);
            keeper.replace(Some(cx.waker().clone()));
            cx.waker().wake_by_ref();
            Poll::Ready(())
        })));
        executor.run();
        let waker = kept.take().expect("it was polled");
        executor.block_on(async {
            waker.wake_by_ref();
            elsewhere(|| waker.wake_by_ref());
            Yields(MANY).await;
        });
        executor.run();
        assert!(
            polls.get() == 1,
            "the task was polled {} times",
            polls.get()
        );
    });
}

/// Clause 6: the future may own a lock guard, a file, or the other end of a
/// channel.
#[test]
fn the_future_is_dropped_when_its_task_is_over() {
    let lesson = Lesson {
        clause: "6. Over",
        promise: "When a handle is ready, its task's future has been dropped, even if wakers of \
                  the task are left.",
        usual_cause: "The future lives as long as its wakers, or as long as the executor; or the \
                      result is handed over first.",
        read: "scheduler/local-executor.html#when-a-task-is-over",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let (probe, log) = DropProbe::new();
        let (future, task) = ManualFuture::new();
        let mut future = Box::pin(future);
        // Not an `async` block, which drops its variables when it ends.
        let mut handle = executor.spawn(poll_fn(move |cx| {
            let _owned = &probe;
            future.as_mut().poll(cx)
        }));
        let (sender, receiver) = mpsc::channel();
        let seen = log.clone();
        let waker = HostileWaker::new(move || {
            let _ = sender.send(seen.count());
        });
        assert!(poll(&mut handle, &waker).is_pending());
        executor.block_on(until("the task still hasn't been polled", || {
            task.polls() > 0
        }));
        let _kept = waker_of(&task);
        task.complete();
        executor.run();
        let drops = receiver.recv().expect("the handle's waker is called");
        assert!(
            drops == 1,
            "when the handle was ready, the future had been dropped {drops} times"
        );
    });
}

/// Clause 10: a waker must be `Send`, but the future need not be.
#[test]
fn the_last_waker_does_not_take_the_task_along() {
    let lesson = Lesson {
        clause: "10. At home",
        promise: "A task that owns an `Rc` is dropped on its own thread, even if its last waker is \
                  dropped or called on another thread.",
        usual_cause: "A waker owns an `Arc` of the task, and with it the future. The thread that \
                      drops the last waker drops the future.",
        read: "scheduler/local-executor.html#who-drops-the-future",
    };
    check(lesson, || {
        for is_over in [false, true] {
            for last in [drop::<Waker>, Waker::wake] {
                let executor = Whole::new();
                let (future, task) = ManualFuture::new();
                let (probe, log) = DropProbe::new();
                let owned = Rc::new(probe);
                let mut future = Box::pin(future);
                drop(executor.spawn(poll_fn(move |cx| {
                    let _owned = &owned;
                    future.as_mut().poll(cx)
                })));
                let polled = || task.polls() > 0;
                executor.block_on(until(
                    "the task still hasn't been polled",
                    polled,
                ));
                let waker = waker_of(&task);
                if is_over {
                    task.complete();
                    executor.run();
                }
                drop(task);
                drop(executor);
                elsewhere(move || last(waker));
                assert_dropped_here(&log);
            }
        }
    });
}

#[track_caller]
fn assert_dropped_here(log: &DropLog) {
    let threads = log.threads();
    assert!(
        threads == [thread::current().id()],
        "the future was dropped by {threads:?}, and this is {:?}",
        thread::current().id()
    );
}

/// Clause 10: the waking thread doesn't poll.
#[test]
fn an_executor_stays_on_its_thread() {
    let lesson = Lesson {
        clause: "10. At home",
        promise: "A task is polled on the executor's thread, no matter which thread wakes it; and \
                  the executor can't leave that thread.",
        usual_cause: "`wake` polls; or nothing in the executor prevents it from being `Send`: an \
                      `Rc` does.",
        read: "scheduler/local-executor.html#who-drops-the-future",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let home = thread::current().id();
        let mut polls_left = 5;
        let task = executor.spawn(poll_fn(move |cx| {
            let here = thread::current().id();
            assert!(
                here == home,
                "the task was polled on {here:?}, not {home:?}"
            );
            polls_left -= 1;
            if polls_left == 0 {
                return Poll::Ready(());
            }
            Side::Elsewhere.wake(cx.waker());
            Poll::Pending
        }));
        executor.block_on(task).expect("it is polled here");
        let is_send = Asked::<LocalExecutor>(PhantomData).is_send();
        assert!(!is_send, "a `LocalExecutor` can be sent to another thread");
        let is_send = Asked::<JoinHandle<Rc<()>>>(PhantomData).is_send();
        assert!(!is_send, "a handle can take an `Rc` to another thread");
    });
}

/// Asks whether `T` is `Send`. If it is, the inherent method below takes
/// precedence over the trait's.
struct Asked<T>(PhantomData<T>);

trait IsSend {
    fn is_send(&self) -> bool;
}

impl<T> IsSend for Asked<T> {
    fn is_send(&self) -> bool {
        false
    }
}

#[allow(dead_code, reason = "used only if one of them is `Send`")]
impl<T: Send> Asked<T> {
    fn is_send(&self) -> bool {
        true
    }
}

/// Clause 11: a program ends, and its files should be closed.
#[test]
fn dropping_the_executor_drops_every_task() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "Dropping the executor drops all its tasks: those that were never polled, those \
                  that wait, and those that are in the queue.",
        usual_cause: "Only the tasks in the queue are dropped. A waiting task is kept alive by its \
                      wakers, or the wakers keep the executor alive.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check(lesson, || {
        let executor = Whole::new();
        let (futures, tasks): (Vec<_>, Vec<_>) =
            (0..20).map(|_| ManualFuture::new()).unzip();
        let mut logs = Vec::new();
        for future in futures {
            let (probe, log) = DropProbe::new();
            logs.push(log);
            drop(executor.spawn(async move {
                let _owned = probe;
                future.await;
            }));
        }
        let all_polled = || tasks.iter().all(|task| task.polls() > 0);
        executor.block_on(until(
            "some tasks still haven't been polled",
            all_polled,
        ));
        tasks[..5].iter().for_each(|task| waker_of(task).wake());
        let (probe, log) = DropProbe::new();
        logs.push(log);
        drop(executor.spawn(keep(probe)));
        drop(executor);
        let dropped = logs.iter().filter(|log| log.count() == 1).count();
        assert!(dropped == 21, "of 21 tasks {dropped} were dropped once");
        logs.iter().for_each(assert_dropped_here);
    });
}

/// Clause 11: it's not unusual for a task to keep its own waker.
#[test]
fn tasks_that_refer_to_each_other_are_dropped() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "Tasks that own their own waker, or each other's handles and wakers, are dropped \
                  like any other; and their destructors may wake each other.",
        usual_cause: "A waker owns the task, so the task owns itself; or the tasks are borrowed \
                      while they're dropped.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check(lesson, || {
        let executor = Whole::new();
        let wakers = Rc::new(RefCell::new(Vec::<Waker>::new()));
        let (sender, receiver) = mpsc::channel();
        let mut logs = Vec::new();
        let mut previous = None;
        for _ in 0..3 {
            let (probe, log) = DropProbe::new();
            logs.push(log);
            let wakers = wakers.clone();
            let (others, sender) = (wakers.clone(), sender.clone());
            let wakes_all = OnDrop(move || {
                let _ = sender.send(panic_message(|| {
                    others.borrow().iter().for_each(Waker::wake_by_ref);
                }));
            });
            let handle = previous.take();
            previous = Some(executor.spawn(poll_fn(move |cx| {
                let _owned = (&probe, &wakes_all, &handle);
                wakers.borrow_mut().push(cx.waker().clone());
                Poll::<()>::Pending
            })));
        }
        let polled = || wakers.borrow().len() == 3;
        executor
            .block_on(until("some tasks still haven't been polled", polled));
        drop(previous);
        drop(executor);
        let dropped = logs.iter().filter(|log| log.count() == 1).count();
        assert!(dropped == 3, "of 3 tasks {dropped} were dropped once");
        let panic = receiver.try_iter().flatten().next();
        assert!(
            panic.is_none(),
            "waking while a task is dropped panics: {panic:?}"
        );
    });
}

/// Clause 11: a task that a destructor spawns must not be lost without a trace.
#[test]
fn what_a_destructor_spawns_is_dropped_too() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "While the executor is dropped, destructors may spawn; the tasks that they spawn \
                  are dropped, and their handles are cancelled.",
        usual_cause: "`spawn` no longer finds an executor; or it adds a task that nothing drops.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check(lesson, || {
        let executor = Whole::new();
        let (probe, log) = DropProbe::new();
        let (sender, receiver) = mpsc::channel();
        let mut probe = Some(probe);
        let spawns = OnDrop(move || {
            let mut task = None;
            let panic = panic_message(|| {
                task = Some(spawn(keep(probe.take())));
            });
            // Not an assertion: the executor catches a destructor's panic.
            let _ = sender.send(task.ok_or(panic));
        });
        drop(executor.spawn(keep(spawns)));
        drop(executor.spawn(keep(PanicOnDrop)));
        drop(executor);
        let spawned = receiver.recv().expect("the destructor has run");
        let task = spawned.unwrap_or_else(|panic| {
            panic!("`spawn` panicked in the destructor of a task: {panic:?}")
        });
        assert!(
            log.count() == 1,
            "the future was dropped {} times",
            log.count()
        );
        let error =
            parker::block_on(task).expect_err("the task was never polled");
        assert!(error.is_cancelled(), "the error is `{error}`");
    });
}

/// When it's dropped, spawns a task that owns another of these, `left` times.
struct SpawnsAnother {
    left: usize,
    sender: mpsc::Sender<Option<String>>,
}

impl Drop for SpawnsAnother {
    fn drop(&mut self) {
        let Some(left) = self.left.checked_sub(1) else {
            return;
        };
        let sender = self.sender.clone();
        let next = Self { left, sender };
        let panic = panic_message(|| drop(spawn(keep(next))));
        let _ = self.sender.send(panic);
    }
}

/// Clause 11: what a destructor spawns may have a destructor that spawns.
#[test]
fn a_task_spawned_at_the_end_may_spawn_another() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "While the executor is dropped, a task that a destructor spawns is dropped, and \
                  may itself spawn in its destructor, and so on.",
        usual_cause: "The tasks are taken out once, and later ones are dropped with the executor's \
                      fields, when `spawn` no longer finds an executor. Take tasks out until there \
                      are none, or drop what is spawned at once.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    const GENERATIONS: usize = 4;
    check(lesson, || {
        // On its own, and in a poll of another executor.
        for is_within in [false, true] {
            let (executor, other) = (Whole::new(), Whole::new());
            let (sender, receiver) = mpsc::channel();
            let left = GENERATIONS;
            drop(executor.spawn(keep(SpawnsAnother { left, sender })));
            match is_within {
                false => drop(executor),
                true => other.block_on(async { drop(executor) }),
            }
            let panics: Vec<_> = receiver.try_iter().collect();
            let panic = panics.iter().flatten().next();
            assert!(
                panic.is_none(),
                "a task that a destructor had spawned called `spawn` in its own destructor, which \
                 panicked: {panic:?}"
            );
            let dropped = panics.len();
            assert!(
                dropped == GENERATIONS,
                "of {GENERATIONS} tasks that spawned one another, {dropped} were dropped; the \
                 executor was dropped in a poll of another: {is_within}"
            );
        }
    });
}

/// Clause 11: a future that awaits a dropped task must not wait forever.
#[test]
fn the_handles_of_dropped_tasks_are_cancelled() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "When the executor is dropped, the handles of tasks that weren't over are ready, \
                  and say that they were cancelled.",
        usual_cause: "The future is dropped, and with it what would have completed its outcome: \
                      that needs a destructor.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check(lesson, || {
        let executor = Whole::new();
        let over = executor.spawn(async { 7 });
        executor.run();
        let never_polled = executor.spawn(async { 7 });
        let waits = executor.spawn(pending::<i32>());
        executor.block_on(Yields(MANY));
        let (sender, receiver) = mpsc::channel();
        let awaiting = thread::spawn(move || {
            let _ = sender.send(ThreadProbe::here());
            parker::block_on(waits)
        });
        receiver.recv().expect("it sends").wait_until_asleep();
        let unrun = Whole::new().spawn(async { 7 });
        drop(executor);
        let waits = awaiting.join().expect("awaiting does not panic");
        let seven = parker::block_on(over).expect("it was over");
        assert!(seven == 7, "it returned {seven}");
        let error = waits.expect_err("it was not over");
        assert!(error.is_cancelled(), "the error is `{error}`");
        let error = parker::block_on(unrun).expect_err("no executor ran it");
        assert!(error.is_cancelled(), "the error is `{error}`");
        let _may_have_run = parker::block_on(never_polled);
    });
}

/// Clause 11: a destructor may throw any value.
#[test]
fn what_destructors_throw_at_the_end_may_panic_in_turn() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "If destructors of futures throw values that panic when they're dropped, dropping \
                  the executor still drops all futures, and doesn't panic.",
        usual_cause: "The panic of a destructor is caught, and what was thrown is dropped outside \
                      `catch_unwind`; or one `catch_unwind` is around the drop of all tasks: the \
                      others are dropped while the first panic unwinds, and a second one aborts \
                      the process.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check(lesson, || {
        let executor = Whole::new();
        let logs = [(); 3].map(|()| {
            let (probe, log) = DropProbe::new();
            // Even if the thread is panicking, which ends the process.
            let throws = OnDrop(|| panic_any(PanicOnDrop));
            drop(executor.spawn(keep((throws, probe))));
            log
        });
        let panic = panic_message(|| drop(executor));
        assert!(panic.is_none(), "dropping the executor panicked: {panic:?}");
        let dropped = logs.iter().filter(|log| log.count() == 1).count();
        assert!(dropped == 3, "of 3 tasks {dropped} were dropped once");
    });
}

/// Clause 11: a handle may be polled by the thread that drops the executor.
#[test]
fn a_dropped_task_is_gone_before_its_handle_is_ready() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "When the handle of a task that was dropped with its executor is ready, the task's \
                  future has been dropped.",
        usual_cause: "What completes the handle is dropped before the future.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check(lesson, || {
        let executor = Whole::new();
        let (probe, log) = DropProbe::new();
        let (sender, receiver) = mpsc::channel();
        let seen = log.clone();
        let waker = HostileWaker::new(move || {
            let _ = sender.send(seen.count());
        });
        let mut handle = executor.spawn(keep(probe));
        assert!(poll(&mut handle, &waker).is_pending());
        drop(executor);
        let drops = receiver.recv().expect("the handle's waker is called");
        assert!(
            drops == 1,
            "when the handle was ready, the future had been dropped {drops} times"
        );
    });
}

/// Clause 11: timers and sockets keep wakers for longer than you might think.
#[test]
fn wakers_outlive_the_executor_and_leave_nothing() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "A waker may be called and dropped when its executor is gone. When all wakers are \
                  gone, all memory has been freed.",
        usual_cause: "Late wake-ups pile up in a queue; or a cycle of `Arc`s, from the queue to \
                      the tasks and back, is never broken.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    const TASKS: usize = 50;
    let once = || {
        let executor = Whole::new();
        let tasks = [(); TASKS].map(|()| {
            let (future, task) = ManualFuture::new();
            drop(executor.spawn(future));
            task
        });
        executor.block_on(Yields(MANY));
        let wakers = tasks.map(|task| waker_of(&task));
        let wake =
            |wakers: &[Waker]| wakers.iter().for_each(Waker::wake_by_ref);
        wake(&wakers[..TASKS / 2]);
        drop(executor);
        let dead = live_blocks();
        wake(&wakers);
        let (result, grown) = (live_blocks() - dead, TASKS as isize / 2);
        assert!(
            result < grown,
            "{TASKS} wake-ups after the executor's end have left {result} blocks of memory"
        );
        wakers.into_iter().for_each(Waker::wake);
    };
    check(lesson, move || {
        (0..3).for_each(|_| once());
        let before = live_blocks();
        const TIMES: isize = 10;
        (0..TIMES).for_each(|_| once());
        let left = live_blocks() - before;
        assert!(
            left < TIMES,
            "{TIMES} executors of {TASKS} tasks have left {left} blocks of memory"
        );
    });
}
