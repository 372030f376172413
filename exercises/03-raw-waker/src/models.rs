//! The models of exercise 3. loom tries every order of the threads' steps, and
//! every value that an atomic load may return.
//!
//! It sees what is made of the crate `primitives`. A count of std's `Arc` is
//! not, and need not be: whoever leaves the counting to it has only `block_on`
//! to prove.
#![allow(
    clippy::new_ret_no_self,
    clippy::waker_clone_wake,
    reason = "a waker is what the models make, and clone"
)]

use std::future::poll_fn;
use std::panic;
use std::task::{Poll, Wake, Waker};

use primitives::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use primitives::{Arc, UnsafeCell, thread};
use testkit::{Lesson, check_model, panic_message};

use super::{block_on, waker};

/// Counts how often it is woken.
struct Target {
    wake_count: Arc<AtomicUsize>,
}

impl Target {
    /// Makes a waker. At the end of a model loom asks whether all of the count
    /// has been freed: it was not if the target is left.
    fn new() -> (Waker, Arc<AtomicUsize>) {
        let wake_count = Arc::new(AtomicUsize::new(0));
        let target = Self {
            wake_count: wake_count.clone(),
        };
        (waker(std::sync::Arc::new(target)), wake_count)
    }
}

impl Wake for Target {
    fn wake(self: std::sync::Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &std::sync::Arc<Self>) {
        self.wake_count.fetch_add(1, Relaxed);
    }
}

/// Clause 2: each thread gives up its waker, and one of the two is the last.
#[test]
fn the_last_of_two_threads_frees_the_target_in_every_order() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "Whichever of two threads gives its waker up last, the target is dropped once, and \
                  after all that the other one did with it.",
        usual_cause: "A count of your own is loaded and stored in two steps, or it goes down \
                      without `Release`, or nothing with `Acquire` comes before the target is \
                      freed. Or `wake` looks by a load whether it is the last and then gives its \
                      count back without a look at the result: of two that do so at once neither \
                      frees.",
        read: "one-future/raw-waker.html#any-thread",
    };
    check_model(lesson, || {
        // ANCHOR: last
        primitives::model(|| {
            let (waker, wake_count) = Target::new();
            let clone = waker.clone();
            let other = thread::spawn(move || {
                clone.wake_by_ref();
                drop(clone);
            });
            waker.wake();
            other.join().expect("waking does not panic");
            assert_eq!(wake_count.load(Relaxed), 2, "wakes that arrived");
        });
        // ANCHOR_END: last
    });
}

/// Says to loom when it is used, and when it ends.
struct Traced(UnsafeCell<()>);

// SAFETY: while it is shared, it's only read; it's written by its destructor.
unsafe impl Send for Traced {}
// SAFETY: as above.
unsafe impl Sync for Traced {}

impl Wake for Traced {
    fn wake(self: std::sync::Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &std::sync::Arc<Self>) {
        self.0.with(|_| ());
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        self.0.with_mut(|_| ());
    }
}

/// Whether loom sees how wakers are counted: it sees nothing of std's `Arc`,
/// and what it sees can't be made outside of a model.
fn loom_sees_the_count() -> bool {
    struct Idle;
    impl Wake for Idle {
        fn wake(self: std::sync::Arc<Self>) {}
    }
    let target = std::sync::Arc::new(Idle);
    // This panic says nothing to the reader.
    let noting = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let is_seen = panic_message(move || drop(waker(target))).is_some();
    panic::set_hook(noting);
    is_seen
}

/// Clause 2: the last one needs to see what the others have done.
#[test]
fn the_target_ends_after_all_that_was_done_with_it() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "One thread wakes the target and drops its waker, another one drops the last: the \
                  target's destructor sees all that was done with the target.",
        usual_cause: "A waker finds by a load that it is the last, and frees the target without an \
                      `Acquire`: nothing orders what the other thread did before it. Or the count goes \
                      down without `Release`.",
        read: "one-future/raw-waker.html#any-thread",
    };
    check_model(lesson, || {
        let is_seen = loom_sees_the_count();
        primitives::model_every_load(move || {
            if !is_seen {
                return;
            }
            let traced = std::sync::Arc::new(Traced(UnsafeCell::new(())));
            let waker = waker(traced);
            let clone = waker.clone();
            let other = thread::spawn(move || {
                clone.wake_by_ref();
                drop(clone);
            });
            drop(waker);
            other.join().expect("waking does not panic");
        });
    });
}

/// Clause 6: to clone is to count, on two threads at once.
#[test]
fn two_threads_clone_a_waker_in_every_order() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "Two threads clone wakers of one target at the same time, and each clone counts.",
        usual_cause: "A count of your own is loaded, raised and stored in three steps, and one of \
                      two clones is forgotten: `fetch_add`.",
        read: "one-future/raw-waker.html#any-thread",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (waker, wake_count) = Target::new();
            let theirs = waker.clone();
            let other = thread::spawn(move || theirs.clone().wake());
            waker.clone().wake();
            other.join().expect("waking does not panic");
            waker.wake_by_ref();
            assert_eq!(wake_count.load(Relaxed), 3, "wakes that arrived");
        });
    });
}

/// Clause 6: a waker may be shared, and be the only one until then.
#[test]
fn two_threads_clone_the_only_waker_in_every_order() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "Two threads clone one waker, which they share, at the same time; the target lives \
                  as long as the waker.",
        usual_cause: "Where the count is one, nobody else is believed to count, and it is stored \
                      instead of raised. But a waker is `Sync`: two threads may clone the only one \
                      through a reference. `fetch_add`.",
        read: "one-future/raw-waker.html#any-thread",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (waker, wake_count) = Target::new();
            let waker = Arc::new(waker);
            let theirs = waker.clone();
            let other = thread::spawn(move || drop(Waker::clone(&theirs)));
            drop(Waker::clone(&waker));
            other.join().expect("a clone does not panic");
            waker.wake_by_ref();
            assert_eq!(wake_count.load(Relaxed), 1, "wakes that arrived");
        });
    });
}

/// Clause 11: also in the moment between the last look and the sleep.
#[test]
fn a_wake_up_reaches_block_on_in_every_order() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "In every order of the steps of the thread and of whoever wakes it the wake-up \
                  arrives.",
        usual_cause: "The thread has looked at the flag and does not sleep yet. Set the flag under \
                      the mutex that it holds meanwhile, and then notify.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let is_ready = Arc::new(AtomicBool::new(false));
            let mut partner = None;
            block_on(poll_fn(|cx| {
                if is_ready.load(Relaxed) {
                    return Poll::Ready(());
                }
                partner.get_or_insert_with(|| {
                    let (is_ready, waker) =
                        (is_ready.clone(), cx.waker().clone());
                    thread::spawn(move || {
                        is_ready.store(true, Relaxed);
                        waker.wake();
                    })
                });
                Poll::Pending
            }));
            let partner = partner.expect("the first poll is pending");
            partner.join().expect("waking does not panic");
        });
    });
}
