//! The tasks: wake-ups, order, handles.

use super::*;

/// Clause 5: the poll may have checked before what it waits for was there.
#[test]
fn a_wake_up_during_a_poll_leads_to_another() {
    let lesson = Lesson {
        clause: "5. Wake-ups",
        promise: "A task that is woken during its poll, by itself or by others, is polled again.",
        usual_cause: "The task is still marked as queued when the poll begins, so the wake-up is \
                      taken for a second one; or the flag is cleared after the poll.",
        read: "scheduler/one-queue.html#a-wake-up-during-the-poll",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let yielding = pool.spawn(Yields(500));
        let fixed = pool.spawn(MustNotMove::new(500));
        let mut rounds = 0;
        let woken = pool.spawn(poll_fn(move |cx| {
            rounds += 1;
            let waker = cx.waker().clone();
            let waking = thread::spawn(|| waker.wake());
            waking.join().expect("waking does not panic");
            match rounds {
                10 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        }));
        await_all(vec![yielding, fixed, woken]);
    });
}

/// Clause 5: a task may be woken from anywhere, at any time.
#[test]
fn a_waker_wakes_from_any_thread() {
    let lesson = Lesson {
        clause: "5. Wake-ups",
        promise: "Each waker of a task wakes it, even one of an earlier poll, on any thread.",
        usual_cause: "A waker works for one wake-up only, or only on a worker.",
        read: "scheduler/one-queue.html#a-wake-up-during-the-poll",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let (task, manual) = pending_tasks(&pool, 1).remove(0);
        let (early, _) = manual.wait_until_polled();
        // Any poll that began before this has ended after it.
        let settle = || block_on(pool.spawn(async {})).expect("it ends");
        for round in 1..20 {
            let (waker, _) = manual.wait_until_polled();
            let waking = thread::spawn(move || waker.wake());
            waking.join().expect("waking does not panic");
            manual.wait_for_polls(2 * round);
            settle();
            early.wake_by_ref();
            manual.wait_for_polls(2 * round + 1);
            settle();
        }
        manual.complete();
        block_on(task).expect("the task ends");
    });
}

/// Clause 5: a task that a thousand events wake is polled once for all of them.
#[test]
fn many_wake_ups_lead_to_one_poll() {
    let lesson = Lesson {
        clause: "5. Wake-ups",
        promise: "Wake-ups that come before the poll, or while the task polls, cause one poll.",
        usual_cause: "Each wake-up puts the task into the queue again.",
        read: "scheduler/one-queue.html#two-workers-one-task",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let (task, manual) = pending_tasks(&pool, 1).remove(0);
        let (waker, _) = manual.wait_until_polled();
        let opener = Opener::new();
        let (held, _) = hold(&pool, &opener);
        let clones = [(); 50].map(|()| waker.clone());
        for clone in clones {
            waker.wake_by_ref();
            clone.wake();
        }
        drop(opener);
        let polls = Arc::new(AtomicUsize::new(0));
        let count = polls.clone();
        let eager = pool.spawn(poll_fn(move |cx| {
            if count.fetch_add(1, SeqCst) == 3 {
                return Poll::Ready(());
            }
            (0..50).for_each(|_| cx.waker().wake_by_ref());
            Poll::Pending
        }));
        await_all(vec![held, eager]);
        // Everything that was in the queue is polled before this.
        block_on(pool.spawn(Yields(3))).expect("the task ends");
        let polls = (manual.polls() - 1, polls.load(SeqCst));
        assert!(polls.0 <= 1, "100 wake-ups led to {} polls", polls.0);
        assert!(polls.1 <= 4, "the task was polled {} times, not 4", polls.1);
        manual.complete();
        block_on(task).expect("the task ends");
    });
}

/// Clause 6: a task at the wrong end of a queue may never be taken.
#[test]
fn tasks_are_polled_in_the_order_in_which_they_became_ready() {
    let lesson = Lesson {
        clause: "6. In turn",
        promise: "With one worker, tasks are polled first in, first out, no matter whether they \
                  were spawned or woken.",
        usual_cause: "The queue is a stack, or woken tasks have a queue of their own.",
        read: "scheduler/one-queue.html#whose-turn-is-it",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let (futures, manuals): (Vec<_>, Vec<_>) =
            (0..20).map(|_| ManualFuture::new()).unzip();
        let note = |number: usize| {
            let order = order.clone();
            move || order.lock().unwrap().push(number)
        };
        let woken = futures.into_iter().zip(0..).map(|(future, at)| {
            let note = note(2 * at);
            pool.spawn(async move {
                future.await;
                note();
            })
        });
        let mut tasks: Vec<_> = woken.collect();
        manuals.iter().for_each(|it| _ = it.wait_until_asleep());
        let opener = Opener::new();
        tasks.push(hold(&pool, &opener).0);
        for (manual, at) in manuals.iter().zip(0..) {
            manual.complete();
            let note = note(2 * at + 1);
            tasks.push(pool.spawn(async move { note() }));
        }
        drop(opener);
        await_all(tasks);
        let order = order.lock().unwrap();
        assert!(order.iter().copied().eq(0..40), "the order was {order:?}");
    });
}

/// Clause 6: it's tempting to let a worker keep the tasks that it makes ready.
#[test]
fn what_becomes_ready_in_a_poll_goes_behind_what_was_ready_before() {
    let lesson = Lesson {
        clause: "6. In turn",
        promise: "With one worker, tasks that a task spawns and wakes in its poll are taken after \
                  those that were ready before, and in their order.",
        usual_cause: "A task that becomes ready on a worker goes into a slot of that worker, which \
                      the worker checks before the queue. Push it like all others.",
        read: "scheduler/one-queue.html#whose-turn-is-it",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let order = Arc::new(Mutex::new(String::new()));
        let note = |name: char| {
            let order = order.clone();
            async move { order.lock().unwrap().push(name) }
        };
        let (future, manual) = ManualFuture::new();
        let noted = note('C');
        let woken = pool.spawn(async {
            future.await;
            noted.await;
        });
        manual.wait_until_asleep();
        let opener = Opener::new();
        let (held, _) = hold(&pool, &opener);
        let (b, d, handle) = (note('B'), note('D'), pool.handle());
        let making = pool.spawn(async move {
            let b = handle.spawn(b);
            manual.complete();
            (b, handle.spawn(d))
        });
        let a = pool.spawn(note('A'));
        drop(opener);
        let (b, d) = block_on(making).expect("the task ends");
        await_all(vec![held, woken, a, b, d]);
        let order = order.lock().unwrap();
        assert!(
            *order == "ABCD",
            "A was ready, then a poll spawned B, woke C and spawned D; they were polled in the \
             order {order}"
        );
    });
}

/// Clause 6: yielding means letting all the others go first.
#[test]
fn a_task_that_wakes_itself_goes_behind_the_others() {
    let lesson = Lesson {
        clause: "6. In turn",
        promise: "With one worker, tasks that wake themselves alternate.",
        usual_cause: "If the first round is in turn and the next isn't, a task is in the queue twice: \
                      its wake-up pushes it during the poll, and the worker pushes it again at the \
                      end. Otherwise, a task that was woken during its poll is polled again at \
                      once.",
        read: "scheduler/one-queue.html#whose-turn-is-it",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let order = Arc::new(Mutex::new(String::new()));
        let opener = Opener::new();
        let (held, _) = hold(&pool, &opener);
        let mut tasks = vec![held];
        for name in ['A', 'B', 'C'] {
            let order = order.clone();
            tasks.push(pool.spawn(async move {
                for _ in 0..4 {
                    order.lock().unwrap().push(name);
                    Yields(1).await;
                }
            }));
        }
        drop(opener);
        await_all(tasks);
        let order = order.lock().unwrap();
        assert!(
            !order.starts_with("ABCAA"),
            "the tasks were polled in the order {order}: after a first round, A had two turns in a \
             row, so it was in the queue twice"
        );
        assert!(
            *order == "ABCABCABCABC",
            "the tasks were polled in the order {order}"
        );
    });
}

/// Clause 7: a task of the same pool may await the handle.
#[test]
fn a_handle_gives_the_output() {
    let lesson = Lesson {
        clause: "7. The handle",
        promise: "A handle gives the output of its task, to a thread and to another task.",
        usual_cause: "The output is dropped with the future, or the awaiting task isn't woken; or \
                      polling the handle blocks the worker.",
        read: "scheduler/one-queue.html#how-a-task-ends",
    };
    check(lesson, || {
        let pool = Pool::new(2);
        let opener = Opener::new();
        let (held, _) = hold(&pool, &opener);
        let inner = pool.spawn(async {
            held.await.expect("the task ends");
            "text".to_owned()
        });
        let outer = pool.spawn(async { inner.await.expect("it ends") + "s" });
        let early = pool.spawn(async { [7_u8; 500] });
        let opening = opener.open_once_asleep();
        let text = block_on(outer).expect("the task ends");
        assert!(text == "texts", "the output was {text:?}");
        assert!(
            block_on(early).expect("it ends") == [7; 500],
            "not 500 sevens"
        );
        opening.join().expect("opening does not panic");
        // A worker that blocked would block itself.
        let pool = Pool::new(1);
        let handle = pool.handle();
        let outer = pool.spawn(async move { handle.spawn(async { 7 }).await });
        let inner = block_on(outer).expect("the task ends");
        assert!(inner.is_ok_and(|output| output == 7), "not 7");
    });
}

/// Clause 7: a task that writes a log entry needs no handle.
#[test]
fn a_task_without_a_handle_runs_on() {
    let lesson = Lesson {
        clause: "7. The handle",
        promise: "A task whose handle is dropped runs to its end, and its output is dropped.",
        usual_cause: "Dropping the handle cancels the task.",
        read: "scheduler/one-queue.html#how-a-task-ends",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let (future, manual) = ManualFuture::new();
        let (output, log) = DropProbe::new();
        let (sender, receiver) = mpsc::channel();
        drop(pool.spawn(async move {
            future.await;
            let _ = sender.send(());
            output
        }));
        manual.wait_until_asleep();
        manual.complete();
        assert!(
            receiver.recv().is_ok(),
            "the task was dropped before its end"
        );
        block_on(pool.spawn(async {})).expect("the task ends");
        assert!(
            log.count() == 1,
            "the output was dropped {} times",
            log.count()
        );
    });
}

/// Clause 8: a timer or a channel may call a waker when the task is long over.
#[test]
fn a_task_that_has_ended_is_not_polled_again() {
    let lesson = Lesson {
        clause: "8. The end",
        promise: "A task that is woken in its last poll, or after it, is not polled again.",
        usual_cause: "A wake-up doesn't check whether the task has ended. An `async` block panics \
                      when it's polled after its end; other futures do worse.",
        read: "scheduler/one-queue.html#how-a-task-ends",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let polls = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpsc::channel();
        for panics in [false, true] {
            let (polls, sender) = (polls.clone(), sender.clone());
            let task = pool.spawn(poll_fn(move |cx| {
                polls.fetch_add(1, SeqCst);
                cx.waker().wake_by_ref();
                let _ = sender.send(cx.waker().clone());
                assert!(!panics, "this panic is part of the check");
                Poll::Ready(())
            }));
            let ended_well = block_on(task).is_ok();
            assert!(ended_well != panics, "the handle says ok: {ended_well}");
        }
        for waker in receiver.try_iter() {
            waker.wake_by_ref();
            waker.wake();
        }
        block_on(pool.spawn(Yields(3))).expect("the task ends");
        let polls = polls.load(SeqCst);
        assert!(
            polls == 2,
            "two tasks of one poll were polled {polls} times"
        );
    });
}

/// Clause 8: a lock that a task owns, for example, is free when the awaiting
/// code continues.
#[test]
fn the_future_is_gone_when_the_handle_is_ready() {
    let lesson = Lesson {
        clause: "8. The end",
        promise: "The future is dropped once, before its handle is ready, even if wakers are left.",
        usual_cause: "The future is dropped with the task, which each waker keeps alive; or the \
                      result is passed on first.",
        read: "scheduler/one-queue.html#how-a-task-ends",
    };
    /// Takes so long to drop that a handle that is ready too early shows it.
    struct Slow(DropProbe);
    impl Drop for Slow {
        fn drop(&mut self) {
            thread::sleep(MOMENT / 6);
        }
    }
    check(lesson, || {
        let pool = Pool::new(1);
        for panics in [false, true] {
            let (probe, log) = DropProbe::new();
            let (probe, mut polls) = (Slow(probe), 0);
            let (sender, receiver) = mpsc::channel();
            let task = pool.spawn(poll_fn(move |cx| {
                let _owned = &probe.0;
                let _ = sender.send(cx.waker().clone());
                cx.waker().wake_by_ref();
                polls += 1;
                assert!(
                    polls < 3 || !panics,
                    "this panic is part of the check"
                );
                if polls < 3 {
                    Poll::Pending
                } else {
                    Poll::Ready(())
                }
            }));
            let _ = block_on(task);
            let count = log.count();
            assert!(
                count == 1,
                "the future has been dropped {count} times, not once"
            );
            drop(receiver);
        }
    });
}

/// Clause 8: a pool may live for months, and run millions of tasks.
#[test]
fn a_task_that_has_ended_leaves_nothing_in_the_pool() {
    let lesson = Lesson {
        clause: "8. The end",
        promise: "A pool that has run forty tasks, or a thousand, uses no more memory than before.",
        usual_cause: "The pool has a list of its tasks, so that it can cancel them, and ended \
                      tasks stay in it. Or they're removed rarely, many at a time: until then, and \
                      perhaps forever, the list keeps the memory of a burst.",
        read: "scheduler/one-queue.html#the-guard-that-lives-too-long",
    };
    const FEW: isize = 40;
    const TASKS: isize = 1_000;
    check(lesson, || {
        let pool = Pool::new(1);
        let run = |count| {
            for _ in 0..count {
                block_on(pool.spawn(Yields(1))).expect("it ends");
            }
            // When this task is polled, the worker has finished with the
            // earlier ones.
            meet(&pool, 1);
        };
        run(1);
        for tasks in [FEW, TASKS] {
            let before = live_blocks();
            run(tasks);
            let more = live_blocks() - before;
            assert!(
                more < FEW / 2,
                "after {tasks} tasks have ended, {more} blocks of memory are left"
            );
        }
    });
}
