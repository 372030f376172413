//! Clones, here and on other threads.

use super::*;

/// Clause 5: a future keeps its stored waker if the new waker would wake the same
/// task.
#[test]
fn a_clone_is_seen_to_be_the_same_waker() {
    let lesson = Lesson {
        clause: "5. Same waker",
        promise: "`will_wake` returns `true` for a waker and its clone, and for two clones, also \
                  for those of `block_on`.",
        usual_cause: "The clone has another vtable, or another pointer (for example to a new box), \
                      and `will_wake` compares both by address. Pass on the pointer unchanged, and \
                      name the vtable's constant in only one function, which `waker` and `clone` \
                      call and which is never inlined. Or `block_on` makes its waker in another \
                      way than by `waker`.",
        read: "one-future/raw-waker.html#is-it-the-same-waker",
    };
    check(lesson, || {
        assert_same_as_its_clones(&waker(WakeTarget::new().0), "");
        block_on(poll_fn(|cx| {
            assert_same_as_its_clones(cx.waker(), " of `block_on`");
            Poll::Ready(())
        }));
    });
}

#[track_caller]
fn assert_same_as_its_clones(original: &Waker, whose: &str) {
    let clone = original.clone();
    let of_clone = clone.clone();
    for (who, is_same) in [
        ("a waker and its clone", original.will_wake(&clone)),
        ("two clones", clone.will_wake(&of_clone)),
        ("a clone and its original", of_clone.will_wake(original)),
    ] {
        assert!(is_same, "`will_wake` returned `false` for {who}{whose}");
    }
}

/// Clause 5: a future that kept the wrong waker would never be polled again.
#[test]
fn wakers_of_two_targets_differ() {
    let lesson = Lesson {
        clause: "5. Same waker",
        promise: "`will_wake` returns `false` for the wakers of two targets, even if the targets \
                  have no size, or if one was created after another had gone.",
        usual_cause: "The waker's pointer isn't the `Arc`'s, which no other living target has. It \
                      is the same for all targets, or a number that is reused too soon.",
        read: "one-future/raw-waker.html#is-it-the-same-waker",
    };
    check(lesson, || {
        let [first, second] = [(); 2].map(|()| waker(WakeTarget::new().0));
        let is_same = first.will_wake(&second);
        assert!(
            !is_same,
            "`will_wake` returned `true` for wakers of two targets"
        );
        drop(first);
        let third = waker(WakeTarget::new().0);
        let is_same = second.will_wake(&third);
        assert!(
            !is_same,
            "`will_wake` returned `true` for a waker and one that was created later, after a third \
             one had been dropped"
        );
        let wakers = [(); 2].map(|()| waker(Arc::new(Shaped(()))));
        let is_same = wakers[0].will_wake(&wakers[1]);
        assert!(
            !is_same,
            "`will_wake` returned `true` for wakers of two targets without a size"
        );
    });
}

/// Clause 6: what the vtable's functions use may belong to one thread.
#[test]
fn a_waker_works_on_a_thread_that_did_not_make_it() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "A waker that has moved to another thread can be cloned, woken and dropped there.",
        usual_cause: "The waker's target is looked up in something that belongs to the thread that \
                      created it, such as a `thread_local!`.",
        read: "one-future/raw-waker.html#any-thread",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        let waker = waker(target);
        let elsewhere = thread::spawn(move || {
            waker.wake_by_ref();
            waker.clone().wake();
            drop(waker);
        });
        elsewhere.join().expect("waking elsewhere doesn't panic");
        let wakes = watch.wakes();
        assert!(
            wakes == (1, 1),
            "another thread woke once by value and once by reference, but the target was woken {} \
             times and {}",
            wakes.0,
            wakes.1
        );
        watch.assert_gone("when another thread dropped the last waker");
    });
}

/// Clause 6: no single run can be relied on to catch two threads in the middle
/// of one count, but many rounds do.
#[test]
fn threads_may_clone_wake_and_drop_at_once() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "Threads that clone, wake and drop at the same time lose neither a count nor a \
                  wake-up.",
        usual_cause: "The count isn't atomic: it's an `Rc`, a `Cell`, or a load and a store. Two \
                      threads then write the same number.",
        read: "one-future/raw-waker.html#any-thread",
    };
    // Many targets, since the errors of many rounds may cancel out.
    const TARGETS: usize = if cfg!(miri) { 2 } else { 20 };
    const THREADS: usize = 4;
    const ROUNDS: usize = if cfg!(miri) { 10 } else { 2_000 };
    const WAKES: usize = THREADS * ROUNDS;
    check(lesson, || {
        for _ in 0..TARGETS {
            let (target, watch) = WakeTarget::new();
            let waker = waker(target);
            let clones = [(); THREADS].map(|()| waker.clone());
            thread::scope(|scope| {
                for own in clones {
                    scope.spawn(move || {
                        for _ in 0..ROUNDS {
                            let clone = own.clone();
                            clone.wake_by_ref();
                            own.clone().wake();
                            drop(clone);
                        }
                    });
                }
            });
            watch.assert_alive("when every thread had dropped its clones");
            let (by_value, by_reference) = watch.wakes();
            assert!(
                (by_value, by_reference) == (WAKES, WAKES),
                "the target was woken {by_value} times by value and \
                 {by_reference} by reference, not {WAKES} times each"
            );
            drop(waker);
            watch.assert_gone("when the last waker was dropped");
        }
    });
}
