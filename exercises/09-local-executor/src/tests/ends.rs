//! How tasks and the executor end, and where.

use super::super::LocalExecutor as Whole;
use super::*;

/// Waits for ever, and owns something.
async fn keep<T>(_kept: T) {
    pending::<()>().await;
}

/// Clause 6: an `async fn` panics when it is resumed after its end.
#[test]
fn a_task_that_is_over_is_not_polled_again() {
    let lesson = Lesson {
        clause: "6. Over",
        promise: "A task that was ready is never polled again, whoever wakes it: late, or in its \
                  last poll.",
        usual_cause: "The task stays where it is found by its waker, or is put back into its place \
                      after its last poll.",
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
        assert!(polls.get() == 1, "it was polled {} times", polls.get());
    });
}

/// Clause 6: it may hold a lock, a file, or the other end of a channel.
#[test]
fn the_future_is_dropped_when_its_task_is_over() {
    let lesson = Lesson {
        clause: "6. Over",
        promise: "When a handle is ready, the future of its task has been dropped, though wakers of \
                  it are left.",
        usual_cause: "The future lives as long as its wakers do, or as the executor; or the result \
                      is handed over first.",
        read: "scheduler/local-executor.html#when-a-task-is-over",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let (probe, log) = DropProbe::new();
        let (future, task) = ManualFuture::new();
        let mut future = Box::pin(future);
        // Not an `async` block, which drops what it holds when it ends.
        let mut handle = executor.spawn(poll_fn(move |cx| {
            let _held = &probe;
            future.as_mut().poll(cx)
        }));
        let (tell, told) = mpsc::channel();
        let seen = log.clone();
        let waker = HostileWaker::new(move || {
            let _ = tell.send(seen.count());
        });
        assert!(poll(&mut handle, &waker).is_pending());
        executor.block_on(until("it was not polled", || task.polls() > 0));
        let _kept = waker_of(&task);
        task.complete();
        executor.run();
        let drops = told.recv().expect("who awaits it is woken");
        assert!(
            drops == 1,
            "when its handle was ready, the future had been dropped {drops} times"
        );
    });
}

/// Clause 10: a waker must be `Send`, and the future need not be.
#[test]
fn the_last_waker_does_not_take_the_task_along() {
    let lesson = Lesson {
        clause: "10. At home",
        promise: "A task that holds an `Rc` is dropped on its own thread, though its last waker is \
                  dropped, or woken, elsewhere.",
        usual_cause: "A waker holds an `Arc` of the task, and with it the future. Whoever drops the \
                      last one drops the future.",
        read: "scheduler/local-executor.html#who-drops-the-future",
    };
    check(lesson, || {
        for is_over in [false, true] {
            for last in [drop::<Waker>, Waker::wake] {
                let executor = Whole::new();
                let (future, task) = ManualFuture::new();
                let (probe, log) = DropProbe::new();
                let held = Rc::new(probe);
                let mut future = Box::pin(future);
                drop(executor.spawn(poll_fn(move |cx| {
                    let _held = &held;
                    future.as_mut().poll(cx)
                })));
                let polled = || task.polls() > 0;
                executor.block_on(until("it was not polled", polled));
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
        "it was dropped by {threads:?}, and this is {:?}",
        thread::current().id()
    );
}

/// Clause 10: whoever wakes does not run.
#[test]
fn an_executor_stays_on_its_thread() {
    let lesson = Lesson {
        clause: "10. At home",
        promise: "A task is polled on the executor's thread, whoever wakes it; the executor cannot \
                  leave it.",
        usual_cause: "`wake` polls; or nothing in the executor keeps it from being `Send`: an `Rc` \
                      does.",
        read: "scheduler/local-executor.html#who-drops-the-future",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let home = thread::current().id();
        let mut polls_left = 5;
        let task = executor.spawn(poll_fn(move |cx| {
            let here = thread::current().id();
            assert!(here == home, "it was polled on {here:?}, not {home:?}");
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

/// Asks whether `T` is `Send`. Where it is, the method below wins over the
/// trait's.
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
        promise: "With the executor all its tasks are dropped: those that were never polled, those \
                  that wait, and those that are in the queue.",
        usual_cause: "Only what is in the queue is dropped. Who waits is kept alive by its wakers, or \
                      the executor keeps itself alive by them.",
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
                let _held = probe;
                future.await;
            }));
        }
        let all_polled = || tasks.iter().all(|task| task.polls() > 0);
        executor.block_on(until("not all were polled", all_polled));
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

/// Clause 11: a task that keeps its own waker is nothing unusual.
#[test]
fn tasks_that_refer_to_each_other_are_dropped() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "Tasks that hold their own waker, or each other's handles and wakers, are dropped \
                  like any other; and their destructors may wake each other.",
        usual_cause: "A waker owns the task, so the task owns itself; or the tasks are borrowed while \
                      they are dropped.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check(lesson, || {
        let executor = Whole::new();
        let wakers = Rc::new(RefCell::new(Vec::<Waker>::new()));
        let (tell, told) = mpsc::channel();
        let mut logs = Vec::new();
        let mut previous = None;
        for _ in 0..3 {
            let (probe, log) = DropProbe::new();
            logs.push(log);
            let wakers = wakers.clone();
            let (others, tell) = (wakers.clone(), tell.clone());
            let wakes_all = OnDrop(move || {
                let _ = tell.send(panic_message(|| {
                    others.borrow().iter().for_each(Waker::wake_by_ref);
                }));
            });
            let handle = previous.take();
            previous = Some(executor.spawn(poll_fn(move |cx| {
                let _held = (&probe, &wakes_all, &handle);
                wakers.borrow_mut().push(cx.waker().clone());
                Poll::<()>::Pending
            })));
        }
        let polled = || wakers.borrow().len() == 3;
        executor.block_on(until("not all were polled", polled));
        drop(previous);
        drop(executor);
        let dropped = logs.iter().filter(|log| log.count() == 1).count();
        assert!(dropped == 3, "of 3 tasks {dropped} were dropped once");
        let panic = told.try_iter().flatten().next();
        assert!(
            panic.is_none(),
            "to wake as one is dropped panics: {panic:?}"
        );
    });
}

/// Clause 11: the last words of a task must not be lost without a trace.
#[test]
fn what_a_destructor_spawns_is_dropped_too() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "While the executor is dropped, destructors may spawn; what they spawn is dropped, \
                  and its handle is cancelled.",
        usual_cause: "`spawn` finds no executor any more; or it adds a task that nobody drops.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check(lesson, || {
        let executor = Whole::new();
        let (probe, log) = DropProbe::new();
        let (tell, told) = mpsc::channel();
        let mut probe = Some(probe);
        let spawns = OnDrop(move || {
            let task = panic_message(|| {
                let _ = tell.send(spawn(keep(probe.take())));
            });
            assert!(task.is_none(), "`spawn` panicked: {task:?}");
        });
        drop(executor.spawn(keep(spawns)));
        drop(executor.spawn(keep(PanicOnDrop)));
        drop(executor);
        let task = told.recv().expect("it has spawned a task");
        assert!(
            log.count() == 1,
            "its future was dropped {} times",
            log.count()
        );
        let error = parker::block_on(task).expect_err("it was never polled");
        assert!(error.is_cancelled(), "the error is `{error}`");
    });
}

/// Spawns, as it is dropped, a task that owns such a one, so many times.
struct SpawnsInTurn {
    left: usize,
    tell: mpsc::Sender<Option<String>>,
}

impl Drop for SpawnsInTurn {
    fn drop(&mut self) {
        let Some(left) = self.left.checked_sub(1) else {
            return;
        };
        let tell = self.tell.clone();
        let next = Self { left, tell };
        let panic = panic_message(|| drop(spawn(keep(next))));
        let _ = self.tell.send(panic);
    }
}

/// Clause 11: the last words may have last words.
#[test]
fn what_is_spawned_at_the_end_may_spawn_in_turn() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "While the executor is dropped, what a destructor spawns is dropped, and may spawn in \
                  its own destructor, and so on.",
        usual_cause: "The tasks are taken out once, and what comes meanwhile is dropped with the \
                      executor's fields, when `spawn` finds no executor any more. Take tasks out until \
                      there are none, or drop at once what is spawned.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    const GENERATIONS: usize = 4;
    check(lesson, || {
        let executor = Whole::new();
        let (tell, told) = mpsc::channel();
        let left = GENERATIONS;
        drop(executor.spawn(keep(SpawnsInTurn { left, tell })));
        drop(executor);
        let panics: Vec<_> = told.try_iter().collect();
        let panic = panics.iter().flatten().next();
        assert!(
            panic.is_none(),
            "a destructor of a task that a destructor had spawned spawned one, and that panicked: \
             {panic:?}"
        );
        let dropped = panics.len();
        assert!(
            dropped == GENERATIONS,
            "of {GENERATIONS} tasks that were spawned in turn {dropped} were dropped"
        );
    });
}

/// Clause 11: whoever waits for a task must not wait for ever.
#[test]
fn the_handles_of_dropped_tasks_are_cancelled() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "When the executor is dropped, the handles of tasks that were not over are ready, \
                  and say that they were cancelled.",
        usual_cause: "The future is dropped, and what would have completed its outcome with it: that \
                      needs a destructor.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check(lesson, || {
        let executor = Whole::new();
        let over = executor.spawn(async { 7 });
        executor.run();
        let never_polled = executor.spawn(async { 7 });
        let waits = executor.spawn(pending::<i32>());
        executor.block_on(Yields(MANY));
        let (tell, told) = mpsc::channel();
        let awaiting = thread::spawn(move || {
            let _ = tell.send(ThreadProbe::here());
            parker::block_on(waits)
        });
        told.recv().expect("it tells").wait_until_asleep();
        let unrun = Whole::new().spawn(async { 7 });
        drop(executor);
        let waits = awaiting.join().expect("awaiting does not panic");
        let seven = parker::block_on(over).expect("it was over");
        assert!(seven == 7, "it returned {seven}");
        let error = waits.expect_err("it was not over");
        assert!(error.is_cancelled(), "the error is `{error}`");
        let error = parker::block_on(unrun).expect_err("nobody ran it");
        assert!(error.is_cancelled(), "the error is `{error}`");
        let _may_have_run = parker::block_on(never_polled);
    });
}

/// Clause 11: timers and sockets keep wakers for longer than one thinks.
#[test]
fn wakers_outlive_the_executor_and_leave_nothing() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "A waker may be woken and dropped when its executor is gone. When all are gone, all \
                  memory has been freed.",
        usual_cause: "Wake-ups for nobody pile up in a queue; or a cycle of `Arc`s, from the queue to \
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
            "{TASKS} wake-ups for nobody have left {result} blocks of memory"
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
