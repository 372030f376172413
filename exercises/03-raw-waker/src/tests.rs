//! The checks of exercise 3, one or more for each clause of the contract.
#![expect(
    clippy::waker_clone_wake,
    reason = "that a clone can be woken by value is checked too"
)]

use std::future::poll_fn;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use testkit::{
    DropProbe, Lesson, ManualFuture, WakeTarget, Yields, check, idle_cost,
    live_blocks, race_with_wakes,
};

use super::{block_on, waker};

/// Clause 1: the `Arc` is moved in, so nobody else need hold one.
#[test]
fn a_waker_keeps_its_target_alive() {
    let lesson = Lesson {
        clause: "1. Kept alive",
        promise: "A target that only a waker holds lives as long as that waker.",
        usual_cause: "The waker keeps a pointer without a count (`Arc::as_ptr`, a `Weak`), and the \
                      `Arc` is dropped when `waker` returns. `Arc::into_raw` keeps its count.",
        read: "one-future/raw-waker.html#two-words",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        let waker = waker(target);
        watch.assert_alive("when `waker` had returned");
        waker.wake_by_ref();
        watch.assert_alive("after a wake by reference");
        let (_, wakes) = watch.wakes();
        assert!(wakes == 1, "the target was woken {wakes} times, not once");
    });
}

/// Clause 1: a future keeps a clone when the first waker is long gone.
#[test]
fn each_clone_keeps_the_target_alive() {
    let lesson = Lesson {
        clause: "1. Kept alive",
        promise: "The target lives as long as any clone, in whatever order they are dropped.",
        usual_cause: "`clone` copies the pointer and forgets the count. Each waker will give one \
                      back, so each must own one: `Arc::increment_strong_count`.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        let first = waker(target);
        let second = first.clone();
        let third = second.clone();
        drop(first);
        watch.assert_alive("when a waker with two clones was dropped");
        let fourth = third.clone();
        drop(third);
        watch.assert_alive("when one of three clones was dropped");
        drop(second);
        watch.assert_alive("when one of two clones was dropped");
        drop(fourth);
    });
}

/// Clause 2: most wakers are never woken by value; they are dropped.
#[test]
fn dropping_a_waker_gives_its_count_back() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "When the last waker is dropped, its target is dropped, once.",
        usual_cause: "`drop` does nothing, because a pointer needs no dropping. The count behind it \
                      does: `Arc::decrement_strong_count`.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        drop(waker(target));
        watch.assert_gone("when its only waker was dropped");
    });
}

/// Clause 2: a count too many is a leak, and nothing crashes.
#[test]
fn the_target_is_dropped_with_its_last_clone() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "However many clones there were, the target is dropped with the last waker.",
        usual_cause: "`clone` counts twice: an `Arc` cloned and forgotten, and \
                      `increment_strong_count` beside it.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        let original = waker(target);
        let clones: Vec<Waker> = (0..5).map(|_| original.clone()).collect();
        let of_a_clone = clones[2].clone();
        drop(original);
        drop(clones);
        watch.assert_alive("when all wakers but one were dropped");
        drop(of_a_clone);
        watch.assert_gone("when the last waker was dropped");
    });
}

/// Clause 2: a waker that is not needed any more is dropped all the time.
#[test]
fn dropping_a_waker_wakes_nobody() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "Dropping a waker wakes nobody.",
        usual_cause: "The same function stands in the vtable as `wake` and as `drop`.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        let waker = waker(target);
        drop(waker.clone());
        drop(waker);
        let (by_value, by_reference) = watch.wakes();
        let wakes = by_value + by_reference;
        assert!(
            wakes == 0,
            "dropping two wakers woke the target {wakes} times"
        );
    });
}

/// Clause 2: the target is not all that may be left behind.
#[test]
fn wakers_leave_no_memory_behind() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "Once a waker and its clones are gone, so is all that was allocated for them.",
        usual_cause: "A vtable or another box is leaked for each waker, to get a `&'static`. A \
                      constant is `'static` by itself.",
        read: "one-future/raw-waker.html#is-it-the-same-waker",
    };
    const ROUNDS: isize = 1_000;
    check(lesson, || {
        let before = live_blocks();
        for _ in 0..ROUNDS {
            let waker = waker(WakeTarget::new().0);
            waker.wake_by_ref();
            waker.clone().wake();
            drop(waker.clone());
        }
        // The watchdog works meanwhile, so a few blocks come and go.
        let left = live_blocks() - before;
        assert!(
            left < ROUNDS / 4,
            "{ROUNDS} wakers left {left} blocks of memory behind"
        );
    });
}

/// Clause 3: the target decides what waking by value means.
#[test]
fn wake_calls_wake_of_the_target_once() {
    let lesson = Lesson {
        clause: "3. Wake",
        promise: "`Waker::wake` calls `Wake::wake` of the target, once, and nothing else.",
        usual_cause: "The functions stand in the wrong order in the vtable. It is `clone`, `wake`, \
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

/// Clause 3: nobody drops a waker that was woken by value. `wake` has to.
#[test]
fn wake_uses_up_the_count_of_its_waker() {
    let lesson = Lesson {
        clause: "3. Wake",
        promise: "A waker that is woken by value gives its count back as a dropped one does.",
        usual_cause: "`wake` only borrows the `Arc`. `drop` is not called after `wake`, so `wake` \
                      has to take the count: `Arc::from_raw`.",
        read: "one-future/raw-waker.html#to-take-or-to-borrow",
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
        let queue = self.queue.lock().expect("nobody panics").clone();
        let _ = queue.send(self);
    }
}

/// Clause 3: the next part's executors are built on this.
#[test]
fn a_target_may_keep_the_arc_that_wakes_it() {
    let lesson = Lesson {
        clause: "3. Wake",
        promise: "`Wake::wake` gets an `Arc` that owns a count, and may keep it after the wake.",
        usual_cause: "`wake` gives the count away and then drops it once more.",
        read: "one-future/raw-waker.html#to-take-or-to-borrow",
    };
    check(lesson, || {
        let (send, queue) = mpsc::channel();
        let (probe, drops) = DropProbe::new();
        let waker = waker(Arc::new(Queued {
            queue: Mutex::new(send),
            _probe: probe,
        }));
        // By reference first: `Wake` clones the `Arc` then, and wakes with it.
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

/// Clause 4: a target may have a cheaper way when it is woken by reference.
#[test]
fn wake_by_ref_calls_wake_by_ref_of_the_target_once() {
    let lesson = Lesson {
        clause: "4. Wake by reference",
        promise: "`Waker::wake_by_ref` calls `Wake::wake_by_ref` of the target, once, and nothing \
                  else.",
        usual_cause: "One function serves for both wakes, or the two are swapped in the vtable.",
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
        promise: "After any number of wakes by reference a waker owns its one count.",
        usual_cause: "`Arc::from_raw` makes an `Arc` that gives the count back at the end of \
                      `wake_by_ref`. Wrap it in `ManuallyDrop`: the count is borrowed.",
        read: "one-future/raw-waker.html#to-take-or-to-borrow",
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

/// Clause 5: a future keeps its waker if the new one would wake the same task.
#[test]
fn a_clone_is_seen_to_be_the_same_waker() {
    let lesson = Lesson {
        clause: "5. Same waker",
        promise: "`will_wake` says yes to a waker and its clone, and to two clones.",
        usual_cause: "There is more than one vtable. `will_wake` compares the pointers and the \
                      vtables by address. Let `waker` and `clone` name one constant, in one \
                      function that is not inlined.",
        read: "one-future/raw-waker.html#is-it-the-same-waker",
    };
    check(lesson, || {
        let original = waker(WakeTarget::new().0);
        let clone = original.clone();
        let of_clone = clone.clone();
        for (who, is_same) in [
            ("a waker and its clone", original.will_wake(&clone)),
            ("two clones", clone.will_wake(&of_clone)),
            ("a clone and its original", of_clone.will_wake(&original)),
        ] {
            assert!(is_same, "`will_wake` said no to {who}");
        }
    });
}

/// Clause 5: a future that kept the wrong waker would never be polled again.
#[test]
fn wakers_of_two_targets_are_told_apart() {
    let lesson = Lesson {
        clause: "5. Same waker",
        promise: "`will_wake` says no to the wakers of two targets, even of targets without a size, \
                  and of targets made when another had gone.",
        usual_cause: "The waker's pointer is not that of the `Arc`, which no other living target \
                      has. It is the same for all, or a number that is given out again too soon.",
        read: "one-future/raw-waker.html#is-it-the-same-waker",
    };
    check(lesson, || {
        let [first, second] = [(); 2].map(|()| waker(WakeTarget::new().0));
        let is_same = first.will_wake(&second);
        assert!(!is_same, "`will_wake` said yes to wakers of two targets");
        drop(first);
        let third = waker(WakeTarget::new().0);
        let is_same = second.will_wake(&third);
        assert!(
            !is_same,
            "`will_wake` said yes to a waker and to one made later, when a \
             third one had been dropped"
        );
        let wakers = [(); 2].map(|()| waker(Arc::new(Shaped(()))));
        let is_same = wakers[0].will_wake(&wakers[1]);
        assert!(
            !is_same,
            "`will_wake` said yes to wakers of two targets without a size"
        );
    });
}

/// Clause 6: what the vtable's functions use may belong to one thread.
#[test]
fn a_waker_works_on_a_thread_that_did_not_make_it() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "A waker that moved to another thread is cloned, woken and dropped there.",
        usual_cause: "The waker's target is looked up in something of the thread that made it, such \
                      as a `thread_local!`.",
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
        elsewhere.join().expect("waking elsewhere does not panic");
        let wakes = watch.wakes();
        assert!(
            wakes == (1, 1),
            "another thread woke once by value and once by reference; the \
             target was woken {} times and {}",
            wakes.0,
            wakes.1
        );
        watch.assert_gone("when another thread dropped the last waker");
    });
}

/// Clause 6: no single run hits two threads in the middle of one count; many
/// rounds do.
#[test]
fn threads_may_clone_wake_and_drop_at_once() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "Threads that clone, wake and drop at once neither lose a count nor a wake-up.",
        usual_cause: "The count is not atomic: an `Rc`, a `Cell`, or a load and a store. Two threads \
                      then write the same number.",
        read: "one-future/raw-waker.html#any-thread",
    };
    // Many targets, since what many rounds get wrong may cancel out.
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

/// Clause 7: the count must be somebody's while the target runs.
#[test]
fn a_panic_in_wake_gives_the_count_back_once() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "A panic in `wake` comes out, and the waker's count is given back, once.",
        usual_cause: "The count is given back by a line after the call, which a panic skips. Let an \
                      `Arc` own it during the call: it is dropped on the way out.",
        read: "one-future/raw-waker.html#when-a-wake-panics",
    };
    check(lesson, || {
        let (probe, drops) = DropProbe::new();
        let waker = waker(Arc::new(Fragile(probe)));
        let clone = waker.clone();
        let caught = catch_unwind(AssertUnwindSafe(|| clone.wake()));
        assert!(caught.is_err(), "the panic did not come out of `wake`");
        assert!(
            drops.count() == 0,
            "the panic dropped the target, though a waker of it is left"
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
        promise: "A panic in `wake_by_ref` comes out, and the waker still owns its count.",
        usual_cause: "`mem::forget` after the call, which a panic skips: the `Arc` is dropped on the \
                      way out. Wrap it in `ManuallyDrop` before the call.",
        read: "one-future/raw-waker.html#when-a-wake-panics",
    };
    check(lesson, || {
        let (probe, drops) = DropProbe::new();
        let waker = waker(Arc::new(Fragile(probe)));
        for _ in 0..2 {
            let caught = catch_unwind(AssertUnwindSafe(|| waker.wake_by_ref()));
            assert!(
                caught.is_err(),
                "the panic did not come out of `wake_by_ref`"
            );
            assert!(
                drops.count() == 0,
                "the panic dropped the target, though a waker of it is left"
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

/// A target of the size and alignment of `T`, that says where it is woken.
struct Shaped<T>(T);

/// Where a [`Shaped`] was last woken.
static WOKEN_AT: AtomicUsize = AtomicUsize::new(0);

impl<T> Wake for Shaped<T> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        WOKEN_AT.store(Arc::as_ptr(self).addr(), SeqCst);
    }
}

#[derive(Default)]
#[repr(align(64))]
struct OfACacheLine;

#[repr(align(4096))]
struct OfAPage(#[expect(dead_code, reason = "only has a shape")] [u8; 9_000]);

/// Clause 8: an `Arc` puts its counts before the target, and pads between.
#[test]
fn a_target_of_any_shape_is_woken_and_dropped() {
    let lesson = Lesson {
        clause: "8. Any target",
        promise: "A target of any size and alignment is woken where it is, and freed.",
        usual_cause: "The code knows by itself where an `Arc` keeps its counts, or moves the target. \
                      Leave both to `Arc::from_raw` and its kin.",
        read: "one-future/raw-waker.html#any-target",
    };
    fn cycle<T: Send + Sync + 'static>(shape: T) {
        let size = size_of::<T>();
        let align = align_of::<T>();
        let target = Arc::new(Shaped(shape));
        let (address, watch) =
            (Arc::as_ptr(&target).addr(), Arc::downgrade(&target));
        let waker = waker(target);
        let clone = waker.clone();
        let wake: [fn(Waker); 2] = [|waker| waker.wake_by_ref(), Waker::wake];
        for (wake, waker) in wake.into_iter().zip([waker, clone]) {
            assert!(
                watch.strong_count() > 0,
                "a target of size {size} and alignment {align} was dropped, \
                 though a waker of it is left"
            );
            WOKEN_AT.store(0, SeqCst);
            wake(waker);
            let woken_at = WOKEN_AT.load(SeqCst);
            assert!(
                woken_at == address,
                "a target of size {size} and alignment {align} at {address:#x} \
                 was woken at {woken_at:#x}"
            );
        }
        let count = watch.strong_count();
        assert!(
            count == 0,
            "nobody holds the target of size {size} and alignment {align}, \
             yet it lives: its `Arc` counts {count} too many"
        );
    }
    check(lesson, || {
        cycle(());
        cycle(1_u8);
        cycle([1_u64; 3]);
        cycle(OfACacheLine);
        cycle([1_u8; 100_000]);
        cycle(OfAPage([1; _]));
    });
}

/// Clause 9: a wake-up asks for a poll; it does not say that all is done.
#[test]
fn block_on_polls_until_the_future_is_ready() {
    let lesson = Lesson {
        clause: "9. Prompt",
        promise: "`block_on` polls at once, and again after each wake-up until the future is ready.",
        usual_cause: "The thread sleeps before the first poll, or takes a wake-up to mean that the \
                      future is ready.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    check(lesson, || {
        assert!(
            block_on(async { 7 }) == 7,
            "the output of a ready future did not come back"
        );
        let mut polls_left = 1_000;
        block_on(poll_fn(|cx| {
            polls_left -= 1;
            if polls_left == 0 {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
    });
}

/// Clause 10: a loop that spins is right in all else, and burns a core.
#[test]
fn block_on_sleeps_while_it_waits() {
    let lesson = Lesson {
        clause: "10. Idle",
        promise: "While the future waits, the thread sleeps until a wake-up comes, from any thread.",
        usual_cause: "The loop spins, or wakes up by a time-out (`wait_timeout`, `park_timeout`) as \
                      a safety net. A wake-up needs none.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    const WINDOW: Duration = Duration::from_millis(200);
    const CPU: Duration = Duration::from_millis(20);
    const SLEEPS: u64 = 20;
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let watcher = thread::spawn(move || {
            let (_waker, blocked) = handle.wait_until_asleep();
            let cost = idle_cost(&blocked, WINDOW);
            let polls = handle.polls();
            handle.complete();
            (cost, polls)
        });
        block_on(future);
        let (cost, polls) = watcher.join().expect("the watcher does not panic");
        assert!(
            polls <= 2,
            "in {WINDOW:?} without a wake-up the future was polled {polls} times"
        );
        if let Some(cost) = cost {
            assert!(
                cost.cpu < CPU && cost.sleeps < SLEEPS,
                "in {WINDOW:?} without a wake-up the thread woke up {} times \
                 and used {:.0?} of CPU time",
                cost.sleeps,
                cost.cpu
            );
        }
    });
}

/// Clause 11: made certain by joining the waking thread inside the poll.
#[test]
fn a_wake_during_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "A wake-up that comes while the future is polled still counts.",
        usual_cause: "The flag is cleared after the poll, or there is none and the wake-up only \
                      rouses who already sleeps.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    check(lesson, || {
        block_on(Yields(3));
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !take(&mut is_first) {
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            let waking = thread::spawn(|| waker.wake());
            waking.join().expect("waking does not panic");
            Poll::Pending
        }));
    });
}

/// Clause 11: no single run can hit the moment between the last look and the
/// sleep; many runs do.
#[test]
fn thousands_of_wakes_between_two_threads_all_arrive() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "A wake-up that comes between the poll and the sleep still counts.",
        usual_cause: "The flag is read, and then the thread sleeps without looking again. Keep the \
                      flag under the mutex of the condition variable, and set it there too.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    const TIME: Duration = Duration::from_millis(300);
    check(lesson, || race_with_wakes(TIME, block_on));
}

/// Clause 11: what the previous exercise was about.
#[test]
fn a_future_that_parks_does_not_take_the_wake_up() {
    let lesson = Lesson {
        clause: "11. No lost wake-up",
        promise: "A wake-up still counts when the future itself uses `thread::park`.",
        usual_cause: "The wake-up is kept in the park token alone, which belongs to the whole \
                      thread. Keep a flag of your own.",
        read: "one-future/parker.html#who-takes-the-token",
    };
    check(lesson, || {
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !take(&mut is_first) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            // Takes the token, if there is one.
            thread::park_timeout(Duration::ZERO);
            Poll::Pending
        }));
    });
}

/// Clause 12: a timer that was not needed fires late.
#[test]
fn a_waker_may_be_used_after_block_on_returned() {
    let lesson = Lesson {
        clause: "12. Wakers live on",
        promise: "A waker may be woken, cloned and dropped on any thread after `block_on` returned.",
        usual_cause: "The waker points at something of the call, which is gone with it. Let `waker` \
                      hold a count of it.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    check(lesson, || {
        let waker = block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        let clone = waker.clone();
        waker.wake_by_ref();
        let elsewhere = thread::spawn(move || {
            clone.wake_by_ref();
            clone.wake();
        });
        elsewhere.join().expect("a late wake-up does not panic");
        block_on(Yields(2));
        waker.wake();
        block_on(Yields(2));
    });
}

/// Clause 12: a runtime calls `block_on` for as long as it runs.
#[test]
fn calls_of_block_on_leave_no_memory_behind() {
    let lesson = Lesson {
        clause: "12. Wakers live on",
        promise: "When a call and its wakers are gone, so is what they slept on.",
        usual_cause: "What the thread sleeps on is leaked so that wakers can point at it \
                      (`Box::leak`), or a waker is forgotten.",
        read: "one-future/raw-waker.html#the-same-loop-on-our-own-waker",
    };
    const CALLS: isize = 1_000;
    check(lesson, || {
        let before = live_blocks();
        for _ in 0..CALLS {
            let waker = block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
            waker.wake();
        }
        // The watchdog works meanwhile, so a few blocks come and go.
        let left = live_blocks() - before;
        assert!(
            left < CALLS / 4,
            "{CALLS} calls left {left} blocks of memory behind"
        );
    });
}
