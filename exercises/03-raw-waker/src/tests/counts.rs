//! Who keeps the target alive, and for how long.

use std::pin::Pin;
use std::task::Context;

use super::*;

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
        drop(waker);
    });
}

/// Clause 1: a future keeps a clone when the first waker is long gone.
#[test]
fn each_clone_keeps_the_target_alive() {
    let lesson = Lesson {
        clause: "1. Kept alive",
        promise: "The target lives as long as any clone, in whatever order they are dropped.",
        usual_cause: "`clone` copies the pointer and forgets the count, or makes an `Arc` by \
                      `Arc::from_raw` that gives one back when it is dropped. Each waker will give \
                      one back, so each must own one: `Arc::increment_strong_count`.",
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

/// Clause 1: a server may have as many connections that wait for one task.
#[test]
fn any_number_of_clones_keep_the_target_alive() {
    let lesson = Lesson {
        clause: "1. Kept alive",
        promise: "The target lives as long as any clone, also where there are 2^16 of them.",
        usual_cause: "The clones are counted in a number of few bits, and the count wraps: after 256 \
                      clones, or 65536, the next drop takes itself for the last. Count in a `usize`.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        for bits in [8, 16] {
            let (target, watch) = WakeTarget::new();
            let original = waker(target);
            let clones = vec![original.clone(); 1 << bits];
            // A failed assertion is not to drop what is broken.
            let clones = ManuallyDrop::new(clones);
            drop(original);
            watch.assert_alive("when there were as many clones");
            drop(ManuallyDrop::into_inner(clones));
            watch.assert_gone("when the last waker was dropped");
        }
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

/// Clause 2: what a panic of the target jumps over is freed all the same.
#[test]
fn wakers_whose_target_panics_leave_no_memory_behind() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "If the target panics when it is woken, by value or by reference, all that was \
                  allocated for its wakers is freed with the last one.",
        usual_cause: "A box beside the `Arc` is freed by a line after the call, which a panic skips. \
                      Free it before the call, or let a value own it whose destructor frees it.",
        read: "one-future/raw-waker.html#when-a-wake-panics",
    };
    const ROUNDS: isize = 100;
    type Way = (&'static str, fn(Waker));
    check(lesson, || {
        let wake: [Way; 3] = [
            ("`wake` of the only waker", Waker::wake),
            ("`wake` of one of two", |waker| waker.clone().wake()),
            ("`wake_by_ref`", |waker| waker.wake_by_ref()),
        ];
        for (how, wake) in wake {
            let before = live_blocks();
            for _ in 0..ROUNDS {
                let waker = waker(Arc::new(Panics));
                let caught = catch_unwind(AssertUnwindSafe(|| wake(waker)));
                assert!(caught.is_err(), "the panic did not come out of {how}");
            }
            // The watchdog works meanwhile, so a few blocks come and go.
            let left = live_blocks() - before;
            assert!(
                left < ROUNDS / 4,
                "{ROUNDS} panics in {how} left {left} blocks of memory behind"
            );
        }
    });
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        // No panic hook sees it, which might keep what it sees.
        resume_unwind(Box::new("the target panics"))
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

/// Clause 6: one is stopped after each of its machine instructions, and the
/// other one comes in between.
#[test]
fn two_threads_use_up_their_wakers_at_once() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "Two threads wake by value at once. Both wake the target, and it is dropped once, after \
                  both.",
        usual_cause: "A waker gives its count back and then still uses what the count kept alive: the \
                      other one may have freed it. Take out what you need first, and give the count back \
                      last. Or it looks at the count, and then subtracts without a look at what \
                      `fetch_sub` returned: if the other one went meanwhile, neither frees the target.",
        read: "one-future/raw-waker.html#any-thread",
    };
    check(lesson, || {
        let [wakes, drops] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let mut rounds = 0;
        race_step_by_step(|mut answer| {
            rounds += 1;
            let own = waker(Arc::new(Counts {
                wakes: wakes.clone(),
                drops: drops.clone(),
            }));
            let mut cx = Context::from_waker(Waker::noop());
            let asked =
                Pin::new(&mut answer).poll(&mut Context::from_waker(&own));
            own.wake();
            if asked.is_pending() {
                while Pin::new(&mut answer).poll(&mut cx).is_pending() {
                    thread::yield_now();
                }
            }
        });
        let (wakes, drops) = (wakes.load(SeqCst), drops.load(SeqCst));
        assert!(
            wakes == 2 * rounds && drops == rounds,
            "{rounds} times two threads woke one target each; that was {wakes} wakes, and {drops} \
             targets were dropped"
        );
    });
}

struct Counts {
    wakes: Arc<AtomicUsize>,
    drops: Arc<AtomicUsize>,
}

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, SeqCst);
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        self.drops.fetch_add(1, SeqCst);
    }
}
