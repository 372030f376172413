//! What a waker wakes, and for how long.

use super::*;

/// Clause 4: `Waker::noop()` is enough to poll a future, but nothing can wake the
/// future through it.
#[test]
fn the_future_gets_a_waker_that_wakes() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "The waker that a poll gets wakes this `block_on`.",
        usual_cause: "The `Context` is made from `Waker::noop()`. No wake-up can reach the thread \
                      through it, so the thread sleeps forever, or polls on a timer, or spins. \
                      Write a type that knows which thread to wake, implement `Wake` for it, and \
                      make the waker from an `Arc` of it.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let does_nothing = block_on(poll_fn(|cx| {
            Poll::Ready(cx.waker().will_wake(Waker::noop()))
        }));
        assert!(
            !does_nothing,
            "the future was polled with `Waker::noop()`, which does nothing when it's called"
        );
    });
}

/// Clause 4: the usual case. A timer or a socket wakes the future from its own
/// thread.
#[test]
fn a_wake_from_another_thread_ends_the_sleep() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A wake-up from another thread wakes the thread that sleeps in `block_on`.",
        usual_cause: "`wake` unparks `thread::current()`, which is the thread that calls it. Or it \
                      unparks the right thread first and sets its flag after that: the thread \
                      finds no flag, and parks again. Or the flag is in a `thread_local!`, so that \
                      the thread that wakes sets its own. Store the flag and the handle of the \
                      thread that called `block_on` in the waker, and set the flag before you \
                      unpark.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let waking = thread::spawn(move || {
            handle.wait_until_asleep();
            handle.complete();
        });
        block_on(future);
        waking.join().expect("waking doesn't panic");
    });
}

/// Clause 4: combinators clone wakers, and keep only the newest.
#[test]
fn every_clone_of_the_waker_wakes() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "Every clone of the waker, even a clone of a clone, wakes both by value and by \
                  reference.",
        usual_cause: "The clones share something that the first wake-up uses up.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            let clone = cx.waker().clone();
            let by_reference = polls % 2 == 0;
            let waking = thread::spawn(move || {
                let clone_of_clone = clone.clone();
                drop(clone);
                if by_reference {
                    clone_of_clone.wake_by_ref()
                } else {
                    clone_of_clone.wake()
                }
            });
            waking.join().expect("waking doesn't panic");
            if polls == 5 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
    });
}

/// Clause 4: a future may keep the waker of its first poll, and hand it on
/// later.
#[test]
fn a_waker_of_an_earlier_poll_wakes() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A waker from an earlier poll of the same `block_on` still wakes it.",
        usual_cause: "Each poll gets a flag of its own, and the thread waits only for the newest \
                      flag. Make one waker for each call of `block_on`, before the loop.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let mut polls = 0;
        let mut first = None;
        let mut waking = None;
        block_on(poll_fn(|cx| {
            polls += 1;
            match polls {
                1 => first.insert(cx.waker().clone()).wake_by_ref(),
                2 => {
                    let asleep = ThreadProbe::here();
                    waking = first.take().map(|first| {
                        thread::spawn(move || {
                            asleep.wait_until_asleep();
                            first.wake();
                        })
                    });
                }
                _ => return Poll::Ready(()),
            }
            Poll::Pending
        }));
        let waking = waking.expect("the second poll has begun it");
        waking.join().expect("waking doesn't panic");
    });
}

/// Clause 4: two threads wait at once, and only one of them is woken.
#[test]
fn two_waiting_threads_do_not_take_each_others_wake_ups() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A waker wakes the `block_on` that it was made for, no matter how many others are \
                  waiting.",
        usual_cause: "All calls share one flag or one condition variable, for example in a \
                      `static`, and one call takes the wake-up that was meant for another.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    const ROUNDS: u32 = 10;
    check(lesson, || {
        let mut needless_polls = 0;
        for _ in 0..ROUNDS {
            let [first, second] = [(); 2].map(|()| {
                let (future, handle) = ManualFuture::new();
                let waiting = thread::spawn(|| block_on(future));
                handle.wait_until_asleep();
                (handle, waiting)
            });
            // The thread that went to sleep first is usually woken first, so
            // the wake-up is for the other one.
            let polls_before = first.0.polls();
            second.0.complete();
            second.1.join().expect("waiting doesn't panic");
            needless_polls += first.0.polls() - polls_before;
            first.0.complete();
            first.1.join().expect("waiting doesn't panic");
        }
        assert!(
            needless_polls < ROUNDS / 2,
            "{ROUNDS} wake-ups of other calls caused {needless_polls} polls"
        );
    });
}

/// When a future is woken after the call in its poll.
#[derive(Clone, Copy)]
enum After {
    AtOnce,
    OnceAsleep,
}

use After::{AtOnce, OnceAsleep};

/// Clause 4: a future may call a library that blocks.
#[test]
fn a_waker_still_wakes_after_a_call_within_the_poll() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "If a future calls `block_on` during its poll, its waker still wakes the outer \
                  call afterward. If the inner call doesn't sleep, a wake-up before it counts, too.",
        usual_cause: "The calls of one thread share something that the inner call replaces, clears \
                      or removes: a flag in a thread-local, or an entry under the thread's id in a \
                      map. Then the outer call's waker sets nothing that the outer call looks at, \
                      and the thread sleeps forever. Make a signal for each call, and keep it in \
                      that call's waker. Or the inner call puts back what it has replaced on the \
                      line on which it returns, and a panic skips that line: put it back in a \
                      destructor.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        let is_ready = || block_on(async {});
        let panics = || block_on(async { panic!("the inner future panics") });
        for call in [is_ready, panics] {
            wait_with_calls_within(true, call, None);
        }
        for call in [is_ready, panics, block_on_yields] {
            for after in [AtOnce, OnceAsleep] {
                wait_with_calls_within(false, call, Some(after));
            }
        }
    });
}

/// Clause 4: the thread sleeps during the poll, and that may take a wake-up that
/// has come by then.
#[test]
fn a_wake_up_counts_if_the_poll_has_slept_since_the_one_before() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A future is woken, puts the thread to sleep during its poll, and is woken again. \
                  That sleep may take the first wake-up, but not the second.",
        usual_cause: "A flag says that the thread has been unparked, and until the next poll it \
                      saves `wake` another call of `unpark`. But a sleep during the poll takes the \
                      token and leaves the flag. The next wake-up finds it set, so it leaves no \
                      token, and `block_on` parks without a look at the flag. Look at the flag \
                      before you park, or always unpark.",
        read: "one-future/block-on.html#whose-thread-to-wake",
    };
    check(lesson, || {
        for sleep in [park, block_on_yields] {
            for after in [AtOnce, OnceAsleep] {
                wait_with_calls_within(true, sleep, Some(after));
            }
        }
    });
}

fn block_on_yields() {
    block_on(Yields(2));
}

/// Takes the thread's token, which is there, no matter what a wake-up leaves.
fn park() {
    thread::current().unpark();
    thread::park();
}

/// Waits for a future that needs two wake-ups, and makes a call in the poll
/// before each. The future is woken before the call, after it, or both.
fn wait_with_calls_within(before: bool, call: fn(), after: Option<After>) {
    let mut polls = 0;
    let mut waking = Vec::new();
    block_on(poll_fn(|cx| {
        polls += 1;
        if polls == 3 {
            return Poll::Ready(());
        }
        if before {
            cx.waker().wake_by_ref();
        }
        // It may refuse such a call.
        let _ = catch_unwind(call);
        match after {
            None => {}
            Some(AtOnce) => cx.waker().wake_by_ref(),
            Some(OnceAsleep) => {
                let (waker, asleep) = (cx.waker().clone(), ThreadProbe::here());
                waking.push(thread::spawn(move || {
                    asleep.wait_until_asleep();
                    waker.wake();
                }));
            }
        }
        Poll::Pending
    }));
    for thread in waking {
        thread.join().expect("waking doesn't panic");
    }
}

/// Clause 8: a timer that turned out not to be needed fires after the call.
#[test]
fn a_waker_may_be_used_after_block_on_returned() {
    let lesson = Lesson {
        clause: "8. Wakers live on",
        promise: "A waker may be woken, cloned and dropped on any thread after `block_on` has \
                  returned.",
        usual_cause: "The waker points at something that is gone when the call returns: what a \
                      waker points at must be reference-counted, for example by an `Arc`. Or \
                      `wake` panics when it finds that no call waits anymore, for example because \
                      it unwraps the result of `send` on a closed channel, or asks for a \
                      thread-local that is gone as the thread ends.",
        read: "one-future/block-on.html#the-waker-may-outlive-the-call",
    };
    check(lesson, || {
        let waker = block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        let clone = waker.clone();
        waker.wake_by_ref();
        let elsewhere = thread::spawn(move || {
            clone.wake_by_ref();
            clone.wake();
        });
        elsewhere.join().expect("a late wake-up doesn't panic");
        block_on(Yields(2));
        waker.wake();
        block_on(Yields(2));

        // Thread-locals that the thread used later are gone by then.
        let ends = thread::spawn(|| {
            LAST.with(|last| {
                let waker =
                    block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
                last.0.set(Some(waker));
            });
        });
        ends.join()
            .expect("a wake-up at the thread's end doesn't panic");
    });
}

thread_local! {
    static LAST: WakesAtTheEnd = const { WakesAtTheEnd(Cell::new(None)) };
}

/// Wakes when its thread ends.
struct WakesAtTheEnd(Cell<Option<Waker>>);

impl Drop for WakesAtTheEnd {
    fn drop(&mut self) {
        if let Some(waker) = self.0.take() {
            waker.wake_by_ref();
        }
    }
}
