//! Polls, wake-ups and yields.

use super::*;

/// Clause 3: the caller of `spawn` decides where the task first runs.
#[test]
fn spawn_neither_polls_nor_schedules() {
    let lesson = Lesson {
        clause: "3. When run",
        promise: "After `spawn` the future hasn't been polled, and the scheduler hasn't been \
                  called.",
        usual_cause: "`spawn` schedules the task itself, as a runtime's `spawn` does. Here the caller \
                      gets a `Runnable` for that.",
        read: "scheduler/task.html#who-may-poll-the-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (future, task) = ManualFuture::new();
        let (runnable, handle) = spawn(future, queue.clone());
        let seen = (task.polls(), queue.scheduled());
        assert!(
            seen == (0, 0),
            "(polls, calls of the scheduler) is {seen:?}"
        );
        assert!(
            !handle.is_finished(),
            "a new task reports that it has ended"
        );
        runnable.run();
        let polls = task.polls();
        assert!(polls == 1, "one run polled {polls} times");
    });
}

/// Clause 3: the other queued tasks run in between.
#[test]
fn each_run_polls_once() {
    let lesson = Lesson {
        clause: "3. When run",
        promise: "A task that wakes itself is polled once by each `run`, and scheduled in between.",
        usual_cause: "`run` polls again at once if the task was woken meanwhile. The others in the \
                      queue wait. If it was scheduled too rarely, a wake-up during a poll was taken \
                      for one that came before the poll: see clause 5.",
        read: "scheduler/task.html#woken-while-running",
    };
    check(lesson, || {
        let queue = Queue::default();
        let handle = queue.spawn(Yields(3));
        for round in 1..=3 {
            queue.run_one();
            let scheduled = queue.scheduled();
            assert!(
                scheduled == round && !handle.is_finished(),
                "after {round} runs the task was scheduled {scheduled} times"
            );
        }
        queue.run_one();
        assert!(handle.is_finished(), "its fourth poll was ready");
    });
}

/// Clause 3: a future is polled by `&mut`.
#[test]
fn a_task_is_not_scheduled_while_it_is_polled() {
    let lesson = Lesson {
        clause: "3. When run",
        promise: "A wake-up from another thread during a poll schedules the task when the poll is \
                  over.",
        usual_cause: "A wake-up schedules the task even if another thread has it, so that two \
                      threads poll it at once. Leave a notification for the thread that polls.",
        read: "scheduler/task.html#who-may-poll-the-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let mut is_first = true;
        let end_of_poll = move || match std::mem::take(&mut is_first) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        };
        let (handle, _) =
            in_the_middle_of_a_poll(&queue, end_of_poll, |waker, _| {
                waker.wake_by_ref();
                waker.clone().wake();
                let scheduled = queue.scheduled();
                assert!(scheduled == 0, "it was scheduled while it was polled");
            });
        let scheduled = queue.scheduled();
        assert!(scheduled == 1, "then it was scheduled {scheduled} times");
        queue.run_one();
        assert!(handle.is_finished(), "its second poll was ready");
    });
}

/// Clause 3: most futures panic when they are polled after their end.
#[test]
fn a_task_that_has_ended_is_never_polled_again() {
    let lesson = Lesson {
        clause: "3. When run",
        promise: "A wake-up after the end, or during the last poll, schedules nothing.",
        usual_cause: "A wake-up doesn't check whether the task is complete, or the wake-up that \
                      came during the last poll is still served.",
        read: "scheduler/task.html#who-may-poll-the-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (task, waker, handle) = queue.spawn_waiting();
        task.complete();
        queue.run_one();
        waker.wake_by_ref();
        waker.clone().wake();
        let wakes_at_the_end = queue.spawn(poll_fn(|cx| {
            cx.waker().wake_by_ref();
            Poll::Ready(())
        }));
        queue.run_one();
        let (polls, scheduled) = (task.polls(), queue.scheduled());
        assert!(
            queue.pop().is_none() && polls == 2 && scheduled == 1,
            "a task that has ended was scheduled again"
        );
        assert!(handle.is_finished() && wakes_at_the_end.is_finished());
    });
}

/// Clause 4: from any thread, and in any way.
#[test]
fn a_wake_up_schedules_a_task_that_waits() {
    let lesson = Lesson {
        clause: "4. Scheduled once",
        promise: "A waiting task is scheduled by each way to wake it, and then polled.",
        usual_cause: "The wake-up only sets a flag; or `wake` by value drops its reference and \
                      forgets to wake.",
        read: "scheduler/task.html#who-may-poll-the-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (task, waker, handle) = queue.spawn_waiting();
        let ways: [fn(&Waker); 3] = [
            Waker::wake_by_ref,
            |waker| waker.clone().wake(),
            |waker| elsewhere(|| waker.wake_by_ref()),
        ];
        for (round, wake) in (2..).zip(ways) {
            wake(&waker);
            let scheduled = queue.scheduled();
            assert!(
                scheduled == round - 1,
                "it was scheduled {scheduled} times"
            );
            queue.run_one();
            let polls = task.polls();
            assert!(polls as usize == round, "it was polled {polls} times");
        }
        task.complete();
        queue.run_one();
        result(handle).expect("it was completed");
    });
}

/// Clause 4: a task that is queued twice could be polled twice at once.
#[test]
fn many_wake_ups_are_one_poll() {
    let lesson = Lesson {
        clause: "4. Scheduled once",
        promise: "Wake-ups of a task that is queued schedule nothing, and cause no further poll.",
        usual_cause: "A wake-up doesn't check whether the task is queued; or the notification that \
                      it leaves isn't cleared when the poll begins.",
        read: "scheduler/task.html#woken-while-running",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (task, waker, _handle) = queue.spawn_waiting();
        for round in 1..=2 {
            for _ in 0..3 {
                waker.wake_by_ref();
                waker.clone().wake();
            }
            queue.run_all();
            let seen = (queue.scheduled(), task.polls());
            assert!(
                seen == (round, round as u32 + 1),
                "after {round} rounds of six wake-ups (scheduled, polls) is {seen:?}"
            );
        }
    });
}

/// Clause 5: made certain by joining the waking thread inside the poll.
#[test]
fn a_wake_up_during_a_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "A task that is woken while it is polled is scheduled again.",
        usual_cause: "The notification is cleared after the poll instead of before, or isn't \
                      checked when the task is let go.",
        read: "scheduler/task.html#woken-while-running",
    };
    check(lesson, || {
        let ways: [fn(&Waker); 3] = [
            |waker| (0..3).for_each(|_| waker.wake_by_ref()),
            |waker| waker.clone().wake(),
            |waker| elsewhere(|| waker.wake_by_ref()),
        ];
        for wake in ways {
            let queue = Queue::default();
            let mut is_first = true;
            let handle = queue.spawn(poll_fn(move |cx| {
                wake(cx.waker());
                match std::mem::take(&mut is_first) {
                    true => Poll::Pending,
                    false => Poll::Ready(()),
                }
            }));
            queue.run_one();
            let scheduled = queue.scheduled();
            assert!(scheduled == 1, "then it was scheduled {scheduled} times");
            queue.run_one();
            assert!(handle.is_finished(), "its second poll was ready");
        }
    });
}

/// Clause 5: the poll serves what came before it, and nothing else.
#[test]
fn a_wake_up_during_a_poll_counts_whatever_came_before() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "A task that was woken several times while it was queued, and is woken again during \
                  the poll, is scheduled again.",
        usual_cause: "A wake-up changes nothing if the task has been woken already: there is a flag, \
                      or a count that is high enough. After the poll, it is taken back as served. A \
                      wake-up during the poll must leave something that the poll's end doesn't take \
                      back; so take it back when the poll begins.",
        read: "scheduler/task.html#woken-while-running",
    };
    check(lesson, || {
        let queue = Queue::default();
        let wakes_itself = Arc::new(AtomicBool::new(false));
        let asked = wakes_itself.clone();
        let waker = Arc::new(Mutex::new(None));
        let place = waker.clone();
        let _handle = queue.spawn(poll_fn(move |cx| {
            *place.lock().expect("no test panics with it") =
                Some(cx.waker().clone());
            if asked.swap(false, SeqCst) {
                cx.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        }));
        queue.run_one();
        let waker = waker.lock().expect("no test panics with it").take();
        let waker = waker.expect("the task was polled");
        for count in 1..=5 {
            (0..count).for_each(|_| waker.wake_by_ref());
            wakes_itself.store(true, SeqCst);
            queue.run_one();
            let task = queue.pop();
            assert!(
                task.is_some(),
                "it was woken {count} times while it waited or was queued, and then during the \
                 poll: no second poll follows"
            );
            task.into_iter().for_each(Runnable::run);
            let further = queue.pop().is_some();
            assert!(!further, "a poll without a wake-up schedules it again");
        }
    });
}

/// Clause 5: no single run can hit the moment at which a task is let go.
#[test]
fn thousands_of_wake_ups_from_another_thread_all_arrive() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "A wake-up that comes just when a poll ends schedules the task.",
        usual_cause: "Looking for the notification and letting the task go are two steps: a load \
                      and a store. Make them one compare-exchange.",
        read: "scheduler/task.html#woken-while-running",
    };
    const TIME: Duration = Duration::from_millis(200);
    check(lesson, || {
        let queue = Queue::default();
        race_with_wakes(TIME, |answer| {
            let handle = queue.spawn(answer);
            while !handle.is_finished() {
                queue.wait_and_pop().run();
            }
        });
    });
}

/// Clause 16: a yield is the most common reason to run a task again.
#[test]
fn a_yield_goes_to_the_scheduler_without_a_wake_up() {
    let lesson = Lesson {
        clause: "16. Yield",
        promise: "A task that yields is given to `schedule_yielded`, once, after its poll.",
        usual_cause: "The yield wakes the waker; or the flag that it leaves isn't cleared, and the \
                      next pending poll counts as a yield, too; or a task that has yielded is \
                      given away without being marked as scheduled, so that a wake-up schedules it \
                      again.",
        read: "scheduler/task.html#a-yield-without-a-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (future, task) = ManualFuture::new();
        let handle = queue.spawn(async move {
            for _ in 0..3 {
                yield_now().await;
            }
            future.await;
        });
        queue.run_all();
        let seen = (queue.yielded(), queue.scheduled());
        assert!(
            seen == (3, 3),
            "(yielded, scheduled) is {seen:?} after 3 yields"
        );
        assert!(task.polls() == 1, "the yields didn't end");
        task.complete();
        queue.run_all();
        let seen = (queue.yielded(), queue.scheduled());
        assert!(seen == (3, 4), "then, after a wake-up, it is {seen:?}");
        result(handle).expect("it was completed");
    });
}

/// Clause 16: a `select` of a yield and a channel may do both in one poll.
#[test]
fn a_task_that_yields_and_is_woken_is_polled_once_more() {
    let lesson = Lesson {
        clause: "16. Yield",
        promise: "A task that is woken in a poll that yields, and perhaps again in the queue, is \
                  scheduled once and polled once. Then it waits.",
        usual_cause: "After a yield, the state is changed by an addition or a subtraction that is \
                      right only if nothing else has happened during the poll. With a \
                      notification, it gives another state, or a later step carries into the next \
                      flag. Set and clear the flags by name (`fetch_or`, `fetch_and`, a CAS). Or \
                      the notification isn't cleared when the next poll begins.",
        read: "scheduler/task.html#a-yield-without-a-waker",
    };
    check(lesson, || {
        for is_woken_again in [false, true] {
            let queue = Queue::default();
            let polls = Arc::new(AtomicUsize::new(0));
            let (counted, (sender, receiver)) =
                (polls.clone(), mpsc::channel());
            let handle = queue.spawn(poll_fn(move |cx| {
                if counted.fetch_add(1, SeqCst) == 0 {
                    let _ = sender.send(cx.waker().clone());
                    cx.waker().wake_by_ref();
                    assert!(pin!(yield_now()).poll(cx).is_pending());
                }
                Poll::<()>::Pending
            }));
            queue.run_one();
            let waker = receiver.recv().expect("its first poll has sent it");
            let mut when = "in a poll that yielded".to_owned();
            if is_woken_again {
                waker.wake_by_ref();
                waker.clone().wake();
                when += ", and twice in the queue";
            }
            let scheduled = queue.scheduled();
            assert!(
                scheduled == 1,
                "a task was woken {when}; it was scheduled {scheduled} times"
            );
            queue.run_one();
            let has_ended = handle.is_finished();
            assert!(
                !has_ended,
                "a task was woken {when}; its next poll was pending, and it has ended"
            );
            queue.run_all();
            let polls_then = polls.load(SeqCst);
            assert!(
                polls_then == 2,
                "a task was woken {when}; since then, it was polled {} times, and not once",
                polls_then - 1
            );
            waker.wake_by_ref();
            queue.run_all();
            let polls = polls.load(SeqCst);
            assert!(
                polls == 3,
                "a task was woken {when}; then it waited, was woken, and wasn't polled once, but \
                 {} times",
                polls - polls_then
            );
        }
    });
}

/// For a waker around a task's own, with the same data.
static LOOK_ALIKE: RawWakerVTable = RawWakerVTable::new(
    |data| RawWaker::new(data, &LOOK_ALIKE),
    |_| {
        LOOK_ALIKE_WAKES.fetch_add(1, SeqCst);
    },
    |_| {
        LOOK_ALIKE_WAKES.fetch_add(1, SeqCst);
    },
    |_| {},
);
static LOOK_ALIKE_WAKES: AtomicUsize = AtomicUsize::new(0);

/// Clause 16: combinators poll with wakers of their own, and wait for them.
#[test]
fn a_yield_wakes_a_waker_that_is_not_the_tasks() {
    let lesson = Lesson {
        clause: "16. Yield",
        promise: "A yield that is polled with another waker, in a task or elsewhere, wakes that waker.",
        usual_cause: "The yield checks only whether a task runs on this thread, not whether the \
                      waker is that task's, or compares the data of the two and not the vtables; \
                      or the record of the task stays when its run is over; or a nested run \
                      forgets the outer task, or that the outer task has yielded: save both where \
                      a run begins, and restore them where it ends.",
        read: "scheduler/task.html#a-yield-without-a-waker",
    };
    let wakes_of_a_yield = || {
        let (waker, counts) = CountingWaker::new();
        let polled = pin!(yield_now()).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending(), "a yield is pending once");
        counts.wakes()
    };
    check(lesson, move || {
        let wakes = wakes_of_a_yield();
        assert!(
            wakes == 1,
            "outside of a task the waker was woken {wakes} times"
        );
        // Its run is over, so this thread polls it no longer.
        let queue = Queue::default();
        let (_task, waker, _handle) = queue.spawn_waiting();
        let polled = pin!(yield_now()).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending(), "a yield is pending once");
        let scheduled = queue.scheduled();
        assert!(
            scheduled == 1,
            "a yield was polled with the waker of a task that waits, outside of its `run`, and the \
             task was scheduled {scheduled} times"
        );
        let queue = Queue::default();
        let _handle = queue.spawn(poll_fn(|cx| {
            // SAFETY: the functions of `LOOK_ALIKE` don't use the data.
            let waker = unsafe { Waker::new(cx.waker().data(), &LOOK_ALIKE) };
            let polled =
                pin!(yield_now()).poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending(), "a yield is pending once");
            Poll::<()>::Pending
        }));
        queue.run_one();
        let (wakes, yielded) = (LOOK_ALIKE_WAKES.load(SeqCst), queue.yielded());
        assert!(
            wakes == 1 && yielded == 0,
            "in a task a yield was polled with a waker that has the data of the task's own and \
             another vtable: it was woken {wakes} times, and the task yielded {yielded} times"
        );
        for is_first in [true, false] {
            let queue = Queue::default();
            let (_other, other_waker, _other_handle) = queue.spawn_waiting();
            let inner = queue.clone();
            let mut outer_yield = yield_now();
            let handle = queue.spawn(poll_fn(move |cx| {
                if is_first {
                    assert!(Pin::new(&mut outer_yield).poll(cx).is_pending());
                }
                let wakes = wakes_of_a_yield();
                assert!(wakes == 1, "in a task it was woken {wakes} times");
                let mut other_cx = Context::from_waker(&other_waker);
                assert!(pin!(yield_now()).poll(&mut other_cx).is_pending());
                assert!(inner.scheduled() == 1, "the other task wasn't woken");
                // A task that runs inside another task's poll, and yields
                // itself.
                let (task, _handle) = spawn(yield_now(), inner.clone());
                task.run();
                match is_first {
                    true => Poll::Pending,
                    false => Pin::new(&mut outer_yield).poll(cx),
                }
            }));
            queue.run_one();
            let yielded = queue.yielded();
            let order = if is_first { "before" } else { "after" };
            assert!(
                yielded == 2,
                "a task yielded {order} it ran another one, which also yielded: `schedule_yielded` \
                 was called {yielded} times, not twice"
            );
            drop(handle);
        }
    });
}

/// Clause 16: a `select` with a yield in it may still be ready.
#[test]
fn a_yield_of_a_poll_that_ends_the_task_affects_no_other() {
    let lesson = Lesson {
        clause: "16. Yield",
        promise: "If a task yields and then its poll is ready or panics, no other task counts as \
                  having yielded, and a task that has yielded still does.",
        usual_cause: "The yield flag is taken only from a poll that was pending, and stays for the \
                      next poll on this thread; or a panic skips the lines that restore the flag \
                      of the outer task. Take and restore it after each poll, inside of which the \
                      panic is caught.",
        read: "scheduler/task.html#a-yield-without-a-waker",
    };
    check(lesson, || {
        for panics in [false, true] {
            let ends = move || {
                poll_fn(move |cx| {
                    assert!(pin!(yield_now()).poll(cx).is_pending());
                    assert!(!panics, "the future panics");
                    Poll::Ready(())
                })
            };
            let how = if panics { "panicked" } else { "was ready" };
            let queue = Queue::default();
            let handle = queue.spawn(ends());
            queue.run_one();
            assert!(handle.is_finished(), "its poll has ended it");
            let _waiting = queue.spawn_waiting();
            let scheduled = queue.scheduled();
            assert!(
                scheduled == 0,
                "a task yielded in a poll that {how}; the next one waits, and was scheduled \
                 {scheduled} times"
            );
            for yields in [false, true] {
                let queue = Queue::default();
                let inner = queue.clone();
                let _handle = queue.spawn(poll_fn(move |cx| {
                    if yields {
                        assert!(pin!(yield_now()).poll(cx).is_pending());
                    }
                    let (task, _handle) = spawn(ends(), inner.clone());
                    task.run();
                    Poll::<()>::Pending
                }));
                queue.run_one();
                let yielded = queue.yielded();
                let what = if yields { "yielded" } else { "didn't yield" };
                assert!(
                    yielded == usize::from(yields),
                    "a task {what}, and ran another one, which did in a poll that {how}: \
                     `schedule_yielded` was called {yielded} times"
                );
                drop(queue.pop());
            }
        }
    });
}
