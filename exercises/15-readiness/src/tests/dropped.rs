//! Clause 9: futures that are dropped before they are ready.

use testkit::live_bytes;

use super::*;

/// Clause 9: the waker keeps its task in memory.
#[test]
fn a_dropped_future_leaves_no_waker() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "When a future is dropped, its waker is dropped, too: before an event, after \
                  one, or when it waits again.",
        usual_cause: "The future has no `Drop` that takes its waker out of the list. It would \
                      stay until the next event, which may never come.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            // It was never polled.
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

/// Clause 9: a time-out drops what it waits for.
#[test]
fn dropped_futures_leave_no_memory() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "After 10,000 futures that waited and were dropped one after the other, no more \
                  memory is used than after ten.",
        usual_cause: "An entry stays for each future that waited, as a mark or as an empty place \
                      that isn't used again.",
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
        assert!(more < 4 << 10, "{more} bytes more are in use");
    });
}

/// Clause 9: readiness is there for all, so a task that leaves takes nothing.
#[test]
fn a_dropped_future_takes_no_wake_up_with_it() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "Of several tasks that wait, one is dropped, before the event or after it: the \
                  others are woken, and find the direction ready.",
        usual_cause: "An event wakes only one task. If its future is dropped before it's polled \
                      again, the others wait though there is something to read. Or dropping one \
                      future takes out the waker of another.",
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
                    "the task that waits by `poll_ready` was not woken"
                );
            }
        }
    });
}

/// Clause 9: what belonged to a future is another's by now.
#[test]
fn a_future_that_was_woken_and_dropped_leaves_later_ones_alone() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "A future is woken, another one begins to wait, and then the first is dropped: \
                  the next event wakes the second.",
        usual_cause: "The number or place under which the first had its waker is given to the \
                      second as soon as the first is woken, though the first still knows it, and \
                      its `Drop` empties it.",
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
        promise: "When a future that waits to read is dropped, one that waits to write is still \
                  woken, and the other way round.",
        usual_cause: "`Drop` takes the waker out of both lists, or out of the wrong one.",
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
                "the future that waits for `{other:?}` was not woken"
            );
        }
    });
}
