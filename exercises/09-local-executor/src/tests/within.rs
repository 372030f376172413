//! What a task may do while it's polled.

use super::*;

/// Clause 7: futures do this all the time.
#[test]
fn a_task_may_spawn_and_wake_while_it_is_polled() {
    let lesson = Lesson {
        clause: "7. Re-entrant",
        promise: "While it's polled, a task may spawn tasks, wake them and drop their handles.",
        usual_cause: "A `RefCell` is borrowed, or a lock held, while a task is polled. Take the \
                      task out first.",
        read: "scheduler/local-executor.html#nothing-borrowed-while-a-future-runs",
    };
    check(lesson, || {
        let executor = Rc::new(LocalExecutor::new());
        let tasks = [(); 3].map(|()| spawn_waiting(&executor));
        let ended = Rc::new(Cell::new(0));
        let (inner, counted) = (executor.clone(), ended.clone());
        drop(executor.spawn(async move {
            for _ in 0..100 {
                let ended = counted.clone();
                drop(spawn(async move { ended.set(ended.get() + 1) }));
                let ended = counted.clone();
                drop(inner.spawn(async move { ended.set(ended.get() + 1) }));
            }
            tasks.iter().for_each(ManualHandle::complete);
        }));
        executor.run();
        assert!(ended.get() == 200, "of 200 tasks, {} have run", ended.get());
    });
}

/// Clause 7: a guard that sends a last message, a task that supervises others.
#[test]
fn a_destructor_may_spawn_and_wake() {
    let lesson = Lesson {
        clause: "7. Re-entrant",
        promise: "Anything that is dropped as a task ends, its future or its output, may spawn and \
                  wake.",
        usual_cause: "The task is dropped while the tasks are borrowed, for example by the line \
                      that removes it from a table.",
        read: "scheduler/local-executor.html#nothing-borrowed-while-a-future-runs",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let tasks = [(); 3].map(|()| spawn_waiting(&executor));
        let ended = Rc::new(Cell::new(0));
        let mut guards = tasks.map(|task| {
            let ended = ended.clone();
            OnDrop(move || {
                let ended = ended.clone();
                drop(spawn(async move { ended.set(ended.get() + 1) }));
                task.complete();
            })
        });
        guards.rotate_left(1);
        let [first, second, third] = guards;
        drop(executor.spawn(poll_fn(move |_| {
            let _owned = &first;
            Poll::Ready(())
        })));
        drop(executor.spawn(async { second }));
        drop(executor.spawn(poll_fn(move |_| -> Poll<()> {
            let _owned = &third;
            panic!("boom")
        })));
        executor.run();
        assert!(ended.get() == 3, "of 3 tasks, {} have run", ended.get());
    });
}

/// Clause 7: a task that blocks its thread until other tasks of that thread run
/// waits forever.
#[test]
fn a_recursive_run_panics() {
    let lesson = Lesson {
        clause: "7. Re-entrant",
        promise: "`run` and `block_on`, of any executor, panic within a task; the running calls \
                  continue.",
        usual_cause: "Nothing records that an executor runs on this thread; or the inner call \
                      replaces the record, and it's gone when that call ends. At a hang: the call \
                      that is refused has already made its own executor the thread's current one, \
                      and doesn't restore the other, so that a later `spawn` goes to the wrong \
                      executor. Check first, and then replace.",
        read: "scheduler/local-executor.html#nothing-borrowed-while-a-future-runs",
    };
    check(lesson, || {
        let executor = Rc::new(LocalExecutor::new());
        let messages = || {
            let other = LocalExecutor::new();
            let inner = executor.clone();
            [
                panic_message(|| inner.run()),
                panic_message(|| inner.block_on(async {})),
                panic_message(|| other.run()),
                panic_message(|| other.block_on(async {})),
            ]
        };
        let in_root = executor.block_on(async { messages() });
        let in_task = executor.block_on(async {
            let (sender, receiver) = mpsc::channel();
            let (executor, other) = (executor.clone(), LocalExecutor::new());
            let task = spawn(async move {
                let first = panic_message(|| executor.run());
                let _ = sender.send(first);
                let _ = sender.send(panic_message(|| other.block_on(async {})));
                Yields(2).await;
                spawn(async { 7 }).await.expect("the task returns")
            });
            let seven = task.await.expect("the task goes on");
            assert!(seven == 7, "the task returned {seven}");
            receiver.iter().collect::<Vec<_>>()
        });
        for message in in_root.into_iter().chain(in_task) {
            let message = message.expect("a recursive call must panic");
            assert!(
                message.contains("recursive"),
                "the panic doesn't say what is wrong, but: {message}"
            );
        }
    });
}

/// Clause 13: code deep within a task has no reference to the executor.
#[test]
fn spawn_finds_the_executor_of_this_thread() {
    let lesson = Lesson {
        clause: "13. Here",
        promise: "`spawn` creates a task on the executor that runs on this thread, for each thread \
                  its own.",
        usual_cause: "The record of the running executor is shared by all threads, is made by \
                      `new`, or is set only while a task is polled. Or `block_on` pins its future \
                      before it makes the guard of the record: locals are dropped in reverse \
                      order, so the future is dropped when the record is gone.",
        read: "scheduler/local-executor.html#which-executor-runs-here",
    };
    check(lesson, || {
        let spawns = |executor: &LocalExecutor, number: i32| {
            let home = thread::current().id();
            let task = async move {
                let inner =
                    spawn(async move { (thread::current().id(), number) });
                inner.await.expect("the task returns")
            };
            let result = executor.block_on(task);
            assert!(result == (home, number), "the task ran elsewhere");
            drop(executor.spawn(async move { drop(spawn(Yields(2))) }));
            executor.run();
        };
        let [first, second] = [(); 2].map(|()| LocalExecutor::new());
        for number in 0..3 {
            spawns(&first, number);
            elsewhere(|| spawns(&LocalExecutor::new(), number));
            spawns(&second, number);
        }
        // The destructor of the caller's future runs here, too, no matter
        // whether that is in its last poll, or after it.
        let last_words = OnDrop(|| drop(spawn(async {})));
        first.block_on(async move { drop(last_words) });
        let (sender, receiver) = mpsc::channel();
        let last_words = OnDrop(move || {
            let panic = panic_message(|| drop(spawn(async {})));
            let _ = sender.send(panic);
        });
        first.block_on(poll_fn(move |_| {
            let _owned = &last_words;
            Poll::Ready(())
        }));
        let panic = receiver.recv().expect("the future was dropped");
        assert!(
            panic.is_none(),
            "the future of `block_on` called `spawn` as it was dropped, which panicked: {panic:?}"
        );
    });
}

/// Clause 13: a task may own an executor, and drop it.
#[test]
fn an_executor_that_is_dropped_in_a_task_leaves_this_one() {
    let lesson = Lesson {
        clause: "13. Here",
        promise: "After a task has dropped another executor, `spawn` still creates a task on the \
                  running executor, and calling `run` on it still panics.",
        usual_cause: "The end of an executor's destructor leaves the thread without a current \
                      executor. Restore the one that was current before.",
        read: "scheduler/local-executor.html#which-executor-runs-here",
    };
    check(lesson, || {
        for has_tasks in [false, true] {
            let executor = Rc::new(LocalExecutor::new());
            let this = executor.clone();
            let spawned = executor.block_on(async move {
                let other = LocalExecutor::new();
                if has_tasks {
                    drop(other.spawn(std::future::pending::<()>()));
                }
                drop(other);
                let message = panic_message(|| this.run());
                let spawned = panic_message(|| drop(spawn(async {})));
                (message, spawned)
            });
            let (run, spawned) = spawned;
            assert!(
                spawned.is_none(),
                "a task dropped an executor, and then `spawn` panicked: {spawned:?}"
            );
            assert!(
                run.is_some(),
                "a task dropped an executor, and then `run` didn't panic in it"
            );
            executor.run();
        }
    });
}

/// Clause 13: a clear message is better than a task that never runs.
#[test]
fn spawn_panics_without_a_running_executor() {
    let lesson = Lesson {
        clause: "13. Here",
        promise: "Where no executor runs, `spawn` panics, and says so: even after one has run, no \
                  matter how it ended.",
        usual_cause: "The record of the running executor isn't cleared, or isn't cleared by a panic.",
        read: "scheduler/local-executor.html#which-executor-runs-here",
    };
    check(lesson, || {
        let assert_panics = |when: &str| {
            let message = panic_message(|| drop(spawn(async {})));
            let message = message.unwrap_or_else(|| {
                panic!("{when} `spawn` created a task that no executor runs")
            });
            assert!(
                message.contains("executor"),
                "{when} the panic doesn't say what is wrong, but: {message}"
            );
        };
        assert_panics("at first");
        let executor = LocalExecutor::new();
        assert_panics("before it runs");
        executor.block_on(async {});
        executor.run();
        assert_panics("after it has run");
        let panics = || executor.block_on(async { panic!("boom") });
        let caught = catch_unwind(AssertUnwindSafe(panics));
        assert!(caught.is_err(), "the panic wasn't passed on");
        assert_panics("after a panic");
        drop(executor);
        assert_panics("after it was dropped");
    });
}
