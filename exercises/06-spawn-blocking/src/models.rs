//! The models of exercise 6: the moments in which a thread leaves as a job
//! comes, goes to sleep as the pool is dropped, or ends a job as a thread
//! begins to await it. loom tries every interleaving.
//!
//! In a model no time elapses. A thread whose keep-alive is zero may still
//! leave at once, if it checks the clock before it sleeps.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use parker::block_on;
use primitives::atomic::{AtomicUsize, Ordering::Relaxed};
use primitives::{Arc, mpsc};
use testkit::{Lesson, check_model};

use super::Pool;

const HOUR: Duration = Duration::from_secs(3_600);

/// Clause 5: the thread has looked at the queue, but hasn't left yet.
#[test]
fn a_job_that_comes_as_a_thread_leaves_runs_in_every_order() {
    let lesson = Lesson {
        clause: "5. Every job runs",
        promise: "In every interleaving, the job runs, on the thread that leaves or on the next.",
        usual_cause: "A thread that leaves is still counted as one that will come, or it leaves \
                      without checking the queue again under the same lock.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    check_model(lesson, || {
        // ANCHOR: leaving
        primitives::model(|| {
            let pool = Pool::new(1, Duration::ZERO);
            for number in [1, 2] {
                let handle = pool.spawn_blocking(move || number);
                assert_eq!(block_on(handle).expect("it runs"), number);
            }
        });
        // ANCHOR_END: leaving
    });
}

/// Clause 5: the thread has been chosen as its keep-alive ended, and continues.
#[test]
fn a_thread_that_was_chosen_as_it_left_is_chosen_again_in_every_order() {
    let lesson = Lesson {
        clause: "5. Every job runs",
        promise: "In every interleaving, a third job runs, too, no matter which thread ran the second.",
        usual_cause: "A thread whose keep-alive is over finds that it was chosen for a job. It \
                      takes the job, but the pool's state still says that a thread is coming: for \
                      the next job, nothing is woken or started.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(1, Duration::ZERO);
            for number in [1, 2, 3] {
                let handle = pool.spawn_blocking(move || number);
                assert_eq!(block_on(handle).expect("it runs"), number);
            }
        });
    });
}

/// Clause 3: a job waits for two others, whose threads are still to come.
#[test]
fn each_job_of_a_burst_gets_a_thread_in_every_order() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "In every interleaving, three jobs run of which the first waits for the others.",
        usual_cause: "A thread starts the next one only when its own job has ended; or two \
                      submitters count on the same thread.",
        read: "blocking/spawn-blocking.html#a-tree-of-threads",
    };
    check_model(lesson, || {
        // One, so that all of them are tried; two take more than its time.
        primitives::model_within(1, || {
            let pool = Pool::new(3, HOUR);
            let (sender, receiver) = mpsc::channel();
            let first = pool.spawn_blocking(move || {
                for _ in 0..2 {
                    receiver.recv().expect("the others run");
                }
            });
            for _ in 0..2 {
                let sender = sender.clone();
                drop(pool.spawn_blocking(move || _ = sender.send(())));
            }
            block_on(first).expect("the first runs");
        });
    });
}

/// Clause 3: a thread is woken for a job that another thread has taken.
#[test]
fn a_thread_that_was_woken_in_vain_is_woken_again_in_every_order() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "No matter which of two threads has taken the jobs so far, two jobs of which the \
                  first waits for the second both run.",
        usual_cause: "A thread that is woken for a job finds that a busy one has taken it, and \
                      sleeps again without being counted as idle. Count it where it goes to sleep, \
                      not where it becomes idle.",
        read: "blocking/spawn-blocking.html#whom-to-wake",
    };
    check_model(lesson, || {
        // Two, so that all of them are tried; three take more than its time.
        primitives::model_within(2, || {
            let pool = Pool::new(2, HOUR);
            let both = [1, 2].map(|number| pool.spawn_blocking(move || number));
            for handle in both {
                block_on(handle).expect("it runs");
            }
            block_on(pool.spawn_blocking(|| ())).expect("it runs");
            let (sender, receiver) = mpsc::channel();
            let first = pool.spawn_blocking(move || {
                block_on(receiver.recv().expect("the second is submitted"))
            });
            let second = pool.spawn_blocking(|| ());
            sender.send(second).expect("the first runs");
            let result = block_on(first).expect("the first runs");
            result.expect("the second runs");
        });
    });
}

/// Clause 3: the flag is set before the first thread sends for the second, or
/// after it.
#[test]
fn jobs_run_together_as_the_pool_is_dropped_in_every_order() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "In every interleaving, two jobs of which the first waits for the second have run \
                  when the pool has been dropped.",
        usual_cause: "Once the pool is shut down, no thread is started or woken for a job in the \
                      queue, or a thread leaves although jobs wait. The first job waits for the \
                      second, which no thread takes.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(2, HOUR);
            let (sender, receiver) = mpsc::channel();
            let first = pool.spawn_blocking(move || receiver.recv().is_ok());
            let second = pool.spawn_blocking(move || sender.send(()).is_ok());
            drop(pool);
            for handle in [first, second] {
                let is_met = block_on(handle).expect("it runs");
                assert!(is_met, "a job has run without the other");
            }
        });
    });
}

/// Clause 10: a job is taken, or still in the queue, as the flag is set.
#[test]
fn dropping_the_pool_runs_every_job_in_every_order() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "In every interleaving, both jobs have run when the pool has been dropped.",
        usual_cause: "A thread checks whether the pool is shut down before it looks for a job.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(1, HOUR);
            let ran_count = Arc::new(AtomicUsize::new(0));
            for _ in 0..2 {
                let ran_count = ran_count.clone();
                drop(pool.spawn_blocking(move || {
                    ran_count.fetch_add(1, Relaxed);
                }));
            }
            drop(pool);
            assert_eq!(ran_count.load(Relaxed), 2, "jobs that have run");
        });
    });
}

/// Clause 10: the thread has checked the flag, but doesn't sleep yet.
#[test]
fn dropping_the_pool_ends_its_threads_in_every_order() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "In every interleaving, a thread that goes to sleep as the pool is dropped learns \
                  of the drop.",
        usual_cause: "The flag is set without the lock. Then the thread can check the flag, not \
                      sleep yet, and miss the notification.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(1, HOUR);
            let handle = pool.spawn_blocking(|| ());
            block_on(handle).expect("it runs");
            drop(pool);
        });
    });
}

/// Clause 6: the result isn't there yet, and the waker isn't stored yet.
#[test]
fn a_result_reaches_who_awaits_it_in_every_order() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "In every interleaving, the waker of the last poll is called, or the poll finds \
                  the result.",
        usual_cause: "Looking for the result and storing the waker are two steps. The job ends \
                      between them: it finds no waker, and nothing polls again.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let pool = Pool::new(1, HOUR);
            let mut handle = pool.spawn_blocking(|| 7);
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
            assert_eq!(result.expect("it runs"), 7);
        });
    });
}
