//! The checks of exercise 9, one or more for each clause of the contract.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use sync::chaos::with_chaos;
use testkit::{
    DropLog, DropProbe, HostileWaker, Lesson, ManualFuture, ManualHandle,
    MustNotMove, PanicOnDrop, ThreadProbe, Yields, allocations, check,
    idle_cost, live_blocks, panic_message, race_with_wakes,
};

use super::{
    Completer, JoinError, JoinHandle, LocalExecutor, job, outcome, spawn,
};

/// Decides what happens under chaos.
const SEED: u64 = 9;
/// How often one may be polled while another is ready: clause 5.
const BOUND: u32 = 256;
/// After so many turns whoever was ready has been polled.
const MANY: u32 = 2 * BOUND;

/// Does something on another thread, and waits for it.
fn elsewhere<R: Send>(action: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let other = scope.spawn(action);
        other.join().expect("nothing panics elsewhere")
    })
}

/// Yields until something is so, for as long as the contract allows it to
/// take, and longer.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) -> impl Future<Output = ()> {
    let here = std::panic::Location::caller();
    async move {
        for _ in 0..10 * MANY {
            if is_so() {
                return;
            }
            Yields(1).await;
        }
        panic!("after many turns {what} ({}:{})", here.file(), here.line());
    }
}

/// Spawns a task that waits for its handle, and lets it be polled once.
fn spawn_waiting(executor: &LocalExecutor) -> ManualHandle {
    let (future, task) = ManualFuture::new();
    drop(executor.spawn(future));
    executor.block_on(until("a task was not polled", || task.polls() > 0));
    task
}

fn waker_of(task: &ManualHandle) -> Waker {
    task.wait_until_polled().0
}

/// A future that is dropped with a bang.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Waits for ever, and owns something.
async fn keep<T>(_kept: T) {
    pending::<()>().await;
}

/// Clause 1: whoever spawns has a poll of its own to end first.
#[test]
fn spawning_polls_nothing() {
    let lesson = Lesson {
        clause: "1. Runs",
        promise: "`spawn` makes a task. Its first poll is made by `run` or `block_on`.",
        usual_cause: "`spawn` polls the future once, to see whether it is ready.",
        read: "scheduler/local-executor.html#what-a-task-is",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let polls = Rc::new(Cell::new(0));
        let task = || {
            let polls = polls.clone();
            async move { polls.set(polls.get() + 1) }
        };
        drop(executor.spawn(task()));
        assert!(polls.get() == 0, "`LocalExecutor::spawn` polled the future");
        executor.block_on(async {
            until("the task has not been polled", || polls.get() == 1).await;
            drop(spawn(task()));
            assert!(polls.get() == 1, "`spawn` polled the future");
            until("the task has not been polled", || polls.get() == 2).await;
        });
    });
}

/// Clause 1: tasks beget tasks.
#[test]
fn run_ends_when_no_task_is_left() {
    let lesson = Lesson {
        clause: "1. Runs",
        promise: "`run` returns when all tasks are over, those too that were spawned meanwhile.",
        usual_cause: "It returns when the queue is empty, though tasks wait; or it goes on although \
                      none is left.",
        read: "scheduler/local-executor.html#one-queue-for-all",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        executor.run();
        let ended = Rc::new(Cell::new(0));
        let (future, waiting) = ManualFuture::new();
        let counted = ended.clone();
        drop(executor.spawn(async move {
            for yields in [0, 1, 5] {
                let ended = counted.clone();
                drop(spawn(async move {
                    MustNotMove::new(yields).await;
                    ended.set(ended.get() + 1);
                }));
            }
            future.await;
            counted.set(counted.get() + 1);
        }));
        let waking = thread::spawn(move || {
            waiting.wait_until_asleep();
            waiting.complete();
        });
        executor.run();
        assert!(ended.get() == 4, "of 4 tasks {} were over", ended.get());
        waking.join().expect("waking does not panic");
        executor.run();
    });
}

/// Clause 1: a program ends, and some tasks wait still.
#[test]
fn block_on_ends_with_its_future() {
    let lesson = Lesson {
        clause: "1. Runs",
        promise: "`block_on` returns its future's output, and leaves the other tasks for later.",
        usual_cause: "It waits until the queue is empty, or all tasks are over; or it drops the tasks.",
        read: "scheduler/local-executor.html#one-queue-for-all",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let task = spawn_waiting(&executor);
        let local = String::from("borrowed");
        let length = executor.block_on(async {
            MustNotMove::new(3).await;
            local.len()
        });
        assert!(length == local.len(), "it returned {length}");
        task.complete();
        executor.run();
        assert!(
            task.polls() == 2,
            "the task was polled {} times",
            task.polls()
        );
    });
}

/// Clause 2: ten messages, and one task that reads them all.
#[test]
fn many_wakes_cause_one_poll() {
    let lesson = Lesson {
        clause: "2. Many wakes, one poll",
        promise: "All wake-ups of a task that come before its next poll cause that one poll.",
        usual_cause: "Each wake-up puts the task into the queue. It needs a flag that says whether it \
                      is there.",
        read: "scheduler/local-executor.html#names-in-a-queue",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let task = spawn_waiting(&executor);
        let waker = waker_of(&task);
        let wake = || (0..20).for_each(|_| waker.wake_by_ref());
        executor.block_on(async {
            wake();
            elsewhere(wake);
            wake();
            Yields(MANY).await;
        });
        let polls = task.polls() - 1;
        assert!(polls == 1, "60 wake-ups caused {polls} polls");
        wake();
        elsewhere(wake);
        executor.block_on(Yields(MANY));
        let polls = task.polls() - 2;
        assert!(
            polls == 1,
            "40 wake-ups while nothing ran caused {polls} polls"
        );
    });
}

/// Clause 2: a place in a table is given to the next task.
#[test]
fn a_late_wake_up_is_for_nobody() {
    let lesson = Lesson {
        clause: "2. Many wakes, one poll",
        promise: "The waker of a task that is over wakes no other task.",
        usual_cause: "A waker holds an index, and the index has been given to another task since. \
                      Give each task a number that is never used again.",
        read: "scheduler/local-executor.html#names-in-a-queue",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let late: Vec<Waker> = (0..10)
            .map(|_| {
                let task = spawn_waiting(&executor);
                task.complete();
                executor.run();
                waker_of(&task)
            })
            .collect();
        let roots = [(); 2].map(|()| {
            executor.block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())))
        });
        let tasks = [(); 10].map(|()| spawn_waiting(&executor));
        let wake = || late.iter().chain(&roots).for_each(Waker::wake_by_ref);
        executor.block_on(async {
            wake();
            elsewhere(wake);
            Yields(MANY).await;
        });
        let polls = tasks.iter().map(|task| task.polls() - 1).sum::<u32>();
        assert!(
            polls == 0,
            "old wakers caused {polls} polls of tasks that are not theirs"
        );
    });
}

/// Clause 3: this is what a yield does.
#[test]
fn a_wake_while_the_task_is_polled_counts() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up that comes while the task is polled causes another poll.",
        usual_cause: "The mark that the task is in the queue is taken back after the poll, or the \
                      task cannot be found while it is polled.",
        read: "scheduler/local-executor.html#names-in-a-queue",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        drop(executor.spawn(Yields(3)));
        executor.run();
        let mut polls_left = 3;
        drop(executor.spawn(poll_fn(move |cx| {
            polls_left -= 1;
            if polls_left == 0 {
                return Poll::Ready(());
            }
            Side::Elsewhere.wake(cx.waker());
            Poll::Pending
        })));
        executor.run();
        executor.block_on(Yields(3));
    });
}

/// Clause 3: a timer, a socket, a pool of threads.
#[test]
fn a_wake_from_another_thread_ends_the_sleep() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up from another thread wakes the executor's thread, and the task is polled.",
        usual_cause: "The task is put into the queue, and nobody unparks the thread; or a wake-up \
                      from elsewhere is looked for where only those from here arrive.",
        read: "scheduler/local-executor.html#wake-ups-from-elsewhere",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let (tasks, handles): (Vec<_>, Vec<_>) =
            (0..4).map(|_| ManualFuture::new()).unzip();
        let waking = thread::spawn(move || {
            handles.iter().for_each(|task| task.wake_one_by_one(2));
        });
        let mut tasks = tasks.into_iter();
        for _ in 0..2 {
            let task = tasks.next().expect("there are four");
            drop(executor.spawn(task));
            executor.run();
            executor.block_on(tasks.next().expect("there are four"));
        }
        waking.join().expect("waking does not panic");
    });
}

/// Clause 3: the executor may be used in pieces.
#[test]
fn a_wake_while_nothing_runs_counts() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up between two calls of `run` or `block_on` counts in the next one.",
        usual_cause: "A wake-up needs the executor that runs on this thread, and none does.",
        read: "scheduler/local-executor.html#wake-ups-from-elsewhere",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        for _ in 0..3 {
            let [here, there] = [(); 2].map(|()| spawn_waiting(&executor));
            here.complete();
            elsewhere(|| there.complete());
            executor.run();
        }
    });
}

/// Clause 3: no single run can hit the moment between the last look and the
/// sleep; many runs do.
#[test]
fn thousands_of_wakes_from_another_thread_all_arrive() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up that comes as the executor's thread falls asleep still counts.",
        usual_cause: "The thread looks into the queue, finds nothing, and sleeps without a token \
                      that a wake-up would have left meanwhile.",
        read: "scheduler/local-executor.html#wake-ups-from-elsewhere",
    };
    const TIME: Duration = Duration::from_millis(60);
    check(lesson, || {
        let executor = LocalExecutor::new();
        let run = |answer| {
            drop(executor.spawn(answer));
            executor.run();
        };
        race_with_wakes(TIME, run);
        race_with_wakes(TIME, |answer| executor.block_on(answer));
        with_chaos(SEED, || race_with_wakes(TIME, run));
    });
}

/// Clause 4: most programs wait most of the time.
#[test]
fn while_nobody_is_ready_the_thread_sleeps() {
    let lesson = Lesson {
        clause: "4. Idle",
        promise: "While the tasks wait, the thread sleeps, and polls nobody.",
        usual_cause: "The loop asks all tasks again, spins, or sleeps for a moment at a time.",
        read: "scheduler/local-executor.html#wake-ups-from-elsewhere",
    };
    const WINDOW: Duration = Duration::from_millis(100);
    const CPU: Duration = Duration::from_millis(5);
    const SLEEPS: u64 = 10;
    check(lesson, || {
        let (futures, tasks): (Vec<_>, Vec<_>) =
            (0..3).map(|_| ManualFuture::new()).unzip();
        let running = thread::spawn(move || {
            let executor = LocalExecutor::new();
            for future in futures {
                drop(executor.spawn(future));
            }
            executor.run();
        });
        let mut probe = None;
        for task in &tasks {
            probe = Some(task.wait_until_asleep().1);
        }
        let probe = probe.expect("there are three tasks");
        let cost = idle_cost(&probe, WINDOW);
        let by_the_clock = probe.sleeps_by_the_clock();
        let polls = tasks.iter().map(ManualHandle::polls).sum::<u32>();
        tasks.iter().for_each(ManualHandle::complete);
        running.join().expect("running does not panic");
        assert!(
            polls == 3,
            "three tasks were polled {polls} times, and not woken"
        );
        assert!(
            by_the_clock != Some(true),
            "the thread sleeps until some time has passed, not until it is woken"
        );
        let Some(cost) = cost else { return };
        let (cpu, sleeps) = (cost.cpu, cost.sleeps);
        assert!(
            cpu < CPU && sleeps < SLEEPS,
            "in {WINDOW:?} the thread woke up {sleeps} times and used {cpu:.0?} of CPU time"
        );
    });
}

/// How somebody is woken.
#[derive(Clone, Copy, Debug)]
enum Side {
    Here,
    Elsewhere,
}

impl Side {
    fn wake(self, waker: &Waker) {
        match self {
            Self::Here => waker.wake_by_ref(),
            Self::Elsewhere => elsewhere(|| waker.wake_by_ref()),
        }
    }
}

/// One who is woken once, and others who want to be polled all the time.
#[derive(Clone, Default)]
struct Contest {
    victim: Rc<RefCell<Option<Waker>>>,
    is_over: Rc<Cell<bool>>,
    /// The polls of one of the others while the victim was ready.
    most_polls: Rc<Cell<u32>>,
}

impl Contest {
    /// Waits to be woken, once.
    async fn victim(self) {
        let mut is_first = true;
        poll_fn(|cx| {
            if std::mem::take(&mut is_first) {
                *self.victim.borrow_mut() = Some(cx.waker().clone());
                return Poll::Pending;
            }
            self.is_over.set(true);
            Poll::Ready(())
        })
        .await;
    }

    /// Wakes the victim and then, at each poll, itself, until the victim has
    /// had its turn, or long after it should have.
    async fn hog(self, own: Side, of_victim: Side) {
        let waits_for_victim = || self.victim.borrow().is_none();
        until("nobody polled the victim", || !waits_for_victim()).await;
        of_victim.wake(self.victim.borrow().as_ref().expect("it has one"));
        let mut polls = 0;
        poll_fn(|cx| {
            if self.is_over.get() || polls > BOUND + 1 {
                return Poll::Ready(());
            }
            polls += 1;
            own.wake(cx.waker());
            Poll::Pending
        })
        .await;
        self.most_polls.set(self.most_polls.get().max(polls));
        // Else `block_on` would never get its turn at all.
        self.is_over.set(true);
    }

    #[track_caller]
    fn assert_fair(&self, who: &str) {
        let polls = self.most_polls.get();
        assert!(
            polls <= BOUND,
            "{who} was ready, another was polled {polls} times and more"
        );
    }
}

/// Clause 5: a task that computes and yields is a good neighbour only if the
/// others have their turn.
#[test]
fn a_ready_task_has_its_turn() {
    let lesson = Lesson {
        clause: "5. Fair",
        promise: "However many tasks yield again and again, one that was woken has its turn soon.",
        usual_cause: "A woken task goes to the front of the queue: use `push_back` and `pop_front`. \
                      Or `block_on` polls its own future for as long as that is ready.",
        read: "scheduler/local-executor.html#one-queue-for-all",
    };
    check(lesson, || {
        for victim_first in [true, false] {
            let contest = Contest::default();
            let executor = LocalExecutor::new();
            let spawn_victim =
                || drop(executor.spawn(contest.clone().victim()));
            if victim_first {
                spawn_victim();
            }
            for _ in 0..3 {
                let hog = contest.clone().hog(Side::Here, Side::Here);
                drop(executor.spawn(hog));
            }
            if !victim_first {
                spawn_victim();
            }
            executor.run();
            contest.assert_fair("while a task");
            let contest = Contest::default();
            drop(executor.spawn(contest.clone().victim()));
            let hog = contest.clone().hog(Side::Here, Side::Here);
            executor.block_on(hog);
            executor.run();
            contest
                .assert_fair("while a task, beside the future of `block_on`,");
        }
    });
}

/// Clause 5: the future of `block_on` is often the one that says stop.
#[test]
fn the_future_of_block_on_has_its_turn() {
    let lesson = Lesson {
        clause: "5. Fair",
        promise: "However many tasks yield again and again, the future of `block_on` has its turn.",
        usual_cause: "`block_on` polls its future only when the queue is empty. Put it into the \
                      queue, as if it were a task.",
        read: "scheduler/local-executor.html#one-queue-for-all",
    };
    check(lesson, || {
        for from in [Side::Here, Side::Elsewhere] {
            let contest = Contest::default();
            let executor = LocalExecutor::new();
            for _ in 0..2 {
                let hog = contest.clone().hog(Side::Here, from);
                drop(executor.spawn(hog));
            }
            executor.block_on(contest.clone().victim());
            contest.assert_fair("while the future of `block_on`");
            executor.run();
        }
    });
}

/// Clause 5: with two queues, one of them may never be looked at.
#[test]
fn it_does_not_matter_who_woke_a_task() {
    let lesson = Lesson {
        clause: "5. Fair",
        promise: "A task that another thread woke has its turn among those that were woken here, \
                  and the reverse.",
        usual_cause: "Wake-ups from other threads are looked for only when there is nothing else to \
                      do; or they go in front of all others.",
        read: "scheduler/local-executor.html#wake-ups-from-elsewhere",
    };
    check(lesson, || {
        for (own, of_victim) in
            [(Side::Here, Side::Elsewhere), (Side::Elsewhere, Side::Here)]
        {
            let contest = Contest::default();
            let executor = LocalExecutor::new();
            drop(executor.spawn(contest.clone().victim()));
            drop(executor.spawn(contest.clone().hog(own, of_victim)));
            executor.run();
            contest.assert_fair(&format!("while a task, woken {of_victim:?},"));
        }
    });
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
        usual_cause: "Nothing notes that an executor runs on this thread; or the note is replaced by \
                      the inner call, and gone when that ends.",
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

/// Clause 8: whatever it is, and whoever waits for it.
#[test]
fn a_handle_gives_what_the_task_returned() {
    let lesson = Lesson {
        clause: "8. Handles",
        promise: "A handle is ready with the output, whether the task is over before its first poll \
                  or later.",
        usual_cause: "The output is given only to a waker that is already there, or nobody is woken.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let early = executor.spawn(async { Rc::new(1) });
        executor.run();
        let late = executor.spawn(async {
            Yields(3).await;
            let inner = spawn(async { Rc::new(20) });
            Rc::new(*inner.await.expect("it returns") + 2)
        });
        let sum = executor.block_on(async {
            let early = early.await.expect("it returns");
            *early + *late.await.expect("it returns")
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
        usual_cause: "A waker is stored only where there is none yet.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let (future, task) = ManualFuture::new();
        let mut handle = executor.spawn(future);
        let mut nobody = Context::from_waker(Waker::noop());
        let poll = Pin::new(&mut handle).poll(&mut nobody);
        assert!(poll.is_pending(), "it is ready, and its task waits");
        let awaiting = executor.spawn(handle);
        let ending = thread::spawn(move || {
            task.wait_until_asleep();
            task.complete();
        });
        let result = executor.block_on(awaiting).expect("it does not panic");
        result.expect("the task returns");
        ending.join().expect("ending does not panic");
    });
}

/// Clause 8: to log something, nobody waits for it.
#[test]
fn a_task_without_a_handle_runs() {
    let lesson = Lesson {
        clause: "8. Handles",
        promise: "A task whose handle was dropped runs all the same; its output is dropped, once.",
        usual_cause: "Dropping the handle cancels the task, or the task panics when nobody wants \
                      the output.",
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
        executor.block_on(until("it was not polled", || task.polls() > 0));
        drop(handle);
        assert!(log.count() == 0, "the task was dropped with its handle");
        task.complete();
        executor.run();
        assert!(task.polls() == 2, "it was polled {} times", task.polls());
        assert!(
            log.count() == 1,
            "the output was dropped {} times",
            log.count()
        );
    });
}

/// Clause 9: whoever awaits the task must learn that it failed.
#[test]
fn a_panic_reaches_the_handle() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "A task that panics makes its handle ready, with an error that carries the panic.",
        usual_cause: "The panic unwinds past the line that completes the outcome: `catch_unwind`.",
        read: "scheduler/local-executor.html#a-task-that-panics",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let task = executor.spawn(async {
            Yields(1).await;
            panic!("boom")
        });
        let result: Result<(), JoinError> = executor.block_on(task);
        let error = result.expect_err("it has no output");
        let is = (error.is_panic(), error.is_cancelled());
        assert!(is == (true, false), "(is_panic, is_cancelled) is {is:?}");
        let payload = error.into_panic();
        let text = payload.downcast_ref::<&str>();
        assert!(text == Some(&"boom"), "the panic is another: {text:?}");
    });
}

/// Clause 9: one bad request must not end the server.
#[test]
fn panics_stay_in_their_task() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "When tasks panic, `run` goes on with the others.",
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

/// Clause 9: what is thrown may itself be a thrower.
#[test]
fn what_panics_as_it_is_dropped_harms_nobody() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "The executor goes on if a future, an unwanted output, what a task threw, or the \
                  waker of who awaits it panics.",
        usual_cause: "Only the poll of the future is in `catch_unwind`, and not what is dropped and \
                      woken after it.",
        read: "scheduler/local-executor.html#a-task-that-panics",
    };
    check(lesson, || {
        let executor = LocalExecutor::new();
        let held = PanicOnDrop;
        let handle = executor.spawn(poll_fn(move |_| {
            let _held = &held;
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
        executor.block_on(last).expect("it returns");
        // Whether that is its output or an error, the contract leaves open.
        let _ended = executor.block_on(handle);
        executor.block_on(awaited).expect("it returns");
    });
}

/// Clause 9: the caller asked for it, and gets it.
#[test]
fn the_callers_own_panic_passes() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "A panic of the future of `block_on` comes out of it, and the next call works.",
        usual_cause: "The note that an executor runs on this thread stays behind: use a guard with a \
                      destructor.",
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
        assert!(message.as_deref() == Some("boom"), "it threw {message:?}");
        task.complete();
        executor.run();
        LocalExecutor::new().block_on(Yields(2));
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
                let executor = LocalExecutor::new();
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
        let executor = LocalExecutor::new();
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
        let executor = LocalExecutor::new();
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
        let executor = LocalExecutor::new();
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
        let executor = LocalExecutor::new();
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
        let unrun = LocalExecutor::new().spawn(async { 7 });
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
        let executor = LocalExecutor::new();
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

/// How many tasks wait while others run.
const WAITING: usize = 10_000;

/// Makes an executor with so many tasks that wait, and counts their polls.
fn crowded(waiting: usize) -> (LocalExecutor, Rc<Cell<usize>>) {
    let executor = LocalExecutor::new();
    let polls = Rc::new(Cell::new(0));
    for _ in 0..waiting {
        let polls = polls.clone();
        drop(executor.spawn(poll_fn(move |_| {
            polls.set(polls.get() + 1);
            Poll::<()>::Pending
        })));
    }
    let polled = || polls.get() >= waiting;
    executor.block_on(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if polled() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }));
    (executor, polls)
}

/// Clause 12: a look at each of ten thousand tasks costs more than a poll.
#[test]
fn a_wake_up_costs_the_same_among_many_tasks() {
    let lesson = Lesson {
        clause: "12. No scan",
        promise: "A wake-up and its poll allocate no more, and take no longer, among ten thousand \
                  tasks than among ten.",
        usual_cause: "A turn looks at all tasks for those that were woken, or copies their list. Let \
                      the wake-up say who it is: a queue of names.",
        read: "scheduler/local-executor.html#names-in-a-queue",
    };
    const YIELDS: u32 = 200;
    const ROUNDS: usize = 10;
    check(lesson, || {
        let executors = [10, WAITING].map(|waiting| crowded(waiting).0);
        let mut times = [Duration::MAX; 2];
        let mut blocks = [u64::MAX; 2];
        for _ in 0..ROUNDS {
            for (at, executor) in executors.iter().enumerate() {
                let start = Instant::now();
                let ((), allocated) =
                    allocations(|| executor.block_on(Yields(YIELDS)));
                times[at] = times[at].min(start.elapsed());
                blocks[at] = blocks[at].min(allocated.count);
            }
        }
        let [few, many] = blocks;
        assert!(
            many <= few + u64::from(YIELDS) / 4,
            "{YIELDS} turns allocate {few} blocks among 10 tasks, and {many} \
             among {WAITING}"
        );
        let [few, many] = times;
        assert!(
            many < few * 10,
            "{YIELDS} turns take {few:.0?} among 10 tasks, and {many:.0?} among \
             {WAITING}"
        );
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
        read: "scheduler/local-executor.html#who-runs-here",
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

/// Clause 13: better a clear word than a task that never runs.
#[test]
fn spawn_panics_where_no_executor_runs() {
    let lesson = Lesson {
        clause: "13. Here",
        promise: "Where no executor runs, `spawn` panics, and says so: also after one has run, by \
                  whichever way it ended.",
        usual_cause: "The note of who runs here is not taken back, or not when a panic passes.",
        read: "scheduler/local-executor.html#who-runs-here",
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

/// Clause 14: the executor's own results go this way, and others' may, too.
#[test]
fn a_completer_makes_its_handle_ready() {
    let lesson = Lesson {
        clause: "14. Two ends",
        promise: "A handle is ready when its completer was used, or dropped, on whichever thread.",
        usual_cause: "The completer has no destructor; or the destructor cancels after a result was \
                      given.",
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
                    "(output, is_panic, is_cancelled) is {seen:?}, and should \
                     be {expected:?}"
                );
            }
            ending.join().expect("it does not panic");
        }
    });
}

/// Clause 14: no single run can hit the moment between the look for the result
/// and the storing of the waker. Many runs may; the model does.
#[test]
fn thousands_of_results_reach_those_who_await_them() {
    let lesson = Lesson {
        clause: "14. Two ends",
        promise: "However a completer and a poll of its handle meet, the result arrives.",
        usual_cause: "The look for the result and the storing of the waker are two steps: do both \
                      under one lock.",
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
                let result = parker::block_on(handle).expect("it is given");
                assert!(result == number, "result {number} is {result}");
            }
        };
        run(1_500);
        with_chaos(SEED, || run(1_000));
        drop(send);
        completing.join().expect("completing does not panic");
    });
}

/// Clause 14: whoever completes has other tasks to look after.
#[test]
fn completing_is_safe_whatever_it_sets_off() {
    let lesson = Lesson {
        clause: "14. Two ends",
        promise: "`complete` returns, though the waker polls or drops the handle, or panics, or an \
                  unwanted result does.",
        usual_cause: "The waker is woken, or dropped, under the lock; or nothing catches its panic.",
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
            let mut handle = inner.lock().unwrap().take().expect("it is there");
            assert!(poll(&mut handle, Waker::noop()).is_ready());
            drop(handle);
            panic!("{}", HostileWaker::MESSAGE);
        });
        let mut taken = handle.lock().unwrap().take().expect("it is there");
        assert!(poll(&mut taken, &polls_and_panics).is_pending());
        *handle.lock().unwrap() = Some(taken);
        completer.complete(Ok(7));
        assert!(handle.lock().unwrap().is_none(), "nobody was woken");
        let (completer, mut handle) = outcome();
        let completes = CompletesOnDrop(Mutex::new(Some(completer)));
        assert!(
            poll(&mut handle, &Waker::from(Arc::new(completes))).is_pending()
        );
        // Replaces that waker, which was the last of its kind.
        let _either = poll(&mut handle, Waker::noop());
        let seven = parker::block_on(handle).expect("it is given");
        assert!(seven == 7, "the result is {seven}");
    });
}

fn poll<T>(
    handle: &mut JoinHandle<T>,
    waker: &Waker,
) -> Poll<Result<T, JoinError>> {
    Pin::new(handle).poll(&mut Context::from_waker(waker))
}

/// The target of a waker whose end is the end of a task.
struct CompletesOnDrop(Mutex<Option<Completer<u32>>>);

impl Wake for CompletesOnDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for CompletesOnDrop {
    fn drop(&mut self) {
        let completer = self.0.get_mut().unwrap().take();
        completer.expect("it is there").complete(Ok(7));
    }
}

/// Clause 15: each of the executors to come has tasks, and they panic.
#[test]
fn a_job_ends_well_whoever_polls_it() {
    let lesson = Lesson {
        clause: "15. Jobs",
        promise: "A job keeps what its future throws, drops it at its end, and completes its handle; \
                  one that is dropped early is cancelled.",
        usual_cause: "The panic is caught by the executor and not by the job, the future stays until \
                      the job is dropped, or the handle is ready first.",
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
            let _held = &probe;
            yields.as_mut().poll(cx)
        }));
        let mut returning = Box::pin(returning);
        parker::block_on(returning.as_mut());
        assert!(
            log.count() == 1,
            "its future was dropped {} times",
            log.count()
        );
        drop(returning);
        parker::block_on(handle).expect("it returns");
        let (early, handle) = job(MustNotMove::new(1));
        drop(early);
        let error = parker::block_on(handle).expect_err("it was never polled");
        assert!(error.is_cancelled(), "the error is `{error}`");
    });
}
