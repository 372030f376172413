//! How the executor runs its tasks, and when it polls them.

use super::*;

/// Clause 1: the caller of `spawn` is in the middle of a poll of its own.
#[test]
fn spawning_polls_nothing() {
    let lesson = Lesson {
        clause: "1. Runs",
        promise: "`spawn` creates a task. `run` or `block_on` polls it for the first time.",
        usual_cause: "`spawn` polls the future once, to see whether it's ready. If the task hasn't \
                      been polled after many ticks, woken tasks overtake it: they belong at the \
                      end of the queue, too.",
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
            until("the task still hasn't been polled", || polls.get() == 1)
                .await;
            drop(spawn(task()));
            assert!(polls.get() == 1, "`spawn` polled the future");
            until("the task still hasn't been polled", || polls.get() == 2)
                .await;
        });
    });
}

/// Clause 1: tasks spawn tasks.
#[test]
fn run_ends_when_no_task_is_left() {
    let lesson = Lesson {
        clause: "1. Runs",
        promise: "`run` returns when all tasks are over, including tasks that were spawned meanwhile.",
        usual_cause: "It returns when the queue is empty, although tasks are waiting; or it \
                      doesn't return although no task is left.",
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

/// Clause 1: a program ends, and some tasks are still waiting.
#[test]
fn block_on_ends_with_its_future() {
    let lesson = Lesson {
        clause: "1. Runs",
        promise: "`block_on` returns its future's output, and leaves the other tasks for later.",
        usual_cause: "It waits until the queue is empty, or until all tasks are over; or it drops \
                      the tasks.",
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
        assert!(length == local.len(), "`block_on` returned {length}");
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
        usual_cause: "Each wake-up puts the task into the queue. A task needs a flag that says \
                      whether it's there. If there was no poll at all, the executor looks at \
                      remote wake-ups too late: only when there is nothing else to do. If there \
                      were two, it looks at them only now and then, so that a task that was woken \
                      here and elsewhere is polled for each.",
        read: "scheduler/local-executor.html#keys-in-a-queue",
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
            "40 wake-ups while no executor ran caused {polls} polls"
        );
    });
}

/// Clause 2: an entry of a table is reused for the next task.
#[test]
fn a_late_wake_up_wakes_no_other_task() {
    let lesson = Lesson {
        clause: "2. Many wakes, one poll",
        promise: "The waker of a task that is over wakes no other task.",
        usual_cause: "A waker contains an index, and the index has been reused for another task. \
                      Give each task a number that is never used again.",
        read: "scheduler/local-executor.html#keys-in-a-queue",
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
            "wakers of earlier tasks caused {polls} polls of later ones"
        );
    });
}

/// Clause 2: a timer may keep a waker for longer than the executor lives.
#[test]
fn what_outlives_its_executor_does_nothing_in_a_later_one() {
    let lesson = Lesson {
        clause: "2. Many wakes, one poll",
        promise: "Wakers and handles that outlive their executor do nothing in an executor that is \
                  created later, even if its tasks have the same places.",
        usual_cause: "A waker knows its executor by something that is used again: the thread, a \
                      small number, or the address of what is freed with the executor. Compare the \
                      address of something that the waker itself keeps alive (`Arc::ptr_eq`).",
        read: "scheduler/local-executor.html#which-executor-runs-here",
    };
    const AT_ONCE: usize = 4;
    /// After so many times, a number of eight bits has wrapped.
    const TIMES: usize = 256 / AT_ONCE + 2;
    check(lesson, || {
        with_reused_addresses(|| {
            let mut late = Vec::new();
            let mut handles = Vec::new();
            for nth in 0..TIMES {
                let executors = [(); AT_ONCE].map(|()| LocalExecutor::new());
                if (2..TIMES - 2).contains(&nth) {
                    executors.iter().for_each(|it| it.block_on(async {}));
                    continue;
                }
                let mut earlier = std::mem::take(&mut handles);
                let mut wakers = Vec::new();
                // In the end, there are no tasks where the wakers' were.
                let count = if nth < TIMES - 1 { 2 } else { 0 };
                for (index, executor) in executors.iter().enumerate() {
                    let handle = earlier.pop();
                    wakers.extend(run_beside(executor, count, &late, handle));
                    let returns = nth * AT_ONCE + index;
                    let handle = executor.spawn(async move { returns });
                    handles.push((returns, handle));
                    executor.block_on(Yields(MANY));
                }
                late.extend(wakers);
            }
        });
    });
}

/// Runs `count` tasks that wait, while `late` wakers are called and the handle
/// of an earlier executor is polled. Returns wakers of this executor.
fn run_beside(
    executor: &LocalExecutor,
    count: usize,
    late: &[Waker],
    handle: Option<(usize, JoinHandle<usize>)>,
) -> Vec<Waker> {
    let tasks: Vec<_> = (0..count).map(|_| spawn_waiting(executor)).collect();
    let wake = || late.iter().for_each(Waker::wake_by_ref);
    executor.block_on(async {
        wake();
        elsewhere(wake);
        if let Some((returned, mut handle)) = handle {
            let polled = poll(&mut handle, Waker::noop());
            assert!(
                matches!(polled, Poll::Ready(Ok(it)) if it == returned),
                "a task returned {returned}, and the handle that outlived its executor gives \
                 {polled:?}"
            );
        }
        Yields(MANY).await;
    });
    let (mut future, root) = ManualFuture::new();
    let mut is_first = true;
    thread::scope(|scope| {
        scope.spawn(|| {
            root.wait_until_asleep();
            wake();
            root.wait_until_asleep();
            root.complete();
        });
        executor.block_on(poll_fn(|cx| {
            let polled = Pin::new(&mut future).poll(cx);
            if std::mem::take(&mut is_first) {
                wake();
            }
            polled
        }));
    });
    let polls = tasks.iter().map(|task| task.polls() - 1).sum::<u32>();
    let root_polls = root.polls() - 2;
    assert!(
        polls == 0 && root_polls == 0,
        "wakers of earlier executors caused {polls} polls of tasks and {root_polls} of the future \
         of `block_on`"
    );
    tasks.iter().chain([&root]).map(waker_of).collect()
}

/// Clause 2: a wake-up in the last poll puts a task into the queue that is over.
#[test]
fn what_is_left_in_the_queue_of_a_task_that_is_over_polls_no_other() {
    let lesson = Lesson {
        clause: "2. Many wakes, one poll",
        promise: "If tasks are woken in their last poll, the tasks that are spawned next are polled \
                  once, and not again for those.",
        usual_cause: "The key of a task that is over is still in the queue, and the entry that it \
                      names belongs to another task by now. Compare the generation when you take a \
                      key out, too.",
        read: "scheduler/local-executor.html#keys-in-a-queue",
    };
    const TASKS: u32 = 10;
    check(lesson, || {
        let executor = LocalExecutor::new();
        for _ in 0..TASKS {
            drop(executor.spawn(poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::Ready(())
            })));
        }
        let polls = Rc::new(Cell::new(0));
        let counted = polls.clone();
        drop(executor.spawn(async move {
            for _ in 0..TASKS {
                let polls = counted.clone();
                drop(spawn(poll_fn(move |_| {
                    polls.set(polls.get() + 1);
                    Poll::<()>::Pending
                })));
            }
        }));
        executor.block_on(Yields(MANY));
        let polls = polls.get();
        assert!(
            polls == TASKS,
            "{TASKS} tasks that were never woken were polled {polls} times"
        );
    });
}

/// Clause 2: the number that distinguishes two tasks of one entry may wrap.
#[test]
fn a_late_wake_up_wakes_none_of_tens_of_thousands_of_later_tasks() {
    let lesson = Lesson {
        clause: "2. Many wakes, one poll",
        promise: "The waker of a task that is over wakes none of the 65,540 tasks that come after \
                  it, one by one.",
        usual_cause: "The number that distinguishes a task from earlier ones in its entry is a \
                      `u8` or a `u16`, and wraps. Use a `u64`.",
        read: "scheduler/local-executor.html#keys-in-a-queue",
    };
    const TASKS: u32 = if cfg!(miri) { 300 } else { 65_540 };
    check(lesson, || {
        let executor = LocalExecutor::new();
        executor.block_on(async {
            let mut late = None;
            for nth in 0..TASKS {
                let (polls, waker) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(None)));
                let (counted, kept, mut is_over) = (polls.clone(), waker.clone(), false);
                drop(spawn(poll_fn(move |cx| {
                    counted.set(counted.get() + 1);
                    kept.set(Some(cx.waker().clone()));
                    match std::mem::replace(&mut is_over, true) {
                        true => Poll::Ready(()),
                        false => Poll::Pending,
                    }
                })));
                until("a task still hasn't been polled", || polls.get() > 0).await;
                let waker = waker.take().expect("it was polled");
                let late = late.get_or_insert_with(|| waker.clone());
                if nth > 0 {
                    late.wake_by_ref();
                    Yields(2).await;
                    assert!(
                        polls.get() == 1,
                        "the waker of a task that is over caused a poll of the {nth}th after it"
                    );
                }
                waker.wake();
                until("a task still hasn't been polled again", || polls.get() > 1).await;
            }
        });
    });
}

/// Clause 3: a yield does exactly this.
#[test]
fn a_wake_while_the_task_is_polled_counts() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up that comes while the task is polled causes another poll.",
        usual_cause: "The wake-up is lost, because the flag that says that the task is in the queue \
                      is cleared after the poll instead of before it. Or the task can't be found \
                      while it's polled.",
        read: "scheduler/local-executor.html#keys-in-a-queue",
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
        promise: "A wake-up from another thread unparks the executor's thread, and the task is polled.",
        usual_cause: "The task is put into the queue, but nothing unparks the thread; or the \
                      executor looks for remote wake-ups only where local ones arrive.",
        read: "scheduler/local-executor.html#remote-wake-ups",
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

/// Clause 3: several calls may share one executor.
#[test]
fn a_wake_while_nothing_runs_counts() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up between two calls of `run` or `block_on` counts in the next one.",
        usual_cause: "A wake-up needs the executor that runs on this thread, and none is running.",
        read: "scheduler/local-executor.html#remote-wake-ups",
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

/// Clause 3: two executors take turns on one thread.
#[test]
fn a_wake_up_within_another_executor_reaches_its_own() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "When a task of one executor wakes a task of another on the same thread, the \
                  other executor polls that task when it runs, and this one polls no other task \
                  for it.",
        usual_cause: "A wake-up on the thread of an executor is taken for a wake-up of that \
                      executor's own tasks. Compare the executor, too, not just the thread.",
        read: "scheduler/local-executor.html#remote-wake-ups",
    };
    check(lesson, || {
        let [first, second] = [(); 2].map(|()| LocalExecutor::new());
        let bystander = spawn_waiting(&first);
        let (future, task) = ManualFuture::new();
        let handle = second.spawn(future);
        second.block_on(until("a task still hasn't been polled", || {
            task.polls() > 0
        }));
        let polls = bystander.polls();
        first.block_on(async {
            task.complete();
            Yields(1).await;
        });
        second.block_on(handle).expect("the task ends");
        let more = bystander.polls() - polls;
        assert!(
            more == 0,
            "a task of the running executor was polled {more} times for a task of the other"
        );
        bystander.complete();
        first.run();
    });
}

/// Clause 3: the destructors of thread-locals run at the very end of a thread.
#[test]
fn a_wake_up_from_a_thread_that_ends_counts() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "The destructor of a thread-local may call a waker, even on a thread that has run \
                  an executor.",
        usual_cause: "`wake` uses `LocalKey::with` to find the executor of its thread, and that \
                      panics if the thread-local is gone. Use `try_with`: where it fails, no \
                      executor runs.",
        read: "scheduler/local-executor.html#which-executor-runs-here",
    };
    type Words = RefCell<Option<OnDrop<Box<dyn FnMut() + Send>>>>;
    std::thread_local! {
        // One is dropped before the executor's own thread-local, and one after
        // it.
        static EARLY: Words = const { RefCell::new(None) };
        static LATE: Words = const { RefCell::new(None) };
    }
    check(lesson, || {
        let executor = LocalExecutor::new();
        let [first, second] = [(); 2].map(|()| spawn_waiting(&executor));
        let (sender, receiver) = mpsc::channel();
        let wakes = |task: &ManualHandle| -> Box<dyn FnMut() + Send> {
            let (waker, sender) = (waker_of(task), sender.clone());
            Box::new(move || {
                let _ = sender.send(panic_message(|| waker.wake_by_ref()));
            })
        };
        let (early, late) = (wakes(&first), wakes(&second));
        elsewhere(move || {
            EARLY.with(|words| words.replace(Some(OnDrop(early))));
            LocalExecutor::new().block_on(async {});
            LATE.with(|words| words.replace(Some(OnDrop(late))));
        });
        for _ in 0..2 {
            let panic =
                receiver.recv().expect("the destructor calls the waker");
            assert!(
                panic.is_none(),
                "waking while a thread ends panics: {panic:?}"
            );
        }
        let polls = || (first.polls(), second.polls());
        executor
            .block_on(until("a task still hasn't been polled again", || {
                polls() == (2, 2)
            }));
        [first, second].iter().for_each(ManualHandle::complete);
        executor.run();
    });
}

/// Clause 3: no single run can hit the moment between the last check and the
/// sleep; many runs do.
#[test]
fn thousands_of_wakes_from_another_thread_all_arrive() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up that comes while the executor's thread goes to sleep still counts.",
        usual_cause: "The thread looks into the queue, finds nothing, and sleeps without checking \
                      for a token that a wake-up has left in the meantime.",
        read: "scheduler/local-executor.html#remote-wake-ups",
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
fn while_nothing_is_ready_the_thread_sleeps() {
    let lesson = Lesson {
        clause: "4. Idle",
        promise: "While the tasks wait, the thread sleeps, and polls nothing.",
        usual_cause: "The loop polls all tasks again, spins, or sleeps for a moment at a time.",
        read: "scheduler/local-executor.html#remote-wake-ups",
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
            "three tasks were polled {polls} times without being woken"
        );
        assert!(
            by_the_clock != Some(true),
            "the thread sleeps until some time has passed, not until it's unparked"
        );
        let Some(cost) = cost else { return };
        let (cpu, sleeps) = (cost.cpu, cost.sleeps);
        assert!(
            cpu < CPU && sleeps < SLEEPS,
            "in {WINDOW:?} the thread woke up {sleeps} times and used {cpu:.0?} of CPU time"
        );
    });
}
