//! The models of exercise 11: what no run on this machine can be relied on to show. loom tries
//! every interleaving of the threads, and every value that an atomic load may return. A queue of
//! four slots is large enough to fill, to wrap and to overflow.
#![allow(
    clippy::needless_range_loop,
    reason = "an item is a number, and says which flag is its own"
)]

use primitives::atomic::{AtomicU32, Ordering::Relaxed};
use primitives::{Arc, thread};
use testkit::{Lesson, check_model};

use super::{Local, Stealer, run_queue_at};

/// The slots of each queue.
const N: usize = 4;
/// The last positions before they wrap.
const START: u32 = u32::MAX - 1;

type Owner = Local<u32, N>;
type Thief = Stealer<u32, N>;

/// A queue with the items `0..count` in it.
fn queue_of(count: u32) -> (Owner, Thief) {
    let (queue, stealer) = run_queue_at(START);
    for item in 0..count {
        assert!(queue.push(item).is_ok(), "there is room");
    }
    (queue, stealer)
}

fn drain(queue: &Owner) -> Vec<u32> {
    std::iter::from_fn(|| queue.pop()).collect()
}

/// Steals once, and pops everything that it stole.
fn steal(stealer: &Thief) -> Vec<u32> {
    let (own, _) = run_queue_at(START);
    let stolen = stealer.steal_into(&own);
    stolen.into_iter().chain(drain(&own)).collect()
}

/// Starts another thread that steals once.
fn start_thief(stealer: &Thief) -> thread::JoinHandle<Vec<u32>> {
    let stealer = stealer.clone();
    thread::spawn(move || steal(&stealer))
}

fn join(thief: thread::JoinHandle<Vec<u32>>) -> Vec<u32> {
    thief.join().expect("stealing doesn't panic")
}

/// Fails unless each of the items `0..count` is there once.
#[track_caller]
fn assert_each_once(mut items: Vec<u32>, count: u32) {
    items.sort_unstable();
    let all: Vec<_> = (0..count).collect();
    assert!(
        items == all,
        "of the items {all:?}, these came out: {items:?}"
    );
}

/// Clause 1: both want the last item.
#[test]
fn owner_and_thief_share_the_items_in_every_order() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "In every interleaving of pops and a steal, each item comes out once.",
        usual_cause: "`pop` or the thief takes an item with a load and a store, or uses what it \
                      has copied although its CAS has failed. If items are lost, a failed CAS is \
                      taken for an empty queue, or the thief drops what it couldn't move. If items \
                      come out twice, the thief gives its claim back with a store, which undoes \
                      the owner's pops. Several items don't protect a pop: two thieves, or one \
                      that steals twice, can take them between your look and your step. Decide \
                      and take in one CAS.",
        read: "scheduler/run-queue.html#who-takes-the-last-item",
    };
    check_model(lesson, || {
        // ANCHOR: share
        primitives::model_every_load(|| {
            let (queue, stealer) = queue_of(3);
            let thief = start_thief(&stealer);
            let mut items = drain(&queue);
            items.extend(join(thief));
            assert_each_once(items, 3);
        });
        // ANCHOR_END: share
    });
}

/// Clause 1: the positions aren't read at the same moment.
#[test]
fn an_old_look_at_the_positions_takes_nothing() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "A thief that loaded one position earlier, and the other one after the owner was \
                  at work, takes no item that isn't there.",
        usual_cause: "The difference of a newer head and an older tail is negative, and as an \
                      unsigned number it is about four billion. Or the thief loads the tail with \
                      `Relaxed`.",
        read: "scheduler/run-queue-limits.html#positions-that-wrap",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let (queue, stealer) = queue_of(0);
            let thief = start_thief(&stealer);
            let mut items = Vec::new();
            for item in 0..2 {
                assert!(queue.push(item).is_ok(), "there is room");
                items.extend(queue.pop());
            }
            items.extend(join(thief));
            assert_each_once(items, 2);
        });
    });
}

/// Clause 1: in a scheduler every thread is both.
#[test]
fn two_that_steal_from_each_other_share_in_every_order() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "Two threads with a queue each steal from each other at the same time. Each item \
                  comes out once, and neither thread waits for the other.",
        usual_cause: "A steal holds the lock of the victim and then wants the lock of the thief's \
                      own queue, which the other thread holds. Copy what was taken, release the \
                      first lock, and only then take the second.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (first, of_first) = queue_of(3);
            let (second, of_second) = queue_of(0);
            for item in 3..6 {
                assert!(second.push(item).is_ok(), "there is room");
            }
            let other = thread::spawn(move || {
                let stolen = of_first.steal_into(&second);
                stolen.into_iter().chain(drain(&second)).collect()
            });
            let mut items: Vec<_> =
                of_second.steal_into(&first).into_iter().collect();
            items.extend(drain(&first));
            items.extend(join(other));
            assert_each_once(items, 6);
        });
    });
}

/// Clause 1: thieves meet each other, too.
#[test]
fn two_thieves_and_the_owner_share_in_every_order() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "In every interleaving of two steals and three pushes, each item comes out once.",
        usual_cause: "The second thief claims while the first one still copies, and the one that \
                      ends first gives back the slots of both; or a thief that was refused clears the \
                      other thief's claim; or a thief waits for the other thief. Or a number of \
                      items that is read without the lock is stored after the lock is released, \
                      and an older number stays.",
        read: "scheduler/run-queue.html#slots-that-are-still-being-read",
    };
    check_model(lesson, || {
        primitives::model_every_load_within(2, || {
            let (queue, stealer) = queue_of(4);
            let thieves = [(); 2].map(|()| start_thief(&stealer));
            let mut items = Vec::new();
            for item in 4..7 {
                items.extend(queue.push(item).err());
            }
            items.extend(thieves.into_iter().flat_map(join));
            items.extend(drain(&queue));
            assert_each_once(items, 7);
        });
    });
}

/// Clause 7: the owner wants the half that a thief has.
#[test]
fn an_overflow_during_a_steal_loses_nothing() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "In every interleaving of a steal and pushes into a full queue, each item comes \
                  out once.",
        usual_cause: "The overflow takes half of the queue without checking whether a thief is at \
                      work, or writes the new item where a thief still reads.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (queue, stealer) = queue_of(4);
            let thief = start_thief(&stealer);
            let mut items = Vec::new();
            for item in 4..6 {
                queue.push_or_overflow(item, |item| items.push(item));
            }
            items.extend(drain(&queue));
            items.extend(join(thief));
            assert_each_once(items, 6);
        });
    });
}

/// Clause 7: the youngest items are at the owner's end, where only the owner takes any. Is that so?
#[test]
fn an_overflow_meets_two_steals() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "In every interleaving of two steals, one after the other, and an overflow, each \
                  item comes out once.",
        usual_cause: "The owner moves its tail back and takes what was there, because a thief \
                      claims half at most, from the other end. The second thief claims half of \
                      what the first one has left, by a tail that it loaded earlier. Have the \
                      owner claim, too: then no thief can claim, and what a thief has loaded is \
                      out of date. Or the head shares a word with another number, into which an \
                      addition carries when the head wraps.",
        read: "scheduler/run-queue-limits.html#the-younger-half",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (queue, stealer) = queue_of(4);
            let thief = thread::spawn(move || {
                [steal(&stealer), steal(&stealer)].concat()
            });
            let mut items = Vec::new();
            queue.push_or_overflow(4, |item| items.push(item));
            let free = queue.free();
            assert!(free <= N, "of {N} slots {free} were reported free");
            items.extend(drain(&queue));
            items.extend(join(thief));
            assert_each_once(items, 5);
        });
    });
}

/// Clause 7: with two thieves the head may move past what the owner takes for its own.
#[test]
fn an_overflow_meets_the_steals_of_two_threads() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "In every interleaving of three steals, by two threads, and an overflow of a \
                  queue of two slots, each item comes out once.",
        usual_cause: "The owner moves its tail back before it knows whether it may. Meanwhile \
                      thieves move the head past that tail, and the number of items, which is the \
                      difference of the two, wraps. Claim first, then move the tail.",
        read: "scheduler/run-queue-limits.html#the-younger-half",
    };
    check_model(lesson, || {
        primitives::model_within(2, || {
            let (queue, stealer) = run_queue_at::<_, 2>(START);
            for item in [0, 1] {
                assert!(queue.push(item).is_ok(), "there is room");
            }
            let steal = |stealer: &Stealer<u32, 2>| {
                let (own, _) = run_queue_at(START);
                let stolen = stealer.steal_into(&own);
                let kept = std::iter::from_fn(|| own.pop());
                stolen.into_iter().chain(kept).collect::<Vec<_>>()
            };
            let other = stealer.clone();
            let twice = thread::spawn(move || {
                [steal(&stealer), steal(&stealer)].concat()
            });
            let once = thread::spawn(move || steal(&other));
            let mut items = Vec::new();
            queue.push_or_overflow(2, |item| items.push(item));
            // More than these would be items that don't exist.
            items.extend(std::iter::from_fn(|| queue.pop()).take(3));
            items.extend(join(twice));
            items.extend(join(once));
            assert_each_once(items, 3);
        });
    });
}

/// Clause 9: what stays after an overflow is where thieves will look for it.
#[test]
fn what_stays_is_seen_by_the_thief_that_steals_it() {
    let lesson = Lesson {
        clause: "9. Published",
        promise: "A thief that comes after an overflow sees the items that stayed.",
        usual_cause: "The items that stay are announced with `Relaxed`, because they were \
                      published before. Announce them with `Release`: a thief sees what was \
                      written before the store that it reads from, and it reads from the new \
                      store.",
        read: "scheduler/run-queue-limits.html#the-younger-half",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (queue, stealer) = queue_of(0);
            let thief = start_thief(&stealer);
            let mut items = Vec::new();
            for item in 0..5 {
                queue.push_or_overflow(item, |item| items.push(item));
            }
            items.extend(join(thief));
            items.extend(drain(&queue));
            assert_each_once(items, 5);
        });
    });
}

/// Clause 8: the owner ends while a thief is at work.
#[test]
fn what_is_left_is_dropped_in_every_order() {
    let lesson = Lesson {
        clause: "8. Dropped once",
        promise: "In every interleaving of a steal and the end of the owner, no item leaks or is \
                  dropped twice.",
        usual_cause: "The owner's end drops what is in the slots while a thief has claimed some of \
                      them.",
        read: "scheduler/run-queue-limits.html#what-is-left-at-the-end",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let (queue, stealer) = run_queue_at::<_, N>(START);
            let item = Arc::new(());
            for _ in 0..3 {
                assert!(queue.push(item.clone()).is_ok(), "there is room");
            }
            let thief = thread::spawn(move || {
                let (own, _) = run_queue_at(START);
                drop(stealer.steal_into(&own));
            });
            drop(queue);
            thief.join().expect("stealing doesn't panic");
            let left = Arc::strong_count(&item) - 1;
            assert!(left == 0, "of 3 items {left} haven't been dropped");
        });
    });
}

/// Clause 9: on x86 a store without Release is enough, elsewhere it isn't.
#[test]
fn what_was_written_before_a_push_is_seen_after_the_steal() {
    let lesson = Lesson {
        clause: "9. Published",
        promise: "A thief sees the item, and everything that its owner wrote before it pushed.",
        usual_cause: "The tail is stored or loaded with `Relaxed`. Store it with `Release` once \
                      the item is in its slot, and load it with `Acquire` before you read the \
                      slot.",
        read: "scheduler/run-queue-limits.html#what-the-thief-sees",
    };
    check_model(lesson, || {
        // ANCHOR: published
        primitives::model_every_load(|| {
            let (queue, stealer) = queue_of(0);
            let written = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
            let seen = written.clone();
            let thief = thread::spawn(move || {
                for item in steal(&stealer) {
                    let is_seen = seen[item as usize].load(Relaxed) == 1;
                    assert!(
                        is_seen,
                        "the thief doesn't see what was written before item {item} was pushed"
                    );
                }
            });
            for item in 0..2 {
                written[item].store(1, Relaxed);
                assert!(queue.push(item as u32).is_ok(), "there is room");
            }
            thief.join().expect("stealing doesn't panic");
        });
        // ANCHOR_END: published
    });
}

/// Clause 9: what is stolen is pushed again.
#[test]
fn a_stolen_item_can_be_stolen_on() {
    let lesson = Lesson {
        clause: "9. Published",
        promise: "A second thief, which steals from the first thief's queue, sees the item.",
        usual_cause: "The steal moves the tail of the thief's queue with `Relaxed`, or before the \
                      items are in their slots.",
        read: "scheduler/run-queue-limits.html#what-the-thief-sees",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let (queue, first) = queue_of(4);
            let (between, second) = queue_of(0);
            let thief = thread::spawn(move || {
                let stolen = first.steal_into(&between);
                stolen.into_iter().chain(drain(&between)).collect()
            });
            let mut items = steal(&second);
            items.extend(join(thief));
            items.extend(drain(&queue));
            assert_each_once(items, 4);
        });
    });
}

/// Clause 9: otherwise the thief gets half of one item and half of another.
#[test]
fn nothing_is_written_over_while_a_thief_copies() {
    let lesson = Lesson {
        clause: "9. Published",
        promise: "In every interleaving of pushes, pops and a steal, no slot is written while it \
                  is read.",
        usual_cause: "The slots count as free from the claim on. Or they are given back with \
                      `Relaxed`, or found free with a `Relaxed` load, so that the copy may come \
                      after the write. Or the claim and the flag that says that a thief is copying \
                      are two words, and the push loads them in the wrong order.",
        read: "scheduler/run-queue.html#slots-that-are-still-being-read",
    };
    check_model(lesson, || {
        // ANCHOR: written_over
        primitives::model(|| {
            let (queue, stealer) = queue_of(4);
            let thief = start_thief(&stealer);
            let mut items: Vec<_> = queue.pop().into_iter().collect();
            for item in 4..6 {
                items.extend(queue.push(item).err());
            }
            items.extend(drain(&queue));
            items.extend(join(thief));
            assert_each_once(items, 6);
        });
        // ANCHOR_END: written_over
    });
}

/// Clause 6: a thief has a queue of its own, and other threads steal from it.
#[test]
fn a_steal_into_a_queue_that_is_stolen_from_writes_over_nothing() {
    let lesson = Lesson {
        clause: "6. Room",
        promise: "In every interleaving of two steals, one from the queue that the other fills, no \
                  slot is written while it is read, and each item comes out once.",
        usual_cause: "The thief counts all slots but `len` as room, though another thief still \
                      copies from some; or it loads its own head with `Relaxed` and writes at \
                      once. Count as `free` does, and acquire what the other thief released.",
        read: "scheduler/run-queue.html#slots-that-are-still-being-read",
    };
    check_model(lesson, || {
        for (pops, steals) in [(0, 1), (1, 1), (0, 2)] {
            primitives::model(move || {
                let (queue, stealer) = queue_of(4);
                let (other, to_other) = run_queue_at(START);
                for item in 4..8 {
                    assert!(other.push(item).is_ok(), "there is room");
                }
                let thief = start_thief(&stealer);
                let mut items = Vec::new();
                (0..pops).for_each(|_| items.extend(queue.pop()));
                for _ in 0..steals {
                    items.extend(to_other.steal_into(&queue));
                }
                items.extend(drain(&queue));
                items.extend(join(thief));
                items.extend(drain(&other));
                assert_each_once(items, 8);
            });
        }
    });
}

/// Clause 11: the scheduler fetches as many items from elsewhere as there is room for.
#[test]
fn what_is_free_stays_free_in_every_order() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "There is room for as many pushes as `free` has promised, no matter what a thief does.",
        usual_cause: "`free` is `N - len`: a slot that a thief still copies from holds no item any \
                      more, and isn't free yet. Or `push` writes where `free` has found room, and \
                      `free` loads the head with `Relaxed`: an Acquire is missing that pairs with \
                      the Release with which the thief gives the slots back.",
        read: "scheduler/run-queue.html#slots-that-are-still-being-read",
    };
    check_model(lesson, || {
        primitives::model_every_load(|| {
            let (queue, stealer) = queue_of(4);
            let thief = start_thief(&stealer);
            let free = queue.free();
            for item in 0..free {
                let pushed = queue.push(item as u32);
                assert!(
                    pushed.is_ok(),
                    "`free` was {free}, and there was no room for item {item}"
                );
            }
            join(thief);
        });
    });
}

/// Clause 11: a worker that is about to park looks at all queues again.
#[test]
fn a_queue_that_always_has_an_item_never_seems_empty() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "In every interleaving of a push, a pop, a steal or an overflow, and a look from \
                  outside, a queue that has an item in it doesn't seem empty.",
        usual_cause: "The tail is loaded first, and then a newer head. Load the head first, with \
                      `Acquire`, and move it with `Release`, in a pop, a steal and an overflow: \
                      then the tail is no older. Or an overflow takes all items, and puts half of \
                      them back.",
        read: "scheduler/run-queue-limits.html#what-the-thief-sees",
    };
    check_model(lesson, || {
        seems_never_empty("popped", |queue, _| {
            assert!(queue.push(1).is_ok(), "there is room");
            assert!(queue.pop().is_some(), "there are two items");
        });
        seems_never_empty("stolen", |queue, stealer| {
            assert!(queue.push(1).is_ok(), "there is room");
            // It may fail, because the other thread is at work on the queue: its look may lock it.
            assert!(steal(stealer).len() <= 1, "half of two items is one");
        });
        seems_never_empty("given away", |queue, _| {
            for item in 1..=N as u32 {
                queue.push_or_overflow(item, drop);
            }
        });
    });
}

/// Clause 11: the thief that has just stolen sees what the others have left.
#[test]
fn a_queue_that_overflows_does_not_seem_empty_after_a_steal() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "A thread steals once from a full queue that overflows, and checks whether it is \
                  empty. If items are left in the end, it isn't.",
        usual_cause: "An overflow moves the tail back before it knows whether it may, and later \
                      forward to where it was. In between, the head after a steal equals that \
                      tail.",
        read: "scheduler/run-queue-limits.html#the-younger-half",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (queue, stealer) = queue_of(4);
            let looking = thread::spawn(move || {
                let _stolen = steal(&stealer);
                stealer.is_empty()
            });
            queue.push_or_overflow(4, drop);
            let seemed_empty = looking.join().expect("looking doesn't panic");
            // A thief that counted the items before an overflow may take all that it leaves, and
            // then the queue is empty.
            let left = drain(&queue).len();
            assert!(
                !seemed_empty || left == 0,
                "it seemed empty, though a steal and an overflow left items in it: {left}"
            );
        });
    });
}

/// Looks at a queue from outside while items are pushed, and some are `taken` out again.
fn seems_never_empty(taken: &'static str, work: fn(&Owner, &Thief)) {
    primitives::model_every_load(move || {
        let (queue, stealer) = queue_of(1);
        let looker = stealer.clone();
        let looking = thread::spawn(move || looker.is_empty());
        work(&queue, &stealer);
        let seemed_empty = looking.join().expect("looking doesn't panic");
        assert!(
            !seemed_empty,
            "it seemed empty, though only some of the items that were pushed were {taken}"
        );
    });
}
