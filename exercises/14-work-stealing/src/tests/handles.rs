//! What a handle reports about its task.

use super::*;

/// Clause 7: a handle is a future like any other.
#[test]
fn a_handle_gives_the_output_to_any_thread() {
    let lesson = Lesson {
        clause: "7. The handle",
        promise: "A handle gives its task's output to another task and to another thread, even if \
                  the task has ended long before.",
        usual_cause: "The handle stores its waker after it has looked at the result, or doesn't \
                      store it; or the result is dropped with the task.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let runtime = runtime(2);
        let (future, manual) = ManualFuture::new();
        let mut task = runtime.spawn(async move {
            future.await;
            String::from("output")
        });
        // The first waker has no interest in the output.
        let mut cx = Context::from_waker(Waker::noop());
        assert!(
            Pin::new(&mut task).poll(&mut cx).is_pending(),
            "the handle is ready before its task is"
        );
        let relay = runtime.spawn(async move { task.await.unwrap() });
        manual.wait_until_polled();
        manual.complete();
        let output = thread::spawn(move || parker::block_on(relay));
        let output = output.join().expect("it awaits").expect("it returns");
        assert!(output == "output", "the output is {output:?}");
        let early = runtime.spawn(async { 5 });
        while !early.is_finished() {
            thread::yield_now();
        }
        assert!(
            matches!(runtime.block_on(early), Ok(5)),
            "the output was lost"
        );
    });
}

/// Clause 7: a handle keeps a clone of its waker, at another address.
#[test]
fn a_handle_tells_wakers_at_one_address_apart() {
    let lesson = Lesson {
        clause: "7. The handle",
        promise: "A handle that was polled with several wakers, all at the same address, wakes the \
                  last of them.",
        usual_cause: "The handle compares the next waker with the pointers of the one before, \
                      which is gone. The handle's clone of that waker is alive, and the clone's \
                      pointers may differ: compare with the clone, by `will_wake`.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let (future, manual) = ManualFuture::new();
        let mut task = runtime.spawn(future);
        manual.wait_until_polled();
        let mut place = StackWakers::new();
        let counts = [(); 3].map(|()| {
            let poll = |waker: &Waker| {
                let mut cx = Context::from_waker(waker);
                Pin::new(&mut task).poll(&mut cx).is_pending()
            };
            let (is_pending, counts) = place.lend(poll);
            assert!(is_pending, "the handle is ready before its task is");
            counts
        });
        manual.complete();
        while !task.is_finished() {
            thread::yield_now();
        }
        // The handle is woken after the task has ended.
        runtime.block_on(runtime.spawn(async {})).unwrap();
        let wakes = counts.map(|counts| counts.wakes());
        assert!(
            wakes == [0, 0, 1],
            "three wakers polled the handle once each, and were woken {wakes:?} times"
        );
    });
}

/// Clause 8: a task may be anywhere when it is aborted.
#[test]
fn an_aborted_task_is_dropped() {
    let lesson = Lesson {
        clause: "8. Abort",
        promise: "An aborted task isn't polled again, whether it waits, is queued, or is being \
                  polled at that moment: its future is dropped, and its handle says that it was \
                  cancelled.",
        usual_cause: "`abort` only sets a flag, and no worker looks at the flag until the task is \
                      woken.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let aborted = |at: &str, task: JoinHandle<()>| {
            let result = runtime.block_on(task);
            let cancelled = result.is_err_and(|error| error.is_cancelled());
            assert!(cancelled, "the task {at} wasn't cancelled");
        };
        let (probe, log) = DropProbe::new();
        let (future, manual) = ManualFuture::new();
        let waits = runtime.spawn(async move {
            future.await;
            drop(probe);
        });
        manual.wait_until_polled();
        waits.abort();
        aborted("that waits", waits);
        assert!(
            log.count() == 1,
            "its future was dropped {} times",
            log.count()
        );

        let opener = Opener::new();
        occupy_worker(&runtime.handle(), &opener);
        let queued =
            runtime.spawn(async { panic!("an aborted task is polled") });
        queued.abort();
        drop(opener);
        aborted("in the queue", queued);

        let (begun, opener) = (Arc::new(Gate::new()), Opener::new());
        let (signal, gate) = (begun.clone(), opener.gate());
        let running = runtime.spawn(async move {
            signal.open();
            gate.wait();
            pending::<()>().await;
        });
        begun.wait();
        running.abort();
        drop(opener);
        aborted("that is polled", running);
    });
}

/// Clause 9: if panics ended workers, as many panics would end them all.
#[test]
fn a_panic_harms_nobody_else() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "After more panics than there are workers, in polls and in destructors, all \
                  workers still run, and each handle gives its task's panic.",
        usual_cause: "A panic unwinds through the worker's loop and ends the thread, or it leaves \
                      a lock poisoned or a count wrong.",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let runtime = runtime(2);
        let bystander = runtime.spawn(async {
            for _ in 0..100 {
                yield_now().await;
            }
        });
        for number in 0..8 {
            let task = runtime.spawn(async move {
                yield_now().await;
                std::panic::panic_any(number);
            });
            let error = runtime.block_on(task).expect_err("it panics");
            assert!(error.is_panic(), "the error isn't a panic");
            let payload = error.into_panic().downcast::<i32>();
            assert!(
                payload.is_ok_and(|payload| *payload == number),
                "the handle gives another panic"
            );
            let (future, manual) = ManualFuture::new();
            let task = runtime.spawn(async move {
                let _bomb = PanicOnDrop;
                future.await;
            });
            manual.wait_until_polled();
            task.abort();
            assert!(runtime.block_on(task).is_err(), "the task returned");
        }
        runtime.block_on(bystander).expect("the task returns");
        runtime.block_on(all(meet(&runtime.handle(), 2)));
    });
}
