//! The models of exercise 4, for faults that no run on this machine can be
//! relied on to show. loom tries every interleaving, and every value that an
//! atomic load may return.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use primitives::atomic::{AtomicBool, Ordering::Relaxed};
use primitives::{Arc, thread};
use testkit::{Lesson, check_model};

use super::block_on;

/// Starts a thread that sets the flag and then wakes.
fn write_and_wake(
    flag: &Arc<AtomicBool>,
    waker: &Waker,
) -> thread::JoinHandle<()> {
    let (flag, waker) = (flag.clone(), waker.clone());
    thread::spawn(move || {
        // Relaxed: the wake-up has to publish it.
        flag.store(true, Relaxed);
        waker.wake();
    })
}

// ANCHOR: wait
/// Waits for a flag that another thread sets before it wakes. Before that,
/// wakes itself `own_wakes` times.
fn wait_for_another_thread(own_wakes: u32) {
    let flag = Arc::new(AtomicBool::new(false));
    let mut waking = None;
    let mut own_wakes = own_wakes;
    block_on(poll_fn(|cx| {
        waking.get_or_insert_with(|| write_and_wake(&flag, cx.waker()));
        if own_wakes > 0 {
            own_wakes -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if flag.load(Relaxed) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }));
    join(waking);
}
// ANCHOR_END: wait

fn join(waking: Option<thread::JoinHandle<()>>) {
    let waking = waking.expect("the first poll starts it");
    waking.join().expect("waking doesn't panic");
}

/// Clause 3: this also holds between the last look and the sleep.
#[test]
fn a_wake_from_another_thread_counts_in_every_order() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "In every interleaving, a wake-up from another thread ends the wait, and what was \
                  written before it is seen.",
        usual_cause: "A flag that isn't atomic, or is stored with `Relaxed`, carries wake-ups of \
                      other threads, or the thread sleeps without another look. Or a waker stores \
                      its flag and then loads whether the thread sleeps, while the thread stores \
                      that it sleeps and then loads the flag: with `Release` and `Acquire`, both \
                      may see the old value. Set the flag by a `swap`.",
        read: "one-future/cached-block-on.html#checked-in-every-order",
    };
    check_model(lesson, || primitives::model(|| wait_for_another_thread(0)));
}

/// Clause 3: the thread wakes itself while another one wakes it, too.
#[test]
fn a_wake_here_and_one_from_elsewhere_both_count() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "If both wake-ups come at the same time, in any order, the other thread's still \
                  counts after this thread's has been consumed.",
        usual_cause: "Clearing this thread's flag also clears what another thread has set.",
        read: "one-future/cached-block-on.html#checked-in-every-order",
    };
    check_model(lesson, || primitives::model(|| wait_for_another_thread(1)));
}

/// Clause 3: the only trace of the second of two tokens is what it publishes.
#[test]
fn what_each_of_two_threads_wrote_is_seen() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "Two threads write and wake at the same time, and a poll sees what both wrote.",
        usual_cause: "A wake-up that finds the flag set returns without a `Release`. Or the loop \
                      clears the flag by a store, which overwrites a wake-up that it hasn't seen.",
        read: "one-future/cached-block-on.html#checked-in-every-order",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let flags = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
            let mut waking: Vec<_> = Vec::new();
            block_on(poll_fn(|cx| {
                if waking.is_empty() {
                    waking.extend(
                        flags
                            .iter()
                            .map(|flag| write_and_wake(flag, cx.waker())),
                    );
                }
                if flags.iter().all(|flag| flag.load(Relaxed)) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            }));
            waking.drain(..).for_each(|thread| join(Some(thread)));
        });
    });
}

/// Clause 5: the wake-up comes before, during or after the later call.
#[test]
fn a_stale_wake_up_does_not_disturb_a_later_call() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "While the waker of an earlier call is woken, a later call still gets its own \
                  wake-up.",
        usual_cause: "The start of a call clears the flag, and with it a wake-up that already \
                      belongs to this call. Or the stale wake-up is taken for the one that the \
                      call waits for.",
        read: "one-future/cached-block-on.html#checked-in-every-order",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let stale = block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
            let waking = thread::spawn(move || stale.wake());
            wait_for_another_thread(0);
            waking.join().expect("waking doesn't panic");
        });
    });
}
