//! The block: its references, who frees it, and what it costs.

use super::ways::{ENDS, LastTask};
use super::*;

/// Clause 1: an allocation costs as much as several polls.
#[test]
fn a_task_is_one_block_of_memory() {
    let lesson = Lesson {
        clause: "1. One allocation",
        promise: "`spawn` allocates one block, about as large as the future or its output.",
        usual_cause: "The future, the output or the state have boxes or `Arc`s of their own, or \
                      future and output are side by side. An `enum` puts them in the same place.",
        read: "scheduler/task.html#one-block",
    };
    /// For the header and the scheduler.
    const MORE: u64 = 256;
    #[repr(align(128))]
    struct Aligned;
    check(lesson, || {
        let queue = Queue::default();
        let assert_one = |what: &str, counted: testkit::Allocations, size| {
            let (count, bytes) = (counted.count, counted.bytes);
            assert!(
                count == 1 && bytes <= size + MORE,
                "for {what} `spawn` allocated {count} blocks of {bytes} bytes in all"
            );
            queue.run_all();
        };
        let (_a, counted) =
            allocations(|| spawn(ready(()), Queue::clone(&queue)));
        assert_one("a zero-sized future", counted, 0);
        let large = [1_u8; LARGE];
        let future = async move { black_box(large) };
        let (_b, counted) = allocations(|| spawn(future, Queue::clone(&queue)));
        assert_one("a large future and output", counted, LARGE as u64 + 8);
        let future = ready(Aligned);
        let (_c, counted) = allocations(|| spawn(future, Queue::clone(&queue)));
        assert_one("an aligned output", counted, 512);
    });
}

/// Clause 1: what happens to a task happens often.
#[test]
fn running_waking_and_awaiting_allocate_nothing() {
    let lesson = Lesson {
        clause: "1. One allocation",
        promise: "Polls, wake-ups, clones of wakers and the handle need no memory.",
        usual_cause: "Each poll makes a waker from a new `Arc`, the result goes through a channel, or \
                      the list of tasks is a collection that grows.",
        read: "scheduler/task.html#one-block",
    };
    check(lesson, || {
        let queue = Queue::with_list();
        queue.lock().reserve(16);
        let mut left = 3;
        let mut handle = queue.spawn(poll_fn(move |cx| {
            left -= 1;
            cx.waker().clone().wake();
            match left {
                0 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        }));
        let ((), counted) = allocations(|| {
            while poll(&mut handle, Waker::noop()).is_pending() {
                queue.run_one();
            }
        });
        let count = counted.count;
        assert!(
            count == 0,
            "three polls and the end allocated {count} blocks"
        );
    });
}

/// Clause 1: memory may be short when a runtime ends.
#[test]
fn aborts_drops_and_the_close_allocate_nothing() {
    let lesson = Lesson {
        clause: "1. One allocation",
        promise: "Tasks are aborted, dropped or cancelled by `close_and_cancel` without \
                  allocating, however many they are.",
        usual_cause: "`close_and_cancel` collects the tasks that it cancels in a `Vec`, or the \
                      drop of a `Runnable` does so with the tasks linked behind it. Each task has \
                      room for a link: link one behind the other.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    const TASKS: usize = 100;
    check(lesson, || {
        let queue = Queue::with_list();
        queue.lock().reserve(2 * TASKS);
        let spawn_all = || -> Vec<_> {
            (0..TASKS).map(|_| queue.spawn(pending::<()>())).collect()
        };
        let assert_none = |what: &str, action: &mut dyn FnMut()| {
            let ((), counted) = allocations(action);
            let count = counted.count;
            assert!(
                count == 0,
                "with {TASKS} tasks {what} allocated {count} blocks"
            );
        };
        let handles = spawn_all();
        queue.run_all();
        assert_none("`abort` of each", &mut || {
            handles.iter().for_each(JoinHandle::abort);
            queue.run_all();
        });
        let ended = handles.iter().all(JoinHandle::is_finished);
        assert!(ended, "a task that was aborted hasn't ended");

        let handles = spawn_all();
        assert_none("the drop of a row of them", &mut || {
            let mut first: Option<Runnable<Queue>> = None;
            while let Some(mut task) = queue.pop() {
                task.set_next(first.take());
                first = Some(task);
            }
        });
        let ended = handles.iter().all(JoinHandle::is_finished);
        assert!(ended, "a task that was dropped hasn't ended");

        let handles = spawn_all();
        queue.run_all();
        assert_none("`close_and_cancel`", &mut || {
            queue.list().close_and_cancel();
        });
        let ended = handles.iter().all(JoinHandle::is_finished);
        assert!(ended, "a task that waited hasn't ended");
    });
}

/// Checks that it is where its type wants it when it is polled and dropped.
#[repr(align(128))]
struct Aligned(MustNotMove);

impl Future for Aligned {
    type Output = AlignedOutput;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<AlignedOutput> {
        assert_aligned(&*self);
        // SAFETY: the field is pinned as the whole is, and nothing moves it.
        let inner = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
        inner.poll(cx).map(|()| AlignedOutput(7))
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        assert_aligned(self);
    }
}

#[repr(align(64))]
struct AlignedOutput(u8);

#[track_caller]
fn assert_aligned<T>(value: &T) {
    let (address, align) = (std::ptr::from_ref(value).addr(), align_of::<T>());
    assert!(
        address % align == 0,
        "a value of alignment {align} was at {address:#x}"
    );
}

/// Clause 2: async blocks may point into themselves.
#[test]
fn a_future_of_any_alignment_stays_in_its_place() {
    let lesson = Lesson {
        clause: "2. In place",
        promise: "A future is polled and dropped in one place, which is aligned for it.",
        usual_cause: "The future is taken out of the block to be polled or dropped \
                      (`mem::replace`, `ptr::read`), or offsets are computed for a header without \
                      padding; or the block is allocated with the alignment of the header, so that \
                      an alignment above 16 is a matter of luck.",
        read: "scheduler/task.html#one-block",
    };
    check(lesson, || {
        let queue = Queue::default();
        for yields in [0, 3] {
            let handle = queue.spawn(Aligned(MustNotMove::new(yields)));
            queue.run_all();
            let output = result(handle).unwrap_or_else(|error| {
                panic!("{:?}", error.into_panic().downcast_ref::<String>())
            });
            assert!(output.0 == 7, "the output is {}", output.0);
        }
        let handle = queue.spawn(Aligned(MustNotMove::new(2)));
        queue.run_one();
        drop(queue.pop());
        assert_cancelled(handle);
    });
}

/// Clause 6: a timer fires late, and a runtime may be gone by then.
#[test]
fn a_waker_may_be_used_long_after_the_end() {
    let lesson = Lesson {
        clause: "6. Wakers",
        promise: "Wakers of a task that has ended can be cloned, woken and dropped, on any thread.",
        usual_cause: "The waker has no reference of its own: it borrows the one that the poll had, \
                      or `clone` copies the pointer without counting. If the block is left at the \
                      end, `wake` on a task that has ended doesn't give its reference back.",
        read: "scheduler/task.html#counting-references",
    };
    check(lesson, || {
        let before = live_bytes();
        let queue = Queue::default();
        let (waker, handle) = queue.spawn_large();
        waker.wake_by_ref();
        queue.run_one();
        result(handle).expect("its second poll was ready");
        drop(queue);
        let is_there = live_bytes() - before > LARGE as isize / 2;
        assert!(is_there, "the block was freed, and a waker is left");
        let clone = waker.clone();
        elsewhere(move || {
            clone.wake_by_ref();
            clone.clone().wake();
            drop(clone.clone());
            clone.wake();
        });
        waker.wake_by_ref();
        waker.wake();
        assert_freed(before, "when the last waker was woken");
    });
}

/// Clause 6: futures keep their waker if the new one would wake the same task.
#[test]
fn wakers_of_one_task_are_known_to_be_the_same() {
    let lesson = Lesson {
        clause: "6. Wakers",
        promise: "`will_wake` says yes to a clone and to the waker of the next poll, and no to the \
                  waker of another task.",
        usual_cause: "The vtable of the waker is a constant that is copied, or `clone` names \
                      another vtable. Use a single `static`.",
        read: "scheduler/task.html#counting-references",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (task, waker, _handle) = queue.spawn_waiting();
        let (_other, other_waker, _other_handle) = queue.spawn_waiting();
        assert!(waker.will_wake(&waker.clone()), "not the same as its clone");
        waker.wake_by_ref();
        queue.run_one();
        let (next, _) = task.wait_until_polled();
        let in_poll = queue.spawn(poll_fn(|cx| {
            Poll::Ready(cx.waker().will_wake(&cx.waker().clone()))
        }));
        queue.run_one();
        let is_same = result(in_poll).is_ok_and(|it| it);
        assert!(is_same, "the waker of a poll isn't the same as its clone");
        assert!(waker.will_wake(&next), "not the same as in the next poll");
        assert!(!waker.will_wake(&other_waker), "the same as another task's");
    });
}

/// Clause 6: each thread has its own reason to wake.
#[test]
fn threads_may_use_the_wakers_of_a_task_at_once() {
    let lesson = Lesson {
        clause: "6. Wakers",
        promise: "Threads that clone, wake and drop wakers while the task runs and ends do no \
                  harm.",
        usual_cause: "A count or a flag is changed with a load and a store, or two references are \
                      given back where there was one.",
        read: "scheduler/task.html#counting-references",
    };
    check(lesson, || {
        for round in 0..40 {
            let before = live_bytes();
            let queue = Queue::default();
            let (first_waker, handle) = queue.spawn_large();
            with_chaos(SEED + round, || {
                thread::scope(|scope| {
                    for _ in 0..3 {
                        let waker = first_waker.clone();
                        scope.spawn(move || {
                            for _ in 0..10 {
                                waker.clone().wake();
                                waker.wake_by_ref();
                                drop(waker.clone());
                            }
                        });
                    }
                    drop(first_waker);
                    while !handle.is_finished() {
                        queue.wait_and_pop().run();
                    }
                });
            });
            result(handle).expect("its second poll was ready");
            assert_freed(before, "when the handle and all wakers were gone");
        }
    });
}

/// Clause 7: tasks hold connections, files and locks.
#[test]
fn the_future_is_gone_before_the_handle_is_ready() {
    let lesson = Lesson {
        clause: "7. Freed",
        promise: "When the waker of the handle is called, the future has already been dropped, by \
                  the thread that ran it.",
        usual_cause: "The future is left in the block until the block is freed, or the handle is \
                      woken before the future is dropped.",
        read: "scheduler/task-end.html#future-then-output",
    };
    check(lesson, || {
        for panics in [false, true] {
            let queue = Queue::default();
            let (probe, drops) = DropProbe::new();
            let kept = Arc::new(Mutex::new(None));
            let keep = kept.clone();
            let mut handle = queue.spawn(poll_fn(move |cx| {
                let _with_the_future = &probe;
                *keep.lock().unwrap() = Some(cx.waker().clone());
                assert!(!panics, "the future panics");
                Poll::Ready(())
            }));
            let drops_then = Arc::new(Mutex::new(Vec::new()));
            let (seen, now) = (drops_then.clone(), drops.clone());
            let waker = HostileWaker::new(move || {
                *seen.lock().unwrap() = now.threads();
            });
            assert!(poll(&mut handle, &waker).is_pending(), "it hasn't run");
            let runner = elsewhere(|| {
                queue.run_one();
                thread::current().id()
            });
            let drops_then = drops_then.lock().unwrap();
            assert!(
                *drops_then == [runner] && drops.count() == 1,
                "{} drops by then, {} now",
                drops_then.len(),
                drops.count()
            );
        }
    });
}

/// Clause 7: the task that awaits another one may need what that one owned.
#[test]
fn a_handle_is_not_ready_while_the_future_is_dropped() {
    let lesson = Lesson {
        clause: "7. Freed",
        promise: "While the future is dropped, the handle isn't finished and its waker hasn't been \
                  called, no matter how the task ends.",
        usual_cause: "A task that is cancelled has no output, so its end is published first, and \
                      its future is dropped after that. Drop the future, and then publish.",
        read: "scheduler/task-end.html#future-then-output",
    };
    check(lesson, || {
        for (how, end) in ENDS {
            let (sender, looks) = mpsc::channel();
            let task = LastTask::new(None, move |handle, wakes| {
                let handle = handle.lock().unwrap().clone();
                let is_finished = handle.is_some_and(|it| it.is_finished());
                let _ = sender.send((is_finished, wakes.wakes()));
            });
            end(&task);
            let (is_finished, wakes) =
                looks.try_recv().expect("the future was dropped");
            assert!(
                !is_finished && wakes == 0,
                "a task {how}: while its future was dropped, its handle was finished: \
                 {is_finished}, and had been woken {wakes} times"
            );
        }
    });
}

/// Clause 7: a reference too many is a leak, and one too few is a
/// use-after-free.
#[test]
fn the_block_is_freed_with_its_last_user() {
    let lesson = Lesson {
        clause: "7. Freed",
        promise: "The block is freed when the task has ended, the handle was ready or is gone, \
                  and the waker is gone, in any order.",
        usual_cause: "One of the ways to wake, drop or join gives back no reference, or one too \
                      many. `wake` by value has one to give back even when it schedules, and a \
                      handle when it's ready, not only when it's dropped.",
        read: "scheduler/task.html#counting-references",
    };
    const TASK: usize = 0;
    const WAKER: usize = 1;
    const HANDLE: usize = 2;
    check(lesson, || {
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        for (order, is_used) in
            orders.map(|it| [(it, false), (it, true)]).concat()
        {
            let before = live_bytes();
            let queue = Queue::default();
            let (waker, handle) = queue.spawn_large();
            waker.wake_by_ref();
            let (mut waker, mut handle) = (Some(waker), Some(handle));
            let mut was_ready = None;
            for who in order {
                match who {
                    TASK if is_used => queue.run_one(),
                    TASK => drop(queue.pop()),
                    WAKER if is_used => waker.take().unwrap().wake(),
                    WAKER => drop(waker.take()),
                    HANDLE
                        if is_used
                            && handle.as_ref().unwrap().is_finished() =>
                    {
                        let mut handle = handle.take().unwrap();
                        let output = poll(&mut handle, Waker::noop());
                        assert!(matches!(output, Poll::Ready(Ok(()))));
                        was_ready = Some(handle);
                    }
                    _ => drop(handle.take()),
                }
                let is_last = who == order[2];
                let is_there = live_bytes() - before > LARGE as isize / 2;
                assert!(
                    is_last != is_there,
                    "(task, waker, handle) went in the order {order:?}; after {who} the block was {}",
                    if is_last { "left" } else { "freed" }
                );
            }
            drop(was_ready);
        }
    });
}

/// Clause 17: the count is the same on every machine.
#[test]
fn a_wake_up_and_a_poll_take_few_steps() {
    let lesson = Lesson {
        clause: "17. Few steps",
        promise: "A wake-up by reference and the pending poll after it take at most three atomic \
                  read-modify-writes, a poll that yields at most two.",
        usual_cause: "A reference is counted for the queue, and another for the waker of the poll. \
                      The thread that has the task needs neither.",
        read: "scheduler/task.html#counting-references",
    };
    const ROUNDS: u64 = 100;
    check(lesson, || {
        let queue = Queue::default();
        let (_task, waker, _handle) = queue.spawn_waiting();
        let before = read_modify_writes();
        for _ in 0..ROUNDS {
            waker.wake_by_ref();
            queue.run_one();
        }
        // `ManualFuture` clones its waker, and drops the previous one.
        let taken = (read_modify_writes() - before) / ROUNDS;
        assert!(taken <= 3 + 2, "a wake-up and a poll took {taken} RMWs");
        let handle = queue.spawn(async {
            loop {
                yield_now().await;
            }
        });
        let before = read_modify_writes();
        (0..ROUNDS).for_each(|_| queue.run_one());
        let taken = (read_modify_writes() - before) / ROUNDS;
        assert!(taken <= 2, "a poll that yields took {taken} RMWs");
        handle.abort();
        let _: Poll<Result<(), _>> = poll(&mut { handle }, Waker::noop());
        drop(queue.pop());
    });
}
