//! The counts, and the costs.

use super::*;

/// Clause 11: a scheduler checks before it fetches work from elsewhere.
#[test]
fn the_counts_are_exact_while_no_other_thread_is_at_work() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "`len` and `free` add up to `N` and say how many items come out and go in; \
                  `is_empty` is the same at both ends.",
        usual_cause: "One of the positions is counted twice, or modulo `N`, which makes a full \
                      queue look empty.",
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
                "with {count} items, `is_empty` of the owner and of the stealer are {empty:?}"
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

/// Clause 11: the number of slots may fit where the difference of positions
/// doesn't.
#[test]
fn the_largest_queue_counts_what_it_has() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "A full queue of 32,768 slots has 32,768 items, isn't empty, and has no room.",
        usual_cause: "The difference of two positions is taken as an `i16`, or put into 15 bits, \
                      in which 32,768 items are fewer than none. Take it as a `u32`, or an `i32`.",
        read: "scheduler/run-queue.html#full-or-empty",
    };
    check(lesson, || {
        let (queue, stealer, _) = full::<LARGEST>();
        let counts = (queue.len(), queue.free(), stealer.is_empty());
        assert!(
            counts == (LARGEST, 0, false),
            "with {LARGEST} of {LARGEST} items `len`, `free` and `is_empty` are {counts:?}"
        );
    });
}

/// Clause 11: the code that takes the overflow may look whether there is more to do.
#[test]
fn the_counts_are_right_within_an_overflow() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "At each call of `overflow`, `len` and `is_empty` say what's left to pop, and as \
                  many items fit as `free` says.",
        usual_cause: "`len` is taken for `N` without `free`, or the other way round. During an \
                      overflow some items are in neither: they don't wait anymore, and their slots \
                      aren't free yet.",
        read: "scheduler/run-queue-limits.html#when-there-is-no-room",
    };
    check(lesson, || {
        for call in 0..=FEW / 2 {
            let (queue, stealer, count) = full::<FEW>();
            let mut calls = 0;
            queue.push_or_overflow(count, |_| {
                if calls == call {
                    let (len, free) = (queue.len(), queue.free());
                    let empty = [queue.is_empty(), stealer.is_empty()];
                    let fits = |item: &u32| queue.push(*item).is_ok();
                    let more = (0..free as u32).filter(fits).count();
                    let left = drain(&queue).len() - more;
                    assert!(
                        (more, left) == (free, len) && empty == [len == 0; 2],
                        "at call {call} of `overflow`, `len` is {len} and {left} items are \
                         left, `free` is {free} and {more} fit, and `is_empty` of the owner and \
                         the stealer is {empty:?}"
                    );
                    let empty = [queue.is_empty(), stealer.is_empty()];
                    assert!(
                        (queue.len(), empty) == (0, [true; 2]),
                        "at call {call} of `overflow`, all items were popped; then `len` is {}, \
                         and `is_empty` of the owner and the stealer is {empty:?}",
                        queue.len()
                    );
                }
                calls += 1;
            });
        }
    });
}

/// Clause 11: a thief may finish between the loads of the two positions.
#[test]
fn counts_hold_while_thieves_are_at_work() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "While two thieves steal, there is room for as many items as `free` has promised, \
                  and no count is above `N`.",
        usual_cause: "`free` counts a slot that a thief still copies from as free, perhaps because \
                      it checks whether a thief is at work before it reads the head, and one \
                      starts in between; or `len` subtracts a newer head from an older tail. Or a \
                      thief that starts with an old position takes back room that was promised.",
        read: "scheduler/run-queue.html#slots-that-are-still-being-read",
    };
    check(lesson, || {
        fill_what_is_free(2_000);
        with_chaos(SEED, || fill_what_is_free(300));
    });
}

/// Repeatedly pushes as many items as `free` promises room for, while two
/// thieves steal.
fn fill_what_is_free(rounds: u32) {
    let (queue, stealer) = run_queue::<_, FEW>();
    let is_over = Arc::new(AtomicBool::new(false));
    let thieves = [(); 2].map(|()| {
        let (stealer, is_over) = (stealer.clone(), is_over.clone());
        thread::spawn(move || steal_until(&stealer, &is_over))
    });
    let begun = Instant::now();
    for round in 0..rounds {
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
        if begun.elapsed() > RACE {
            break;
        }
    }
    is_over.store(true, SeqCst);
    for thief in thieves {
        thief.join().expect("stealing doesn't panic");
    }
}

/// Clause 12: the queue is meant to replace one on the heap.
#[test]
fn nothing_is_allocated_for_an_item() {
    let lesson = Lesson {
        clause: "12. Cheap",
        promise: "Pushes, pops, steals and overflows allocate nothing.",
        usual_cause: "The items are in boxes, or in a `Vec` that a steal or an overflow collects.",
        read: "scheduler/run-queue-limits.html#what-it-costs",
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
        assert!(overflown > 0, "1,000 items didn't overflow 64 slots");
        assert!(count == 0, "{count} blocks of memory were allocated");
    });
}

/// Clause 12: each costs as much as some ten plain instructions.
#[test]
fn few_read_modify_writes_are_made() {
    let lesson = Lesson {
        clause: "12. Cheap",
        promise: "A push or a pop makes at most one atomic read-modify-write, and a steal four, \
                  however many items it takes.",
        usual_cause: "`push` swaps where a store is enough, because only the owner moves the tail; \
                      or a thief claims its items one by one.",
        read: "scheduler/run-queue-limits.html#what-it-costs",
    };
    const ROUNDS: u64 = 64;
    check(lesson, || {
        let (queue, stealer) = run_queue::<_, 64>();
        let pushes = cost(|| (0..ROUNDS).for_each(|item| _ = queue.push(item)));
        assert!(pushes <= ROUNDS, "{ROUNDS} pushes made {pushes} RMWs");
        let (thief, _) = run_queue();
        let steal = cost(|| _ = stealer.steal_into(&thief));
        let taken = thief.len() + 1;
        assert!(steal <= 4, "a steal of {taken} items made {steal} RMWs");
        let left = queue.len() as u64;
        let pops = cost(|| while queue.pop().is_some() {});
        assert!(
            pops <= left + 1,
            "{left} pops, and one of an empty queue, made {pops} RMWs"
        );
    });
}

/// Counts the read-modify-writes of `body`.
fn cost(body: impl FnOnce()) -> u64 {
    let before = read_modify_writes();
    body();
    read_modify_writes() - before
}
