//! What is dropped, and which thread may have which end.

use super::*;

/// Clause 8: a runtime shuts down with tasks in its queues.
#[test]
fn what_is_never_taken_is_dropped_once() {
    let lesson = Lesson {
        clause: "8. Dropped once",
        promise: "When the owner and the stealers are gone, each item has been dropped once, \
                  whether it came out or not.",
        usual_cause: "`MaybeUninit` drops nothing by itself; or all slots are dropped, even those \
                      whose items are out; or the loop over what is left goes from start to end \
                      with `..` or `<`, which finds nothing where the positions have wrapped: \
                      count with `wrapping_add` until they are equal.",
        read: "scheduler/run-queue-limits.html#what-is-left-at-the-end",
    };
    check(lesson, || {
        for pops in 0..=6 {
            let (queue, stealer) = run_queue_at::<_, FEW>(u32::MAX - 3);
            let (probes, logs): (Vec<_>, Vec<_>) =
                (0..6).map(|_| DropProbe::new()).unzip();
            for probe in probes {
                assert!(queue.push(probe).is_ok(), "there is room");
            }
            (0..pops).for_each(|_| drop(queue.pop()));
            let (thief, _) = run_queue();
            drop(stealer.steal_into(&thief));
            drop((queue, stealer, thief));
            for (item, log) in logs.iter().enumerate() {
                let count = log.count();
                assert!(
                    count == 1,
                    "in a queue whose positions began at `u32::MAX - 3`, after {pops} pops and a \
                     steal, item {item} was dropped {count} times"
                );
            }
        }
    });
}

/// Clause 8: the memory of the queue is freed, too.
#[test]
fn a_queue_leaves_no_memory_behind() {
    let lesson = Lesson {
        clause: "8. Dropped once",
        promise: "When the owner and the stealers are gone, no memory is left, no matter in \
                  which order they went.",
        usual_cause: "The slots are leaked, so that both ends can point to them, or freed by one \
                      end only. An `Arc` counts the ends that are left.",
        read: "scheduler/run-queue-limits.html#what-is-left-at-the-end",
    };
    const ROUNDS: isize = if cfg!(miri) { 40 } else { 1_000 };
    check(lesson, || {
        let before = live_blocks();
        for round in 0..ROUNDS {
            let (queue, stealer) = queue_of::<FEW>(6);
            let (first, last): (Box<dyn Any>, Box<dyn Any>) = match round % 2 {
                0 => (Box::new(queue), Box::new(stealer)),
                _ => (Box::new(stealer), Box::new(queue)),
            };
            drop(first);
            drop(last);
        }
        // The watchdog runs meanwhile, so a few blocks come and go.
        let left = live_blocks() - before;
        assert!(
            left < ROUNDS / 4,
            "{ROUNDS} queues left {left} blocks of memory behind"
        );
    });
}

/// Clause 8: the worker may end while another worker looks at its queue.
#[test]
fn a_stealer_may_outlive_the_owner() {
    let lesson = Lesson {
        clause: "8. Dropped once",
        promise: "A stealer can be used after the owner is gone; each item then comes out once or \
                  is dropped once.",
        usual_cause: "The slots belong to the owner, and the stealer has a pointer to them; or the \
                      owner's end drops the items but leaves the positions as they are.",
        read: "scheduler/run-queue-limits.html#what-is-left-at-the-end",
    };
    check(lesson, || {
        let (queue, stealer) = run_queue::<_, FEW>();
        let (probes, logs): (Vec<_>, Vec<_>) =
            (0..6).map(|_| DropProbe::new()).unzip();
        for probe in probes {
            assert!(queue.push(probe).is_ok(), "there is room");
        }
        drop(queue);
        let (thief, _) = run_queue();
        let stolen = stealer.steal_into(&thief);
        assert_eq!(
            stealer.is_empty(),
            stealer.steal_into(&thief).is_none(),
            "a queue without an owner is empty if nothing can be stolen"
        );
        drop((stolen, stealer, thief));
        for (item, log) in logs.iter().enumerate() {
            let count = log.count();
            assert!(count == 1, "item {item} was dropped {count} times");
        }
    });
}

/// Clause 10: with two owners, two threads write the same slot.
#[test]
fn a_queue_has_one_owner() {
    let lesson = Lesson {
        clause: "10. One owner",
        promise: "`Local` is neither `Sync` nor `Clone`: no two threads can push into one queue.",
        usual_cause: "All its fields are `Sync`, so it is, too. A field `PhantomData<Cell<()>>` \
                      takes `Sync` away, and leaves it `Send`.",
        read: "scheduler/run-queue-limits.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let (queue, _stealer) = run_queue::<u32, FEW>();
        let owner = Asked::<Local<u32, FEW>>(PhantomData);
        assert!(!owner.is_sync(), "two threads can push at the same time");
        assert!(!owner.is_clone(), "there can be two owners");
        let thread = thread::spawn(move || queue.push(1));
        let pushed = thread.join().expect("pushing doesn't panic");
        assert!(pushed.is_ok(), "an owner may move to another thread");
    });
}

/// Clause 10: the items go to another thread, and that's all.
#[test]
fn a_stealer_may_go_wherever_its_items_may() {
    let lesson = Lesson {
        clause: "10. One owner",
        promise: "A `Stealer` is `Clone`, `Send` and `Sync` if the items are `Send`, and neither \
                  end can leave its thread if they aren't.",
        usual_cause: "`#[derive(Clone)]` requires items that are `Clone`; or `unsafe impl Sync` \
                      requires too much (`T: Sync`) or nothing.",
        read: "scheduler/run-queue-limits.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let _stub_ends_here = run_queue::<u32, FEW>();
        // A `Cell` can be sent but not shared; this one can't be cloned.
        struct Sendable(#[allow(dead_code)] Cell<u32>);
        let thief = Asked::<Stealer<Sendable, FEW>>(PhantomData);
        assert!(thief.is_clone(), "a stealer can't be cloned");
        assert!(thief.is_send(), "a stealer can't be sent");
        assert!(thief.is_sync(), "a stealer can't be shared");
        let owner = Asked::<Local<Sendable, FEW>>(PhantomData);
        assert!(owner.is_send(), "an owner can't be sent");
        let thief = Asked::<Stealer<Rc<u32>, FEW>>(PhantomData);
        let owner = Asked::<Local<Rc<u32>, FEW>>(PhantomData);
        assert!(
            !thief.is_send() && !thief.is_sync() && !owner.is_send(),
            "an `Rc` can get to another thread"
        );
    });
}

/// Finds out what `T` implements. If the bound holds, the method below wins
/// over the trait's.
struct Asked<T>(PhantomData<T>);

macro_rules! ask {
    ($trait:ident, $method:ident, $is:ident) => {
        #[allow(dead_code, reason = "not used if all are true")]
        trait $is {
            fn $method(&self) -> bool {
                false
            }
        }
        impl<T> $is for Asked<T> {}

        #[allow(dead_code, reason = "used only if it is true")]
        impl<T: $trait> Asked<T> {
            fn $method(&self) -> bool {
                true
            }
        }
    };
}

ask!(Sync, is_sync, IsSync);
ask!(Send, is_send, IsSend);
ask!(Clone, is_clone, IsClone);
