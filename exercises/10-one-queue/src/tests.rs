//! The checks of exercise 10, one or more for each clause of the contract.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use block_on::block_on;
use sync::chaos::with_chaos;
use testkit::{
    DropLog, DropProbe, HostileWaker, Lesson, ManualFuture, ManualHandle,
    MustNotMove, Opener, PanicOnDrop, ThreadProbe, Yields, check, idle_cost,
    log_of_this_threads_end, race_with_wakes,
};

use super::{JoinError, JoinHandle, Pool};

/// Decides what happens under chaos.
const SEED: u64 = 10;
/// Long enough for threads to do what they must not.
const MOMENT: Duration = Duration::from_millis(30);

/// Keeps a worker in a poll until the gate opens. Returns once it is there,
/// with the waker of the task.
fn hold(pool: &Pool, opener: &Opener) -> (JoinHandle<()>, Waker) {
    let (tell, told) = mpsc::channel();
    let gate = opener.gate();
    let held = pool.spawn(poll_fn(move |cx| {
        let _ = tell.send(cx.waker().clone());
        gate.wait();
        Poll::Ready(())
    }));
    (held, told.recv().expect("it is polled"))
}

/// Spawns so many tasks that are pending when this returns.
fn pending_tasks(
    pool: &Pool,
    count: usize,
) -> Vec<(JoinHandle<()>, ManualHandle)> {
    let tasks = (0..count).map(|_| {
        let (future, manual) = ManualFuture::new();
        (pool.spawn(future), manual)
    });
    let tasks: Vec<_> = tasks.collect();
    for (_, manual) in &tasks {
        let _ = manual.wait_until_asleep();
    }
    tasks
}

fn await_all<T>(handles: Vec<JoinHandle<T>>) -> Vec<T> {
    let output = |task: JoinHandle<T>| block_on(task).expect("the task ends");
    handles.into_iter().map(output).collect()
}

/// Fails unless so many tasks can wait for one another within their polls.
fn meet(pool: &Pool, count: usize) -> Vec<ThreadProbe> {
    await_all(meeting(count, |task| pool.spawn(task)))
}

fn meeting<H>(count: usize, spawn: impl Fn(Meeting) -> H) -> Vec<H> {
    let barrier = Arc::new(Barrier::new(count));
    (0..count)
        .map(|_| spawn(Meeting(barrier.clone())))
        .collect()
}

/// Waits for the others in its poll, and says on which thread.
struct Meeting(Arc<Barrier>);

impl Future for Meeting {
    type Output = ThreadProbe;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<ThreadProbe> {
        self.0.wait();
        Poll::Ready(ThreadProbe::here())
    }
}

async fn threads_of_four_polls() -> Vec<ThreadId> {
    let mut threads = vec![thread::current().id()];
    for _ in 0..3 {
        Yields(1).await;
        threads.push(thread::current().id());
    }
    threads
}

#[track_caller]
fn assert_cancelled<T>(result: Result<T, JoinError>) {
    let is_cancelled = result.is_err_and(|error| error.is_cancelled());
    assert!(is_cancelled, "the handle does not say that it is cancelled");
}

#[track_caller]
fn assert_dropped_once(logs: &[DropLog]) {
    let counts: Vec<_> = logs.iter().map(DropLog::count).collect();
    let is_once = counts.iter().all(|count| *count == 1);
    assert!(is_once, "the futures were dropped {counts:?} times");
}

/// Clause 1: a thread-local that says "this thread is a worker" does not say
/// of which pool.
#[test]
fn tasks_are_polled_by_the_workers_of_their_own_pool() {
    let lesson = Lesson {
        clause: "1. Workers",
        promise: "A task of one pool is polled by its workers, also if a task of another pool \
                  spawns or wakes it.",
        usual_cause: "A task that is spawned or woken on a worker is put where that worker looks, \
                      or polled on the spot.",
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

/// Clause 1: the thread that spawns or wakes has other things to do.
#[test]
fn spawning_and_waking_wait_for_no_poll() {
    let lesson = Lesson {
        clause: "1. Workers",
        promise: "While all workers are busy, `spawn` and a wake-up return at once.",
        usual_cause: "A lock is held while a task is polled: that of the queue, or the task's own.",
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
/// behaviour.
#[test]
fn a_task_is_polled_by_one_worker_at_a_time() {
    let lesson = Lesson {
        clause: "2. One at a time",
        promise: "A task that is woken during its poll is not polled again before that poll ends.",
        usual_cause: "A wake-up puts the task into the queue, though a worker is polling it. Another \
                      worker takes it.",
        read: "scheduler/one-queue.html#two-workers-one-task",
    };
    check(lesson, || {
        let pool = Pool::new(3);
        let (inside, polls) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (future, manual) = ManualFuture::new();
        let mut future = Box::pin(future);
        let (tell, told) = mpsc::channel();
        drop(pool.spawn(poll_fn(move |cx| {
            if future.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if inside.swap(true, SeqCst) {
                let _ = tell.send("two workers were inside");
                return Poll::Pending;
            }
            if polls.fetch_add(1, SeqCst) == 3 {
                let _ = tell.send("one worker at a time was inside");
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
        let seen = told.recv().expect("it is polled to its end");
        assert!(
            seen == "one worker at a time was inside",
            "{seen} of the poll of one task"
        );
    });
}

/// Clause 3: else four workers are no better than one.
#[test]
fn as_many_tasks_as_there_are_workers_run_together() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "With n workers n tasks wait for one another in their polls, at once and later.",
        usual_cause: "The lock of the queue is held during the poll; or a worker is woken only for \
                      the first of several tasks.",
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
        usual_cause: "What becomes ready on a worker wakes no other worker.",
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

/// Clause 3: a worker that waits for another one's poll is lost for that time.
#[test]
fn a_wake_up_during_a_poll_costs_no_worker() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "While one worker polls a task that has been woken again, the others are free.",
        usual_cause: "The task is put into the queue at once. The next worker takes it, and waits \
                      for the lock that the first one holds.",
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

/// Clause 4: one task after the other, each when the last worker has just run
/// out of work.
#[test]
fn a_task_that_comes_as_a_worker_falls_asleep_is_polled() {
    let lesson = Lesson {
        clause: "4. No lost task",
        promise: "A task that is spawned or woken as the workers fall asleep is polled.",
        usual_cause: "A worker looks at the queue, gives the lock back, and takes it again to sleep. \
                      A notification in between reaches nobody.",
        read: "scheduler/one-queue.html#the-moment-a-worker-falls-asleep",
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

/// Clause 5: the poll may have looked before what it waits for was there.
#[test]
fn a_wake_up_during_a_poll_leads_to_another() {
    let lesson = Lesson {
        clause: "5. Wake-ups",
        promise: "A task that is woken during its poll, by itself or by others, is polled again.",
        usual_cause: "Before the poll the task is still marked as queued, so the wake-up is taken \
                      for a second one; or the mark is erased after the poll.",
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
        promise: "Each waker of a task wakes it, also one of an earlier poll, on any thread.",
        usual_cause: "A waker is good for one wake-up only, or only on a worker.",
        read: "scheduler/one-queue.html#a-wake-up-during-the-poll",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let (task, manual) = pending_tasks(&pool, 1).remove(0);
        let (early, _) = manual.wait_until_polled();
        // What was polled before this has ended its poll after it.
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
        usual_cause: "Each wake-up puts the task into the queue once more.",
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
        // Whatever was in the queue is polled before this.
        block_on(pool.spawn(Yields(3))).expect("the task ends");
        let polls = (manual.polls() - 1, polls.load(SeqCst));
        assert!(polls.0 <= 1, "100 wake-ups led to {} polls", polls.0);
        assert!(polls.1 <= 4, "it was polled {} times, not 4", polls.1);
        manual.complete();
        block_on(task).expect("the task ends");
    });
}

/// Clause 6: what is taken from the wrong end may never be taken.
#[test]
fn tasks_are_polled_in_the_order_in_which_they_became_ready() {
    let lesson = Lesson {
        clause: "6. In turn",
        promise: "With one worker tasks are polled first in, first out, spawned or woken.",
        usual_cause: "The queue is a stack, or those that are woken have a place of their own.",
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

/// Clause 6: to yield is to let all others go first.
#[test]
fn a_task_that_wakes_itself_goes_behind_the_others() {
    let lesson = Lesson {
        clause: "6. In turn",
        promise: "With one worker, tasks that wake themselves take turns.",
        usual_cause: "A task that was woken during its poll is polled again at once.",
        read: "scheduler/one-queue.html#whose-turn-is-it",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let turns = Arc::new(Mutex::new(String::new()));
        let opener = Opener::new();
        let (held, _) = hold(&pool, &opener);
        let mut tasks = vec![held];
        for name in ['A', 'B', 'C'] {
            let turns = turns.clone();
            tasks.push(pool.spawn(async move {
                for _ in 0..4 {
                    turns.lock().unwrap().push(name);
                    Yields(1).await;
                }
            }));
        }
        drop(opener);
        await_all(tasks);
        let turns = turns.lock().unwrap();
        assert!(*turns == "ABCABCABCABC", "the turns were {turns}");
    });
}

/// Clause 7: whoever awaits it may be a task of the same pool.
#[test]
fn a_handle_gives_the_output() {
    let lesson = Lesson {
        clause: "7. The handle",
        promise: "A handle gives the output of its task, to a thread and to another task.",
        usual_cause: "The output is dropped with the future, or whoever awaits it is not woken.",
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
    });
}

/// Clause 7: to write a log entry, nobody waits for it.
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
        let (tell, told) = mpsc::channel();
        drop(pool.spawn(async move {
            future.await;
            let _ = tell.send(());
            output
        }));
        manual.wait_until_asleep();
        manual.complete();
        assert!(told.recv().is_ok(), "the task was dropped before its end");
        block_on(pool.spawn(async {})).expect("the task ends");
        assert!(
            log.count() == 1,
            "its output was dropped {} times",
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
        usual_cause: "A wake-up does not ask whether the task has ended. An `async` block panics \
                      when it is polled after its end; other futures do worse.",
        read: "scheduler/one-queue.html#how-a-task-ends",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let polls = Arc::new(AtomicUsize::new(0));
        let (tell, told) = mpsc::channel();
        for panics in [false, true] {
            let (polls, tell) = (polls.clone(), tell.clone());
            let task = pool.spawn(poll_fn(move |cx| {
                polls.fetch_add(1, SeqCst);
                cx.waker().wake_by_ref();
                let _ = tell.send(cx.waker().clone());
                assert!(!panics, "this panic is part of the check");
                Poll::Ready(())
            }));
            let ended_well = block_on(task).is_ok();
            assert!(ended_well != panics, "the handle says ok: {ended_well}");
        }
        for waker in told.try_iter() {
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

/// Clause 8: what a task owns, a lock say, is free when whoever awaits it goes
/// on.
#[test]
fn the_future_is_gone_when_the_handle_is_ready() {
    let lesson = Lesson {
        clause: "8. The end",
        promise: "The future is dropped once, before its handle is ready, though wakers are left.",
        usual_cause: "The future is dropped with the task, and each waker keeps the task; or the \
                      result is passed on first.",
        read: "scheduler/one-queue.html#how-a-task-ends",
    };
    /// Takes so long to drop that whoever is told too early comes first.
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
            let (tell, told) = mpsc::channel();
            let task = pool.spawn(poll_fn(move |cx| {
                let _owned = &probe.0;
                let _ = tell.send(cx.waker().clone());
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
            assert!(count == 1, "it has been dropped {count} times, not once");
            drop(told);
        }
    });
}

/// Clause 9: many tasks share a pool, and few know one another.
#[test]
fn a_panic_reaches_the_handle_and_nobody_else() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "Whoever awaits a task that panics gets what it has thrown.",
        usual_cause: "Nobody catches the panic, or who catches it does not complete the handle.",
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

/// Clause 9: four workers that have died of four panics poll nothing.
#[test]
fn workers_survive_panics() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "After many tasks have panicked all workers are there.",
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

/// Clause 9: not only a poll is anybody's code.
#[test]
fn workers_survive_what_panics_after_the_poll() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "A worker survives destructors that panic, of a future and of an output, and a waker \
                  that panics.",
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
            assert!(poll.is_pending(), "it is ready, and its poll waits still");
        }
        meet(&pool, WORKERS);
    });
}

/// How long the idle check watches, and what a sleeping thread may cost in
/// that time.
const IDLE_WINDOW: Duration = Duration::from_millis(100);
const IDLE_CPU: Duration = Duration::from_millis(5);
const IDLE_SLEEPS: u64 = 20;

/// Clause 10: most tasks wait most of the time.
#[test]
fn workers_without_a_task_sleep() {
    let lesson = Lesson {
        clause: "10. Idle",
        promise: "While all tasks wait for a waker, the workers cost no CPU time.",
        usual_cause: "A worker looks again and again, in a loop or by a short time-out.",
        read: "scheduler/one-queue.html#the-moment-a-worker-falls-asleep",
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

/// Clause 11: nobody wakes them any more, and they own sockets and files.
#[test]
fn dropping_the_pool_drops_the_futures_that_wait_for_a_waker() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "When the pool has been dropped, so have the futures that waited, and their wakers do \
                  nothing.",
        usual_cause: "Only the queue is emptied. Who waits for a waker is not in the queue, and its \
                      waker keeps it.",
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

/// Clause 11: there is always one that is ready.
#[test]
fn tasks_that_never_end_do_not_keep_the_pool() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "Dropping the pool ends tasks that would wake themselves for ever.",
        usual_cause: "The workers go on until the queue is empty.",
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

/// Clause 11: its worker has the future just now.
#[test]
fn a_task_that_is_polled_as_the_pool_ends_ends_with_the_poll() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "A future that is polled as the pool is dropped is dropped after that poll.",
        usual_cause: "Who ends the pool finds no future in the task, and who polls it puts it back to \
                      wait for a waker.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let opener = Opener::new();
        let (tell, told) = mpsc::channel();
        let (probe, log) = DropProbe::new();
        let gate = opener.gate();
        let task = pool.spawn(poll_fn(move |cx| {
            let _owned = &probe;
            let _ = tell.send(cx.waker().clone());
            gate.wait();
            Poll::<()>::Pending
        }));
        let _waker = told.recv().expect("it is polled");
        let opening = opener.open_once_asleep();
        drop(pool);
        assert_dropped_once(&[log]);
        assert_cancelled(block_on(task));
        opening.join().expect("opening does not panic");
    });
}

/// Clause 11: what a thread keeps must not outlive the pool.
#[test]
fn dropping_the_pool_waits_for_polls_and_threads() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "When the pool has been dropped, no poll runs, and its threads have ended.",
        usual_cause: "The workers are told to end, and nobody joins them.",
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
                "of {WORKERS} threads {count} have ended"
            );
            block_on(held).expect("its poll has ended");
            opening.join().expect("opening does not panic");
        }
    });
}

/// Clause 11: a worker that sleeps must hear of it, and so must each other.
#[test]
fn dropping_the_pool_ends_workers_that_sleep() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "A pool whose workers sleep, or are just falling asleep, can be dropped.",
        usual_cause: "Only one worker is notified; or the flag is set without the lock, and a worker \
                      that is just falling asleep misses it.",
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

/// Clause 11: a destructor is anybody's code.
#[test]
fn destructors_may_spawn_and_wake_and_panic_as_the_pool_ends() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "A future that is dropped with the pool may wake other tasks, spawn and panic.",
        usual_cause: "The futures are dropped while a lock is held that spawning and waking want, too.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    struct OnDrop<F: FnMut()>(F);
    impl<F: FnMut()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    check(lesson, || {
        let pool = Pool::new(1);
        let manuals: Vec<_> = (0..4).map(|_| ManualFuture::new()).collect();
        let handles: Vec<_> =
            manuals.iter().map(|(_, it)| it.clone()).collect();
        let (tell, spawned) = mpsc::channel();
        for (future, _) in manuals {
            let (others, handle) = (handles.clone(), pool.handle());
            let tell = tell.clone();
            let on_drop = OnDrop(move || {
                others.iter().for_each(ManualHandle::complete);
                let _ = tell.send(handle.spawn(async {}));
                drop(PanicOnDrop);
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

/// Clause 12: tasks often hold what holds the pool.
#[test]
fn a_task_may_drop_its_own_pool() {
    let lesson = Lesson {
        clause: "12. From within",
        promise: "A task that drops the last owner of its pool finishes its poll, and all tasks end.",
        usual_cause: "The worker waits for all threads of the pool, itself among them.",
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

/// Clause 12: a worker of one pool is nobody's worker elsewhere.
#[test]
fn a_task_that_drops_another_pool_waits_for_it() {
    let lesson = Lesson {
        clause: "12. From within",
        promise: "A task that drops a pool it does not belong to waits like anybody else.",
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
            let mut nobody = Context::from_waker(Waker::noop());
            let is_ready = Pin::new(&mut held).poll(&mut nobody).is_ready();
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
        promise: "To spawn on a pool that is gone drops the future, and its handle says so.",
        usual_cause: "The task goes into a queue that nobody looks at any more.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Pool::new(1);
        let handle = pool.handle();
        block_on(handle.spawn(async {})).expect("the task ends");
        drop(pool);
        let (probe, log) = DropProbe::new();
        let late = handle.clone().spawn(async move { drop(probe) });
        assert!(log.count() == 1, "it was dropped {} times", log.count());
        assert_cancelled(block_on(late));
    });
}

/// Clause 13: there is a moment in which the pool has ended for some, and not
/// for others.
#[test]
fn every_handle_is_ready_though_the_pool_ends_as_it_is_spawned() {
    let lesson = Lesson {
        clause: "13. Too late",
        promise: "Whoever spawns while another thread drops the pool gets a handle that becomes ready.",
        usual_cause: "Whether the pool has ended is asked before the lock of the queue is taken, or \
                      without it.",
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
                let handles = spawning.join().expect("to spawn does not panic");
                for handle in handles {
                    let result = block_on(handle);
                    assert!(
                        !result.is_err_and(|it| it.is_panic()),
                        "it panicked"
                    );
                }
            }
        });
    });
}
