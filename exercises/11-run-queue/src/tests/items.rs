//! Each item once, in order, and as many as there are slots.

use super::*;

/// Clause 1: the owner and the thieves meet at the same end.
#[test]
fn each_item_comes_out_once_for_an_owner_and_thieves() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "An owner that pushes, pops and overflows, and two thieves, get each item once.",
        usual_cause: "An item is taken with a load and a store instead of a CAS; or what was \
                      copied is used although the CAS has failed; or a slot is written while a \
                      thief still copies from it. If items are lost, part of a steal may be \
                      dropped, or a failed CAS taken for an empty queue. If items come out twice, \
                      a claim may be given back with a store that undoes a pop. The models show \
                      which.",
        read: "scheduler/run-queue.html#who-takes-the-last-item",
    };
    check(lesson, || {
        let (items, count) = owner_and_thieves(20_000);
        assert_each_once(items, count);
        with_chaos(SEED, || {
            let (items, count) = owner_and_thieves(500);
            assert_each_once(items, count);
        });
    });
}

/// Has one thread push, pop and overflow up to `most` items while two others
/// steal. Returns all items that came out anywhere, and how many were pushed.
fn owner_and_thieves(most: u32) -> (Vec<u32>, u32) {
    let (queue, stealer) = run_queue::<_, FEW>();
    let is_over = Arc::new(AtomicBool::new(false));
    let thieves = [(); 2].map(|()| {
        let (stealer, is_over) = (stealer.clone(), is_over.clone());
        thread::spawn(move || steal_until(&stealer, &is_over))
    });
    let (mut items, mut count) = (Vec::new(), 0);
    let begun = Instant::now();
    for item in 0..most {
        if item % 64 == 63 && begun.elapsed() > RACE {
            break;
        }
        queue.push_or_overflow(item, |item| items.push(item));
        count += 1;
        if item % 4 == 3 {
            items.extend(queue.pop());
            thread::yield_now();
        }
    }
    items.extend(drain(&queue));
    is_over.store(true, SeqCst);
    for thief in thieves {
        items.extend(thief.join().expect("stealing doesn't panic"));
    }
    (items, count)
}

/// Clause 1: in a scheduler every thread is both.
#[test]
fn each_item_comes_out_once_where_all_steal_from_all() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "Three threads, each with its own queue, push, pop, and steal from the next one, \
                  and get each item once.",
        usual_cause: "What a steal puts into the thief's queue can be stolen again at once: it \
                      must be published like a push.",
        read: "scheduler/run-queue.html#half-of-it",
    };
    const WORKERS: u32 = 3;
    const EACH: u32 = if cfg!(miri) { 100 } else { 3_000 };
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
            worker.join().expect("pushing and stealing don't panic")
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
        promise: "Items come out first in, first out, even if pushes and pops alternate.",
        usual_cause: "`pop` takes from the end at which `push` puts items, as a stack does.",
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
        usual_cause: "The thief moves the items that it leaves, or takes from the middle or from \
                      the end.",
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

/// Clause 3: two indices can't tell full from empty.
#[test]
fn exactly_n_items_fit() {
    let lesson = Lesson {
        clause: "3. Full means full",
        promise: "The queue takes `N` items, and gives item number `N + 1` back.",
        usual_cause: "Indices below `N` are equal when the ring is empty and when it is full, so \
                      one slot must stay free. Let positions count on, and take them modulo `N` \
                      only to find the slot.",
        read: "scheduler/run-queue.html#full-or-empty",
    };
    check(lesson, || {
        assert_fits::<2>();
        assert_fits::<4>();
        assert_fits::<256>();
        assert_fits::<LARGEST>();
    });
}

#[track_caller]
fn assert_fits<const N: usize>() {
    let (queue, _) = run_queue::<_, N>();
    let more = N as i32 + 2;
    let pushed = (0..more).take_while(|item| queue.push(*item).is_ok());
    let pushed = pushed.count();
    assert!(pushed == N, "a queue of {N} slots took {pushed} items");
    let back = queue.push(7);
    assert!(
        back == Err(7),
        "a full queue gave back {back:?}, not the item"
    );
    let popped = drain(&queue);
    let expected: Vec<_> = (0..N as i32).collect();
    let wrong = popped.iter().zip(&expected).find(|(out, item)| out != item);
    assert!(
        popped == expected,
        "of {N} items {} came out; the first that was out of order is {wrong:?}",
        popped.len()
    );
}

/// Clause 3: a ring that fills up only once is a list.
#[test]
fn a_slot_is_free_again_once_its_item_is_out() {
    let lesson = Lesson {
        clause: "3. Full means full",
        promise: "After a number of pops, or after a steal, there is room for as many items again.",
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
            assert!(is_full, "more than {FEW} items fit");
        }
    });
}

/// Clause 4: after four billion items, or in a test.
#[test]
fn a_queue_works_alike_from_every_position() {
    let lesson = Lesson {
        clause: "4. Wrap-around",
        promise: "The same steps give the same results, no matter where the positions start.",
        usual_cause: "A position is advanced with `+`, which panics at `u32::MAX` in a debug \
                      build; or two positions are compared with `<`, which is wrong after one has \
                      wrapped. Use `wrapping_add` and `wrapping_sub`, and look at the difference.",
        read: "scheduler/run-queue-limits.html#positions-that-wrap",
    };
    const STEP: usize = if cfg!(miri) { 11 } else { 1 };
    check(lesson, || {
        let expected = script(0);
        for boundary in [0, 1 << 16, 1 << 31] {
            for before in (1..=2 * FEW as u32).step_by(STEP) {
                let position = u32::wrapping_sub(boundary, before);
                let same = script(position) == expected;
                assert!(
                    same,
                    "starting at position {position} it behaves differently than starting at 0"
                );
            }
        }
    });
}

/// Takes many steps with two queues, and returns everything that could be
/// observed.
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
