//! The checks of exercise 12, one or more for each clause of the contract.
#![expect(
    clippy::waker_clone_wake,
    reason = "that a clone can be woken by value is checked too"
)]
#![allow(
    clippy::drop_non_drop,
    reason = "not every future here owns something"
)]

use std::collections::VecDeque;
use std::future::{pending, poll_fn, ready};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use sync::chaos::{read_modify_writes, with_chaos};
use testkit::{
    CountingWaker, DropLog, DropProbe, HostileWaker, Lesson, ManualFuture,
    ManualHandle, MustNotMove, PanicOnDrop, Rendezvous, Yields, allocations,
    check, live_bytes, panic_message, race_with_wakes,
};

use super::{
    JoinError, JoinHandle, OwnedTasks, Runnable, Schedule, spawn, yield_now,
};

/// Decides what happens under chaos.
const SEED: u64 = 12;
/// So many bytes in a future show in the process's memory.
const LARGE: usize = 1 << 16;

/// A scheduler that keeps what it is given until the check runs it.
#[derive(Clone, Default)]
struct Queue(Arc<Shared>);

#[derive(Default)]
struct Shared {
    tasks: Mutex<VecDeque<Runnable<Queue>>>,
    came: Condvar,
    scheduled: AtomicUsize,
    yielded: AtomicUsize,
    owned: Option<OwnedTasks<Queue>>,
}

impl Schedule for Queue {
    fn schedule(&self, task: Runnable<Self>) {
        self.0.scheduled.fetch_add(1, SeqCst);
        self.push(task);
    }

    fn schedule_yielded(&self, task: Runnable<Self>) {
        self.0.yielded.fetch_add(1, SeqCst);
        self.push(task);
    }

    fn owned(&self) -> Option<&OwnedTasks<Self>> {
        self.0.owned.as_ref()
    }
}

impl Queue {
    /// A queue whose tasks are listed.
    fn with_list() -> Self {
        Self(Arc::new(Shared {
            owned: Some(OwnedTasks::new()),
            ..Shared::default()
        }))
    }

    fn list(&self) -> &OwnedTasks<Self> {
        self.owned().expect("made with a list")
    }

    /// Makes a task and puts it into the queue; this counts as no scheduling.
    fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let (task, handle) = spawn(future, self.clone());
        self.push(task);
        handle
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Runnable<Self>>> {
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, task: Runnable<Self>) {
        self.lock().push_back(task);
        self.0.came.notify_one();
    }

    fn pop(&self) -> Option<Runnable<Self>> {
        self.lock().pop_front()
    }

    fn wait_and_pop(&self) -> Runnable<Self> {
        let is_empty = |tasks: &mut VecDeque<_>| tasks.is_empty();
        let tasks = self.0.came.wait_while(self.lock(), is_empty);
        let task = tasks.expect("nobody panics with it").pop_front();
        task.expect("just waited for it")
    }

    #[track_caller]
    fn run_one(&self) {
        self.pop().expect("a task should be in the queue").run();
    }

    fn run_all(&self) {
        while let Some(task) = self.pop() {
            task.run();
        }
    }

    /// How often the scheduler was called, by either method.
    fn scheduled(&self) -> usize {
        self.0.scheduled.load(SeqCst) + self.yielded()
    }

    fn yielded(&self) -> usize {
        self.0.yielded.load(SeqCst)
    }

    /// Spawns a task and runs it once: it waits to be completed.
    fn spawn_waiting(&self) -> (ManualHandle, Waker, JoinHandle<()>) {
        let (future, task) = ManualFuture::new();
        let handle = self.spawn(future);
        self.run_one();
        let (waker, _) = task.wait_until_polled();
        (task, waker, handle)
    }

    /// Spawns a large task and runs it once. Returns its only waker; its next
    /// poll is ready.
    fn spawn_large(&self) -> (Waker, JoinHandle<()>) {
        let (tell, told) = mpsc::channel();
        let (mut tell, ballast) = (Some(tell), [0_u8; LARGE]);
        let handle = self.spawn(poll_fn(move |cx| {
            black_box(&ballast);
            match tell.take() {
                None => Poll::Ready(()),
                Some(tell) => {
                    let _ = tell.send(cx.waker().clone());
                    Poll::Pending
                }
            }
        }));
        self.run_one();
        let waker = told.recv().expect("the first poll has sent it");
        (waker, handle)
    }
}

/// Asserts that no large task is left.
#[track_caller]
fn assert_freed(before: isize, when: &str) {
    let left = live_bytes() - before;
    assert!(left < LARGE as isize / 2, "{when} {left} bytes were left");
}

fn poll<T>(
    handle: &mut JoinHandle<T>,
    waker: &Waker,
) -> Poll<Result<T, JoinError>> {
    Pin::new(handle).poll(&mut Context::from_waker(waker))
}

/// What the handle of a task that has ended gives.
#[track_caller]
fn result<T>(mut handle: JoinHandle<T>) -> Result<T, JoinError> {
    match poll(&mut handle, Waker::noop()) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the task has ended, and its handle waits"),
    }
}

#[track_caller]
fn assert_cancelled<T>(handle: JoinHandle<T>) {
    let error = result(handle).err().expect("it was cancelled");
    assert!(error.is_cancelled(), "the handle says: {error}");
}

#[track_caller]
fn assert_panicked<T>(handle: JoinHandle<T>, message: &str) {
    let error = result(handle).err().expect("it panicked");
    assert!(error.is_panic(), "the handle says: {error}");
    let thrown = error.into_panic();
    let text = thrown.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| thrown.downcast_ref::<String>().cloned());
    assert!(
        text.as_deref() == Some(message),
        "what was thrown: {text:?}"
    );
}

/// Does something on another thread, and waits for it.
fn elsewhere<R: Send>(action: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let other = scope.spawn(action);
        other.join().expect("nothing panics elsewhere")
    })
}

/// Clause 1: an allocation costs as much as several polls.
#[test]
fn a_task_is_one_block_of_memory() {
    let lesson = Lesson {
        clause: "1. One allocation",
        promise: "`spawn` allocates one block, about as large as the future or its output.",
        usual_cause: "The future, the output or the state have boxes or `Arc`s of their own, or \
                      future and output stand side by side. An `enum` puts them in one place.",
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
        assert_one("a future without size", counted, 0);
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

/// Checks that it is where its type wants it, when it is polled and dropped.
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
        usual_cause: "The future is taken out of the block to be polled or dropped (`mem::replace`, \
                      `ptr::read`), or offsets are computed for a header without padding.",
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

/// Clause 3: who spawns decides where the task runs first.
#[test]
fn spawn_neither_polls_nor_schedules() {
    let lesson = Lesson {
        clause: "3. When run",
        promise: "After `spawn` the future has not been polled, and the scheduler not called.",
        usual_cause: "`spawn` schedules the task itself, as a runtime's `spawn` does. Here the caller \
                      gets a `Runnable` for that.",
        read: "scheduler/task.html#who-holds-the-task",
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
        assert!(!handle.is_finished(), "a new task is said to have ended");
        runnable.run();
        let polls = task.polls();
        assert!(polls == 1, "one run polled {polls} times");
    });
}

/// Clause 3: whoever else is queued has a turn in between.
#[test]
fn each_run_polls_once() {
    let lesson = Lesson {
        clause: "3. When run",
        promise: "A task that wakes itself is polled once by each `run`, and scheduled in between.",
        usual_cause: "`run` polls again at once when the task was woken meanwhile. The others in the \
                      queue wait.",
        read: "scheduler/task.html#a-note-for-the-holder",
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

/// Runs the next task on a thread of its own, up to the middle of its poll;
/// then does something, and lets the poll return.
fn in_the_middle_of_a_poll<T: Send + 'static>(
    queue: &Queue,
    end_of_poll: impl FnMut() -> Poll<T> + Send + 'static,
    action: impl FnOnce(&Waker, &JoinHandle<T>),
) -> (JoinHandle<T>, DropLog) {
    let [entered, left] = [(); 2].map(|()| Arc::new(Rendezvous::new()));
    let (probe, drops) = DropProbe::new();
    let (enter, leave) = (entered.clone(), left.clone());
    let seen = Arc::new(Mutex::new(None));
    let (tell, mut end_of_poll, mut is_first) =
        (seen.clone(), end_of_poll, true);
    let handle = queue.spawn(poll_fn(move |cx| {
        let _with_the_future = &probe;
        if std::mem::take(&mut is_first) {
            *tell.lock().unwrap() = Some(cx.waker().clone());
            enter.meet();
            leave.meet();
        }
        end_of_poll()
    }));
    thread::scope(|scope| {
        scope.spawn(|| queue.run_one());
        entered.meet();
        let waker = seen.lock().unwrap().take().expect("the poll has left it");
        action(&waker, &handle);
        let drops = drops.count();
        left.meet();
        assert!(drops == 0, "the future was dropped while it was polled");
    });
    (handle, drops)
}

/// Clause 3: a future is polled by `&mut`.
#[test]
fn a_task_is_not_scheduled_while_it_is_polled() {
    let lesson = Lesson {
        clause: "3. When run",
        promise: "A wake-up from another thread during a poll schedules the task when it is over.",
        usual_cause: "A wake-up schedules the task whoever has it now, and so two threads poll it at \
                      once. Leave a note for the one that polls.",
        read: "scheduler/task.html#who-holds-the-task",
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
        promise: "A wake-up after the end, or during the last poll, schedules nobody.",
        usual_cause: "A wake-up does not look whether the task is complete, or the one that came \
                      during the last poll is served nevertheless.",
        read: "scheduler/task.html#who-holds-the-task",
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

/// Clause 4: from whichever thread, and whichever way.
#[test]
fn a_wake_up_schedules_a_task_that_waits() {
    let lesson = Lesson {
        clause: "4. Scheduled once",
        promise: "A task that waits is scheduled by each way to wake it, and then polled.",
        usual_cause: "The wake-up only sets a flag; or `wake` by value drops its reference and \
                      forgets to wake.",
        read: "scheduler/task.html#who-holds-the-task",
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
        usual_cause: "A wake-up does not look whether the task is queued; or the note that it leaves \
                      then is not cleared when the poll begins.",
        read: "scheduler/task.html#a-note-for-the-holder",
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
                "after {round} times six wake-ups (scheduled, polls) is {seen:?}"
            );
        }
    });
}

/// Clause 5: made certain by joining the waking thread inside the poll.
#[test]
fn a_wake_up_during_a_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "A task that is woken while it is polled is scheduled once more.",
        usual_cause: "The note is cleared after the poll instead of before, or nobody looks for it \
                      when the task is let go.",
        read: "scheduler/task.html#a-note-for-the-holder",
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

/// Clause 5: no single run can hit the moment at which a task is let go.
#[test]
fn thousands_of_wake_ups_from_another_thread_all_arrive() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "A wake-up that comes just when a poll ends schedules the task.",
        usual_cause: "The look for the note and the step that lets the task go are two: a load and a \
                      store. Make them one exchange.",
        read: "scheduler/task.html#a-note-for-the-holder",
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

/// Clause 6: a timer fires late, and a runtime may be gone by then.
#[test]
fn a_waker_may_be_used_long_after_the_end() {
    let lesson = Lesson {
        clause: "6. Wakers",
        promise: "Wakers of a task that has ended can be cloned, woken and dropped, on any thread.",
        usual_cause: "The waker has no reference of its own: it borrows the one that the poll had, or \
                      `clone` copies the pointer without counting.",
        read: "scheduler/task.html#who-counts",
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
        promise: "`will_wake` says yes to a clone and to the waker of the next poll, and no to that \
                  of another task.",
        usual_cause: "The vtable of the waker is a constant that is copied, or `clone` names another \
                      one. Let there be one `static`.",
        read: "scheduler/task.html#who-counts",
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
        assert!(is_same, "the waker of a poll is not the same as its clone");
        assert!(waker.will_wake(&next), "not the same as in the next poll");
        assert!(!waker.will_wake(&other_waker), "the same as another task's");
    });
}

/// Clause 6: each thread has its own reason to wake.
#[test]
fn threads_may_use_the_wakers_of_a_task_at_once() {
    let lesson = Lesson {
        clause: "6. Wakers",
        promise: "Threads that clone, wake and drop wakers while the task runs and ends harm nobody.",
        usual_cause: "A count or a flag is changed by a load and a store, or two references are given \
                      back where there was one.",
        read: "scheduler/task.html#who-counts",
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
        promise: "When the waker of the handle is called, the future was dropped, by who ran it.",
        usual_cause: "The future is left in the block until that is freed, or the handle is told \
                      before the future is dropped.",
        read: "scheduler/task.html#future-then-output",
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
            assert!(poll(&mut handle, &waker).is_pending(), "it has not run");
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

/// Clause 7: a reference too many is a leak, one too few is a crash.
#[test]
fn the_block_is_freed_with_the_last_who_knows_it() {
    let lesson = Lesson {
        clause: "7. Freed",
        promise: "The block is freed when the task has ended, and handle and waker are gone, in \
                  whatever order.",
        usual_cause: "One of the ways to wake, drop or join gives back no reference, or one too \
                      many. `wake` by value has one to give back also when it schedules.",
        read: "scheduler/task.html#who-counts",
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
                        result(handle.take().unwrap()).expect("it was ready");
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
        }
    });
}

/// Clause 8: each way to its end has a place where one is forgotten.
#[test]
fn future_and_output_are_dropped_once_whatever_happens() {
    let lesson = Lesson {
        clause: "8. The output",
        promise: "However far a task came and whoever gave it up, its future and its output are \
                  dropped once, and nothing is left.",
        usual_cause: "The state says that there is a future, or an output, where there is none any \
                      more, or nobody drops what it says is there.",
        read: "scheduler/task.html#future-then-output",
    };
    check(lesson, || {
        for polls in 0..=2 {
            for panics in [false, true] {
                for handle_goes in ["first", "last", "never"] {
                    for end in ["run", "dropped", "aborted"] {
                        go_to_the_end(polls, panics, handle_goes, end);
                    }
                }
            }
        }
    });
}

/// Lets a task that would end at its second poll be polled `polls` times, and
/// then end in some way.
#[track_caller]
fn go_to_the_end(polls: usize, panics: bool, handle_goes: &str, end: &str) {
    let before = live_bytes();
    let queue = Queue::default();
    let [(future_probe, future), (output_probe, output)] =
        [(); 2].map(|()| DropProbe::new());
    let (mut output_probe, mut is_first) = (Some(output_probe), true);
    let ballast = [0_u8; LARGE];
    let mut handle = Some(queue.spawn(poll_fn(move |cx| {
        let _with_the_future = black_box((&future_probe, &ballast));
        if std::mem::take(&mut is_first) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        assert!(!panics, "the future panics");
        Poll::Ready(output_probe.take())
    })));
    if handle_goes == "first" {
        handle = None;
    }
    (0..polls).for_each(|_| queue.run_one());
    match (end, &handle) {
        ("dropped", _) => drop(queue.pop()),
        ("aborted", Some(handle)) => handle.abort(),
        _ => {}
    }
    queue.run_all();
    let case = format!(
        "{polls} polls, panics: {panics}, handle goes {handle_goes}, {end}"
    );
    assert!(
        future.count() == 1,
        "{case}: {} drops of the future",
        future.count()
    );
    let is_aborted = end == "aborted" && handle.is_some();
    let is_cut = polls < 2 && (end == "dropped" || is_aborted);
    match (handle_goes, handle.map(|it| (it.is_finished(), it))) {
        ("never", Some((_, handle))) => {
            let is_ready = result(handle).is_ok();
            assert!(
                is_ready != (is_cut || panics),
                "{case}: ready is {is_ready}"
            );
        }
        (_, Some((is_finished, _dropped_here))) => {
            assert!(is_finished, "{case}: it has not ended");
        }
        (_, None) => {}
    }
    // An output that never came went with the future.
    assert!(
        output.count() == 1,
        "{case}: {} drops of the output",
        output.count()
    );
    assert_freed(before, &case);
}

/// Clause 8: the output of a task that nobody awaits may be large.
#[test]
fn an_output_that_nobody_wants_is_dropped_where_it_ends() {
    let lesson = Lesson {
        clause: "8. The output",
        promise: "With the handle gone, `run` drops the output; with the task at its end, the handle's \
                  drop does. A waker that is left keeps neither.",
        usual_cause: "The output is left in the block, to be dropped with it. Whoever drops the last \
                      waker has nothing to do with the output.",
        read: "scheduler/task.html#future-then-output",
    };
    check(lesson, || {
        for handle_goes_first in [true, false] {
            let queue = Queue::default();
            let (probe, drops) = DropProbe::new();
            let (mut probe, (tell, told)) = (Some(probe), mpsc::channel());
            let handle = queue.spawn(poll_fn(move |cx| {
                let _ = tell.send(cx.waker().clone());
                Poll::Ready(probe.take())
            }));
            let mut handle = Some(handle);
            if handle_goes_first {
                handle = None;
            }
            let mut last = elsewhere(|| {
                queue.run_one();
                thread::current().id()
            });
            if let Some(handle) = handle {
                assert!(drops.count() == 0, "the handle's output was dropped");
                drop(handle);
                last = thread::current().id();
            }
            let seen = drops.threads();
            assert!(
                seen == [last],
                "{} drops of the output, though only a waker is left",
                seen.len()
            );
            drop(told.recv());
        }
    });
}

/// Clause 9: a handle moves from one `select` to the next.
#[test]
fn the_handle_wakes_the_waker_of_its_last_poll() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "Of several wakers that polled the handle, the last one is woken, once.",
        usual_cause: "A waker that is there already is kept; or it is woken, and woken again when the \
                      block is freed; or it is asked whether it is the same before it is dropped.",
        read: "scheduler/task.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (task, _waker, mut handle) = queue.spawn_waiting();
        let (first, first_counts) = CountingWaker::new();
        let (second, second_counts) = CountingWaker::new();
        for waker in [&first, &first, &second, &second.clone()] {
            assert!(poll(&mut handle, waker).is_pending(), "it is not over");
        }
        task.complete();
        queue.run_one();
        let wakes = (first_counts.wakes(), second_counts.wakes());
        assert!(
            wakes == (0, 1),
            "the first and the last were woken {wakes:?} times"
        );
        assert!(poll(&mut handle, &first).is_ready(), "the task has ended");
        drop((handle, task, first, second));
        let kept = Arc::strong_count(&first_counts)
            + Arc::strong_count(&second_counts);
        assert!(kept == 2, "the task keeps a waker of its handle");
    });
}

/// Clause 9: often both ends are on the move.
#[test]
fn the_handle_can_be_awaited_on_any_thread() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "A thread that awaits the handle while others run the task gets the output.",
        usual_cause: "The waker is stored and the state not looked at again, so that an end in \
                      between wakes nobody.",
        read: "scheduler/task.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        for round in 0..300 {
            let handle = queue.spawn(async move { vec![round; 3] });
            let output = thread::scope(|scope| {
                let awaiting = scope.spawn(|| block_on::block_on(handle));
                (0..round % 64).for_each(|_| std::hint::spin_loop());
                queue.run_one();
                awaiting.join().expect("awaiting does not panic")
            });
            let output = output.expect("the task was ready");
            assert!(output == [round; 3], "the output is {output:?}");
        }
    });
}

/// Clause 9: who does not care for a task need not keep its handle.
#[test]
fn a_dropped_handle_detaches_its_task() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "A task whose handle is dropped runs on, and the handle's waker is given back.",
        usual_cause: "Dropping the handle aborts the task, or leaves its waker in the block.",
        read: "scheduler/task.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (task, waker, mut handle) = queue.spawn_waiting();
        let (awaiting, counts) = CountingWaker::new();
        assert!(poll(&mut handle, &awaiting).is_pending(), "it is not over");
        drop((handle, awaiting));
        let kept = Arc::strong_count(&counts) - 1;
        assert!(kept == 0, "the waker of a handle that is gone is kept");
        waker.wake_by_ref();
        queue.run_one();
        task.complete();
        queue.run_one();
        let polls = task.polls();
        assert!(polls == 3, "without a handle it was polled {polls} times");
    });
}

/// Clause 9: there is nothing left to give.
#[test]
fn a_handle_polled_after_its_end_says_so() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "Polling a handle that was ready panics, and the message says `after`.",
        usual_cause: "The output is read out of the block once more, or the handle waits for ever.",
        read: "scheduler/task.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        let mut handle = queue.spawn(ready(Box::new(7)));
        queue.run_one();
        assert!(poll(&mut handle, Waker::noop()).is_ready(), "it has ended");
        assert!(handle.is_finished(), "then it is finished, too");
        handle.abort();
        let message = panic_message(|| {
            let _ = poll(&mut handle, Waker::noop());
        });
        let says_so =
            message.as_ref().is_some_and(|text| text.contains("after"));
        assert!(says_so, "the message is {message:?}");
    });
}

/// Clause 10: a task that waits is not going to be polled by itself.
#[test]
fn an_abort_ends_a_task_that_waits_or_is_queued() {
    let lesson = Lesson {
        clause: "10. Abort",
        promise: "After an abort a task is not polled, its future is dropped, and its handle says that \
                  it was cancelled.",
        usual_cause: "The abort of a task that waits sets a flag that nobody will look at; or one that \
                      is queued is scheduled a second time; or `run` looks at the flag after the poll.",
        read: "scheduler/task.html#the-end-of-a-task",
    };
    check(lesson, || {
        for is_queued in [false, true] {
            let queue = Queue::default();
            let (task, waker, handle) = queue.spawn_waiting();
            if is_queued {
                waker.wake_by_ref();
            }
            handle.abort();
            handle.abort();
            let queued = queue.lock().len();
            assert!(queued <= 1, "it is in the queue {queued} times");
            queue.run_all();
            let polls = task.polls();
            assert!(polls == 1, "it was polled {polls} times, once too many");
            assert_cancelled(handle);
            waker.wake_by_ref();
            assert!(queue.pop().is_none(), "it was scheduled after its end");
        }
        let queue = Queue::default();
        let (future, task) = ManualFuture::new();
        let handle = queue.spawn(future);
        handle.abort();
        queue.run_all();
        assert!(
            task.polls() == 0,
            "a task aborted before its start was polled"
        );
        assert_cancelled(handle);
    });
}

/// Clause 10: the poll holds the future by `&mut`.
#[test]
fn an_abort_during_a_poll_waits_for_its_end() {
    let lesson = Lesson {
        clause: "10. Abort",
        promise: "A task that is aborted while it is polled ends when the poll returns; if that was \
                  ready, the output counts.",
        usual_cause: "The abort drops the future at once, whoever has it; or the flag is looked at \
                      only when a poll begins, and this task waits for ever.",
        read: "scheduler/task.html#the-end-of-a-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let abort = |_: &Waker, handle: &JoinHandle<()>| handle.abort();
        let wake_too = |waker: &Waker, handle: &JoinHandle<()>| {
            waker.wake_by_ref();
            handle.abort();
        };
        for action in [&abort as &dyn Fn(&Waker, &JoinHandle<()>), &wake_too] {
            let (handle, drops) =
                in_the_middle_of_a_poll(&queue, || Poll::<()>::Pending, action);
            queue.run_all();
            let drops = drops.count();
            assert!(drops == 1, "the future was dropped {drops} times");
            assert_cancelled(handle);
        }
        let (handle, _) =
            in_the_middle_of_a_poll(&queue, || Poll::Ready(()), abort);
        result(handle).expect("it was ready first");
    });
}

/// Clause 10: it always comes too late for some.
#[test]
fn an_abort_after_the_end_changes_nothing() {
    let lesson = Lesson {
        clause: "10. Abort",
        promise: "A task that has ended keeps its output, and is not scheduled.",
        usual_cause: "The abort does not look whether the task is complete, and makes itself the \
                      holder of a future that is gone.",
        read: "scheduler/task.html#the-end-of-a-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let handle = queue.spawn(ready(7));
        queue.run_one();
        handle.abort();
        assert!(queue.pop().is_none(), "it was scheduled after its end");
        let output = result(handle);
        assert!(output.is_ok_and(|it| it == 7), "the output is gone");
    });
}

/// Clause 11: a scheduler that is dropped drops its queue.
#[test]
fn a_runnable_that_is_dropped_cancels_its_task() {
    let lesson = Lesson {
        clause: "11. Dropped unrun",
        promise: "The future is dropped with the `Runnable`, those linked behind it likewise, and the \
                  handles say that they were cancelled.",
        usual_cause: "A `Runnable` is a pointer without `Drop`; or it drops what is linked behind it \
                      by recursion, and a long queue overflows the stack.",
        read: "scheduler/task.html#the-end-of-a-task",
    };
    const MANY: usize = 100_000;
    check(lesson, || {
        let queue = Queue::default();
        let (probe, drops) = DropProbe::new();
        let (task, mut handle) = spawn(
            async move {
                let _with_the_future = probe;
                pending::<()>().await;
            },
            queue.clone(),
        );
        let (waker, counts) = CountingWaker::new();
        assert!(poll(&mut handle, &waker).is_pending(), "it has not run");
        drop(task);
        let seen = (drops.count(), counts.wakes());
        assert!(seen == (1, 1), "(drops of the future, wakes) is {seen:?}");
        assert_cancelled(handle);

        let mut first = None;
        let mut handles = Vec::with_capacity(MANY);
        for _ in 0..MANY {
            let (mut task, handle) = spawn(ready(()), queue.clone());
            task.set_next(first.take());
            first = Some(task);
            handles.push(handle);
        }
        drop(first);
        handles.into_iter().for_each(assert_cancelled);
    });
}

/// Clause 12: a server goes on when one request fails.
#[test]
fn a_panic_of_the_future_reaches_the_handle() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "`run` returns when the future panics, in a poll or as it is dropped, and the handle \
                  gives what was thrown.",
        usual_cause: "The poll is not in a `catch_unwind`, or the drop of the future is outside of it, \
                      or the task stays held after the panic.",
        read: "scheduler/task.html#the-end-of-a-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (probe, drops) = DropProbe::new();
        let handle = queue.spawn(poll_fn(move |_| -> Poll<()> {
            let _with_the_future = &probe;
            panic!("boom")
        }));
        queue.run_one();
        assert!(
            drops.count() == 1,
            "the future was dropped {} times",
            drops.count()
        );
        assert_panicked(handle, "boom");

        for polls in 0..=2 {
            let bomb = PanicOnDrop;
            let mut yields = Yields(1);
            let handle = queue.spawn(poll_fn(move |cx| {
                let _with_the_future = &bomb;
                Pin::new(&mut yields).poll(cx)
            }));
            (0..polls).for_each(|_| queue.run_one());
            drop(queue.pop());
            assert_panicked(handle, PanicOnDrop::MESSAGE);
        }
    });
}

/// Clause 12: the thread that runs tasks must survive all of them.
#[test]
fn what_panics_as_it_is_dropped_harms_nobody() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "An output that panics as it is dropped harms neither `run` nor who drops the handle.",
        usual_cause: "The output is dropped outside of `catch_unwind`, or a second panic comes while \
                      the first one unwinds, which ends the process.",
        read: "scheduler/task.html#the-end-of-a-task",
    };
    /// Panics twice when it is polled or dropped: as a whole, and in a part.
    struct Bombs(Option<PanicOnDrop>);
    impl Drop for Bombs {
        fn drop(&mut self) {
            let bomb = self.0.take();
            let caught = panic_message(|| drop(bomb));
            panic!("{caught:?}");
        }
    }
    check(lesson, || {
        let queue = Queue::default();
        let before = live_bytes();
        for handle_goes_first in [true, false] {
            let mut handle = Some(queue.spawn(ready(PanicOnDrop)));
            if handle_goes_first {
                handle = None;
            }
            queue.run_one();
            drop(handle);
        }
        let bombs = Bombs(Some(PanicOnDrop));
        let handle = queue.spawn(poll_fn(move |_| -> Poll<()> {
            let _with_the_future = &bombs;
            panic!("boom")
        }));
        queue.run_one();
        assert_panicked(handle, "boom");
        // The future panics as it is dropped, and then its output does.
        let bomb = PanicOnDrop;
        let handle = queue.spawn(poll_fn(move |_| {
            let _with_the_future = &bomb;
            Poll::Ready(PanicOnDrop)
        }));
        queue.run_one();
        let is_panic = result(handle).is_err_and(|error| error.is_panic());
        assert!(is_panic, "the panic of the future's destructor is lost");
        assert_freed(before, "after all panics");
    });
}

/// Clause 12: the waker of the handle belongs to somebody else.
#[test]
fn a_panicking_waker_of_the_handle_harms_nobody() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "`run` survives a waker of the handle that panics, and the output is there.",
        usual_cause: "The waker is called outside of `catch_unwind`, or before the task is complete.",
        read: "scheduler/task.html#the-end-of-a-task",
    };
    check(lesson, || {
        let before = live_bytes();
        let queue = Queue::default();
        let (waker, mut handle) = queue.spawn_large();
        assert!(poll(&mut handle, &HostileWaker::panicking()).is_pending());
        waker.wake();
        queue.run_one();
        result(handle).expect("it was ready");
        assert_freed(before, "after the panic of a waker");
    });
}

/// Runs each task at once, and looks whether it is alive afterwards.
#[derive(Clone)]
struct AtOnce {
    mark: u64,
}

const MARK: u64 = 0x1122_3344_5566_7788;

impl Schedule for AtOnce {
    fn schedule(&self, task: Runnable<Self>) {
        task.run();
        assert!(
            self.mark == MARK,
            "the scheduler reads {:#x} of itself",
            self.mark
        );
    }
}

/// Clause 13: another worker may be faster than `schedule` returns.
#[test]
fn the_scheduler_may_end_the_task_before_it_returns() {
    let lesson = Lesson {
        clause: "13. Handed over",
        promise: "A scheduler that runs the task to its end at once is alive until it returns.",
        usual_cause: "The scheduler in the block is called. Whoever runs the task may free the block \
                      while the call goes on: call a clone.",
        read: "scheduler/task.html#who-holds-the-task",
    };
    check(lesson, || {
        let (tell, told) = mpsc::channel();
        let mut is_first = true;
        let waits = poll_fn(move |cx| match std::mem::take(&mut is_first) {
            true => {
                let _ = tell.send(cx.waker().clone());
                Poll::Pending
            }
            false => Poll::Ready(()),
        });
        let (task, handle) = spawn(waits, AtOnce { mark: MARK });
        drop(handle);
        task.run();
        told.recv().expect("its first poll has sent it").wake();

        let (task, handle) = spawn(Yields(2), AtOnce { mark: MARK });
        drop(handle);
        task.run();
        let (task, handle) = spawn(yield_now(), AtOnce { mark: MARK });
        drop(handle);
        task.run();
        let (task, handle) = spawn(pending::<()>(), AtOnce { mark: MARK });
        task.run();
        handle.abort();
        assert_cancelled(handle);
    });
}

/// Clause 14: queues hold pointers, and lists need links.
#[test]
fn a_runnable_is_one_word_and_has_a_link() {
    let lesson = Lesson {
        clause: "14. Queues without memory",
        promise: "A `Runnable` is as large as a pointer, becomes one and comes back, and links another.",
        usual_cause: "It carries a fat pointer or the scheduler beside the task; or a link that is \
                      replaced is forgotten.",
        read: "scheduler/task.html#one-block",
    };
    check(lesson, || {
        let size = size_of::<Runnable<Queue>>();
        assert!(size == size_of::<usize>(), "a `Runnable` has {size} bytes");
        let queue = Queue::default();
        let spawn_one = |number| spawn(ready(number), queue.clone());
        let (mut first, first_handle) = spawn_one(1);
        let (second, second_handle) = spawn_one(2);
        let (third, third_handle) = spawn_one(3);
        assert!(first.take_next().is_none(), "a new task has a link");
        first.set_next(Some(second));
        first.set_next(Some(third));
        assert_cancelled(second_handle);
        let raw = first.into_raw();
        // SAFETY: `into_raw` of the same type has made it.
        let mut first = unsafe { Runnable::<Queue>::from_raw(raw) };
        let same = Arc::ptr_eq(&first.scheduler().0, &queue.0);
        assert!(same, "the scheduler of the task is another one");
        let third = first.take_next().expect("it was linked");
        assert!(first.take_next().is_none(), "what was taken is still there");
        first.set_next(None);
        elsewhere(|| [first, third].map(Runnable::run));
        let outputs = [first_handle, third_handle].map(|it| result(it).ok());
        assert!(outputs == [Some(1), Some(3)], "the outputs are {outputs:?}");
    });
}

/// Clause 15: most tasks never wait, and cost the list nothing.
#[test]
fn a_task_is_listed_while_it_may_wait() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "A task is listed when it first waits, once, and no longer when it has ended.",
        usual_cause: "A task that ends, is aborted or panics is left in the list, or only the first or \
                      the last of the list can be taken out.",
        read: "scheduler/task.html#tasks-that-wait",
    };
    check(lesson, || {
        let queue = Queue::with_list();
        let handle = queue.spawn(ready(()));
        queue.run_one();
        assert!(
            handle.is_finished() && queue.list().is_empty(),
            "it never waited"
        );
        // Out of the middle, the end and the beginning of three.
        for order in [[1, 0, 2], [0, 2, 1], [2, 1, 0]] {
            let mut tasks = [(); 3].map(|()| Some(queue.spawn_waiting()));
            for at in order {
                assert!(
                    !queue.list().is_empty(),
                    "a task that waits is not listed"
                );
                let (task, waker, handle) =
                    tasks[at].take().expect("each once");
                waker.wake_by_ref();
                queue.run_one();
                match at {
                    0 => handle.abort(),
                    _ => task.complete(),
                }
                queue.run_all();
                assert!(handle.is_finished(), "it has ended");
            }
            assert!(queue.list().is_empty(), "a task that has ended is listed");
        }
    });
}

/// Clause 15: this is how a runtime ends.
#[test]
fn closing_the_list_cancels_the_tasks_that_wait() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "`close_and_cancel` drops the futures that wait; those that are queued follow when they \
                  are run, unpolled.",
        usual_cause: "The lock of the list is held while futures are dropped, and a destructor wants it; \
                      or tasks are only marked; or queued ones are cancelled by two at once.",
        read: "scheduler/task.html#tasks-that-wait",
    };
    check(lesson, || {
        let queue = Queue::with_list();
        let (queued, waker, queued_handle) = queue.spawn_waiting();
        let (waiting, _, waiting_handle) = queue.spawn_waiting();
        // Its destructor ends another task that is listed.
        let (_other, other_waker, other) = queue.spawn_waiting();
        let other = Arc::new(other);
        let aborts = AbortOnDrop(other.clone(), queue.clone());
        let last = queue.spawn(async move {
            let _with_the_future = aborts;
            pending::<()>().await
        });
        queue.run_one();
        waker.wake_by_ref();
        queue.list().close_and_cancel();
        let ended = [&waiting_handle, &last].map(JoinHandle::is_finished);
        assert!(ended == [true; 2], "a task that waited has not ended");
        queue.run_all();
        let polls = (queued.polls(), waiting.polls());
        assert!(polls == (1, 1), "a task was polled after it was cancelled");
        other_waker.wake();
        assert!(other.is_finished() && queue.list().is_empty());
        for handle in [queued_handle, waiting_handle, last] {
            assert_cancelled(handle);
        }
    });
}

struct AbortOnDrop(Arc<JoinHandle<()>>, Queue);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
        let _ = self.1.list().is_empty();
    }
}

/// Clause 15: a task may be polled while the runtime ends.
#[test]
fn a_task_that_waits_after_the_close_is_cancelled() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "A task that is polled while the list is closed, or later, is cancelled instead of \
                  waiting.",
        usual_cause: "A closed list is looked at only when a task is spawned; the task is left waiting \
                      where nobody will end it.",
        read: "scheduler/task.html#tasks-that-wait",
    };
    check(lesson, || {
        let queue = Queue::with_list();
        let close =
            |_: &Waker, _: &JoinHandle<()>| queue.list().close_and_cancel();
        let (handle, drops) =
            in_the_middle_of_a_poll(&queue, || Poll::<()>::Pending, close);
        assert!(
            drops.count() == 1,
            "its future was dropped {} times",
            drops.count()
        );
        assert_cancelled(handle);
        let handle = queue.spawn(pending::<()>());
        queue.run_all();
        assert_cancelled(handle);
        assert!(queue.list().is_empty(), "a cancelled task is listed");
        let handle = queue.spawn(ready(7));
        queue.run_all();
        assert!(
            result(handle).is_ok(),
            "a task that never waits was cancelled"
        );
    });
}

/// Clause 16: a yield is the most common reason to run a task again.
#[test]
fn a_yield_goes_to_the_scheduler_without_a_wake_up() {
    let lesson = Lesson {
        clause: "16. Yield",
        promise: "A task that yields is given to `schedule_yielded`, once, after its poll.",
        usual_cause: "The yield wakes the waker; or the mark that it leaves is not cleared, and the next \
                      pending poll counts as a yield, too.",
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
        assert!(task.polls() == 1, "the yields did not end");
        task.complete();
        queue.run_all();
        let seen = (queue.yielded(), queue.scheduled());
        assert!(seen == (3, 4), "then, after a wake-up, it is {seen:?}");
        result(handle).expect("it was completed");
    });
}

/// Clause 16: combinators poll with wakers of their own, and wait for them.
#[test]
fn a_yield_wakes_a_waker_that_is_not_the_tasks() {
    let lesson = Lesson {
        clause: "16. Yield",
        promise: "A yield that is polled with another waker, in a task or elsewhere, wakes that waker.",
        usual_cause: "The yield looks only whether a task runs on this thread, not whether the waker is \
                      that task's; or a run within a run forgets the outer task.",
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
        let queue = Queue::default();
        let (_other, other_waker, _other_handle) = queue.spawn_waiting();
        let inner = queue.clone();
        let mut outer_yield = yield_now();
        let handle = queue.spawn(poll_fn(move |cx| {
            let wakes = wakes_of_a_yield();
            assert!(wakes == 1, "in a task it was woken {wakes} times");
            let mut other_cx = Context::from_waker(&other_waker);
            assert!(pin!(yield_now()).poll(&mut other_cx).is_pending());
            assert!(inner.scheduled() == 1, "the other task was not woken");
            // A task that runs within this one, and yields for itself.
            let (task, _handle) = spawn(yield_now(), inner.clone());
            task.run();
            Pin::new(&mut outer_yield).poll(cx)
        }));
        queue.run_one();
        let yielded = queue.yielded();
        assert!(yielded == 2, "two tasks have yielded, and {yielded} did so");
        drop(handle);
    });
}

/// Clause 17: the count is the same on every machine.
#[test]
fn a_wake_up_and_a_poll_take_few_steps() {
    let lesson = Lesson {
        clause: "17. Few steps",
        promise: "A wake-up by reference and the pending poll after it take at most three atomic \
                  read-modify-writes, a poll that yields at most two.",
        usual_cause: "A reference is counted for the queue, and another for the waker of the poll. Who \
                      holds the task needs neither.",
        read: "scheduler/task.html#who-counts",
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
        // `ManualFuture` clones its waker, and drops the one before.
        let taken = (read_modify_writes() - before) / ROUNDS;
        assert!(taken <= 3 + 2, "a wake-up and a poll took {taken} steps");
        let handle = queue.spawn(async {
            loop {
                yield_now().await;
            }
        });
        let before = read_modify_writes();
        (0..ROUNDS).for_each(|_| queue.run_one());
        let taken = (read_modify_writes() - before) / ROUNDS;
        assert!(taken <= 2, "a poll that yields took {taken} steps");
        handle.abort();
        let _: Poll<Result<(), _>> = poll(&mut { handle }, Waker::noop());
        drop(queue.pop());
    });
}
