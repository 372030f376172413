//! The models of exercise 12: what no run on this machine can be relied on to show. loom tries
//! every interleaving of the threads, and every value that an atomic load may return.
//! `primitives`'s cells detect when two threads touch one at once, and loom's `Arc` detects when
//! something is never dropped.

use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use primitives::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use primitives::{Arc, Mutex, UnsafeCell, thread};
use testkit::{Lesson, check_model, live_bytes};

use super::{JoinHandle, OwnedTasks, Runnable, Schedule, spawn};

/// A scheduler that keeps what it is given until it is run.
#[derive(Clone)]
struct Queue(Arc<Shared>);

struct Shared {
    tasks: Mutex<VecDeque<Runnable<Queue>>>,
    owned: Option<OwnedTasks<Queue>>,
}

impl Schedule for Queue {
    fn schedule(&self, task: Runnable<Self>) {
        self.push(task);
    }

    fn owned(&self) -> Option<&OwnedTasks<Self>> {
        self.0.owned.as_ref()
    }
}

impl Queue {
    fn new() -> Self {
        Self::with(None)
    }

    fn with(owned: Option<OwnedTasks<Self>>) -> Self {
        let tasks = Mutex::new(VecDeque::new());
        Self(Arc::new(Shared { tasks, owned }))
    }

    fn push(&self, task: Runnable<Self>) {
        let tasks = self.0.tasks.lock();
        tasks
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(task);
    }

    fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let (task, handle) = spawn(future, self.clone());
        self.push(task);
        handle
    }

    fn run_all(&self) {
        let pop = || {
            let tasks = self.0.tasks.lock();
            tasks.unwrap_or_else(PoisonError::into_inner).pop_front()
        };
        while let Some(task) = pop() {
            task.run();
        }
    }
}

/// A flag that a wake-up sets, as an executor would.
fn flag() -> (Waker, std::sync::Arc<Flag>) {
    let flag = std::sync::Arc::new(Flag(AtomicBool::new(false)));
    (flag.clone().into(), flag)
}

struct Flag(AtomicBool);

impl std::task::Wake for Flag {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

/// Data that is written non-atomically, and reports whether that was a race.
#[derive(Clone)]
struct Plain(Arc<UnsafeCell<usize>>);

// SAFETY: loom reports when two threads touch it at once.
unsafe impl Send for Plain {}

impl Plain {
    fn new() -> Self {
        Self(Arc::new(UnsafeCell::new(0)))
    }

    fn add(&self) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn get(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }
}

fn poll<T>(handle: &mut JoinHandle<T>, waker: &Waker) -> Option<T> {
    match Pin::new(handle).poll(&mut Context::from_waker(waker)) {
        Poll::Ready(result) => Some(result.expect("the task was ready")),
        Poll::Pending => None,
    }
}

/// Clause 9: the handle looks, leaves its waker and looks again, while the
/// task ends.
#[test]
fn a_handle_that_waits_is_woken_in_every_order() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "A handle that is polled while the task ends is ready, or its waker is woken; and it \
                  sees what the task wrote.",
        usual_cause: "The waker is stored without a second look at the state; or it is written \
                      while the other side reads it; or the flag that publishes it is set with \
                      `Relaxed`. Or the RMW that finds `COMPLETE` (or `JOIN_WAKER`) doesn't \
                      acquire: the thread that takes over the cell or the output has to.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let queue = Queue::new();
            let written = Plain::new();
            let writing = written.clone();
            let mut handle = queue.spawn(async move { writing.add() });
            let running = thread::spawn(move || queue.run_all());
            let (waker, woken) = flag();
            let mut is_ready = poll(&mut handle, &waker).is_some();
            if is_ready {
                assert!(written.get() == 1, "the handle is ready too early");
            }
            running.join().expect("running doesn't panic");
            if !is_ready {
                assert!(
                    woken.0.load(Relaxed),
                    "the handle's waker wasn't woken"
                );
                is_ready = poll(&mut handle, &waker).is_some();
            }
            assert!(is_ready, "the task has ended, and its handle waits");
        });
    });
}

/// Clause 9: a second poll with another waker takes the first waker back.
#[test]
fn a_handle_that_changes_its_waker_is_woken_in_every_order() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "A waker that replaces another one while the task ends is woken, or the handle is \
                  ready.",
        usual_cause: "The cell is written while its flag is set, when the task may be reading it. \
                      Take the flag back first, and check whether it was still yours.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let queue = Queue::new();
            let mut handle = queue.spawn(async {});
            let (first, _) = flag();
            assert!(poll(&mut handle, &first).is_none(), "it hasn't run");
            let running = thread::spawn(move || queue.run_all());
            let (second, woken) = flag();
            let is_ready = poll(&mut handle, &second).is_some();
            running.join().expect("running doesn't panic");
            if !is_ready {
                assert!(woken.0.load(Relaxed), "the newer waker wasn't woken");
                let is_ready = poll(&mut handle, &second).is_some();
                assert!(is_ready, "the task has ended, and its handle waits");
            }
        });
    });
}

/// Clause 8: each may think that the output is the other's.
#[test]
fn the_output_is_dropped_once_when_the_handle_goes_as_the_task_ends() {
    let lesson = Lesson {
        clause: "8. The output",
        promise: "If a handle is dropped while the task ends, exactly one of the two drops the \
                  output.",
        usual_cause: "The handle checks whether the task is complete and then gives up its \
                      interest, in two steps; or the task checks for the interest and then \
                      completes, in two.",
        read: "scheduler/task-end.html#future-then-output",
    };
    check_model(lesson, || {
        for has_waker in [false, true] {
            primitives::model_every_load(move || {
                let queue = Queue::new();
                let count = Arc::new(AtomicUsize::new(0));
                let mut output = Some(CountsDrops(count.clone()));
                // Keeps the task alive after the handle has lost interest in its output.
                let kept = Arc::new(Mutex::new(None));
                let keep = kept.clone();
                let mut handle = queue.spawn(poll_fn(move |cx| {
                    *keep.lock().unwrap() = Some(cx.waker().clone());
                    Poll::Ready(output.take().expect("it is polled once"))
                }));
                if has_waker {
                    let (waker, _) = flag();
                    assert!(
                        poll(&mut handle, &waker).is_none(),
                        "it hasn't run"
                    );
                }
                let running = thread::spawn(move || queue.run_all());
                drop(handle);
                running.join().expect("running doesn't panic");
                let drops = count.load(Relaxed);
                assert!(
                    drops == 1,
                    "the task has ended, its handle is gone, and the output was dropped {drops} \
                     times"
                );
                drop(kept.lock().unwrap().take());
                let drops = count.load(Relaxed);
                assert!(drops == 1, "the output was dropped {drops} times");
            });
        }
    });
}

struct CountsDrops(Arc<AtomicUsize>);

impl Drop for CountsDrops {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// A task that is ready once all its flags are set. It writes to non-atomic data whenever it is
/// polled.
struct Waiting {
    queue: Queue,
    flags: [Arc<AtomicBool>; 2],
    waker: Waker,
    handle: JoinHandle<()>,
}

impl Waiting {
    /// Spawns it and polls it for the first time.
    fn new(queue: Queue) -> Self {
        let flags = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let out = Arc::new(Mutex::new(None));
        let (plain, seen, leave) = (Plain::new(), flags.clone(), out.clone());
        let mut is_first = true;
        let handle = queue.spawn(poll_fn(move |cx| {
            plain.add();
            if std::mem::take(&mut is_first) {
                let waker = cx.waker().clone();
                let mut out =
                    leave.lock().unwrap_or_else(PoisonError::into_inner);
                *out = Some(waker);
            }
            match seen.iter().all(|flag| flag.load(Relaxed)) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }));
        queue.run_all();
        let waker = out.lock().unwrap_or_else(PoisonError::into_inner).take();
        Self {
            queue,
            flags,
            waker: waker.expect("the first poll has left it"),
            handle,
        }
    }

    /// Sets one of the flags and wakes the task, on another thread.
    fn wake_elsewhere(&self, flag: usize) -> thread::JoinHandle<()> {
        let (flag, waker) = (self.flags[flag].clone(), self.waker.clone());
        thread::spawn(move || {
            flag.store(true, Relaxed);
            waker.wake();
        })
    }

    fn run_elsewhere(&self) -> thread::JoinHandle<()> {
        let queue = self.queue.clone();
        thread::spawn(move || queue.run_all())
    }

    /// Joins the thread, runs what is left in the queue, and asserts that this
    /// was enough.
    #[track_caller]
    fn assert_ends(self, thread: thread::JoinHandle<()>) {
        thread.join().expect("nothing panics there");
        self.queue.run_all();
        let is_finished = self.handle.is_finished();
        assert!(is_finished, "the task waits, and nothing will wake it");
    }
}

/// Clause 5: just as the task is let go.
#[test]
fn a_wake_up_counts_in_every_order() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "A wake-up that comes while a poll begins, goes on or ends is followed by a poll.",
        usual_cause: "Looking for the notification and letting the task go are two steps, or the \
                      notification is cleared after the poll; or the poll begins without \
                      `Acquire`, and doesn't see what was written before the wake-up that it \
                      serves. Or a wake-up that finds the task woken already only loads the flags: \
                      the load may see an old value, and it publishes nothing. Set the flag each \
                      time, with an RMW with `Release`.",
        read: "scheduler/task.html#woken-while-running",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let task = Waiting::new(Queue::new());
            task.flags[1].store(true, Relaxed);
            task.waker.wake_by_ref();
            let waking = task.wake_elsewhere(0);
            task.queue.run_all();
            task.assert_ends(waking);
        });
    });
}

/// Clause 5: the second wake-up finds the task queued, and has still written something.
#[test]
fn what_was_written_before_any_wake_up_is_seen() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "A wake-up that finds the task queued and notified is seen by the last poll, with \
                  what was written before it.",
        usual_cause: "A wake-up that finds the task queued or notified returns after a load, and \
                      publishes nothing. Use a compare-exchange even if the state stays the same. \
                      Or the poll clears the notification with `Relaxed`, and doesn't see what it \
                      serves.",
        read: "scheduler/task.html#what-the-waker-wrote",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let task = Waiting::new(Queue::new());
            task.flags[1].store(true, Relaxed);
            // It is queued, and was woken again.
            task.waker.wake_by_ref();
            task.waker.wake_by_ref();
            let waking = task.wake_elsewhere(0);
            task.queue.run_all();
            task.assert_ends(waking);
        });
    });
}

/// Clause 3: what one thread did to the future, the next thread sees.
#[test]
fn the_future_goes_from_thread_to_thread_in_one_piece() {
    let lesson = Lesson {
        clause: "3. When run",
        promise: "Two threads that run the task alternately never touch the future at once, and \
                  see what the other did to it.",
        usual_cause: "The task is let go with `Relaxed`, or taken again with `Relaxed`. Let it go \
                      with `Release`, and acquire when you set the flag that gives you the task.",
        read: "scheduler/task.html#what-the-waker-wrote",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let task = Waiting::new(Queue::new());
            task.waker.wake_by_ref();
            let running = task.run_elsewhere();
            for flag in &task.flags {
                flag.store(true, Relaxed);
            }
            task.waker.wake_by_ref();
            task.queue.run_all();
            task.assert_ends(running);
        });
    });
}

/// Clause 7: the last reference frees what the others have written to.
#[test]
fn the_last_reference_frees_the_block_in_every_order() {
    let lesson = Lesson {
        clause: "7. Freed",
        promise: "If any two of the end, the handle and a waker come together, the block is freed \
                  after both.",
        usual_cause: "A reference is given back with `Relaxed`: give it back with `Release`, and \
                      have the last one acquire. Or the block is used after the reference was \
                      given back. If it is never freed, two threads load the count and then give \
                      their references back, and neither finds itself the last; use what the \
                      subtraction returns. Or the handle's RMW that clears its interest isn't \
                      `AcqRel`.",
        read: "scheduler/task.html#counting-references",
    };
    check_model(lesson, || {
        for first_to_go in ["the end", "the handle", "the waker"] {
            let before = live_bytes();
            primitives::model_every_load(move || two_go_at_once(first_to_go));
            let left = live_bytes() - before;
            assert!(
                left <= KEPT_BY_LOOM,
                "{first_to_go} came first and the two others at once, in every interleaving, and \
                 then {left} bytes were never freed"
            );
        }
    });
}

/// Bytes that are allocated once, in any model. A block that is never freed in some
/// interleavings adds up to more, since there are hundreds of interleavings.
const KEPT_BY_LOOM: isize = 1 << 10;

fn two_go_at_once(first_to_go: &str) {
    let task = Waiting::new(Queue::new());
    let Waiting { queue, flags, .. } = &task;
    flags.iter().for_each(|flag| flag.store(true, Relaxed));
    task.waker.wake_by_ref();
    let end = {
        let queue = queue.clone();
        move || queue.run_all()
    };
    let Waiting { waker, handle, .. } = task;
    let waker_goes = move || drop(waker);
    let handle_goes = move || {
        let mut handle = handle;
        let (awaiting, _) = flag();
        let _ = poll(&mut handle, &awaiting);
    };
    let thread = match first_to_go {
        "the end" => {
            end();
            let thread = thread::spawn(waker_goes);
            handle_goes();
            thread
        }
        "the handle" => {
            handle_goes();
            let thread = thread::spawn(end);
            waker_goes();
            thread
        }
        _ => {
            waker_goes();
            let thread = thread::spawn(end);
            handle_goes();
            thread
        }
    };
    thread.join().expect("nothing panics there");
}

/// Clause 10: the first to come gets the task.
#[test]
fn an_abort_ends_the_task_in_every_order() {
    let lesson = Lesson {
        clause: "10. Abort",
        promise: "A task that is aborted while it is woken and run ends, and its future is dropped once.",
        usual_cause: "The abort of a running task leaves nothing that the thread that has the task \
                      looks at when it lets go, or that thread looks first and lets go in a second \
                      step, and misses an abort between the two; or abort and wake-up both think \
                      that they have the task.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let queue = Queue::new();
            let count = Arc::new(AtomicUsize::new(0));
            let future = CountsDrops(count.clone());
            let out = Arc::new(Mutex::new(None));
            let leave = out.clone();
            let handle = queue.spawn(async move {
                let _with_the_future = &future;
                poll_fn(|cx| {
                    let waker = cx.waker().clone();
                    let mut out =
                        leave.lock().unwrap_or_else(PoisonError::into_inner);
                    drop(out.replace(waker));
                    Poll::<()>::Pending
                })
                .await;
            });
            queue.run_all();
            let waker: Option<Waker> =
                out.lock().unwrap_or_else(PoisonError::into_inner).take();
            let running = queue.clone();
            let waking = thread::spawn(move || {
                waker.expect("the first poll has left it").wake();
                running.run_all();
            });
            handle.abort();
            queue.run_all();
            waking.join().expect("waking doesn't panic");
            queue.run_all();
            assert!(handle.is_finished(), "an aborted task hasn't ended");
            let drops = count.load(Relaxed);
            assert!(drops == 1, "the future was dropped {drops} times");
            drop(out.lock().unwrap_or_else(PoisonError::into_inner).take());
        });
    });
}

/// Clause 15: the runtime ends while a task is polled for the first time.
#[test]
fn no_task_slips_past_a_list_that_closes() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "A task that first waits while the list is closed ends, no matter which comes first.",
        usual_cause: "The list is marked as closed without its lock, or after its tasks were \
                      cancelled; or a task that is listed and still running isn't marked. Or the \
                      task checks under the lock whether the list is closed, releases the lock, \
                      and lists itself under a second one: the close comes in between.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let queue = Queue::with(Some(OwnedTasks::new()));
            let handle = queue.spawn(pending::<()>());
            let running = queue.clone();
            let running = thread::spawn(move || running.run_all());
            queue
                .0
                .owned
                .as_ref()
                .expect("just made")
                .close_and_cancel();
            running.join().expect("running doesn't panic");
            queue.run_all();
            assert!(handle.is_finished(), "a task waits after the close");
            let is_empty =
                queue.0.owned.as_ref().expect("just made").is_empty();
            assert!(is_empty, "a task that has ended is listed");
        });
    });
}

/// Clause 15: meanwhile a task that is woken, runs and ends leaves the list.
#[test]
fn a_task_may_end_while_the_list_closes() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "A listed task that is woken and ends while the list is closed is freed once, by \
                  one of the two threads.",
        usual_cause: "The closing thread uses a task from the list without the list's lock and \
                      without having the task.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let queue = Queue::with(Some(OwnedTasks::new()));
            let task = Waiting::new(queue.clone());
            for flag in &task.flags {
                flag.store(true, Relaxed);
            }
            let (waker, running) = (task.waker.clone(), queue.clone());
            let running = thread::spawn(move || {
                waker.wake();
                running.run_all();
            });
            queue
                .0
                .owned
                .as_ref()
                .expect("just made")
                .close_and_cancel();
            task.assert_ends(running);
        });
    });
}
