//! The models of exercise 9: a wake-up from another thread, at each moment at
//! which the executor may poll, check the inbox, park or end. loom tries every
//! interleaving.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use parker::block_on;
use primitives::Arc;
use primitives::atomic::{AtomicUsize, Ordering::Relaxed};
use primitives::thread::{self, JoinHandle};
use testkit::{Lesson, check_model};

use super::{LocalExecutor, outcome};

/// Waits in its destructor until all threads have ended.
#[derive(Default)]
struct Threads(Vec<JoinHandle<()>>);

impl Drop for Threads {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            thread.join().expect("waking does not panic");
        }
    }
}

/// A future that starts `threads` threads in its first poll. Each counts itself
/// and then wakes the future, which is ready when it sees the full count.
fn woken_by(threads: usize) -> impl Future<Output = Threads> {
    let count = Arc::new(AtomicUsize::new(0));
    let mut started = Threads::default();
    poll_fn(move |cx| {
        while started.0.len() < threads {
            let (count, waker) = (count.clone(), cx.waker().clone());
            started.0.push(thread::spawn(move || {
                // Relaxed: the wake-up must publish this.
                count.fetch_add(1, Relaxed);
                waker.wake();
            }));
        }
        match count.load(Relaxed) == threads {
            true => Poll::Ready(std::mem::take(&mut started)),
            false => Poll::Pending,
        }
    })
}

/// Clause 3: the moment before the sleep.
#[test]
fn a_wake_up_arrives_in_every_order() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "In every interleaving, a wake-up from another thread ends the sleep, or comes \
                  before it.",
        usual_cause: "The thread looks into the inbox and then sleeps, and nothing that a wake-up \
                      does in between ends the sleep.",
        read: "scheduler/local-executor.html#remote-wake-ups",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let executor = LocalExecutor::new();
            drop(executor.block_on(woken_by(1)));
        });
    });
}

/// Clause 3: the second wake-up finds that the first is pending, but must still
/// publish.
#[test]
fn every_wake_up_publishes_in_every_order() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "In every interleaving, the last poll sees what both waking threads wrote before.",
        usual_cause: "A wake-up that finds the flag set returns without a Release, or the flag is \
                      cleared without an Acquire: use `swap` for both.",
        read: "scheduler/local-executor.html#remote-wake-ups",
    };
    check_model(lesson, || {
        // ANCHOR: model
        primitives::model(|| {
            let executor = LocalExecutor::new();
            drop(executor.block_on(woken_by(2)));
        });
        // ANCHOR_END: model
    });
}

/// Clause 3: a second wake-up comes while the executor handles the first.
#[test]
fn wake_ups_of_two_tasks_arrive_in_every_order() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "In every interleaving, both tasks that two threads wake are polled.",
        usual_cause: "The flag that says that something was woken is cleared after the keys were \
                      taken, and not together with them.",
        read: "scheduler/local-executor.html#remote-wake-ups",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let executor = LocalExecutor::new();
            let tasks = [(); 2].map(|()| executor.spawn(woken_by(1)));
            executor.run();
            for task in tasks {
                drop(block_on(task));
            }
        });
    });
}

/// Clause 11: the last wake-up may come too late.
#[test]
fn a_wake_up_may_come_as_the_executor_is_dropped() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "In every interleaving, a wake-up and the drop of the executor leave nothing behind.",
        usual_cause: "A wake-up that goes into the inbox after the executor has emptied it for the \
                      last time keeps the inbox itself alive: close it under its lock.",
        read: "scheduler/local-executor.html#the-end-of-the-executor",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let executor = LocalExecutor::new();
            let receiver =
                Rc::new(RefCell::new((None::<Waker>, None::<Waker>)));
            let task = executor.spawn(poll_fn({
                let receiver = receiver.clone();
                move |cx| {
                    let (waker, waiting) = &mut *receiver.borrow_mut();
                    *waker = Some(cx.waker().clone());
                    waiting.take().into_iter().for_each(Waker::wake);
                    Poll::<()>::Pending
                }
            }));
            // The executor chooses which of the two it polls first.
            let waker = executor.block_on(poll_fn(|cx| {
                let (waker, waiting) = &mut *receiver.borrow_mut();
                *waiting = Some(cx.waker().clone());
                waker.take().map_or(Poll::Pending, Poll::Ready)
            }));
            drop(receiver);
            let waking = thread::spawn(move || waker.wake());
            drop(executor);
            assert!(block_on(task).is_err(), "the task was never over");
            waking.join().expect("waking does not panic");
        });
    });
}

/// Clause 14: the result isn't there yet, and the waker isn't stored yet.
#[test]
fn a_result_reaches_its_handle_in_every_order() {
    let lesson = Lesson {
        clause: "14. Two ends",
        promise: "In every interleaving, the waker of the last poll is called, or the poll finds \
                  the result.",
        usual_cause: "Looking for the result and storing the waker are two steps. The result comes \
                      between them: it finds no waker, and nothing polls again.",
        read: "scheduler/local-executor.html#two-ends-of-a-result",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (completer, mut handle) = outcome();
            let completing = thread::spawn(|| completer.complete(Ok(7)));
            let mut is_first = true;
            let result = block_on(poll_fn(|cx| {
                if std::mem::take(&mut is_first) {
                    let mut no_task = Context::from_waker(Waker::noop());
                    let early = Pin::new(&mut handle).poll(&mut no_task);
                    if early.is_ready() {
                        return early;
                    }
                }
                Pin::new(&mut handle).poll(cx)
            }));
            assert_eq!(result.expect("there is a result"), 7);
            completing.join().expect("completing does not panic");
        });
    });
}
