//! The models of exercise 3. loom tries every interleaving, and every value
//! that an atomic load may return.
//!
//! loom sees only what is built from the crate `primitives`. The count of std's
//! `Arc` isn't, and doesn't have to be: if your waker leaves the counting to
//! `Arc`, only your `block_on` has to be proved.
#![allow(
    clippy::new_ret_no_self,
    clippy::waker_clone_wake,
    reason = "the models create wakers, and clone them"
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
    /// Creates a waker. At the end of a model, loom checks whether the count
    /// has been freed completely, which it wasn't if the target is left.
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

/// Clause 2: each of two threads gives up its waker, and one of them is the
/// last.
#[test]
fn the_last_of_two_threads_frees_the_target_in_every_order() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "No matter which of two threads gives up its waker last, the target is dropped \
                  once, and after everything that the other thread did with it.",
        usual_cause: "A count of your own is loaded and stored in two steps, or it is decremented \
                      without `Release`, or no `Acquire` comes before the target is freed. Or \
                      `wake` checks by a load whether it is the last, and then gives its count \
                      back without a look at the result: if two threads do that at once, neither \
                      of them frees the target.",
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
            other.join().expect("waking doesn't panic");
            assert_eq!(wake_count.load(Relaxed), 2, "wakes that arrived");
        });
        // ANCHOR_END: last
    });
}

/// Tells loom when it is used, and when it is dropped.
struct Traced(UnsafeCell<()>);

// SAFETY: while it is shared, it's only read; only its destructor writes to it.
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

/// Whether loom sees how wakers are counted. It sees nothing of std's `Arc`,
/// and what it does see can't be created outside of a model.
fn loom_sees_the_count() -> bool {
    struct Idle;
    impl Wake for Idle {
        fn wake(self: std::sync::Arc<Self>) {}
    }
    let target = std::sync::Arc::new(Idle);
    // This panic is of no interest to the reader.
    let noting = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let is_seen = panic_message(move || drop(waker(target))).is_some();
    panic::set_hook(noting);
    is_seen
}

/// Clause 2: the last waker has to see what the others have done.
#[test]
fn the_target_ends_after_all_that_was_done_with_it() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "One thread wakes the target and drops its waker, and another one drops the last \
                  waker. The target's destructor sees all that was done with the target.",
        usual_cause: "A waker finds out by a load, or by a `fetch_sub` that is `Release` only, that it \
                      is the last, and frees the target without an `Acquire`, so that what the \
                      other thread did doesn't happen before that. Or the count is decremented \
                      without `Release`.",
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
            other.join().expect("waking doesn't panic");
        });
    });
}

/// Clause 6: cloning means counting, on two threads at once.
#[test]
fn two_threads_clone_a_waker_in_every_order() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "Two threads clone wakers of one target at the same time, and each clone counts.",
        usual_cause: "A count of your own is loaded, incremented and stored in three steps, and \
                      one of two clones isn't counted. Use `fetch_add`.",
        read: "one-future/raw-waker.html#any-thread",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (waker, wake_count) = Target::new();
            let theirs = waker.clone();
            let other = thread::spawn(move || theirs.clone().wake());
            waker.clone().wake();
            other.join().expect("waking doesn't panic");
            waker.wake_by_ref();
            assert_eq!(wake_count.load(Relaxed), 3, "wakes that arrived");
        });
    });
}

/// Clause 6: a waker may be shared, and be the only one so far.
#[test]
fn two_threads_clone_the_only_waker_in_every_order() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "Two threads clone one waker, which they share, at the same time. The target \
                  lives as long as the waker.",
        usual_cause: "If the count is one, the code assumes that no other thread counts, and \
                      stores the new count instead of adding to it. However, a waker is `Sync`: \
                      two threads may clone the only waker through a reference. Use `fetch_add`.",
        read: "one-future/raw-waker.html#any-thread",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (waker, wake_count) = Target::new();
            let waker = Arc::new(waker);
            let theirs = waker.clone();
            let other = thread::spawn(move || drop(Waker::clone(&theirs)));
            drop(Waker::clone(&waker));
            other.join().expect("a clone doesn't panic");
            waker.wake_by_ref();
            assert_eq!(wake_count.load(Relaxed), 1, "wakes that arrived");
        });
    });
}

/// Clause 11: this also holds in the moment between the last look and the
/// sleep.
#[test]
fn a_wake_up_reaches_block_on_in_every_order() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "The wake-up arrives in every interleaving of the thread that sleeps and the \
                  thread that wakes it.",
        usual_cause: "The wake-up comes when the thread has looked at the flag and doesn't sleep \
                      yet. Set the flag under the mutex, which the thread holds at that moment, \
                      and then notify.",
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
            partner.join().expect("waking doesn't panic");
        });
    });
}

/// Clause 11: a second wake-up, which finds that the first one is on its way.
#[test]
fn what_each_of_two_wakers_wrote_is_seen() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "Two threads write and wake at the same time, and a poll of `block_on` sees what \
                  both wrote.",
        usual_cause: "The second wake-up looks at the flag, finds it set, and returns. But a load \
                      publishes nothing: if the thread clears the flag just after it, the poll \
                      misses what was written before the second wake-up. Set the flag each time, \
                      by a `swap` with `Release` or under the mutex. Or the thread clears it by a \
                      store, which overwrites a wake-up that it hasn't seen.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let flags = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
            let mut waking = Vec::new();
            block_on(poll_fn(|cx| {
                if waking.is_empty() {
                    waking.extend(flags.iter().map(|flag| {
                        let (flag, waker) = (flag.clone(), cx.waker().clone());
                        thread::spawn(move || {
                            // Relaxed: the wake-up publishes it.
                            flag.store(true, Relaxed);
                            waker.wake();
                        })
                    }));
                }
                // Relaxed: as above.
                match flags.iter().all(|flag| flag.load(Relaxed)) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            }));
            for thread in waking.drain(..) {
                thread.join().expect("waking doesn't panic");
            }
        });
    });
}
