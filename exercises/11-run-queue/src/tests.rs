//! The checks of exercise 11, one or more for each clause of the contract.
//! Clause 9 cannot be seen to break on most machines: it has only models.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use sync::chaos::{read_modify_writes, with_chaos};
use testkit::{DropProbe, Lesson, allocations, check, live_blocks};

use super::{Local, Stealer, run_queue, run_queue_at};

/// Decides what happens under chaos.
const SEED: u64 = 11;
/// The slots of a queue that is to be full often.
const FEW: usize = 8;

/// A queue with the items `0..count` in it.
#[track_caller]
fn queue_of<const N: usize>(count: u32) -> (Local<u32, N>, Stealer<u32, N>) {
    let (queue, stealer) = run_queue();
    fill(&queue, 0..count);
    (queue, stealer)
}

#[track_caller]
fn fill<const N: usize>(
    queue: &Local<u32, N>,
    items: impl IntoIterator<Item = u32>,
) {
    for item in items {
        let pushed = queue.push(item);
        assert!(pushed.is_ok(), "there is room, and `push` gave {item} back");
    }
}

/// A queue that takes no more, and how many items are in it.
#[track_caller]
fn full<const N: usize>() -> (Local<u32, N>, Stealer<u32, N>, u32) {
    let (queue, stealer) = run_queue();
    let count = (0..).take_while(|item| queue.push(*item).is_ok()).count();
    (queue, stealer, count as u32)
}

/// Pops all.
fn drain<T, const N: usize>(queue: &Local<T, N>) -> Vec<T> {
    std::iter::from_fn(|| queue.pop()).collect()
}

/// Steals, with nobody else at work: what was returned, and what the thief
/// found in its queue then.
#[track_caller]
fn steal<const N: usize>(
    stealer: &Stealer<u32, N>,
    thief: &Local<u32, N>,
) -> (u32, Vec<u32>) {
    let one = stealer.steal_into(thief);
    let one = one.expect("there are items, and nobody else is at work");
    (one, drain(thief))
}

/// Fails unless each of the items `0..count` is there once.
#[track_caller]
fn assert_each_once(mut items: Vec<u32>, count: u32) {
    items.sort_unstable();
    if let Some(twice) = items.windows(2).find(|pair| pair[0] == pair[1]) {
        panic!("item {} came out twice", twice[0]);
    }
    let there: BTreeSet<_> = items.iter().copied().collect();
    let lost = (0..count).filter(|item| !there.contains(item)).count();
    assert!(lost == 0, "{lost} of {count} items did not come out");
    assert!(items.len() == count as usize, "there are items too many");
}

/// Clause 1: the owner and the thieves meet at the same end.
#[test]
fn each_item_comes_out_once_whoever_takes_it() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "An owner that pushes, pops and overflows, and two thieves, get each item once.",
        usual_cause: "An item is taken by a load and a store, where it needs a compare-and-swap; \
                      or what was copied is used although the exchange has failed; or a slot is \
                      written while a thief still copies from it. The models show which.",
        read: "scheduler/run-queue.html#who-takes-the-last-item",
    };
    check(lesson, || {
        assert_each_once(owner_and_thieves(20_000), 20_000);
        with_chaos(SEED, || {
            assert_each_once(owner_and_thieves(500), 500);
        });
    });
}

/// Lets one thread push, pop and overflow and two others steal, and returns
/// all that came out anywhere.
fn owner_and_thieves(count: u32) -> Vec<u32> {
    let (queue, stealer) = run_queue::<_, FEW>();
    let is_over = Arc::new(AtomicBool::new(false));
    let thieves = [(); 2].map(|()| {
        let (stealer, is_over) = (stealer.clone(), is_over.clone());
        thread::spawn(move || steal_until(&stealer, &is_over))
    });
    let mut items = Vec::new();
    for item in 0..count {
        queue.push_or_overflow(item, |item| items.push(item));
        if item % 4 == 3 {
            items.extend(queue.pop());
            thread::yield_now();
        }
    }
    items.extend(drain(&queue));
    is_over.store(true, SeqCst);
    for thief in thieves {
        items.extend(thief.join().expect("stealing does not panic"));
    }
    items
}

fn steal_until(stealer: &Stealer<u32, FEW>, is_over: &AtomicBool) -> Vec<u32> {
    let (own, _) = run_queue();
    let mut items = Vec::new();
    loop {
        let was_over = is_over.load(SeqCst);
        match stealer.steal_into(&own) {
            Some(item) => {
                items.push(item);
                items.extend(drain(&own));
            }
            None if was_over => return items,
            None => thread::yield_now(),
        }
    }
}

/// Clause 1: in a scheduler every thread is both.
#[test]
fn each_item_comes_out_once_where_all_steal_from_all() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "Three threads with a queue each that push, pop and steal from the next one get \
                  each item once.",
        usual_cause: "What a steal puts into the thief's queue can be stolen on at once: it must \
                      be published like a push.",
        read: "scheduler/run-queue.html#half-of-it",
    };
    const WORKERS: u32 = 3;
    const EACH: u32 = 3_000;
    check(lesson, || {
        let (queues, stealers): (Vec<_>, Vec<_>) =
            (0..WORKERS).map(|_| run_queue::<_, FEW>()).unzip();
        let workers: Vec<_> = (0..WORKERS)
            .zip(queues)
            .map(|(index, queue)| {
                let next = (index + 1) % WORKERS;
                let victim = stealers[next as usize].clone();
                let ids = index * EACH..(index + 1) * EACH;
                thread::spawn(move || work(&queue, &victim, ids))
            })
            .collect();
        let items = workers.into_iter().flat_map(|worker| {
            worker.join().expect("pushing and stealing do not panic")
        });
        assert_each_once(items.collect(), WORKERS * EACH);
    });
}

/// Pushes the items, pops and steals now and then, and returns what came out.
fn work(
    queue: &Local<u32, FEW>,
    victim: &Stealer<u32, FEW>,
    ids: std::ops::Range<u32>,
) -> Vec<u32> {
    let mut items = Vec::new();
    for id in ids {
        queue.push_or_overflow(id, |item| items.push(item));
        if id % 3 == 0 {
            items.extend(queue.pop());
        }
        if id % 5 == 0 {
            items.extend(victim.steal_into(queue));
        }
        if id % 8 == 0 {
            thread::yield_now();
        }
    }
    items.extend(drain(queue));
    items
}

/// Clause 2: otherwise a task waits for all that come after it.
#[test]
fn the_owner_pops_in_the_order_of_its_pushes() {
    let lesson = Lesson {
        clause: "2. Owner order",
        promise: "First in, first out, also if pushes and pops take turns.",
        usual_cause: "`pop` takes from the end at which `push` puts, as a stack does.",
        read: "scheduler/run-queue.html#full-or-empty",
    };
    check(lesson, || {
        let (queue, _) = queue_of::<FEW>(5);
        let mut popped = Vec::new();
        for item in 5..100 {
            popped.extend(queue.pop());
            fill(&queue, [item]);
        }
        popped.extend(drain(&queue));
        let expected: Vec<_> = (0..100).collect();
        assert!(popped == expected, "the owner popped {popped:?}");
    });
}

/// Clause 2: a thief takes from the front.
#[test]
fn what_a_thief_leaves_is_popped_in_order() {
    let lesson = Lesson {
        clause: "2. Owner order",
        promise: "After a steal the owner pops what is left in its order.",
        usual_cause: "The thief moves what it leaves, or takes from the middle or from the end.",
        read: "scheduler/run-queue.html#half-of-it",
    };
    check(lesson, || {
        let (queue, stealer) = queue_of::<FEW>(6);
        steal(&stealer, &run_queue().0);
        fill(&queue, [6, 7]);
        let left = drain(&queue);
        let is_sorted = left.is_sorted() && left.ends_with(&[6, 7]);
        assert!(is_sorted, "after a steal the owner popped {left:?}");
    });
}

/// Clause 3: two indices cannot tell full from empty.
#[test]
fn exactly_n_items_fit() {
    let lesson = Lesson {
        clause: "3. Full means full",
        promise: "The queue takes `N` items, and gives number `N + 1` back.",
        usual_cause: "Indices below `N` are equal when the ring is empty and when it is full, so \
                      that one slot must stay free. Let positions count on, and take them \
                      modulo `N` only to find the slot.",
        read: "scheduler/run-queue.html#full-or-empty",
    };
    check(lesson, || {
        assert_fits::<2>();
        assert_fits::<4>();
        assert_fits::<256>();
    });
}

#[track_caller]
fn assert_fits<const N: usize>() {
    let (queue, _) = run_queue::<_, N>();
    let pushed = (0..1_000).take_while(|item| queue.push(*item).is_ok());
    let pushed = pushed.count();
    assert!(pushed == N, "of {N} items {pushed} found room");
    let back = queue.push(7);
    assert!(
        back == Err(7),
        "a full queue gave back {back:?}, not the item"
    );
    let popped = drain(&queue);
    let expected: Vec<_> = (0..N as i32).collect();
    assert!(popped == expected, "of {expected:?} came out {popped:?}");
}

/// Clause 3: a ring that fills up once is a list.
#[test]
fn a_slot_is_free_again_once_its_item_is_out() {
    let lesson = Lesson {
        clause: "3. Full means full",
        promise: "After so many pops, or after a steal, so many items find room again.",
        usual_cause: "`push` compares with a position that only one of the two ways out moves \
                      (`pop`, or the steal when it ends).",
        read: "scheduler/run-queue.html#slots-that-are-still-being-read",
    };
    check(lesson, || {
        let (queue, stealer) = queue_of::<FEW>(FEW as u32);
        for round in 0..3 * FEW as u32 {
            assert!(queue.pop().is_some(), "a full queue gave nothing");
            fill(&queue, [round]);
            let (_, moved) = steal(&stealer, &run_queue().0);
            fill(&queue, 0..=moved.len() as u32);
            let is_full = queue.push(0).is_err();
            assert!(is_full, "more than {FEW} items found room");
        }
    });
}

/// Clause 4: after four thousand million items, or in a test.
#[test]
fn a_queue_works_alike_from_every_position() {
    let lesson = Lesson {
        clause: "4. Wrap-around",
        promise: "The same steps give the same results, wherever the positions start.",
        usual_cause: "A position is added to by `+`, which panics at `u32::MAX` in a debug build; \
                      or two positions are compared by `<`, which is wrong after one has wrapped. \
                      Use `wrapping_add` and `wrapping_sub`, and look at the difference.",
        read: "scheduler/run-queue.html#positions-that-wrap",
    };
    check(lesson, || {
        let expected = script(0);
        for boundary in [0, 1 << 16, 1 << 31] {
            for before in 1..=2 * FEW as u32 {
                let position = u32::wrapping_sub(boundary, before);
                let same = script(position) == expected;
                assert!(
                    same,
                    "from position {position} on it works otherwise than from 0 on"
                );
            }
        }
    });
}

/// Does many steps with two queues, and returns all that could be seen.
fn script(position: u32) -> Vec<(Option<u32>, usize, usize, bool)> {
    let (here, to_here) = run_queue_at::<u32, FEW>(position);
    let (there, to_there) = run_queue_at::<u32, FEW>(position);
    let mut seen = Vec::new();
    // xorshift32.
    let mut random = 0x9E37_79B9_u32;
    for step in 0..300 {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        let (queue, other, to_other) = match random & 16 {
            0 => (&here, &to_here, &to_there),
            _ => (&there, &to_there, &to_here),
        };
        let out = match random % 8 {
            0..=2 => queue.push(step).err(),
            3 => {
                queue.push_or_overflow(step, |item| {
                    seen.push((Some(item), 0, 0, false));
                });
                None
            }
            4 | 5 => queue.pop(),
            _ => to_other.steal_into(queue),
        };
        seen.push((out, queue.len(), queue.free(), other.is_empty()));
    }
    seen
}

/// Clause 5: less, and the thieves come back; more, and the owner becomes one.
#[test]
fn a_steal_takes_about_half() {
    let lesson = Lesson {
        clause: "5. Half",
        promise: "Of 64 items a steal takes 16 to 32, of one item that one.",
        usual_cause: "It takes one at a time, or all; or half is rounded down, so that the last \
                      item can never be stolen.",
        read: "scheduler/run-queue.html#half-of-it",
    };
    check(lesson, || {
        for count in [1, 2, 3, 5, 64] {
            let (queue, stealer) = queue_of::<128>(count);
            let (_, moved) = steal(&stealer, &run_queue().0);
            let took = 1 + moved.len() as u32;
            let bounds = count.div_ceil(4)..=count.div_ceil(2);
            assert!(
                bounds.contains(&took),
                "of {count} items a steal took {took}, and {bounds:?} was promised"
            );
            let left = drain(&queue).len() as u32;
            assert!(
                took + left == count,
                "of {count} items a steal took {took} and left {left}"
            );
        }
    });
}

/// Clause 5: those that have waited longest go first, there as here.
#[test]
fn stolen_items_are_the_oldest_and_keep_their_order() {
    let lesson = Lesson {
        clause: "5. Half",
        promise: "A steal takes from the front, and the thief pops what was moved in its order.",
        usual_cause: "The thief copies from the end, or from its last item to its first.",
        read: "scheduler/run-queue.html#half-of-it",
    };
    check(lesson, || {
        let (queue, stealer) = queue_of::<64>(40);
        let (one, moved) = steal(&stealer, &run_queue().0);
        assert!(moved.is_sorted(), "the thief then popped {moved:?}");
        let newest = moved.iter().copied().chain([one]).max();
        let (newest, oldest) = (newest.unwrap_or(0), queue.pop().unwrap_or(0));
        assert!(
            newest < oldest,
            "the thief got {newest}, and {oldest}, which is older, was left"
        );
    });
}

/// Clause 5: whoever looks for work looks at empty queues mostly.
#[test]
fn a_steal_from_an_empty_queue_takes_nothing() {
    let lesson = Lesson {
        clause: "5. Half",
        promise: "A steal from a queue with nothing in it returns `None` and changes nothing.",
        usual_cause: "Half of nothing is rounded up to one, or the difference of the positions is \
                      negative.",
        read: "scheduler/run-queue.html#half-of-it",
    };
    check(lesson, || {
        let (queue, stealer) = run_queue::<_, FEW>();
        let (thief, _) = run_queue();
        for item in 0..20 {
            let stolen = stealer.steal_into(&thief);
            assert!(stolen.is_none(), "from an empty queue came {stolen:?}");
            assert!(
                thief.is_empty(),
                "something was put into the thief's queue"
            );
            fill(&queue, [item]);
            let popped = queue.pop();
            assert!(
                popped == Some(item),
                "after that the owner popped {popped:?}"
            );
        }
    });
}

/// Clause 6: a thief may have work of its own.
#[test]
fn a_steal_takes_no_more_than_has_room() {
    let lesson = Lesson {
        clause: "6. Room",
        promise: "With room for a few items a steal moves so many at most, behind those that are \
                  there, and loses none.",
        usual_cause: "The thief claims half before it looks at its own room; what does not fit is \
                      lost, or written over what is there.",
        read: "scheduler/run-queue.html#when-there-is-no-room",
    };
    check(lesson, || {
        for room in 0..FEW as u32 {
            let (queue, stealer) = queue_of::<FEW>(6);
            let (thief, _, own) = full();
            (0..room).for_each(|_| _ = thief.pop());
            let stolen = stealer.steal_into(&thief);
            let thiefs = drain(&thief);
            let own: Vec<_> = (room..own).collect();
            assert!(
                thiefs.starts_with(&own),
                "with {own:?} in its queue the thief popped {thiefs:?}"
            );
            let moved = thiefs[own.len()..].iter().copied();
            let items = moved.chain(stolen).chain(drain(&queue));
            assert_each_once(items.collect(), 6);
        }
    });
}

/// Clause 6: who chooses a victim at random may choose itself.
#[test]
fn a_steal_from_oneself_loses_nothing() {
    let lesson = Lesson {
        clause: "6. Room",
        promise: "A steal from the thief's own queue comes back, and no item is lost or doubled.",
        usual_cause: "Both queues are locked, and they are the same; or the room is counted before \
                      and after the claim.",
        read: "scheduler/run-queue.html#when-there-is-no-room",
    };
    check(lesson, || {
        for pops in 0..=FEW as u32 {
            let (queue, stealer, count) = full::<FEW>();
            let mut items = Vec::new();
            (0..pops).for_each(|_| items.extend(queue.pop()));
            items.extend(stealer.steal_into(&queue));
            items.extend(drain(&queue));
            assert_each_once(items, count);
        }
    });
}

/// Clause 7: the usual case must not pay for the unusual one.
#[test]
fn nothing_overflows_while_there_is_room() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "`push_or_overflow` pushes, as long as there is room.",
        usual_cause: "It looks whether the queue is half full, or full after this item.",
        read: "scheduler/run-queue.html#when-there-is-no-room",
    };
    check(lesson, || {
        let (_, _, count) = full::<FEW>();
        let (queue, _) = run_queue::<_, FEW>();
        for item in 0..count {
            queue.push_or_overflow(item, |_| {
                panic!(
                    "an item overflowed with {item} of {count} in the queue"
                );
            });
        }
        let popped = drain(&queue);
        assert!(
            popped == Vec::from_iter(0..count),
            "then came out {popped:?}"
        );
    });
}

/// Clause 7: half, so that the next pushes find room.
#[test]
fn a_full_queue_gives_half_and_the_item_away() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "Of a full queue a quarter to three quarters, and the item, go to `overflow`; \
                  the rest stays, in order.",
        usual_cause: "The item itself is lost, or the queue gives away one item or all of them, or \
                      an item goes both ways.",
        read: "scheduler/run-queue.html#when-there-is-no-room",
    };

    check(lesson, || {
        let (queue, _, count) = full::<64>();
        let mut gone = Vec::new();
        queue.push_or_overflow(count, |item| gone.push(item));
        let is_there = gone.contains(&count);
        assert!(is_there, "the item that found no room did not overflow");
        let others = gone.len() as u32 - 1;
        let bounds = count / 4..=count * 3 / 4;

        assert!(
            bounds.contains(&others),
            "besides the item {others} of {count} overflowed, and {bounds:?} was promised"
        );
        let left = drain(&queue);
        assert!(left.is_sorted(), "the owner then popped {left:?}");
        assert_each_once([gone, left].concat(), count + 1);
    });
}

/// Clause 7: what takes the overflow may wake a task, which is pushed here.
#[test]
fn the_overflow_may_use_the_queue() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "`overflow` may push, pop and steal; each item comes out once all the same.",
        usual_cause: "The slots are given back before all their items have been passed on, so that \
                      the pushes within `overflow` write over the rest; or a lock is held \
                      meanwhile.",
        read: "scheduler/run-queue.html#when-there-is-no-room",
    };
    check(lesson, || {
        let (queue, stealer, count) = full::<FEW>();
        let (thief, _) = run_queue();
        let mut items = Vec::new();
        let mut next = count + 1;
        queue.push_or_overflow(count, |item| {
            items.push(item);
            items.extend(queue.pop());
            items.extend(stealer.steal_into(&thief));
            items.extend(drain(&thief));
            for _ in 0..FEW {
                queue.push_or_overflow(next, |item| items.push(item));
                next += 1;
            }
        });
        items.extend(drain(&queue));
        assert_each_once(items, next);
    });
}

/// Clause 7: a panic on the way may lose what was on its way, not more.
#[test]
fn a_panic_of_the_overflow_drops_what_was_on_its_way() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "If `overflow` panics, each item is dropped once or still in the queue, which \
                  works on.",
        usual_cause: "The items are read one by one, and who reads them is gone after a panic: the \
                      rest leaks, or its slots stay taken. Pass them on from something that drops \
                      the rest.",
        read: "scheduler/run-queue.html#when-there-is-no-room",
    };
    check(lesson, || {
        let (queue, _) = run_queue::<_, FEW>();
        let (probes, logs): (Vec<_>, Vec<_>) =
            (0..=FEW).map(|_| DropProbe::new()).unzip();
        let mut probes = probes.into_iter();
        let rejected = probes.find_map(|probe| queue.push(probe).err());
        let rejected = rejected.expect("more items than there are slots");
        drop(probes);
        let overflowing = catch_unwind(AssertUnwindSafe(|| {
            queue.push_or_overflow(rejected, |_probe| panic!("no room here"));
        }));
        assert!(overflowing.is_err(), "the panic did not come through");
        let left = drain(&queue).len();
        let dropped: Vec<_> = logs.iter().map(|log| log.count()).collect();
        assert!(
            dropped.iter().all(|count| *count == 1),
            "{left} items were still in the queue; all together were dropped {dropped:?} times"
        );
        let pushes =
            (0..FEW).filter(|_| queue.push(DropProbe::new().0).is_ok());
        let (pushes, (_, _, count)) = (pushes.count(), full::<FEW>());
        drain(&queue);
        assert!(
            pushes == count as usize,
            "later only {pushes} of {count} items found room"
        );
    });
}

/// Clause 8: a runtime shuts down with tasks in its queues.
#[test]
fn what_nobody_takes_is_dropped_once() {
    let lesson = Lesson {
        clause: "8. Dropped once",
        promise: "When owner and stealers are gone each item has been dropped once, whether \
                  it came out or not.",
        usual_cause: "`MaybeUninit` drops nothing by itself; or all slots are dropped, also those \
                      whose items are out.",
        read: "scheduler/run-queue.html#what-is-left-at-the-end",
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
                    "after {pops} pops and a steal item {item} was dropped {count} times"
                );
            }
        }
    });
}

/// Clause 8: and what the queue was made of.
#[test]
fn a_queue_leaves_no_memory_behind() {
    let lesson = Lesson {
        clause: "8. Dropped once",
        promise: "When owner and stealers are gone no memory is left, whoever was the last.",
        usual_cause: "The slots are leaked, so that both ends can point to them, or freed by one end \
                      only. An `Arc` counts who is left.",
        read: "scheduler/run-queue.html#what-is-left-at-the-end",
    };
    const ROUNDS: isize = 1_000;
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
        // The watchdog works meanwhile, so a few blocks come and go.
        let left = live_blocks() - before;
        assert!(
            left < ROUNDS / 4,
            "{ROUNDS} queues left {left} blocks of memory behind"
        );
    });
}

/// Clause 8: the worker may end while another one looks at its queue.
#[test]
fn a_stealer_may_outlive_the_owner() {
    let lesson = Lesson {
        clause: "8. Dropped once",
        promise: "A stealer can be used when the owner is gone; each item then comes out once or \
                  is dropped once.",
        usual_cause: "The slots belong to the owner, and the stealer has a pointer to them; or the \
                      owner's end drops the items and leaves the positions as they are.",
        read: "scheduler/run-queue.html#what-is-left-at-the-end",
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

/// Clause 10: with two owners there are two who write the same slot.
#[test]
fn a_queue_has_one_owner() {
    let lesson = Lesson {
        clause: "10. One owner",
        promise: "`Local` is neither `Sync` nor `Clone`: no two threads can push into one queue.",
        usual_cause: "All its fields are `Sync`, so it is too. A field `PhantomData<Cell<()>>` takes \
                      that away, and leaves it `Send`.",
        read: "scheduler/run-queue.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let (queue, _stealer) = run_queue::<u32, FEW>();
        let owner = Asked::<Local<u32, FEW>>(PhantomData);
        assert!(!owner.is_sync(), "two threads can push at the same time");
        assert!(!owner.is_clone(), "there can be two owners");
        let thread = thread::spawn(move || queue.push(1));
        let pushed = thread.join().expect("pushing does not panic");
        assert!(pushed.is_ok(), "an owner may move to another thread");
    });
}

/// Clause 10: the items go to another thread, and only that.
#[test]
fn a_stealer_may_go_wherever_its_items_may() {
    let lesson = Lesson {
        clause: "10. One owner",
        promise: "A `Stealer` is `Clone`, `Send` and `Sync` if the items are `Send`, and neither \
                  end leaves its thread if they are not.",
        usual_cause: "`#[derive(Clone)]` asks for items that are `Clone`; or `unsafe impl Sync` asks \
                      for too much (`T: Sync`) or for nothing.",
        read: "scheduler/run-queue.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let _stub_ends_here = run_queue::<u32, FEW>();
        // A `Cell` can be sent and not shared; this one cannot be cloned.
        struct Sendable(#[allow(dead_code)] Cell<u32>);
        let thief = Asked::<Stealer<Sendable, FEW>>(PhantomData);
        assert!(thief.is_clone(), "a stealer cannot be cloned");
        assert!(thief.is_send(), "a stealer cannot be sent");
        assert!(thief.is_sync(), "a stealer cannot be shared");
        let owner = Asked::<Local<Sendable, FEW>>(PhantomData);
        assert!(owner.is_send(), "an owner cannot be sent");
        let thief = Asked::<Stealer<Rc<u32>, FEW>>(PhantomData);
        let owner = Asked::<Local<Rc<u32>, FEW>>(PhantomData);
        assert!(
            !thief.is_send() && !thief.is_sync() && !owner.is_send(),
            "an `Rc` can get to another thread"
        );
    });
}

/// Asks what `T` is. Where it is that, the method below wins over the trait's.
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

/// Clause 11: a scheduler asks before it fetches work from elsewhere.
#[test]
fn the_counts_are_right_while_nobody_else_is_at_work() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "`len` and `free` add up to `N` and tell what comes out and what goes in; \
                  `is_empty` is the same for both ends.",
        usual_cause: "One of the positions is counted twice, or modulo `N`, by which a full queue \
                      looks empty.",
        read: "scheduler/run-queue.html#full-or-empty",
    };
    check(lesson, || {
        let (queue, stealer) = run_queue::<_, FEW>();
        for count in 0..=FEW {
            let counts = (queue.len(), queue.free());
            assert!(
                counts == (count, FEW - count),
                "with {count} of {FEW} items `len` and `free` are {counts:?}"
            );
            let empty = (queue.is_empty(), stealer.is_empty());
            assert!(
                empty == (count == 0, count == 0),
                "with {count} items owner and stealer say of `is_empty` {empty:?}"
            );
            let _ = queue.push(0);
        }
        let (_, moved) = steal(&stealer, &run_queue().0);
        let counts = (queue.len(), queue.free());
        let taken = moved.len() + 1;
        assert!(
            counts == (FEW - taken, taken),
            "after a steal of {taken} of {FEW} `len` and `free` are {counts:?}"
        );
    });
}

/// Clause 11: a thief may be done between two looks at the positions.
#[test]
fn counts_hold_while_thieves_are_at_work() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "While two thieves steal, so many items find room as `free` has promised, and no \
                  count is above `N`.",
        usual_cause: "`free` takes a slot that a thief still copies from for free; or `len` subtracts \
                      a newer head from an older tail.",
        read: "scheduler/run-queue.html#slots-that-are-still-being-read",
    };
    const ROUNDS: u32 = 2_000;
    check(lesson, || {
        let (queue, stealer) = run_queue::<_, FEW>();
        let is_over = Arc::new(AtomicBool::new(false));
        let thieves = [(); 2].map(|()| {
            let (stealer, is_over) = (stealer.clone(), is_over.clone());
            thread::spawn(move || steal_until(&stealer, &is_over))
        });
        for round in 0..ROUNDS {
            let free = queue.free();
            fill(&queue, 0..free as u32);
            let (len, after) = (queue.len(), queue.free());
            assert!(
                len <= FEW && after <= FEW,
                "`len` is {len} and `free` is {after} of {FEW}"
            );
            if round % 4 == 0 {
                thread::yield_now();
            }
        }
        is_over.store(true, SeqCst);
        for thief in thieves {
            thief.join().expect("stealing does not panic");
        }
    });
}

/// Clause 12: a queue of the heap's is what this one is to replace.
#[test]
fn nothing_is_allocated_for_an_item() {
    let lesson = Lesson {
        clause: "12. Cheap",
        promise: "Pushes, pops, steals and overflows allocate nothing.",
        usual_cause: "The items stand in boxes, or in a `Vec` that a steal or an overflow collects.",
        read: "scheduler/run-queue.html#what-it-costs",
    };
    check(lesson, || {
        let (queue, stealer) = run_queue::<_, 64>();
        let (thief, _) = run_queue();
        let mut overflown = 0;
        let ((), made) = allocations(|| {
            for item in 0..1_000_u32 {
                queue.push_or_overflow(item, |_| overflown += 1);
                if item % 100 == 0 {
                    stealer.steal_into(&thief);
                    while thief.pop().is_some() {}
                }
            }
            while queue.pop().is_some() {}
        });
        let count = made.count;
        assert!(overflown > 0, "1,000 items did not overflow 64 slots");
        assert!(count == 0, "{count} blocks of memory were allocated");
    });
}

/// Clause 12: each costs as much as some ten plain instructions.
#[test]
fn few_read_modify_writes_are_made() {
    let lesson = Lesson {
        clause: "12. Cheap",
        promise: "A push or a pop makes one atomic read-modify-write at most, and a steal four, \
                  however much it takes.",
        usual_cause: "`push` swaps where a store is enough, since only the owner moves the tail; or \
                      a thief claims its items one by one.",
        read: "scheduler/run-queue.html#what-it-costs",
    };
    const ROUNDS: u64 = 64;
    check(lesson, || {
        let (queue, stealer) = run_queue::<_, 64>();
        let pushes = cost(|| (0..ROUNDS).for_each(|item| _ = queue.push(item)));
        assert!(pushes <= ROUNDS, "{ROUNDS} pushes made {pushes}");
        let (thief, _) = run_queue();
        let steal = cost(|| _ = stealer.steal_into(&thief));
        let taken = thief.len() + 1;
        assert!(steal <= 4, "a steal of {taken} items made {steal}");
        let left = queue.len() as u64;
        let pops = cost(|| while queue.pop().is_some() {});
        assert!(
            pops <= left + 1,
            "{left} pops, and one in vain, made {pops}"
        );
    });
}

/// Counts the read-modify-writes of `body`.
fn cost(body: impl FnOnce()) -> u64 {
    let before = read_modify_writes();
    body();
    read_modify_writes() - before
}
