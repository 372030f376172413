//! Parkers and unparkers.

use super::*;

/// Clause 8: an executor may be built on one thread and run on another.
#[test]
fn a_parker_may_move_to_another_thread() {
    let lesson = Lesson {
        clause: "8. One owner",
        promise: "After the parker has moved to another thread, its unparkers wake the thread that \
                  parks.",
        usual_cause: "The parker keeps the `thread::current()` of the moment when it was created \
                      or first parked. Or a `park_timeout` whose time is up leaves its thread's \
                      handle behind, and the next `park`, on another thread, stores its own handle \
                      only if there is none.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        assert!(!parker.park_timeout(MOMENT), "there was no token");
        let (announce, announced) = mpsc::channel();
        let moved = thread::spawn(move || {
            let _ = announce.send(ThreadProbe::here());
            parker.park();
        });
        let parked = announced
            .recv()
            .expect("the thread sends this before it parks");
        parked.wait_until_asleep();
        unparker.unpark();
        moved.join().expect("parking doesn't panic");
    });
}

/// Clause 8: if a parker can't be shared, it's clear which thread gets the
/// token.
#[test]
fn a_parker_cannot_be_shared() {
    let lesson = Lesson {
        clause: "8. One owner",
        promise: "`Parker` is not `Sync`: no two threads can park in one parker at the same time.",
        usual_cause: "All fields of `Parker` are `Sync`, so it is `Sync`, too. A field of type \
                      `PhantomData<Cell<()>>` makes it `!Sync` and leaves it `Send`.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let _stub_ends_here = Parker::new();
        let is_sync = Asked::<Parker>(PhantomData).is_sync();
        assert!(!is_sync, "two threads can call `park` at the same time");
    });
}

/// Asks whether `T` is `Sync`. If it is, the method below takes precedence over
/// the trait's.
struct Asked<T>(PhantomData<T>);

#[allow(dead_code, reason = "used only if `Parker` is not `Sync`")]
trait IsSync {
    fn is_sync(&self) -> bool;
}

impl<T> IsSync for Asked<T> {
    fn is_sync(&self) -> bool {
        false
    }
}

#[allow(dead_code, reason = "used only if `Parker` is `Sync`")]
impl<T: Sync> Asked<T> {
    fn is_sync(&self) -> bool {
        true
    }
}

/// Clause 9: each future that waits keeps its own clone.
#[test]
fn every_clone_unparks() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "Every clone of an unparker, even a clone of a clone, unparks from any thread.",
        usual_cause: "A clone doesn't share the state. Or the drop of one unparker is taken for \
                      the drop of the last, because a derived `Clone` doesn't count.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let parker = Parker::new();
        let mut unparker = parker.unparker();
        for _ in 0..5 {
            let clone = unparker.clone();
            drop(std::mem::replace(&mut unparker, clone));
            let unparking = unpark_once_asleep(unparker.clone());
            parker.park();
            unparking.join().expect("unparking doesn't panic");
        }
    });
}

/// Clause 9: a thread may have many parkers, and a process many threads.
#[test]
fn an_unparker_unparks_its_own_parker_only() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "A token belongs to the parker whose unparker left it, on this thread and on \
                  others.",
        usual_cause: "Parkers share a token, a lock or a condition variable, in a `static` or a \
                      `thread_local!`.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let (first, second) = (Parker::new(), Parker::new());
        first.unparker().unpark();
        assert!(
            !second.park_timeout(MOMENT),
            "the parker took another parker's token"
        );
        assert!(
            first.park_timeout(MOMENT),
            "the first parker's token is gone"
        );

        for _ in 0..10 {
            let sleepers = [Parker::new(), Parker::new()].map(|parker| {
                let unparker = parker.unparker();
                let (announce, announced) = mpsc::channel();
                let sleeper = thread::spawn(move || {
                    let _ = announce.send(ThreadProbe::here());
                    parker.park();
                });
                let parked = announced
                    .recv()
                    .expect("the thread sends this before it parks");
                parked.wait_until_asleep();
                (unparker, sleeper)
            });
            // The thread that went to sleep first is usually woken first, so
            // the token is for the other one.
            for (unparker, sleeper) in sleepers.into_iter().rev() {
                unparker.unpark();
                sleeper.join().expect("parking doesn't panic");
            }
        }
    });
}

/// Clause 9: a timer still fires when no thread waits for it anymore.
#[test]
fn an_unparker_may_outlive_its_parker() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "An unparker may be used, cloned and dropped after its parker is gone.",
        usual_cause: "The unparker points into its parker. What they share must be \
                      reference-counted, for example by an `Arc`.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let unparking = unpark_once_asleep(unparker.clone());
        parker.park();
        unparking.join().expect("unparking doesn't panic");
        drop(parker);
        let clone = unparker.clone();
        unparker.unpark();
        let elsewhere = thread::spawn(move || {
            clone.unpark();
            drop(clone);
            unparker.unpark();
        });
        elsewhere.join().expect("a late unpark doesn't panic");
    });
}

/// Clause 9: a timer fires when its thread already waits for something else.
#[test]
fn an_unparker_of_a_parker_that_is_gone_unparks_no_other() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "An unparker whose parker is gone unparks no other, not even one that is created \
                  right after that one was dropped.",
        usual_cause: "A parker that is dropped leaves its state to the next one, although it has \
                      unparkers that still point there. A state may be used again only when no \
                      unparker is left.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        for has_token in [false, true] {
            for is_dropped_elsewhere in [false, true] {
                let old = Parker::new();
                let unparker = old.unparker();
                if has_token {
                    unparker.unpark();
                }
                if is_dropped_elsewhere {
                    let dropping = thread::spawn(move || drop(old));
                    dropping.join().expect("dropping a parker doesn't panic");
                } else {
                    drop(old);
                }
                assert_unparks_none(unparker, has_token);
            }
        }
    });
}

/// Makes two parkers now, and checks that they get no token from this unparker, or
/// from its clone.
fn assert_unparks_none(unparker: Unparker, had_token: bool) {
    let parkers = [Parker::new(), Parker::new()];
    for parker in &parkers {
        assert!(
            !parker.park_timeout(Duration::ZERO),
            "a new parker has a token (the parker before it, which is gone, {})",
            if had_token { "had one" } else { "had none" }
        );
    }
    let clone = unparker.clone();
    for unparker in [unparker, clone] {
        unparker.unpark();
        for parker in &parkers {
            assert!(
                !parker.park_timeout(Duration::ZERO),
                "an unparker of a parker that is gone left a token in one that was created later"
            );
        }
    }
}

/// Clause 9: `block_on` creates a parker for each call.
#[test]
fn memory_is_freed_once_all_are_gone() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "A parker and its unparkers leave no memory behind, no matter which of them is \
                  dropped last.",
        usual_cause: "What they share is leaked (`Box::leak`), or it holds a counted reference to \
                      itself. Or each sleep leaves a handle of its thread for an `unpark` to free, \
                      and when the time runs out, nothing frees it: take the handle back, and drop \
                      it.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    const ROUNDS: isize = 1_000;
    /// The number of blocks that the rest of the process may allocate
    /// meanwhile.
    const SPARE: isize = 100;
    check(lesson, || {
        let before = live_blocks();
        for round in 0..ROUNDS {
            let parker = Parker::new();
            let unparker = parker.unparker();
            unparker.unpark();
            parker.park();
            if round % 2 == 0 {
                drop(parker);
                unparker.unpark();
            }
        }
        let left = live_blocks() - before;
        assert!(
            left < SPARE,
            "{ROUNDS} parkers left {left} blocks of memory behind"
        );
        let parker = Parker::new();
        for _ in 0..ROUNDS {
            let took = parker.park_timeout(Duration::from_micros(1));
            assert!(!took, "there was no token");
        }
        drop(parker);
        let left = live_blocks() - before;
        assert!(
            left < SPARE,
            "{ROUNDS} sleeps whose time was up left {left} blocks of memory behind"
        );
    });
}
