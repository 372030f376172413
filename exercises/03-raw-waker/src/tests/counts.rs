//! What keeps the target alive, and for how long.

use std::pin::Pin;
use std::task::Context;

use super::*;

/// Clause 1: the `Arc` is moved in, so the waker's may be the only count.
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

/// Clause 1: a future may keep a clone long after the first waker is gone.
#[test]
fn each_clone_keeps_the_target_alive() {
    let lesson = Lesson {
        clause: "1. Kept alive",
        promise: "The target lives as long as any clone, no matter in which order they are \
                  dropped.",
        usual_cause: "`clone` copies the pointer and forgets the count, or it calls \
                      `Arc::from_raw` and gets an `Arc` that gives a count back when it is \
                      dropped. Each waker will give a count back, so each must own one: use \
                      `Arc::increment_strong_count`.",
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

/// Clause 2: most wakers are never woken by value, but dropped.
#[test]
fn dropping_a_waker_gives_its_count_back() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "When the last waker is dropped, its target is dropped, once.",
        usual_cause: "`drop` does nothing, because a pointer doesn't have to be dropped. However, \
                      its count does: use `Arc::decrement_strong_count`.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        drop(waker(target));
        watch.assert_gone("when its only waker was dropped");
    });
}

/// Clause 1: on a server, as many connections as this may wait for one task.
#[test]
fn any_number_of_clones_keep_the_target_alive() {
    let lesson = Lesson {
        clause: "1. Kept alive",
        promise: "The target lives as long as any clone, even if there are 2^16 of them.",
        usual_cause: "The clones are counted in a small integer, and the count wraps: after 256 \
                      clones, or 65536, the next waker to be dropped takes itself for the last. \
                      Count in a `usize`.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        for bits in [8, 16] {
            let (target, watch) = WakeTarget::new();
            let original = waker(target);
            let clones = vec![original.clone(); 1 << bits];
            // A failed assertion must not drop what is broken.
            let clones = ManuallyDrop::new(clones);
            drop(original);
            watch.assert_alive("when there were that many clones");
            drop(ManuallyDrop::into_inner(clones));
            watch.assert_gone("when the last waker was dropped");
        }
    });
}

/// Clause 2: one count too many is a leak, which crashes nothing.
#[test]
fn the_target_is_dropped_with_its_last_clone() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "No matter how many clones there were, the target is dropped with the last waker.",
        usual_cause: "`clone` counts twice: it clones and forgets an `Arc`, and it also calls \
                      `increment_strong_count`.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    check(lesson, || {
        let (target, watch) = WakeTarget::new();
        let original = waker(target);
        let clones: Vec<Waker> = (0..5).map(|_| original.clone()).collect();
        let of_a_clone = clones[2].clone();
        drop(original);
        drop(clones);
        watch.assert_alive("when all wakers except one were dropped");
        drop(of_a_clone);
        watch.assert_gone("when the last waker was dropped");
    });
}

/// Clause 2: wakers that aren't needed anymore are dropped all the time.
#[test]
fn dropping_a_waker_wakes_nothing() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "Dropping a waker wakes nothing.",
        usual_cause: "The vtable has the same function for `wake` and for `drop`.",
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

/// Clause 2: the target isn't the only thing that may be left behind.
#[test]
fn wakers_leave_no_memory_behind() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "Once a waker and its clones are gone, so is all that was allocated for them.",
        usual_cause: "A vtable or another box is leaked for each waker, to get a `&'static`. A \
                      reference to a constant already is `'static`.",
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
        // The watchdog runs meanwhile, so a few blocks come and go.
        let left = live_blocks() - before;
        assert!(
            left < ROUNDS / 4,
            "{ROUNDS} wakers left {left} blocks of memory behind"
        );
    });
}

/// Clause 2: memory is freed even if a panic of the target skips some code.
#[test]
fn wakers_whose_target_panics_leave_no_memory_behind() {
    let lesson = Lesson {
        clause: "2. Given back",
        promise: "If the target panics when it is woken, by value or by reference, all that was \
                  allocated for its wakers is freed with the last one.",
        usual_cause: "A line after the call frees a box beside the `Arc`, and a panic skips that \
                      line. Free the box before the call, or let a value own it whose destructor \
                      frees it.",
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
                assert!(caught.is_err(), "the panic didn't come out of {how}");
            }
            // The watchdog runs meanwhile, so a few blocks come and go.
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
        // Skips the panic hook, which might allocate.
        resume_unwind(Box::new("the target panics"))
    }
}

#[derive(Default)]
#[repr(align(64))]
struct OfACacheLine;

#[repr(align(4096))]
struct OfAPage(
    #[expect(dead_code, reason = "only its size and alignment matter")]
    [u8; 9_000],
);

/// Clause 8: an `Arc` puts its counts before the target, with padding in
/// between.
#[test]
fn a_target_of_any_shape_is_woken_and_dropped() {
    let lesson = Lesson {
        clause: "8. Any target",
        promise: "A target of any size and alignment is woken at its own address, and freed.",
        usual_cause: "The code makes assumptions about where an `Arc` keeps its counts, or it \
                      moves the target. Leave both to `Arc::from_raw` and its relatives.",
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
                "a target of size {size} and alignment {align} was dropped, although it still has \
                 a waker"
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
            "nothing holds the target of size {size} and alignment {align}, but it's still alive: \
             the count of its `Arc` is too high by {count}"
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

/// Clause 6: one thread is stopped after each of its machine instructions, and
/// the other thread runs in between.
#[test]
fn two_threads_use_up_their_wakers_at_once() {
    let lesson = Lesson {
        clause: "6. Any thread",
        promise: "Two threads wake by value at the same time. Both wake the target, and it is \
                  dropped once, after both wakes.",
        usual_cause: "A waker gives its count back, and then still uses what the count kept alive, \
                      which the other waker may have freed. Take out what you need first, and give \
                      the count back last. Or it reads the count, and then subtracts without a \
                      look at what `fetch_sub` returned: if the other waker went meanwhile, \
                      neither of them frees the target.",
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
            "in each of {rounds} rounds, two threads woke one target; it was woken {wakes} times \
             in total, and {drops} targets were dropped"
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
