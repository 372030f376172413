//! The models of exercise 2, for faults that no run on this machine can be
//! relied on to show. loom tries every interleaving, and every value that an
//! atomic load may return.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use primitives::Arc;
use primitives::atomic::{AtomicBool, Ordering::Relaxed};
use primitives::thread::{self, JoinHandle};
use testkit::{Lesson, check_model};

use super::{Parker, block_on};

/// Clause 2: this also holds in the moment between the last look and the sleep.
#[test]
fn an_unpark_counts_in_every_order() {
    let lesson = Lesson {
        clause: "2. No lost unpark",
        promise: "The token arrives in every interleaving of `park` and `unpark`.",
        usual_cause: "`unpark` comes after the other thread has looked for a token and before it \
                      sleeps, and is lost. With a condition variable, that thread holds the mutex \
                      at that moment, so take the mutex before you notify. Without one, `unpark` \
                      must leave a token that the thread looks for after it has announced that it \
                      will sleep.",
        read: "one-future/parker.html#between-the-look-and-the-sleep",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let parker = Parker::new();
            let unparker = parker.unparker();
            let unparking = thread::spawn(move || unparker.unpark());
            parker.park();
            unparking.join().expect("unparking doesn't panic");
        });
    });
}

/// Clause 2: the second token comes while the first is being taken.
#[test]
fn each_of_two_parks_gets_its_token_in_every_order() {
    let lesson = Lesson {
        clause: "2. No lost unpark",
        promise: "Two threads that unpark each other alternately both go on, in every \
                  interleaving.",
        usual_cause: "A `park` that has taken its token leaves the state as if the thread slept, \
                      or clears more than it has set.",
        read: "one-future/parker.html#three-states",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (here, there) = (Parker::new(), Parker::new());
            let (to_here, to_there) = (here.unparker(), there.unparker());
            let partner = thread::spawn(move || {
                to_here.unpark();
                there.park();
                to_here.unpark();
            });
            here.park();
            to_there.unpark();
            here.park();
            partner.join().expect("parking doesn't panic");
        });
    });
}

// ANCHOR: write_and_unpark
/// Starts a thread that writes, and then unparks the parker.
fn write_and_unpark(parker: &Parker) -> (Arc<AtomicBool>, JoinHandle<()>) {
    let unparker = parker.unparker();
    let is_written = Arc::new(AtomicBool::new(false));
    let writing = is_written.clone();
    let partner = thread::spawn(move || {
        writing.store(true, Relaxed);
        unparker.unpark();
    });
    (is_written, partner)
}
// ANCHOR_END: write_and_unpark

/// Clause 4: a token means that something was written.
#[test]
fn what_was_written_before_unpark_is_seen_after_park() {
    let lesson = Lesson {
        clause: "4. Published",
        promise: "After `park`, the thread sees what the other thread wrote before `unpark`.",
        usual_cause: "The token is left or taken with `Relaxed`. Leave it with `Release`, and take \
                      it with `Acquire`.",
        read: "one-future/parker.html#what-the-other-thread-wrote",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let parker = Parker::new();
            let (is_written, partner) = write_and_unpark(&parker);
            parker.park();
            assert!(
                is_written.load(Relaxed),
                "`park` took the token, but the thread doesn't see what was written before \
                 `unpark`"
            );
            partner.join().expect("unparking doesn't panic");
        });
    });
}

/// Clause 4: the second `unpark` finds a token, but its thread has written as
/// well.
#[test]
fn what_was_written_before_a_second_unpark_is_seen() {
    let lesson = Lesson {
        clause: "4. Published",
        promise: "If two threads write and then unpark, the parking thread doesn't sleep after the \
                  last `unpark` without having seen both writes.",
        usual_cause: "If there is a token already, `unpark` stores nothing (a failed \
                      `compare_exchange`), or it leaves the token by a plain store, which \
                      overwrites an older token that published something else. Or `park` takes the \
                      token by a plain store, which overwrites a newer one. Both need a swap.",
        read: "one-future/parker.html#what-the-other-thread-wrote",
    };
    check_model(lesson, || {
        // ANCHOR: second_unpark
        primitives::model(|| {
            let parker = Parker::new();
            let partners = [(); 2].map(|()| write_and_unpark(&parker));
            while !partners.iter().all(|(written, _)| written.load(Relaxed)) {
                parker.park();
            }
            for (_, partner) in partners {
                partner.join().expect("unparking doesn't panic");
            }
        });
        // ANCHOR_END: second_unpark
    });
}

/// Clause 4: a `park_timeout` whose time is up may take a token, too.
#[test]
fn a_timed_park_that_is_over_takes_all_of_a_token_or_nothing() {
    let lesson = Lesson {
        clause: "4. Published",
        promise: "A token that comes as the time runs out is taken once. What was written before \
                  its `unpark` is seen, no matter whether `park_timeout` or the next `park` takes \
                  it.",
        usual_cause: "`park_timeout` takes the token in other code than `park` does: when the time \
                      is up, a `Relaxed` `swap` resets the state. That `swap` may find a token, so \
                      it has to be `Acquire`, too. At a deadlock: `park_timeout` takes the token \
                      and returns `false`.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let parker = Parker::new();
            let (is_written, partner) = write_and_unpark(&parker);
            if !parker.park_timeout(Duration::ZERO) {
                parker.park();
            }
            assert!(
                is_written.load(Relaxed),
                "the token was taken, but the thread doesn't see what was written before `unpark`"
            );
            partner.join().expect("unparking doesn't panic");
        });
    });
}

/// Clause 4: looking and then taking are two steps, also with a timeout.
#[test]
fn a_timed_park_takes_all_tokens_that_came() {
    let lesson = Lesson {
        clause: "4. Published",
        promise: "If two threads write and then unpark, the parking thread doesn't sleep after the \
                  last `unpark` without having seen both writes, even if `park_timeout` takes a \
                  token.",
        usual_cause: "`park_timeout` looks for a token by a load and takes it by a store. An \
                      `unpark` in between finds the older token, and the store overwrites the \
                      newer one, unread. Take the token by a swap, as `park` does.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let parker = Parker::new();
            let partners = [(); 2].map(|()| write_and_unpark(&parker));
            // Only once: with a timeout each time, the thread would look again
            // forever.
            parker.park_timeout(Duration::ZERO);
            while !partners.iter().all(|(written, _)| written.load(Relaxed)) {
                parker.park();
            }
            for (_, partner) in partners {
                partner.join().expect("unparking doesn't panic");
            }
        });
    });
}

/// Clause 10: the parker and `block_on` together.
#[test]
fn a_wake_up_counts_and_publishes_in_every_order() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "The wake-up arrives in every interleaving, and the poll after it sees what was \
                  written.",
        usual_cause: "The parker loses the token (clause 2) or does not publish (clause 4), or \
                      `block_on` keeps the wake-up somewhere else.",
        read: "one-future/parker.html#block_on-second-version",
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

/// Clause 10: a second wake-up, which finds that the first one is on its way.
#[test]
fn what_each_of_two_wakers_wrote_is_seen() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "Two threads write and wake at the same time, and a poll of `block_on` sees what \
                  both wrote.",
        usual_cause: "Besides the token, `block_on` has a flag that saves calls of `unpark`. It \
                      clears the flag by a store, which overwrites a wake-up that it hasn't seen, \
                      so that what was written before that wake-up isn't published. Clear the flag \
                      by a `swap` with `Acquire`, or leave the flag out.",
        read: "one-future/parker.html#what-the-other-thread-wrote",
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
