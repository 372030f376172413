//! What a task may do while it is polled.

use super::*;

/// Clause 7: this is what futures do.
#[test]
fn a_task_may_spawn_and_wake_while_it_is_polled() {
    let lesson = Lesson {
        clause: "7. Re-entrant",
        promise: "While it is polled, a task spawns tasks, wakes them and drops their handles.",
        usual_cause: "A `RefCell` is borrowed, or a lock held, while a task is polled. Take the task \
                      out first.",
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
        assert!(ended.get() == 200, "of 200 tasks {} have run", ended.get());
    });
}

/// Clause 7: a guard that says goodbye, a task that supervises others.
#[test]
fn a_destructor_may_spawn_and_wake() {
    let lesson = Lesson {
        clause: "7. Re-entrant",
        promise: "Whatever is dropped as a task ends, its future or its output, may spawn and wake.",
        usual_cause: "The task is dropped while the tasks are borrowed, for instance by the line that \
                      removes it from a table.",
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
            let _held = &first;
            Poll::Ready(())
        })));
        drop(executor.spawn(async { second }));
        drop(executor.spawn(poll_fn(move |_| -> Poll<()> {
            let _held = &third;
            panic!("boom")
        })));
        executor.run();
        assert!(ended.get() == 3, "of 3 tasks {} have run", ended.get());
    });
}

/// Clause 7: to wait in a task for other tasks of its thread is to wait for
/// ever.
#[test]
fn a_recursive_run_panics() {
    let lesson = Lesson {
        clause: "7. Re-entrant",
        promise: "`run` and `block_on`, of whichever executor, panic within a task; the others go on.",
        usual_cause: "Nothing notes that an executor runs on this thread; or the note is replaced by the \
                      inner call, and gone when that ends. At a hang: the call that is refused has \
                      already made its own executor the thread's, and doesn't put the other one back, so \
                      that a later `spawn` goes to the wrong executor. Look first, and then replace.",
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
            let (tell, told) = mpsc::channel();
            let (executor, other) = (executor.clone(), LocalExecutor::new());
            let task = spawn(async move {
                let first = panic_message(|| executor.run());
                let _ = tell.send(first);
                let _ = tell.send(panic_message(|| other.block_on(async {})));
                Yields(2).await;
                spawn(async { 7 }).await.expect("it returns")
            });
            let seven = task.await.expect("the task goes on");
            assert!(seven == 7, "the task returned {seven}");
            told.iter().collect::<Vec<_>>()
        });
        for message in in_root.into_iter().chain(in_task) {
            let message = message.expect("a recursive call must panic");
            assert!(
                message.contains("recursive"),
                "the panic does not say what is wrong, but: {message}"
            );
        }
    });
}

/// Clause 13: deep within a task nobody has the executor at hand.
#[test]
fn spawn_finds_the_executor_of_this_thread() {
    let lesson = Lesson {
        clause: "13. Here",
        promise: "`spawn` makes a task of the executor that runs on this thread, in each thread its own.",
        usual_cause: "The note of who runs here is shared by all threads, is made by `new`, or is set \
                      only while a task is polled.",
        read: "scheduler/local-executor.html#which-executor-runs-here",
    };
    check(lesson, || {
        let spawns = |executor: &LocalExecutor, number: i32| {
            let home = thread::current().id();
            let task = async move {
                let inner =
                    spawn(async move { (thread::current().id(), number) });
                inner.await.expect("it returns")
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
        // The destructor of the caller's future runs here, too.
        let last_words = OnDrop(|| drop(spawn(async {})));
        first.block_on(async move { drop(last_words) });
    });
}

/// Clause 13: a task may own an executor, and drop it.
#[test]
fn an_executor_that_is_dropped_in_a_task_leaves_this_one() {
    let lesson = Lesson {
        clause: "13. Here",
        promise: "After a task has dropped another executor, `spawn` still makes a task of the one that \
                  runs, and `run` in it still panics.",
        usual_cause: "The end of an executor's destructor notes that none is here any more. Put back \
                      what was noted before it.",
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

/// Clause 13: better a clear word than a task that never runs.
#[test]
fn spawn_panics_where_no_executor_runs() {
    let lesson = Lesson {
        clause: "13. Here",
        promise: "Where no executor runs, `spawn` panics, and says so: also after one has run, by \
                  whichever way it ended.",
        usual_cause: "The note of who runs here is not taken back, or not when a panic passes.",
        read: "scheduler/local-executor.html#which-executor-runs-here",
    };
    check(lesson, || {
        let assert_panics = |when: &str| {
            let message = panic_message(|| drop(spawn(async {})));
            let message = message.unwrap_or_else(|| {
                panic!("{when} `spawn` made a task of nobody knows whose")
            });
            assert!(
                message.contains("executor"),
                "{when} the panic does not say what is wrong, but: {message}"
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
        assert!(caught.is_err(), "the panic did not come out");
        assert_panics("after a panic");
        drop(executor);
        assert_panics("after it was dropped");
    });
}
