//! Steals and overflows: what moves to another queue.

use super::*;

/// Clause 5: if it's less, the thieves come back; if it's more, the owner
/// becomes a thief.
#[test]
fn a_steal_takes_about_half() {
    let lesson = Lesson {
        clause: "5. Half",
        promise: "A steal takes 64 to 128 of 256 items, the only item of one, and a quarter to half \
                  of any number.",
        usual_cause: "The steal takes one item at a time, or all, or never more than some fixed \
                      number; or half is rounded down, so that the last item can never be stolen.",
        read: "scheduler/run-queue.html#half-of-it",
    };
    check(lesson, || {
        for count in [1, 2, 3, 5, 64, 256] {
            assert_takes_half::<256>(count);
        }
        assert_takes_half::<LARGEST>(LARGEST as u32);
    });
}

#[track_caller]
fn assert_takes_half<const N: usize>(count: u32) {
    let (queue, stealer) = queue_of::<N>(count);
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

/// Clause 5: a worker that looks for more work may still have some of its own.
#[test]
fn a_thief_that_is_half_full_may_steal() {
    let lesson = Lesson {
        clause: "5. Half",
        promise: "With its own queue no more than half full, a thief steals at least a quarter of \
                  64 items, and one item if there is no more.",
        usual_cause: "The steal fails unless the thief's queue is empty, or nearly so; or it \
                      compares with half by `>=` where only more than half is too much; or it \
                      takes half of the thief's room. It may fail above half, but not at half.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
    };
    check(lesson, || {
        for count in [1, 2, 5, 64] {
            for own in 0..=32 {
                let (queue, stealer) = queue_of::<64>(count);
                let (thief, _) = queue_of::<64>(own);
                let stolen = stealer.steal_into(&thief);
                assert!(
                    stolen.is_some(),
                    "a thief with {own} items of its own in 64 slots got none of {count}"
                );
                let took = 1 + thief.len() as u32 - own;
                let bounds = count.div_ceil(4)..=count.div_ceil(2);
                assert!(
                    bounds.contains(&took),
                    "of {count} items a thief with {own} of its own in 64 slots took {took}, and \
                     {bounds:?} was promised"
                );
                let left = drain(&queue).len() as u32;
                assert!(
                    took + left == count,
                    "of {count} items a steal took {took} and left {left}"
                );
            }
        }
    });
}

/// Clause 5: the items that have waited longest go first, in the thief's queue
/// as in the victim's.
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

/// Clause 5: a worker that looks for work mostly finds empty queues.
#[test]
fn a_steal_from_an_empty_queue_takes_nothing() {
    let lesson = Lesson {
        clause: "5. Half",
        promise: "A steal from a queue with nothing in it returns `None` and changes nothing.",
        usual_cause: "Half of nothing is rounded up to one, or the difference of the positions is \
                      negative; or the steal returns an item of the thief's own.",
        read: "scheduler/run-queue.html#half-of-it",
    };
    check(lesson, || {
        let (queue, stealer) = run_queue::<_, FEW>();
        let (thief, _) = queue_of::<FEW>(2);
        for item in 0..20 {
            let stolen = stealer.steal_into(&thief);
            assert!(
                stolen.is_none(),
                "a steal from an empty queue returned {stolen:?}"
            );
            let len = thief.len();
            assert!(len == 2, "of the thief's own 2 items there are {len}");
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
        promise: "If there is room for a few items, a steal moves at most that many, behind those \
                  that are there, and loses none.",
        usual_cause: "The thief claims half before it looks at its own room. What doesn't fit is \
                      lost, or overwrites what is there; or the thief returns at that point, and \
                      its claim stays.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
    };
    check(lesson, || {
        for room in 0..FEW as u32 {
            let (queue, stealer) = queue_of::<FEW>(6);
            let (thief, to_thief, own) = full();
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
            let after = format!("a steal with room for {room}");
            assert_can_be_stolen_from(&queue, &stealer, &after);
            assert_can_be_stolen_from(&thief, &to_thief, &after);
        }
    });
}

/// Clause 6: a thief that chooses its victim at random may choose itself.
#[test]
fn a_steal_from_oneself_loses_nothing() {
    let lesson = Lesson {
        clause: "6. Room",
        promise: "A steal from the thief's own queue returns, and no item is lost or duplicated.",
        usual_cause: "Both queues are locked, and they are the same queue; or the room is counted \
                      before and after the claim.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
    };
    check(lesson, || {
        for pops in 0..=FEW as u32 {
            let (queue, stealer, count) = full::<FEW>();
            let mut items = Vec::new();
            (0..pops).for_each(|_| items.extend(queue.pop()));
            items.extend(stealer.steal_into(&queue));
            items.extend(drain(&queue));
            assert_each_once(items, count);
            assert_can_be_stolen_from(&queue, &stealer, "a steal from itself");
        }
    });
}

/// Clause 7: the usual case must not pay for the unusual case.
#[test]
fn nothing_overflows_while_there_is_room() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "`push_or_overflow` pushes, as long as there is room.",
        usual_cause: "It checks whether the queue is half full, or would be full after this item.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
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
            "then {popped:?} came out"
        );
    });
}

/// Clause 7: half, so that there is room for the next pushes.
#[test]
fn a_full_queue_gives_half_and_the_item_away() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "A quarter to half of a full queue, and the item, go to `overflow`; the rest \
                  stays, in order.",
        usual_cause: "The item itself is lost, or the queue gives away one item or all of them, or \
                      an item both stays and goes.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
    };

    check(lesson, || {
        assert_overflows::<64>();
        assert_overflows::<2>();
        assert_overflows::<4>();
        // As large as it may be if all that overflows is on the stack at once.
        assert_overflows::<2_048>();
    });
}

#[track_caller]
fn assert_overflows<const N: usize>() {
    let (queue, _, count) = full::<N>();
    let mut gone = Vec::new();
    queue.push_or_overflow(count, |item| gone.push(item));
    let is_there = gone.contains(&count);
    assert!(is_there, "the item that didn't fit didn't overflow");
    let others = gone.len() as u32 - 1;
    let bounds = count / 4..=count.div_ceil(2);
    assert!(
        bounds.contains(&others),
        "besides the item, {others} of {count} overflowed, and {bounds:?} was promised"
    );
    let left = drain(&queue);
    assert!(
        left.is_sorted(),
        "of {count} items, the owner then popped {} in another order",
        left.len()
    );
    assert_each_once([gone, left].concat(), count + 1);
}

/// Clause 7: what came from the injector must not go back without having been
/// polled.
#[test]
fn the_older_half_stays() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "Everything that overflows is younger than everything that stays.",
        usual_cause: "The owner claims its oldest items, as a thief does. What it has just fetched \
                      from the injector is the oldest, and goes back to the end of the injector.",
        read: "scheduler/run-queue-limits.html#the-younger-half",
    };
    check(lesson, || {
        let (queue, _, count) = full::<64>();
        for round in 1..=3 {
            let mut gone = Vec::new();
            let item = round * 1_000;
            queue.push_or_overflow(item, |item| gone.push(item));
            let left = drain(&queue);
            let oldest = gone.iter().min().copied().unwrap_or(item);
            if let Some(newest) = left.iter().max().copied() {
                assert!(
                    newest < oldest,
                    "in round {round} item {oldest} overflowed, and {newest}, which is younger, \
                     stayed"
                );
            }
            fill(&queue, left);
            fill(&queue, (0..queue.free() as u32).map(|more| item + 1 + more));
        }
        let len = queue.len();
        assert!(
            len == count as usize,
            "with {len} items `free` was 0, and {count} had fitted before"
        );
    });
}

/// Clause 7: the callee that takes the overflow may wake a task, which is
/// pushed here.
#[test]
fn the_overflow_may_use_the_queue() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "`overflow` may push, pop and steal; each item still comes out once.",
        usual_cause: "The slots are given back before all their items have been passed on, so that \
                      the pushes within `overflow` overwrite the rest; or a lock is held \
                      meanwhile; or a thief waits until no other thread is at work, and the \
                      overflow that it waits for is its own caller.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
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

/// Clause 6: an overflow reads its slots one by one, and its caller may steal.
#[test]
fn a_steal_within_an_overflow_writes_over_nothing() {
    let lesson = Lesson {
        clause: "6. Room",
        promise: "`overflow` may steal from another queue into the one that overflows, and each \
                  item still comes out once.",
        usual_cause: "The steal counts all slots but `len` as room, and writes the items there \
                      itself. Some of these slots still hold items that are on their way to \
                      `overflow`. The room is what `free` says. Or `free` says too much: a pop \
                      behind a claim moves the head on, and the claimed slots before it are then \
                      counted from the new head. If no thief gets anything anymore, a claim was \
                      given back without the slots that a pop has added to it.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
    };
    check(lesson, || {
        for pops in 0..=FEW as u32 {
            let (queue, stealer, count) = full::<FEW>();
            let (other, to_other, others) = full::<FEW>();
            drain(&other);
            let next = count + 1;
            fill(&other, next..next + others);
            let mut items = Vec::new();
            let mut left = pops;
            queue.push_or_overflow(count, |item| {
                items.push(item);
                (0..std::mem::take(&mut left))
                    .for_each(|_| items.extend(queue.pop()));
                items.extend(to_other.steal_into(&queue));
            });
            items.extend(drain(&queue));
            items.extend(drain(&other));
            assert_each_once(items, next + others);
            let after = "an overflow that stole";
            assert_can_be_stolen_from(&queue, &stealer, after);
            assert_can_be_stolen_from(&other, &to_other, after);
        }
    });
}

/// Clause 7: a panic may lose only what was on its way.
#[test]
fn a_panic_of_the_overflow_drops_what_was_on_its_way() {
    let lesson = Lesson {
        clause: "7. Overflow",
        promise: "If `overflow` panics, each item is dropped once or still in the queue, which \
                  keeps working.",
        usual_cause: "The items are read one by one, and their reader is gone after a panic: the \
                      rest leaks, or its slots stay claimed. Pass them on from a struct whose \
                      destructor drops the rest.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
    };
    check(lesson, || {
        (1..=FEW / 2 + 1).for_each(assert_survives_a_panic);
    });
}

/// Has `overflow` panic at its n-th call, if there are that many.
#[track_caller]
fn assert_survives_a_panic(nth: usize) {
    let (queue, stealer) = run_queue::<_, FEW>();
    let (probes, logs): (Vec<_>, Vec<_>) =
        (0..=FEW).map(|_| DropProbe::new()).unzip();
    let mut probes = probes.into_iter();
    let rejected = probes.find_map(|probe| queue.push(probe).err());
    let rejected = rejected.expect("more items than there are slots");
    drop(probes);
    let mut calls = 0;
    let overflowing = catch_unwind(AssertUnwindSafe(|| {
        queue.push_or_overflow(rejected, |_probe| {
            calls += 1;
            assert!(calls < nth, "no room here");
        });
    }));
    assert!(
        overflowing.is_err() == (calls == nth),
        "the panic didn't come through"
    );
    let left = drain(&queue).len();
    let dropped: Vec<_> = logs.iter().map(|log| log.count()).collect();
    assert!(
        dropped.iter().all(|count| *count == 1),
        "`overflow` panicked at item {nth}; {left} items were still in the queue; together they \
         were dropped {dropped:?} times"
    );
    let pushes = (0..FEW).filter(|_| queue.push(DropProbe::new().0).is_ok());
    let (pushes, (_, _, count)) = (pushes.count(), full::<FEW>());
    drain(&queue);
    assert!(
        pushes == count as usize,
        "afterward only {pushes} of {count} items fitted"
    );
    for _ in 0..2 {
        assert!(queue.push(DropProbe::new().0).is_ok(), "it is empty");
    }
    let stolen = stealer.steal_into(&run_queue().0);
    assert!(stolen.is_some(), "afterward no thief gets anything anymore");
}
