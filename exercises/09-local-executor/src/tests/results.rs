//! Handles, their results, and panics.

use super::*;

/// Clause 8: any output, and any future that awaits it.
#[test]
fn a_handle_gives_what_the_task_returned() {
    let lesson = Lesson {
        clause: "8. Handles",
        promise: "A handle is ready with the output, no matter whether the task is over before the \
                  handle's first poll or later.",
        usual_cause: "The output is given only to a waker that is already there, or no waker is called.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let early = executor.spawn(async { Rc::new(1) });
        executor.run();
        let late = executor.spawn(async {
            Yields(3).await;
            let inner = spawn(async { Rc::new(20) });
            Rc::new(*inner.await.expect("the task returns") + 2)
        });
        let sum = executor.block_on(async {
            let early = early.await.expect("the task returns");
            *early + *late.await.expect("the task returns")
        });
        assert!(sum == 23, "the outputs are 1 and 22, and their sum {sum}");
        executor.run();
    });
}

/// Clause 8: between two polls a future may have moved to another task.
#[test]
fn the_waker_of_the_last_poll_is_woken() {
    let lesson = Lesson {
        clause: "8. Handles",
        promise: "A handle that is polled by two tasks, one after the other, wakes the second.",
        usual_cause: "A waker is stored only if there is none yet.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let (future, task) = ManualFuture::new();
        let mut handle = executor.spawn(future);
        let mut no_task = Context::from_waker(Waker::noop());
        let poll = Pin::new(&mut handle).poll(&mut no_task);
        assert!(
            poll.is_pending(),
            "the handle is ready, but its task is waiting"
        );
        let awaiting = executor.spawn(handle);
        let ending = thread::spawn(move || {
            task.wait_until_asleep();
            task.complete();
        });
        let result =
            executor.block_on(awaiting).expect("the task doesn't panic");
        result.expect("the task returns");
        ending.join().expect("ending does not panic");
    });
}

/// Clause 8: a waker may be on the stack, and its clones on the heap.
#[test]
fn wakers_that_look_alike_are_distinguished() {
    let lesson = Lesson {
        clause: "8. Handles",
        promise: "Of two wakers with the same address, or the same vtable, the one of the last \
                  poll is called.",
        usual_cause: "The next waker is compared with the one that was passed before, of which \
                      only a clone is left: a different waker may have its address by now. Or the \
                      comparison covers only the data pointer, or only the vtable. Ask the clone: \
                      `will_wake`.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let (completer, mut handle) = outcome();
        let mut place = StackWakers::new();
        let mut poll_on_the_stack = || {
            place.lend(|waker| assert!(poll(&mut handle, waker).is_pending()))
        };
        let ((), first) = poll_on_the_stack();
        let ((), last) = poll_on_the_stack();
        completer.complete(Ok(()));
        let wakes = (first.wakes(), last.wakes());
        assert!(
            wakes == (0, 1),
            "two wakers had the same address, one after the other; they were called {wakes:?} times"
        );

        let (completer, mut handle) = outcome();
        let [(first, first_wakes), (last, last_wakes)] = wakers_without_data();
        for waker in [&first, &last] {
            assert!(
                poll(&mut handle, waker).is_pending(),
                "the outcome is still open"
            );
        }
        completer.complete(Ok(()));
        let wakes = (first_wakes.load(SeqCst), last_wakes.load(SeqCst));
        assert!(
            wakes == (0, 1),
            "two wakers had one data pointer and two vtables; they were called {wakes:?} times"
        );
    });
}

/// Clause 8: a task that only logs something needs no handle.
#[test]
fn a_task_without_a_handle_runs() {
    let lesson = Lesson {
        clause: "8. Handles",
        promise: "A task whose handle was dropped still runs; its output is dropped, once.",
        usual_cause: "Dropping the handle cancels the task, or the task panics when its output \
                      isn't wanted.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let (probe, log) = DropProbe::new();
        let (future, task) = ManualFuture::new();
        let handle = executor.spawn(async {
            future.await;
            probe
        });
        executor.block_on(until("the task still hasn't been polled", || {
            task.polls() > 0
        }));
        drop(handle);
        assert!(log.count() == 0, "the task was dropped with its handle");
        task.complete();
        executor.run();
        assert!(
            task.polls() == 2,
            "the task was polled {} times",
            task.polls()
        );
        assert!(
            log.count() == 1,
            "the output was dropped {} times",
            log.count()
        );
    });
}

/// Clause 8: a future that is polled after its end has no answer to give.
#[test]
fn a_handle_that_was_ready_refuses_another_poll() {
    let lesson = Lesson {
        clause: "8. Handles",
        promise: "A handle that is polled after it was ready panics, and doesn't wait.",
        usual_cause: "It's pending forever, because nothing distinguishes a result that was taken \
                      from one that hasn't come yet.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        for is_cancelled in [false, true] {
            let (completer, mut handle) = outcome();
            match is_cancelled {
                true => drop(completer),
                false => completer.complete(Ok(7)),
            }
            let is_ready = poll(&mut handle, Waker::noop()).is_ready();
            assert!(
                is_ready,
                "the handle of a result that is there is pending"
            );
            let mut waits = false;
            let again =
                || waits = poll(&mut handle, Waker::noop()).is_pending();
            let _panics = panic_message(again);
            assert!(
                !waits,
                "a handle that was ready was polled again, and waits for another result"
            );
        }
    });
}

/// Clause 9: the future that awaits a task must learn that it failed.
#[test]
fn a_panic_reaches_the_handle() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "A task that panics makes its handle ready, with an error that carries the panic.",
        usual_cause: "The panic unwinds past the line that completes the outcome: use `catch_unwind`.",
        read: "scheduler/local-executor.html#a-task-that-panics",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let task = executor.spawn(async {
            Yields(1).await;
            panic!("boom")
        });
        let result: Result<(), JoinError> = executor.block_on(task);
        let error = result.expect_err("the task has no output");
        let is = (error.is_panic(), error.is_cancelled());
        assert!(is == (true, false), "(is_panic, is_cancelled) is {is:?}");
        let payload = error.into_panic();
        let text = payload.downcast_ref::<&str>();
        assert!(
            text == Some(&"boom"),
            "the payload is a different one: {text:?}"
        );
    });
}

/// Clause 9: one bad request must not end the server.
#[test]
fn panics_stay_in_their_task() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "When tasks panic, `run` continues with the others.",
        usual_cause: "The panic unwinds through the executor's loop; or a flag or a borrow is left \
                      behind.",
        read: "scheduler/local-executor.html#a-task-that-panics",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let ended = Rc::new(Cell::new(0));
        for number in 0..10 {
            let ended = ended.clone();
            drop(executor.spawn(async move {
                Yields(number).await;
                assert!(number % 2 == 0, "boom");
                ended.set(ended.get() + 1);
            }));
        }
        executor.run();
        assert!(ended.get() == 5, "of 5 tasks {} are over", ended.get());
    });
}

/// Clause 9: a panic's payload may itself panic.
#[test]
fn a_panic_in_a_destructor_harms_nothing_else() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "The executor continues if a future, an unwanted output, the payload of a task's \
                  panic, or the waker of a handle panics.",
        usual_cause: "Only the poll of the future is inside `catch_unwind`, and not the drops and \
                      wake-ups after it.",
        read: "scheduler/local-executor.html#a-task-that-panics",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let owned = PanicOnDrop;
        let handle = executor.spawn(poll_fn(move |_| {
            let _owned = &owned;
            Poll::Ready(7)
        }));
        drop(executor.spawn(async { PanicOnDrop }));
        drop(executor.spawn(async { panic_any(PanicOnDrop) }));
        let waker = HostileWaker::panicking();
        let mut awaited = executor.spawn(Yields(1));
        let mut hostile = Context::from_waker(&waker);
        assert!(Pin::new(&mut awaited).poll(&mut hostile).is_pending());
        let last = executor.spawn(Yields(3));
        executor.run();
        executor.block_on(last).expect("the task returns");
        // The contract leaves open whether that is its output or the panic.
        let ended = executor.block_on(handle);
        assert!(
            !ended.is_err_and(|error| error.is_cancelled()),
            "a task returned, its future panicked when it was dropped, and its handle says that \
             the task was cancelled"
        );
        executor.block_on(awaited).expect("the task returns");
    });
}

/// Clause 9: `panic_any` throws any value, and a destructor may, too.
#[test]
fn what_was_thrown_may_panic_in_turn() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "If the destructor of a future or an output, or the waker of a handle, throws a \
                  value that panics when it's dropped, that harms nothing else.",
        usual_cause: "A panic is caught, and what was thrown is dropped outside `catch_unwind`. \
                      Don't drop it, or catch that panic, too.",
        read: "scheduler/local-executor.html#a-task-that-panics",
    };
    let throw = || {
        if !thread::panicking() {
            panic_any(PanicOnDrop);
        }
    };
    check(lesson, move || {
        let executor = LocalExecutor::new();
        let owned = OnDrop(throw);
        drop(executor.spawn(poll_fn(move |_| {
            let _owned = &owned;
            Poll::Ready(())
        })));
        drop(executor.spawn(async move { OnDrop(throw) }));
        let waker = HostileWaker::new(throw);
        let mut awaited = executor.spawn(Yields(1));
        assert!(poll(&mut awaited, &waker).is_pending());
        let panic = panic_message(|| executor.run());
        assert!(panic.is_none(), "`run` panicked: {panic:?}");
        executor.block_on(awaited).expect("the task returns");
    });
}

/// Clause 9: the panic of the caller's own future belongs to the caller.
#[test]
fn the_callers_own_panic_passes() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "`block_on` passes on a panic of its future, and the next call works.",
        usual_cause: "The record that an executor runs on this thread stays behind: use a guard \
                      with a destructor. At a hang: the executor still counts the future of \
                      `block_on`, which the panic has ended, so `run` waits for it. Take it off \
                      in a destructor.",
        read: "scheduler/local-executor.html#a-task-that-panics",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let task = spawn_waiting(&executor);
        let message = panic_message(|| {
            executor.block_on(async {
                Yields(1).await;
                panic!("boom")
            })
        });
        assert!(
            message.as_deref() == Some("boom"),
            "it panicked with {message:?}"
        );
        task.complete();
        executor.run();
        LocalExecutor::new().block_on(Yields(2));
    });
}

/// Clause 9: the panic of the caller's own future may come while tasks are
/// ready.
#[test]
fn the_callers_own_panic_loses_no_ready_task() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "A task that is ready when the future of `block_on` panics is polled in the next \
                  call.",
        usual_cause: "`block_on` takes everything that is ready out of the queue, into a variable \
                      of its own, and puts the rest back where it returns. A panic doesn't get \
                      there, and drops the variable. The tasks in it still count as being in the \
                      queue, so no later wake-up puts them there. Put the rest back in a \
                      destructor, or take out one task at a time.",
        read: "scheduler/local-executor.html#a-task-that-panics",
    };
    check(lesson, || {
        for last_poll in 1..=3 {
            for panics_in_poll in [true, false] {
                for side in [Side::Here, Side::Elsewhere] {
                    for is_first in [true, false] {
                        let root = Root {
                            last_poll,
                            panics_in_poll,
                            side,
                            is_first,
                        };
                        root.panic_beside_ready_tasks();
                    }
                }
            }
        }
    });
}

/// A future of `block_on` that panics.
#[derive(Clone, Copy)]
struct Root {
    last_poll: usize,
    /// If not, it panics as it's dropped.
    panics_in_poll: bool,
    /// The thread that wakes.
    side: Side,
    /// Whether it wakes itself before it makes tasks ready, or after that.
    is_first: bool,
}

impl Root {
    #[track_caller]
    fn panic_beside_ready_tasks(self) {
        let Self {
            last_poll, side, ..
        } = self;
        let executor = LocalExecutor::new();
        let tasks: Vec<_> =
            (0..=last_poll).map(|_| spawn_waiting(&executor)).collect();
        let wakers: Vec<_> = tasks.iter().map(waker_of).collect();
        side.wake(&wakers[0]);
        let spawned = Rc::new(Cell::new(0));
        let (counted, mut polls, owned) = (spawned.clone(), 0, PanicOnDrop);
        let future = poll_fn(move |cx| {
            let _owned = &owned;
            polls += 1;
            if self.is_first {
                side.wake(cx.waker());
            }
            side.wake(&wakers[polls]);
            let count = counted.clone();
            drop(spawn(async move { count.set(count.get() + 1) }));
            if !self.is_first {
                side.wake(cx.waker());
            }
            match polls < last_poll {
                true => Poll::Pending,
                false if self.panics_in_poll => panic!("boom"),
                false => Poll::Ready(()),
            }
        });
        let panic = panic_message(|| executor.block_on(future));
        let when = match self.panics_in_poll {
            true => format!("in poll {last_poll}"),
            false => format!("as it was dropped, after poll {last_poll}"),
        };
        assert!(
            panic.is_some(),
            "the future of `block_on` panicked {when}, and `block_on` didn't pass that on"
        );
        executor.block_on(Yields(MANY));
        let woken = tasks.iter().filter(|task| task.polls() == 2).count();
        let made_ready = tasks.len() + last_poll;
        let polled = woken + spawned.get();
        assert!(
            polled == made_ready,
            "the future of `block_on` panicked {when}; of {made_ready} tasks that were woken or \
             spawned before that, {polled} have been polled"
        );
    }
}

/// Clause 14: the executor uses outcomes for its results, and other code may,
/// too.
#[test]
fn a_completer_makes_its_handle_ready() {
    let lesson = Lesson {
        clause: "14. Two ends",
        promise: "A handle is ready when its completer was used, or dropped, on any thread.",
        usual_cause: "The completer has no destructor; or the destructor cancels even after there \
                      was a result.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let complete = |completer: Completer<_>| completer.complete(Ok(7));
        let fail = |completer: Completer<_>| {
            completer.complete(Err(JoinError::panicked(Box::new("boom"))));
        };
        type End = fn(Completer<u32>);
        let ends: [(End, _); 3] = [
            (complete, (Some(7), false, false)),
            (fail, (None, true, false)),
            (drop, (None, false, true)),
        ];
        for (end, expected) in ends {
            let [early, late] = [(); 2].map(|()| outcome());
            elsewhere(|| end(early.0));
            let sleeper = ThreadProbe::here();
            let ending = thread::spawn(move || {
                sleeper.wait_until_asleep();
                end(late.0);
            });
            for handle in [early.1, late.1] {
                let seen = match parker::block_on(handle) {
                    Ok(number) => (Some(number), false, false),
                    Err(it) => (None, it.is_panic(), it.is_cancelled()),
                };
                assert!(
                    seen == expected,
                    "(output, is_panic, is_cancelled) is {seen:?}, not {expected:?}"
                );
            }
            ending.join().expect("the task doesn't panic");
        }
    });
}

/// Clause 14: no single run can hit the moment between looking for the result
/// and storing the waker. Many runs may; the model does.
#[test]
fn thousands_of_results_reach_their_handles() {
    let lesson = Lesson {
        clause: "14. Two ends",
        promise: "No matter how a completer and a poll of its handle interleave, the result arrives.",
        usual_cause: "Looking for the result and storing the waker are two steps: do both in one \
                      critical section.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let (send, receive) = mpsc::channel::<(u32, Completer<u32>)>();
        let completing = thread::spawn(move || {
            for (number, completer) in receive {
                completer.complete(Ok(number));
            }
        });
        let run = |count| {
            for number in 0..count {
                let (completer, handle) = outcome();
                send.send((number, completer)).expect("it receives");
                let result =
                    parker::block_on(handle).expect("there is a result");
                assert!(result == number, "result {number} is {result}");
            }
        };
        run(1_500);
        with_chaos(SEED, || run(1_000));
        drop(send);
        completing.join().expect("completing does not panic");
    });
}

/// Clause 14: the thread that completes has other tasks to run.
#[test]
fn completing_is_safe_no_matter_what_it_triggers() {
    let lesson = Lesson {
        clause: "14. Two ends",
        promise: "`complete` returns, even if the waker polls or drops the handle, or panics, or \
                  an unwanted result panics.",
        usual_cause: "The waker is called, or dropped, under the lock; or nothing catches its panic.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let (completer, handle) = outcome::<PanicOnDrop>();
        drop(handle);
        completer.complete(Ok(PanicOnDrop));
        let (completer, handle) = outcome();
        let handle = Arc::new(Mutex::new(Some(handle)));
        let inner = handle.clone();
        let polls_and_panics = HostileWaker::new(move || {
            let mut handle = inner.lock().unwrap().take().expect("it's there");
            assert!(poll(&mut handle, Waker::noop()).is_ready());
            drop(handle);
            panic!("{}", HostileWaker::MESSAGE);
        });
        let mut taken = handle.lock().unwrap().take().expect("it's there");
        assert!(poll(&mut taken, &polls_and_panics).is_pending());
        *handle.lock().unwrap() = Some(taken);
        completer.complete(Ok(7));
        assert!(handle.lock().unwrap().is_none(), "the waker wasn't called");
        let (completer, mut handle) = outcome();
        let completes = CompletesOnDrop(Mutex::new(Some(completer)));
        assert!(
            poll(&mut handle, &Waker::from(Arc::new(completes))).is_pending()
        );
        // Replaces that waker, of which this was the last clone.
        let _either = poll(&mut handle, Waker::noop());
        let seven = parker::block_on(handle).expect("there is a result");
        assert!(seven == 7, "the result is {seven}");
    });
}

/// Clause 14: a poll clones a waker and drops an older one, and both run foreign code.
#[test]
fn a_waker_may_complete_its_handle_whenever_a_poll_uses_it() {
    let lesson = Lesson {
        clause: "14. Two ends",
        promise: "If a waker completes the other end when it's cloned, woken or dropped, that poll \
                  returns, and its waker is woken, or the poll is ready.",
        usual_cause: "A poll clones the waker under the lock, or drops the older one there, and \
                      `complete` waits for that lock. Or the poll unlocks to do so, and doesn't \
                      look again whether the result has come meanwhile. Clone first, then look, \
                      store and unlock, and then drop.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        for when in [WakerUse::Clone, WakerUse::Wake, WakerUse::Drop] {
            for is_first in [true, false] {
                complete_when_used(when, is_first);
            }
        }
    });
}

/// Polls a handle with two wakers in turn, of which one completes it.
#[track_caller]
fn complete_when_used(when: WakerUse, is_first: bool) {
    let (completer, mut handle) = outcome();
    let completer = Arc::new(Mutex::new(Some(completer)));
    let complete = |place: &Mutex<Option<Completer<u32>>>| {
        let completer = place.lock().unwrap().take();
        completer.into_iter().for_each(|it| it.complete(Ok(7)));
    };
    let (plain, plain_wakes) = CountingWaker::new();
    let (inner, wakes) = (completer.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = wakes.clone();
    let acting = ActingWaker::new(move |what| {
        if what == WakerUse::Wake {
            counted.fetch_add(1, SeqCst);
        }
        if what == when {
            complete(&inner);
        }
    });
    let seen = format!(
        "the {} of two wakers completes the other end at a {when:?}",
        if is_first { "first" } else { "second" }
    );
    let mut wakers = [Some(acting), Some(plain)];
    if !is_first {
        wakers.reverse();
    }
    for (index, waker) in wakers.into_iter().enumerate() {
        let waker = waker.expect("each once");
        let is_acting = (index == 0) == is_first;
        let woken = || match is_acting {
            true => wakes.load(SeqCst),
            false => plain_wakes.wakes(),
        };
        match poll(&mut handle, &waker) {
            Poll::Ready(result) => {
                let is_right = result.is_ok_and(|it| it == 7);
                assert!(is_right, "{seen}: the result is another one");
                return;
            }
            Poll::Pending => {
                let is_over = completer.lock().unwrap().is_none();
                assert!(
                    !is_over || woken() > 0,
                    "{seen}: the poll is pending, and its waker isn't woken"
                );
            }
        }
    }
    complete(&completer);
    let result = poll(&mut handle, Waker::noop());
    assert!(
        matches!(result, Poll::Ready(Ok(7))),
        "{seen}: in the end the handle isn't ready with its result"
    );
}

/// Clause 14: dropping a handle may drop the last clone of a waker.
#[test]
fn a_handle_may_be_dropped_no_matter_what_that_triggers() {
    let lesson = Lesson {
        clause: "14. Two ends",
        promise: "Dropping a handle returns, even if dropping its waker completes the other end.",
        usual_cause: "The handle's destructor drops the waker under the lock, by an assignment \
                      through the guard. Take the waker out with `mem::replace`, unlock, then drop \
                      it.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let (completer, mut handle) = outcome();
        let completes = CompletesOnDrop(Mutex::new(Some(completer)));
        let waker = Waker::from(Arc::new(completes));
        assert!(poll(&mut handle, &waker).is_pending());
        drop(waker);
        drop(handle);
    });
}

/// The target of a waker whose destructor completes an outcome.
struct CompletesOnDrop(Mutex<Option<Completer<u32>>>);

impl Wake for CompletesOnDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for CompletesOnDrop {
    fn drop(&mut self) {
        let completer = self.0.get_mut().unwrap().take();
        completer.expect("it's there").complete(Ok(7));
    }
}

/// Clause 15: a task that is cancelled is over, too.
#[test]
fn a_job_that_is_dropped_drops_its_future_before_its_handle_is_ready() {
    let lesson = Lesson {
        clause: "15. Jobs",
        promise: "When a handle says that its job was cancelled, the job's future has been dropped.",
        usual_cause: "A job that is dropped early drops its fields in their order, and the \
                      completer comes before the future. Put the future first.",
        read: "scheduler/local-executor.html#when-a-task-is-over",
    };
    check(lesson, || {
        let (probe, log) = DropProbe::new();
        let (sender, receiver) = mpsc::channel();
        let seen = log.clone();
        let waker = HostileWaker::new(move || {
            let _ = sender.send(seen.count());
        });
        let (job, mut handle) = job(async move {
            let _owned = probe;
            pending::<()>().await;
        });
        assert!(poll(&mut handle, &waker).is_pending());
        drop(job);
        let drops = receiver.recv().expect("the handle's waker is called");
        assert!(
            drops == 1,
            "when the handle was ready, the future had been dropped {drops} times"
        );
    });
}

/// Clause 15: every later executor has tasks, and they may panic.
#[test]
fn a_job_ends_well_wherever_it_is_polled() {
    let lesson = Lesson {
        clause: "15. Jobs",
        promise: "A job catches its future's panic, drops the future at its end, and completes its \
                  handle; a job that is dropped early is cancelled.",
        usual_cause: "The executor, instead of the job, catches the panic; the future stays until \
                      the job is dropped; or the handle is ready first.",
        read: "scheduler/local-executor.html#a-task-that-panics",
    };
    check(lesson, || {
        let (throwing, handle) = job(async {
            Yields(2).await;
            panic!("boom")
        });
        let thrown = elsewhere(|| {
            parker::block_on(throwing);
            parker::block_on(handle).map(|()| "an output")
        });
        let error = thrown.expect_err("it panicked");
        assert!(error.is_panic(), "the error is `{error}`");
        let (probe, log) = DropProbe::new();
        let mut yields = Box::pin(Yields(1));
        let (returning, handle) = job(poll_fn(move |cx| {
            let _owned = &probe;
            yields.as_mut().poll(cx)
        }));
        let mut returning = Box::pin(returning);
        parker::block_on(returning.as_mut());
        assert!(
            log.count() == 1,
            "the future was dropped {} times",
            log.count()
        );
        drop(returning);
        parker::block_on(handle).expect("the task returns");
        let (early, handle) = job(MustNotMove::new(1));
        drop(early);
        let error =
            parker::block_on(handle).expect_err("the task was never polled");
        assert!(error.is_cancelled(), "the error is `{error}`");
    });
}
