//! Parkers and unparkers.

use super::*;

/// Clause 8: an executor may be built on one thread and run on another.
#[test]
fn a_parker_may_move_to_another_thread() {
    let lesson = Lesson {
        clause: "8. One owner",
        promise: "Wherever the parker has moved, its unparkers wake the thread that parks.",
        usual_cause: "The parker keeps `thread::current()` from when it was made or first \
                      parked. Or a `park_timeout` whose time is up leaves its thread's handle \
                      there, and the next `park`, on another thread, stores its own only where \
                      there is none.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        assert!(!parker.park_timeout(MOMENT), "there was no token");
        let (tell, told) = mpsc::channel();
        let moved = thread::spawn(move || {
            let _ = tell.send(ThreadProbe::here());
            parker.park();
        });
        let parked = told.recv().expect("the thread tells before it parks");
        parked.wait_until_asleep();
        unparker.unpark();
        moved.join().expect("parking does not panic");
    });
}

/// Clause 8: what cannot be shared needs no answer to who gets the token.
#[test]
fn a_parker_cannot_be_shared() {
    let lesson = Lesson {
        clause: "8. One owner",
        promise: "`Parker` is not `Sync`: no two threads can park in one parker at once.",
        usual_cause: "All its fields are `Sync`, so it is too. A field `PhantomData<Cell<()>>` takes \
                      that away, and leaves it `Send`.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let _stub_ends_here = Parker::new();
        let is_sync = Asked::<Parker>(PhantomData).is_sync();
        assert!(!is_sync, "two threads can call `park` at the same time");
    });
}

/// Asks whether `T` is `Sync`. Where it is, the method below wins over the
/// trait's.
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

/// Clause 9: each future that waits keeps a clone of its own.
#[test]
fn every_clone_unparks() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "Every clone of an unparker, and a clone of a clone, unparks from any thread.",
        usual_cause: "A clone does not share the state, or the end of one is taken for the end of \
                      all: a derived `Clone` counts nothing.",
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
            unparking.join().expect("unparking does not panic");
        }
    });
}

/// Clause 9: a thread may have many parkers, and a process many threads.
#[test]
fn an_unparker_unparks_its_own_parker_only() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "A token is for the parker whose unparker left it, on this thread and on others.",
        usual_cause: "Parkers share a token, a lock or a condition variable, in a `static` or a \
                      `thread_local!`.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let (first, second) = (Parker::new(), Parker::new());
        first.unparker().unpark();
        assert!(
            !second.park_timeout(MOMENT),
            "it took the token of another parker"
        );
        assert!(first.park_timeout(MOMENT), "its token is gone");

        for _ in 0..10 {
            let sleepers = [Parker::new(), Parker::new()].map(|parker| {
                let unparker = parker.unparker();
                let (tell, told) = mpsc::channel();
                let sleeper = thread::spawn(move || {
                    let _ = tell.send(ThreadProbe::here());
                    parker.park();
                });
                let parked =
                    told.recv().expect("the thread tells before it parks");
                parked.wait_until_asleep();
                (unparker, sleeper)
            });
            // Who went to sleep first is usually roused first, so the token is for the other.
            for (unparker, sleeper) in sleepers.into_iter().rev() {
                unparker.unpark();
                sleeper.join().expect("parking does not panic");
            }
        }
    });
}

/// Clause 9: a timer that nobody waits for any more still fires.
#[test]
fn an_unparker_may_outlive_its_parker() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "An unparker may be used, cloned and dropped when its parker is gone.",
        usual_cause: "The unparker points into its parker. What they share must be counted, by an \
                      `Arc` for instance.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let unparking = unpark_once_asleep(unparker.clone());
        parker.park();
        unparking.join().expect("unparking does not panic");
        drop(parker);
        let clone = unparker.clone();
        unparker.unpark();
        let elsewhere = thread::spawn(move || {
            clone.unpark();
            drop(clone);
            unparker.unpark();
        });
        elsewhere.join().expect("a late unpark does not panic");
    });
}

/// Clause 9: `block_on` makes a parker for each call.
#[test]
fn all_is_freed_once_all_are_gone() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "A parker and its unparkers leave no memory behind, whoever goes last.",
        usual_cause: "What they share is leaked (`Box::leak`), or it holds a counted reference to \
                      itself. Or each sleep leaves a handle of its thread for an `unpark` to free, \
                      and where the time runs out nobody does: take it back, and drop it.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    const ROUNDS: isize = 1_000;
    /// What the rest of the process may allocate meanwhile.
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
            "of {ROUNDS} parkers {left} blocks of memory are left"
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
            "of {ROUNDS} sleeps whose time was up {left} blocks of memory are left"
        );
    });
}
