//! What a wake-up does.

use super::*;

/// Clause 3: the target decides what waking by value means.
#[test]
fn wake_calls_wake_of_the_target_once() {
    let lesson = Lesson {
        clause: "3. Wake",
        promise: "`Waker::wake` calls `Wake::wake` of the target once, and nothing else.",
        usual_cause: "The function calls `Wake::wake_by_ref` of the target, or the functions are \
                      in the wrong order in the vtable. The order is `clone`, `wake`, \
                      `wake_by_ref`, `drop`, and three of them have the same type.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        waker(target).wake();
        let wakes = watch.wakes();
        assert!(
            wakes == (1, 0),
            "of the target, `wake` was called {} times and `wake_by_ref` {}",
            wakes.0,
            wakes.1
        );
    });
}

/// Clause 3: a waker that was woken by value isn't dropped, so `wake` has to
/// give its count back.
#[test]
fn wake_uses_up_the_count_of_its_waker() {
    let lesson = Lesson {
        clause: "3. Wake",
        promise: "A waker that is woken by value gives its count back, like one that is dropped.",
        usual_cause: "`wake` only borrows the `Arc`. `drop` isn't called after `wake`, so `wake` \
                      has to take the count: use `Arc::from_raw`.",
        read: "one-future/raw-waker.html#take-or-borrow",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        let waker = waker(target);
        waker.clone().wake();
        watch.assert_alive("when one of two wakers was woken by value");
        waker.wake();
        watch.assert_gone("when the last waker was woken by value");
    });
}

/// Queues itself when it is woken, as the tasks of an executor do.
struct Queued {
    queue: Mutex<mpsc::Sender<Arc<Queued>>>,
    _probe: DropProbe,
}

impl Wake for Queued {
    fn wake(self: Arc<Self>) {
        let queue = self.queue.lock().expect("no code panics").clone();
        let _ = queue.send(self);
    }
}

/// Clause 3: the executors of a later part are built on this.
#[test]
fn a_target_may_keep_the_arc_that_wakes_it() {
    let lesson = Lesson {
        clause: "3. Wake",
        promise: "`Wake::wake` gets an `Arc` that owns a count, and may keep it after the wake.",
        usual_cause: "`wake` gives the count away, and then drops it again.",
        read: "one-future/raw-waker.html#take-or-borrow",
    };
    check(lesson, || {
        let (send, queue) = mpsc::channel();
        let (probe, drops) = DropProbe::new();
        let waker = waker(Arc::new(Queued {
            queue: Mutex::new(send),
            _probe: probe,
        }));
        // By reference first: `Wake` then clones the `Arc`, and wakes with the
        // clone.
        waker.wake_by_ref();
        waker.wake();
        assert!(drops.count() == 0, "the target was dropped in the queue");
        drop(queue.try_recv().expect("a wake by reference queued it"));
        assert!(drops.count() == 0, "the target was dropped in the queue");
        drop(queue.try_recv().expect("a wake by value queued it"));
        let drops = drops.count();
        assert!(
            drops == 1,
            "when the queue was empty, the target had been dropped {drops} times"
        );
    });
}

/// Clause 4: waking by reference may be cheaper for the target.
#[test]
fn wake_by_ref_calls_wake_by_ref_of_the_target_once() {
    let lesson = Lesson {
        clause: "4. Wake by reference",
        promise: "`Waker::wake_by_ref` calls `Wake::wake_by_ref` of the target once, and nothing \
                  else.",
        usual_cause: "One function serves both wakes, or the two are swapped in the vtable, or the \
                      function clones the `Arc` and wakes the clone by value. If the target was \
                      woken 0 times, `wake_by_ref` doesn't call it at all.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        let kept = target.clone();
        waker(target).wake_by_ref();
        let wakes = watch.wakes();
        drop(kept);
        assert!(
            wakes == (0, 1),
            "of the target, `wake` was called {} times and `wake_by_ref` {}",
            wakes.0,
            wakes.1
        );
    });
}

/// Clause 4: a waker may be woken by reference again and again.
#[test]
fn wake_by_ref_leaves_the_waker_its_count() {
    let lesson = Lesson {
        clause: "4. Wake by reference",
        promise: "After any number of wakes by reference, a waker owns its one count.",
        usual_cause: "`Arc::from_raw` returns an `Arc` that gives the count back at the end of \
                      `wake_by_ref`. Wrap it in `ManuallyDrop`, because the count is only \
                      borrowed. Or the vtable has `wake`, which does give the count back, in the \
                      place of `wake_by_ref`.",
        read: "one-future/raw-waker.html#take-or-borrow",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        let waker = waker(target);
        for _ in 0..3 {
            waker.wake_by_ref();
            watch.assert_alive("after a wake by reference");
        }
        drop(waker);
        watch.assert_gone("after wakes by reference and the drop");
    });
}

/// Panics when it is woken.
struct Fragile(#[expect(dead_code, reason = "only dropped")] DropProbe);

impl Wake for Fragile {
    fn wake(self: Arc<Self>) {
        panic!("the target panics")
    }

    fn wake_by_ref(self: &Arc<Self>) {
        panic!("the target panics")
    }
}

/// Clause 7: something has to own the count while the target runs.
#[test]
fn a_panic_in_wake_gives_the_count_back_once() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "A panic in `wake` comes out of the call, and the waker's count is given back \
                  once.",
        usual_cause: "A line after the call gives the count back, and a panic skips that line. Let \
                      an `Arc` own the count during the call, because the unwinding drops it.",
        read: "one-future/raw-waker.html#when-a-wake-panics",
    };
    check(lesson, || {
        let (probe, drops) = DropProbe::new();
        let waker = waker(Arc::new(Fragile(probe)));
        let clone = waker.clone();
        let caught = catch_unwind(AssertUnwindSafe(|| clone.wake()));
        assert!(caught.is_err(), "the panic didn't come out of `wake`");
        assert!(
            drops.count() == 0,
            "the panic dropped the target, although it still has a waker"
        );
        drop(waker);
        let drops = drops.count();
        assert!(
            drops == 1,
            "when the last waker was dropped, after a panic in `wake`, the \
             target had been dropped {drops} times"
        );
    });
}

/// Clause 7: the waker outlives the panic, and is dropped later.
#[test]
fn a_panic_in_wake_by_ref_leaves_the_waker_its_count() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "A panic in `wake_by_ref` comes out of the call, and the waker still owns its \
                  count.",
        usual_cause: "There's a `mem::forget` after the call, which a panic skips, so that the \
                      unwinding drops the `Arc`. Wrap it in `ManuallyDrop` before the call.",
        read: "one-future/raw-waker.html#when-a-wake-panics",
    };
    check(lesson, || {
        let (probe, drops) = DropProbe::new();
        let waker = waker(Arc::new(Fragile(probe)));
        for _ in 0..2 {
            let caught = catch_unwind(AssertUnwindSafe(|| waker.wake_by_ref()));
            assert!(
                caught.is_err(),
                "the panic didn't come out of `wake_by_ref`"
            );
            assert!(
                drops.count() == 0,
                "the panic dropped the target, although it still has a waker"
            );
        }
        drop(waker);
        let drops = drops.count();
        assert!(
            drops == 1,
            "when the last waker was dropped, after panics in `wake_by_ref`, \
             the target had been dropped {drops} times"
        );
    });
}
