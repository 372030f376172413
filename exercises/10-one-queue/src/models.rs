//! The models of exercise 10: the moments in which a task comes as a worker
//! goes to sleep, is woken as its poll ends, or is spawned as the pool ends.
//! loom tries every interleaving.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use block_on::block_on;
use primitives::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use primitives::{Arc, Mutex, UnsafeCell, mpsc, thread};
use testkit::{Lesson, check_model};

use super::Pool;

/// What a task waits for: a flag, and the waker of the last poll. The flag is
/// Relaxed, so that only the wake-up itself publishes it.
#[derive(Default)]
struct Event {
    has_come: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Event {
    fn poll(&self, waker: &Waker) -> Poll<()> {
        *self.waker.lock().unwrap() = Some(waker.clone());
        match self.has_come.load(Relaxed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    fn come(&self) {
        self.has_come.store(true, Relaxed);
        let waker = self.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Clause 3: a worker puts its own task back, and polls it again.
#[test]
fn a_task_behind_one_that_was_put_back_is_polled_in_every_order() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "A task that comes behind one that was woken in its own poll is polled, even if \
                  the next poll of the first waits for it.",
        usual_cause: "A push notifies only if the queue was empty, and a worker that puts its own \
                      task back doesn't notify: no worker is notified for a task behind that one. \
                      Notify at each push, or let a worker that leaves a task in the queue notify \
                      the next.",
        read: "scheduler/one-queue.html#whom-to-wake",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(2);
            let (sender, receiver) = mpsc::channel();
            let mut was_polled = false;
            let first = pool.spawn(poll_fn(move |cx| {
                if !was_polled {
                    was_polled = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(receiver.recv().is_ok())
            }));
            drop(pool.spawn(async move { sender.send(()) }));
            let has_heard = block_on(first).expect("it ends");
            assert!(has_heard, "the second has told it");
        });
    });
}

/// Clause 4: the worker has looked at the queue, but doesn't sleep yet.
#[test]
fn a_task_that_comes_as_the_worker_falls_asleep_is_polled_in_every_order() {
    let lesson = Lesson {
        clause: "4. No lost task",
        promise: "In every interleaving, the worker finds the task, or is woken for it.",
        usual_cause: "Checking the queue and sleeping are two steps. A notification between them \
                      reaches no worker.",
        read: "scheduler/one-queue.html#between-the-look-and-the-wait",
    };
    check_model(lesson, || {
        // ANCHOR: asleep
        primitives::model(|| {
            let pool = Pool::new(1);
            for number in [1, 2] {
                let handle = pool.spawn(async move { number });
                assert_eq!(block_on(handle).expect("it ends"), number);
            }
        });
        // ANCHOR_END: asleep
    });
}

/// Clause 5: the wake-up comes before the poll, in it, at its end, or after it.
#[test]
fn a_wake_up_leads_to_a_poll_in_every_order() {
    let lesson = Lesson {
        clause: "5. Wake-ups",
        promise: "In every interleaving, a poll follows the wake-up, and sees what was written before.",
        usual_cause: "The worker records that the task waits, and doesn't check whether it was \
                      woken since the poll began.",
        read: "scheduler/one-queue.html#a-wake-up-during-the-poll",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(1);
            let event = Arc::new(Event::default());
            let task = pool.spawn({
                let event = event.clone();
                poll_fn(move |cx| event.poll(cx.waker()))
            });
            event.come();
            block_on(task).expect("it ends");
        });
    });
}

/// Clause 5: the task is to be polled anyway, but the second wake-up has
/// something to tell, too.
#[test]
fn every_wake_up_publishes_in_every_order() {
    let lesson = Lesson {
        clause: "5. Wake-ups",
        promise: "In every interleaving, a poll begins after the second of two wake-ups, and sees \
                  what was written before it.",
        usual_cause: "A wake-up that finds the task woken returns without the task's lock, and the \
                      worker resets the flag with a `store`: such a wake-up may be over, and the \
                      poll still doesn't see what it tells. Use `swap` for both, so that the poll \
                      acquires what the wake-up releases.",
        read: "scheduler/one-queue.html#a-wake-up-during-the-poll",
    };
    check_model(lesson, || {
        for first_is_in_the_poll in [true, false] {
            primitives::model(move || {
                let pool = Pool::new(1);
                let has_come = Arc::new(AtomicBool::new(false));
                let (sender, receiver) = mpsc::channel();
                let (mut sender, awaited) = (Some(sender), has_come.clone());
                let task = pool.spawn(poll_fn(move |cx| {
                    if let Some(sender) = sender.take() {
                        let _ = sender.send(cx.waker().clone());
                        if first_is_in_the_poll {
                            cx.waker().wake_by_ref();
                        }
                    }
                    // No lock: only the wake-up publishes it.
                    match awaited.load(Relaxed) {
                        true => Poll::Ready(()),
                        false => Poll::Pending,
                    }
                }));
                let waker = receiver.recv().expect("the task is polled");
                if !first_is_in_the_poll {
                    waker.wake_by_ref();
                }
                has_come.store(true, Relaxed);
                waker.wake();
                block_on(task).expect("it ends");
            });
        }
    });
}

/// Clause 2: the poll ends as the wake-up comes, and another worker is free.
#[test]
fn one_poll_comes_after_the_other_in_every_order() {
    let lesson = Lesson {
        clause: "2. One at a time",
        promise: "In every interleaving, two workers poll a task one after the other, and the \
                  second sees what the first wrote.",
        usual_cause: "A task is put into the queue while a worker still has it.",
        read: "scheduler/one-queue.html#two-workers-one-task",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(2);
            let (sender, receiver) =
                (Arc::new(Mutex::new(None)), Sent(UnsafeCell::new(0)));
            let slot = sender.clone();
            let task = pool.spawn(poll_fn(move |cx| {
                // loom fails here if two threads access it at once, or if one
                // doesn't see the other's write.
                let polls = receiver.add_one();
                if polls == 1 {
                    *slot.lock().unwrap() = Some(cx.waker().clone());
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(())
            }));
            let waker = sender.lock().unwrap().take();
            if let Some(waker) = waker {
                waker.wake();
            }
            block_on(task).expect("it ends");
        });
    });
}

/// A number that only the polls of one task access.
struct Sent(UnsafeCell<u32>);

// SAFETY: the polls of a task come one after the other, on any thread; loom
// checks that they do.
unsafe impl Send for Sent {}

impl Sent {
    fn add_one(&self) -> u32 {
        self.0.with_mut(|number| {
            // SAFETY: nothing else accesses it: see above.
            let number = unsafe { &mut *number };
            *number += 1;
            *number
        })
    }
}

/// Clause 11: the worker has checked the flag, but doesn't sleep yet; or the
/// task is polled as it's cancelled.
#[test]
fn dropping_the_pool_ends_workers_and_tasks_in_every_order() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "In every interleaving, the worker learns of the end, and the task that waits is \
                  dropped.",
        usual_cause: "The flag is set without the lock, and a worker that is about to sleep misses \
                      it; or no thread drops a task that is polled as the pool ends: its worker \
                      checks for the end in one step, and lets the task wait in another.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(1);
            let dropped = Arc::new(AtomicUsize::new(0));
            let counts = Counts(dropped.clone());
            // Keeps the task's waker, and so the task, beyond the end of the pool.
            let event = Arc::new(Event::default());
            let awaited = event.clone();
            let task = pool.spawn(async move {
                let _counts = counts;
                poll_fn(|cx| awaited.poll(cx.waker())).await;
            });
            drop(pool);
            assert_eq!(dropped.load(Relaxed), 1, "drops of the future");
            let error = block_on(task).expect_err("it has no end");
            assert!(error.is_cancelled(), "the handle says `cancelled`");
            drop(event.waker.lock().unwrap().take());
        });
    });
}

/// Counts its drops.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Clause 13: the spawning thread has seen the pool running, and the pool ends.
#[test]
fn a_task_that_is_spawned_as_the_pool_ends_ends_too_in_every_order() {
    let lesson = Lesson {
        clause: "13. Too late",
        promise: "In every interleaving, the task runs or is cancelled.",
        usual_cause: "One step checks whether the pool has ended, and another puts the task into \
                      the queue.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(1);
            let handle = pool.handle();
            let ending = thread::spawn(move || drop(pool));
            let result = block_on(handle.spawn(async {}));
            let panicked = result.is_err_and(|error| error.is_panic());
            assert!(!panicked, "it says that the task panicked");
            ending.join().expect("dropping the pool doesn't panic");
        });
    });
}
