//! Where code runs, and on which runtime.

use super::*;

/// Clause 10: nothing that `block_on` runs needs to leave the thread.
#[test]
fn block_on_polls_on_its_own_thread() {
    let lesson = Lesson {
        clause: "10. Block on",
        promise: "`block_on` polls a future that borrows and isn't `Send` on the thread that calls \
                  it, and several threads can call it at a time.",
        usual_cause: "The future is spawned as a task, or all calls share one parker.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let runtime = runtime(2);
        let meeting = Barrier::new(3);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let local = Rc::new(Cell::new(0));
                    let here = thread::current().id();
                    let elsewhere = runtime.block_on(async {
                        meeting.wait();
                        let task = spawn(async { thread::current().id() });
                        let there = task.await.expect("the task returns");
                        local.set(local.get() + 1);
                        assert!(
                            thread::current().id() == here,
                            "the future moved to another thread"
                        );
                        there
                    });
                    assert!(
                        local.get() == 1 && elsewhere != here,
                        "a task ran on the thread of `block_on`"
                    );
                });
            }
        });
    });
}

/// Clause 10: a worker that blocks on a task may wait for itself.
#[test]
fn block_on_within_a_task_panics() {
    let lesson = Lesson {
        clause: "10. Block on",
        promise: "`block_on` within a task or another `block_on` panics and says \"within\"; the \
                  outer `block_on` or the task continues.",
        usual_cause: "The thread doesn't record that it's running a future; or it doesn't clear \
                      the record when that future panics; or the inner `block_on` clears the \
                      record as it panics, so that a second one is allowed. Or `block_on` checks \
                      only for the runtime that it was called on: a thread can't wait for two \
                      futures, even of different runtimes.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let runtime = Arc::new(runtime(2));
        let other = Arc::new(super::runtime(1));
        let nested = |place: &str, runtime: &Runtime, other: &Runtime| {
            for (whose, runtime) in [
                ("the same runtime", runtime),
                ("another runtime", other),
                ("the same runtime, for the second time", runtime),
            ] {
                let message = panic_message(|| runtime.block_on(async {}));
                let message = message.unwrap_or_else(|| {
                    panic!("in {place} `block_on` of {whose} was allowed")
                });
                assert!(
                    message.contains("within"),
                    "the panic says: {message}"
                );
            }
        };
        let inner = (runtime.clone(), other.clone());
        let task = runtime.spawn(async move {
            nested("a task", &inner.0, &inner.1);
        });
        runtime.block_on(async {
            nested("`block_on`", &runtime, &other);
            let returned = task.await;
            if let Err(error) = returned {
                std::panic::resume_unwind(error.into_panic());
            }
        });
        let thrown =
            panic_message(|| runtime.block_on(async { panic!("mine") }));
        assert!(
            thrown.as_deref() == Some("mine"),
            "`block_on` threw {thrown:?}"
        );
        runtime.block_on(async {});
    });
}

/// Clause 10: a job may block, so it may wait for a future.
#[test]
fn block_on_is_allowed_wherever_a_thread_may_wait() {
    let lesson = Lesson {
        clause: "10. Block on",
        promise: "`block_on` may be called in a blocking job, and while a guard of `enter` exists.",
        usual_cause: "`block_on` panics if any runtime was entered. Blocking jobs and guards \
                      also enter one, but they keep no worker from its tasks. Check whether this \
                      thread is a worker or runs a `block_on`.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let runtime = Arc::new(runtime(1));
        let entered = runtime.enter();
        let mut output = None;
        let panic = panic_message(|| {
            output = Some(runtime.block_on(async { spawn(async { 1 }).await }));
        });
        drop(entered);
        assert!(
            panic.is_none(),
            "`block_on` after `enter` panicked: {panic:?}"
        );
        assert!(matches!(output, Some(Ok(1))), "the task returns");
        let inner = runtime.clone();
        let job = runtime.spawn_blocking(move || {
            let mut output = None;
            let panic = panic_message(|| {
                output =
                    Some(inner.block_on(async { spawn(async { 2 }).await }));
            });
            (panic, matches!(output, Some(Ok(2))))
        });
        let (panic, is_right) = runtime.block_on(job).expect("it returns");
        assert!(panic.is_none(), "`block_on` in a job panicked: {panic:?}");
        assert!(is_right, "the task returns");
    });
}

/// Clause 11: passing a handle to every function would be tedious.
#[test]
fn free_functions_find_their_runtime() {
    let lesson = Lesson {
        clause: "11. Where you are",
        promise: "`spawn`, `spawn_blocking` and `sleep` use the runtime of the task, of the \
                  blocking job, of the `block_on`, or the runtime that one of these has entered \
                  since.",
        usual_cause: "The runtime of a thread is set once instead of for each call, or isn't \
                      restored when an inner one is left; or the threads of blocking jobs don't \
                      enter the runtime that their job belongs to; or a worker always uses its \
                      own runtime, although its task has entered another.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let named = |name: &str| {
            endless(
                Runtime::builder()
                    .thread_name(name)
                    .worker_threads(1)
                    .build(),
            )
        };
        async fn name() -> String {
            sleep(Duration::ZERO).await;
            let task =
                spawn(async { thread::current().name().map(str::to_owned) });
            task.await.expect("the task returns").unwrap_or_default()
        }
        let (ants, bees) = (named("ant"), named("bee"));
        let is_of = |place: &str, name: String, whose: &str| {
            assert!(name == whose, "{place} a task runs on `{name}`");
        };
        is_of("in `block_on`", ants.block_on(name()), "ant");
        is_of(
            "in a task",
            ants.block_on(bees.spawn(name())).unwrap(),
            "bee",
        );
        let guest = ants.handle();
        let visiting = bees.spawn(async move {
            let task = {
                let _inside = guest.enter();
                spawn(name())
            };
            task.await.expect("the task returns")
        });
        is_of(
            "in a task that has entered another runtime",
            ants.block_on(visiting).unwrap(),
            "ant",
        );
        let job = bees.spawn_blocking(|| spawn(name()));
        let task = ants.block_on(job).expect("the job returns");
        is_of("in a blocking job", ants.block_on(task).unwrap(), "bee");
        let job = ants.block_on(async {
            spawn_blocking(|| spawn(name()))
                .await
                .expect("the job returns")
        });
        is_of("in its job", ants.block_on(job).unwrap(), "ant");
        let entered = ants.enter();
        {
            let handle = bees.handle();
            let _inner = handle.enter();
            is_of(
                "within the inner `enter`",
                parker::block_on(spawn(name())).unwrap(),
                "bee",
            );
        }
        is_of(
            "within the outer `enter`",
            parker::block_on(spawn(name())).unwrap(),
            "ant",
        );
        drop(entered);
        let outside = panic_message(|| drop(spawn(async {})));
        assert!(
            outside.is_some(),
            "after the guard was dropped, `spawn` still found a runtime"
        );
    });
}

/// Clause 11: `forget` is safe, so user code may call it.
#[test]
fn a_guard_that_is_forgotten_harms_nobody() {
    let lesson = Lesson {
        clause: "11. Where you are",
        promise: "A task or a job that forgets the guard of an `enter` returns its output, later \
                  tasks find their own runtime, and the runtime can be dropped.",
        usual_cause: "The thread's own guard finds that a later one was not dropped, and panics: \
                      in the worker's loop, or between the end of the job and its handle. Or the \
                      worker enters its runtime once, and stays in the other one after the task. \
                      After each poll the worker has to leave what the user's code has entered. At \
                      a hang: that panic has ended a worker (is one missing among the threads?). \
                      If all are there, see clause 3: a worker that found tasks didn't wake \
                      another for the next.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let handle = runtime.handle();
            for number in 0..5 {
                let (here, there) = (handle.clone(), handle.clone());
                let task = runtime.spawn(async move {
                    forget(Some(here.enter()));
                    number
                });
                let job = runtime.spawn_blocking(move || {
                    forget(Some(there.enter()));
                    number
                });
                let (task, job) =
                    runtime.block_on(async { (task.await, job.await) });
                let task = task.expect("the task returns");
                let job = job.expect("the job returns");
                assert!((task, job) == (number, number), "{task} and {job}");
            }
            let elsewhere =
                endless(Runtime::builder().thread_name("elsewhere").build());
            for _ in 0..workers * 2 {
                let there = elsewhere.handle();
                let forgets =
                    runtime.spawn(async move { forget(Some(there.enter())) });
                runtime.block_on(forgets).expect("it returns");
                let next = runtime.spawn(async {
                    spawn(async { thread::current().name().map(str::to_owned) })
                });
                let place = runtime
                    .block_on(async { next.await.expect("it returns").await });
                let place = place.expect("it returns").unwrap_or_default();
                assert!(
                    place != "elsewhere",
                    "a task forgot the guard of another runtime, and a later task's spawn ran there"
                );
            }
            drop(elsewhere);
            runtime.block_on(all(meet(&handle, workers)));
            let panic = panic_message(|| drop(runtime));
            assert!(panic.is_none(), "the drop panics: {}", panic.unwrap());
        }
    });
}

/// Clause 11: this panic is the first that a newcomer sees.
#[test]
fn outside_a_runtime_free_functions_say_so() {
    let lesson = Lesson {
        clause: "11. Where you are",
        promise: "Where there's no runtime, each of the three functions panics and says \
                  \"runtime\".",
        usual_cause: "The function unwraps a missing runtime, with no word on what to do about it. \
                      Or a `block_on` whose future panics doesn't leave its runtime: leave it in a \
                      destructor.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let calls: [(&str, fn()); 3] = [
            ("spawn", || drop(spawn(async {}))),
            ("spawn_blocking", || drop(spawn_blocking(|| ()))),
            ("sleep", || drop(sleep(Duration::ZERO))),
        ];
        for panics in [false, true] {
            let runtime = runtime(1);
            let panic = panic_message(|| {
                runtime.block_on(async { assert!(!panics, "mine") });
            });
            assert!(panic.is_some() == panics, "`block_on` threw {panic:?}");
            drop(runtime);
            let how = if panics { "panicked" } else { "returned" };
            for (name, call) in calls {
                let message = panic_message(call).unwrap_or_else(|| {
                    panic!(
                        "a `block_on` has {how}, and afterward `{name}` found a \
                         runtime"
                    )
                });
                assert!(
                    message.contains("runtime"),
                    "the panic says: {message}"
                );
            }
        }
    });
}

/// Clause 12: blocking code runs on other threads.
#[test]
fn blocking_jobs_leave_the_workers_alone() {
    let lesson = Lesson {
        clause: "12. Blocking jobs",
        promise: "Tasks run while more blocking jobs wait than there are workers, and no more jobs \
                  run at a time than allowed.",
        usual_cause: "Jobs run on the workers, or the pool doesn't use the builder's cap.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let runtime = endless(
            Runtime::builder()
                .worker_threads(1)
                .max_blocking_threads(3)
                .build(),
        );
        let (opener, meeting) = (Opener::new(), Arc::new(Barrier::new(4)));
        let (running, most) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let jobs = (0..6).map(|number| {
            let (gate, meeting) = (opener.gate(), meeting.clone());
            let (running, most) = (running.clone(), most.clone());
            runtime.spawn_blocking(move || {
                most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                if number < 3 {
                    meeting.wait();
                }
                gate.wait();
                running.fetch_sub(1, SeqCst);
                number
            })
        });
        let jobs: Vec<_> = jobs.collect();
        meeting.wait();
        runtime
            .block_on(runtime.spawn(async {}))
            .expect("the task returns");
        // Gives one job too many time to begin.
        thread::sleep(Duration::from_millis(50));
        drop(opener);
        for (number, job) in jobs.into_iter().enumerate() {
            let result = runtime.block_on(job).expect("the job returns");
            assert!(result == number, "job {number} returned {result}");
        }
        let most = most.load(SeqCst);
        assert!(
            most == 3,
            "{most} jobs ran at a time, although 3 are allowed"
        );
    });
}

/// Clause 14: a worker is a worker of one runtime only.
#[test]
fn a_task_stays_with_its_runtime() {
    let lesson = Lesson {
        clause: "14. Two runtimes",
        promise: "A task that a worker of another runtime wakes or spawns is polled by its own \
                  runtime's workers.",
        usual_cause: "The code that spawns or wakes checks whether this thread is a worker, but \
                      not which runtime's.",
        read: "scheduler/work-stealing.html#where-a-task-goes",
    };
    check(lesson, || {
        let named = |name: &str| {
            endless(
                Runtime::builder()
                    .thread_name(name)
                    .worker_threads(2)
                    .build(),
            )
        };
        let (ants, bees) = (named("ant"), named("bee"));
        for _ in 0..20 {
            let (future, manual) = ManualFuture::new();
            let of_ants = ants.spawn(async move {
                future.await;
                thread::current().name().map(str::to_owned)
            });
            manual.wait_until_polled();
            let handle = ants.handle();
            let of_bees = bees.spawn(async move {
                manual.complete();
                handle.spawn(async {
                    thread::current().name().map(str::to_owned)
                })
            });
            let spawned = ants.block_on(of_bees).expect("the task returns");
            for task in [of_ants, spawned] {
                let name = ants.block_on(task).expect("the task returns");
                let name = name.unwrap_or_default();
                assert!(
                    name == "ant",
                    "a task of the runtime `ant` ran on `{name}`"
                );
            }
        }
    });
}
