//! Polls and nested calls.

use super::*;

/// Polls without a wake-up that a correct design may make.
const SPARE: u32 = 10;

/// Clause 5: polling twice is doing the work twice.
#[test]
fn a_wake_up_causes_one_poll() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "The future is polled once, and then at most once for each wake-up.",
        usual_cause: "A wake-up leaves two marks, and each of them is taken for a wake-up: set \
                      only one of them.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
    };
    const WAKES: u32 = 30;
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let waking = thread::spawn(move || {
            handle.wake_one_by_one(WAKES);
            handle
        });
        block_on(future);
        let polls = waking.join().expect("waking doesn't panic").polls();
        let wakes = WAKES + 1;
        assert!(
            polls <= wakes + 1 + SPARE,
            "{wakes} wake-ups caused {polls} polls"
        );

        let mut polls = 0;
        let (probe, probed) = ManualFuture::new();
        let completing = thread::spawn(move || {
            probed.wait_until_asleep();
            probed.complete();
        });
        let mut probe = pin!(probe);
        block_on(poll_fn(|cx| {
            polls += 1;
            if polls <= WAKES {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            probe.as_mut().poll(cx)
        }));
        join(completing);
        assert!(
            polls <= WAKES + 2 + SPARE,
            "{WAKES} wake-ups on the polling thread and one from another caused {polls} polls"
        );
    });
}

/// Clause 5: a sleep may end because of a token that is left over from a
/// wake-up that was already seen.
#[test]
fn a_wake_up_within_a_poll_does_not_end_the_next_sleep() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "A wake-up that comes while the future is polled causes one further poll, and then \
                  the thread sleeps until the next wake-up.",
        usual_cause: "The flag says that a wake-up came, so the thread doesn't go to sleep. \
                      However, the same wake-up has also left a token (in `thread::park`, a parker \
                      or a channel), which ends the next sleep at once. Sleep in a `while` that \
                      checks the flag each time, or use only one of the two.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
    };
    check(lesson, || {
        let polls = block_on(WokenByTurns::new());
        let needed = WokenByTurns::NEEDED_POLLS;
        assert!(
            polls <= needed + WokenByTurns::ROUNDS / 2,
            "{} wake-ups, every other one within a poll, caused {polls} polls, not {needed}",
            needed - 1
        );
    });
}

/// Clause 5: a timer that turned out not to be needed fires after the call, and
/// so may a hundred.
#[test]
fn stale_wake_ups_cost_the_next_call_one_poll_at_most() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "No matter how often wakers of earlier calls are woken between two calls, the \
                  next call polls at most one extra time, and then sleeps until it's woken.",
        usual_cause: "Wake-ups are counted, instead of being merged into one, or a flag that is \
                      set between two calls is never cleared. If wake-ups have two places, of \
                      which one is for those on the thread itself, and neither is cleared, each of \
                      them costs the next call a poll.",
        read: "one-future/cached-block-on.html#what-a-call-leaves-behind",
    };
    const STALE: u32 = 100;
    check(lesson, || {
        for (here, elsewhere) in [(STALE, 0), (0, STALE), (1, 1)] {
            let waker = waker_of_this_thread();
            let far = waker.clone();
            let wake = |waker: &Waker, times| {
                (0..times).for_each(|_| waker.wake_by_ref())
            };
            wake(&waker, here);
            join(thread::spawn(move || wake(&far, elsewhere)));
            let (future, handle) = ManualFuture::new();
            let waking = thread::spawn(move || {
                handle.wait_until_asleep();
                let polls = handle.polls();
                handle.complete();
                polls
            });
            block_on(future);
            let polls = waking.join().expect("waking doesn't panic");
            assert!(
                polls <= 2,
                "after {here} stale wake-ups on its own thread and {elsewhere} from another, a \
                 future that wasn't woken was polled {polls} times"
            );
        }
    });
}

/// Clause 6: an `async` block may hold references into itself.
#[test]
fn the_future_stays_where_it_is_and_is_dropped_once() {
    let lesson = Lesson {
        clause: "6. One drop",
        promise: "Once polled, the future stays at its address until it is dropped, once, before \
                  `block_on` returns.",
        usual_cause: "The future is moved from one part of the function to another after its first \
                      poll, or stored elsewhere between two polls, or leaked to pin it.",
        read: "one-future/block-on.html#pin-it-first",
    };
    check(lesson, || {
        for _ in 0..2 {
            block_on(MustNotMove::new(3));
            block_on(WrittenMeanwhile::default());
            let (probe, log) = DropProbe::new();
            let not_send = Rc::new(probe);
            let mut yields = pin!(Yields(2));
            // Not an `async` block, which drops its variables when it's done.
            block_on(poll_fn(move |cx| {
                let _held = &not_send;
                yields.as_mut().poll(cx)
            }));
            let drops = log.count();
            assert!(drops == 1, "the future has been dropped {drops} times");
        }
    });
}

/// Fails unless `block_on` panics here and says why, without a poll.
fn assert_recursion_panics(place: &str) {
    let is_polled = Cell::new(false);
    let message = panic_message(|| {
        block_on(poll_fn(|_| {
            is_polled.set(true);
            Poll::Ready(())
        }));
    });
    match message {
        None => panic!("{place} did not panic"),
        Some(message) => assert!(
            message.contains("recursive `block_on`"),
            "{place} panicked with `{message}`, which doesn't contain \"recursive `block_on`\""
        ),
    }
    assert!(!is_polled.get(), "{place} panicked, but polled its future");
}

/// Clause 8: two calls on one thread would share what the thread has only once.
#[test]
fn a_recursive_call_panics_and_says_so() {
    let lesson = Lesson {
        clause: "8. No recursion",
        promise: "A `block_on` within another `block_on` on the same thread panics, and its \
                  message contains the words \"recursive `block_on`\".",
        usual_cause: "The two calls share the cache, or a `RefCell` panics with a message of its \
                      own, or the inner call removes the outer call's mark (its guard is made \
                      before the check, and the panic drops the guard), or the inner call polls \
                      its future before it checks for the mark.",
        read: "one-future/cached-block-on.html#a-call-within-a-call",
    };
    check(lesson, || {
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            assert_recursion_panics("a recursive call");
            assert_recursion_panics("a second recursive call");
            if polls == 3 {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
    });
}

/// Clause 8: a program may catch the panic, as a test harness does.
#[test]
fn a_recursive_call_leaves_the_outer_one_able_to_finish() {
    let lesson = Lesson {
        clause: "8. No recursion",
        promise: "The outer call keeps its wake-ups, sleeps and ends, no matter what the inner \
                  call tried.",
        usual_cause: "The inner call clears the flag or takes the token before it panics.",
        read: "one-future/cached-block-on.html#a-call-within-a-call",
    };
    check(lesson, || {
        for woken_from_elsewhere in [false, true] {
            let mut is_first = true;
            let (rest, handle) = ManualFuture::new();
            let waking = thread::spawn(move || {
                handle.wait_until_asleep();
                handle.complete();
            });
            block_on(async {
                poll_fn(|cx| {
                    if !std::mem::take(&mut is_first) {
                        return Poll::Ready(());
                    }
                    let waker = cx.waker().clone();
                    if woken_from_elsewhere {
                        join(thread::spawn(|| waker.wake()));
                    } else {
                        waker.wake_by_ref();
                    }
                    let _ = panic_message(|| block_on(async {}));
                    Poll::Pending
                })
                .await;
                rest.await;
            });
            join(waking);
        }
    });
}

/// Clause 8: a call is recursive only if another is running on the same thread.
#[test]
fn calls_on_other_threads_and_later_calls_are_not_recursive() {
    let lesson = Lesson {
        clause: "8. No recursion",
        promise: "While one thread is in `block_on`, others may call it, and so may this one later.",
        usual_cause: "The mark is a `static` instead of a thread-local, or it is never cleared.",
        read: "one-future/cached-block-on.html#a-call-within-a-call",
    };
    check(lesson, || {
        for _ in 0..3 {
            block_on(poll_fn(|_| {
                join(thread::spawn(|| block_on(Yields(2))));
                Poll::Ready(())
            }));
            block_on(Yields(2));
        }
    });
}

/// Clause 9: this includes the mark against recursion, and the cache.
#[test]
fn a_panic_of_the_future_leaves_the_thread_usable() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "When the future panics, it is dropped once, and the panic comes out of \
                  `block_on`. Later calls work, and allocate nothing.",
        usual_cause: "What is taken or marked at the start is put back at the end, and a panic \
                      skips the end. Put it back in a `Drop`.",
        read: "one-future/cached-block-on.html#a-call-within-a-call",
    };
    check(lesson, || {
        block_on(async {});
        let (probe, log) = DropProbe::new();
        let mut yields = pin!(Yields(1));
        // Not an `async` block, which drops its variables when it panics.
        let future = poll_fn(move |cx| {
            let _held = &probe;
            match yields.as_mut().poll(cx) {
                Poll::Ready(()) => panic!("the future panics"),
                Poll::Pending => Poll::Pending,
            }
        });
        let message = panic_message(|| block_on(future));
        assert!(
            message.as_deref() == Some("the future panics"),
            "out of `block_on` came {message:?}"
        );
        let drops = log.count();
        assert!(drops == 1, "the future has been dropped {drops} times");
        let ((), counted) = allocations(|| block_on(Yields(2)));
        assert!(
            counted.count == 0,
            "the next call allocated {} blocks",
            counted.count
        );
    });
}
