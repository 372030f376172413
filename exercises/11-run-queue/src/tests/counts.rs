//! The counts, and the costs.

use super::*;

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

/// Clause 11: a number of slots that fits may have a difference that doesn't.
#[test]
fn the_largest_queue_counts_what_it_has() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "A full queue of 32,768 slots has 32,768 items, isn't empty, and has no room.",
        usual_cause: "The difference of two positions is taken as an `i16`, or put into 15 bits: 32,768 \
                      items are less than none then. Take it as a `u32`, or an `i32`.",
        read: "scheduler/run-queue.html#full-or-empty",
    };
    const LARGEST: usize = if cfg!(miri) { 512 } else { 32_768 };
    check(lesson, || {
        let (queue, stealer, _) = full::<LARGEST>();
        let counts = (queue.len(), queue.free(), stealer.is_empty());
        assert!(
            counts == (LARGEST, 0, false),
            "with {LARGEST} of {LARGEST} items `len`, `free` and `is_empty` are {counts:?}"
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
        usual_cause: "`free` takes a slot that a thief still copies from for free, perhaps since it \
                      asks whether a thief is at work before it reads the head, and one begins in \
                      between; or `len` subtracts a newer head from an older tail. Or a thief that \
                      begins with an old position takes room back that was promised.",
        read: "scheduler/run-queue.html#slots-that-are-still-being-read",
    };
    check(lesson, || {
        fill_what_is_free(2_000);
        with_chaos(SEED, || fill_what_is_free(300));
    });
}

/// Pushes as many items as are said to find room, again and again, while two
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
        thief.join().expect("stealing does not panic");
    }
}

/// Clause 12: a queue of the heap's is what this one is to replace.
#[test]
fn nothing_is_allocated_for_an_item() {
    let lesson = Lesson {
        clause: "12. Cheap",
        promise: "Pushes, pops, steals and overflows allocate nothing.",
        usual_cause: "The items stand in boxes, or in a `Vec` that a steal or an overflow collects.",
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
        read: "scheduler/run-queue-limits.html#what-it-costs",
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
