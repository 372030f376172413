//! Clause 9: futures that are dropped before they're ready.

use testkit::live_bytes;

use super::*;

/// Clause 9: a waker that's left behind keeps its task in memory.
#[test]
fn a_dropped_future_leaves_no_waker() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "Dropping a future drops its waker, whether it's dropped before an event, after \
                  one, or when it waits again.",
        usual_cause: "The future has no `Drop` that takes its waker out of the list. The waker \
                      then stays until the next event, which may never come.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            // This future was never polled.
            drop(readiness.ready(direction));
            let (future, counts) = begin(&readiness, direction);
            drop(future);
            assert_dropped(&counts, "after its future was dropped");
            let (future, counts) = begin(&readiness, direction);
            readiness.set_ready(event);
            drop(future);
            assert_dropped(&counts, "after an event and its future's drop");
            readiness.clear(see(&readiness, direction));
            let (mut future, _) = begin(&readiness, direction);
            readiness.set_ready(event);
            readiness.clear(see(&readiness, direction));
            let counts = poll_again(&mut future);
            drop(future);
            assert_dropped(&counts, "after its future waited again");
        }
    });
}

/// Clause 9: a time-out drops its future, so many futures may be dropped.
#[test]
fn dropped_futures_leave_no_memory() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "After 10,000 futures that waited and were dropped one after the other, no more \
                  memory is used than after ten.",
        usual_cause: "Each future that waited leaves an entry behind, for example an empty slot \
                      that no later future uses.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let readiness = Readiness::new();
        let wait_in_vain = |count: usize| {
            for _ in 0..count {
                drop(begin(&readiness, Read));
            }
            for _ in 0..count {
                let waiting = begin(&readiness, Write);
                readiness.set_ready(WRITABLE);
                readiness.clear(see(&readiness, Write));
                drop(waiting);
            }
        };
        wait_in_vain(10);
        let before = live_bytes();
        wait_in_vain(10_000);
        let more = live_bytes() - before;
        assert!(more < 4 << 10, "{more} more bytes are in use");
    });
}

/// Clause 9: readiness is there for all tasks, so a task that stops waiting must
/// take no wake-up with it.
#[test]
fn a_dropped_future_takes_no_wake_up_with_it() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "If one of several futures that wait is dropped, before the event or after it, \
                  the others are woken, and find the direction ready.",
        usual_cause: "An event wakes only one task. If that task's future is dropped before its \
                      next poll, the others wait although there's something to read. Or dropping \
                      one future removes the waker of another.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for is_dropped_first in [true, false] {
            for dropped in 0..3 {
                let readiness = Readiness::new();
                let polled = wait(&readiness, Read);
                let mut waiting: Vec<_> =
                    (0..3).map(|_| begin(&readiness, Read)).collect();
                let (leaves, _) = waiting.swap_remove(dropped);
                match is_dropped_first {
                    true => {
                        drop(leaves);
                        readiness.set_ready(READABLE);
                    }
                    false => {
                        readiness.set_ready(READABLE);
                        drop(leaves);
                    }
                }
                for (mut future, counts) in waiting {
                    let outcome = poll_future(&mut future, Waker::noop());
                    assert!(
                        counts.wakes() > 0 && outcome.is_ready(),
                        "another future was woken {} times, and a poll then returns {outcome:?}",
                        counts.wakes()
                    );
                }
                assert!(
                    polled.wakes() > 0,
                    "the task that waits by `poll_ready` wasn't woken"
                );
            }
        }
    });
}

/// Clause 9: an id or slot of the dropped future may belong to a later one.
#[test]
fn a_future_that_was_woken_and_dropped_leaves_later_ones_alone() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "If a future is woken, then another begins to wait, and then the first is \
                  dropped, the next event wakes the second.",
        usual_cause: "When the first future is woken, its id or slot is free at once, and the \
                      second future gets it. Or the counter of the ids is taken out with the \
                      wakers, so that it starts over at each event. The first future still stores \
                      that id, and its `Drop` removes the second future's waker.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            let old: Vec<_> =
                (0..3).map(|_| begin(&readiness, direction).0).collect();
            readiness.set_ready(event);
            readiness.clear(see(&readiness, direction));
            let polled = wait(&readiness, direction);
            let new: Vec<_> =
                (0..3).map(|_| begin(&readiness, direction)).collect();
            drop(old);
            readiness.set_ready(event);
            let woken = new.iter().filter(|(_, counts)| counts.wakes() > 0);
            let woken = woken.count();
            assert!(
                woken == 3 && polled.wakes() > 0,
                "of three new futures {woken} were woken, and the task that waits by `poll_ready` \
                 {} times",
                polled.wakes()
            );
        }
    });
}

/// Clause 9: each direction has its own list.
#[test]
fn a_dropped_future_leaves_the_other_direction_alone() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "If a future that waits for `Read` is dropped, a future that waits for `Write` is \
                  still woken, and the other way round.",
        usual_cause: "`Drop` removes its id from the lists of both directions, or from the wrong \
                      list.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for (direction, other, event) in
            [(Read, Write, WRITABLE), (Write, Read, READABLE)]
        {
            let readiness = Readiness::new();
            let (leaves, _) = begin(&readiness, direction);
            let (_stays, counts) = begin(&readiness, other);
            drop(leaves);
            readiness.set_ready(event);
            assert!(
                counts.wakes() > 0,
                "the future that waits for `{other:?}` wasn't woken"
            );
        }
    });
}
