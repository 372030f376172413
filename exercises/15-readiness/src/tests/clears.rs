//! Clauses 3 and 4: clearing the readiness.

use super::*;

/// Clause 3: otherwise the task would spin.
#[test]
fn clear_makes_the_direction_not_ready() {
    let lesson = Lesson {
        clause: "3. Clear only what was seen",
        promise: "If no event has come since the poll, the direction isn't ready after `clear`.",
        usual_cause: "`clear` compares ticks that are never equal: the tick in `Ready` is from \
                      before the event, or each poll counts a tick, too.",
        read: "io/readiness.html#clear-only-what-you-saw",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            for count in 1..=3 {
                (0..count).for_each(|_| readiness.set_ready(event));
                let seen = see(&readiness, direction);
                // Another task polls, too.
                see(&readiness, direction);
                readiness.clear(seen);
                assert!(
                    !is_ready(&readiness, direction),
                    "after {count} events and a poll, `clear` leaves `{direction:?}` ready"
                );
            }
        }
    });
}

/// Clause 3: the event came between `WouldBlock` and `clear`.
#[test]
fn an_event_that_came_since_is_kept() {
    let lesson = Lesson {
        clause: "3. Clear only what was seen",
        promise: "If an event has come since the poll, the direction is ready after `clear`.",
        usual_cause: "`clear` clears any readiness, old or new. The event may have come after the \
                      source returned `WouldBlock`, and an edge is reported only once. Or an event \
                      counts a tick only if the direction wasn't ready.",
        read: "io/readiness.html#clear-only-what-you-saw",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            readiness.set_ready(event);
            for round in 1..=3 {
                let seen = see(&readiness, direction);
                readiness.set_ready(event);
                readiness.clear(seen);
                assert!(
                    is_ready(&readiness, direction),
                    "in round {round}, an event came between `poll_ready` and `clear`, and then \
                     `{direction:?}` isn't ready"
                );
            }
        }
    });
}

/// Clause 3: between its poll and its `clear`, a task may be preempted for a long
/// time.
#[test]
fn an_event_is_kept_however_many_came() {
    let lesson = Lesson {
        clause: "3. Clear only what was seen",
        promise: "If a million events have come since the poll, the direction is ready after \
                  `clear`, just as after one event.",
        usual_cause: "The tick has only 8 or 16 bits, or is truncated to 8 or 16 where it's stored \
                      or compared. When the tick wraps, an old tick equals the current one.",
        read: "io/readiness.html#a-tick-that-comes-around",
    };
    check(lesson, || {
        for (direction, event, most) in
            [(Read, READABLE, 20), (Write, WRITABLE, 16)]
        {
            let readiness = Readiness::new();
            readiness.set_ready(event);
            // A narrower tick comes around there, too.
            for bits in (0..=10).chain([most]) {
                let seen = see(&readiness, direction);
                (0..1 << bits).for_each(|_| readiness.set_ready(event));
                readiness.clear(seen);
                assert!(
                    is_ready(&readiness, direction),
                    "{} events came between `poll_ready` and `clear`, and then `{direction:?}` \
                     isn't ready",
                    1 << bits
                );
            }
        }
    });
}

/// Clause 3: two tasks saw the same readiness, and the second task is slow.
#[test]
fn what_was_seen_before_a_clear_clears_nothing_after_it() {
    let lesson = Lesson {
        clause: "3. Clear only what was seen",
        promise: "If one task clears, then an event comes, and then another task clears what it \
                  saw before both, the direction is ready.",
        usual_cause: "The tick counts how often the direction was cleared, or `clear` resets it. \
                      The tick has to count events.",
        read: "io/readiness.html#clear-only-what-you-saw",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            let mut all_seen = Vec::new();
            for _ in 0..4 {
                readiness.set_ready(event);
                for seen in all_seen.clone() {
                    readiness.clear(seen);
                    assert!(
                        is_ready(&readiness, direction),
                        "another task cleared, then an event came, and then `clear` with an old \
                         `Ready` cleared `{direction:?}`"
                    );
                }
                let seen = see(&readiness, direction);
                all_seen.push(seen);
                readiness.clear(seen);
            }
        }
    });
}

/// Clause 3: of two tasks that saw the same event, the slower one clears when the
/// faster one already waits again.
#[test]
fn clearing_again_takes_no_waker_with_it() {
    let lesson = Lesson {
        clause: "3. Clear only what was seen",
        promise: "If a task clears and waits, and another task then clears what both had seen, the \
                  next event wakes the task that waits.",
        usual_cause: "`clear` resets the direction to its first state, and so drops the wakers of \
                      the tasks that wait. `clear` has to change the readiness, and nothing else.",
        read: "io/readiness.html#clear-only-what-you-saw",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            readiness.set_ready(event);
            let seen = see(&readiness, direction);
            readiness.clear(seen);
            let polled = wait(&readiness, direction);
            let (_future, waiting) = begin(&readiness, direction);
            readiness.clear(seen);
            readiness.set_ready(event);
            for (way, counts) in [("poll_ready", polled), ("ready", waiting)] {
                assert!(
                    counts.wakes() > 0,
                    "a task waited for `{direction:?}` by `{way}`, another cleared, and then an \
                     event didn't wake the one that waited"
                );
            }
        }
    });
}

/// Clause 4: one task reads from a connection while another writes to it.
#[test]
fn events_of_one_direction_do_not_keep_the_other_from_being_cleared() {
    let lesson = Lesson {
        clause: "4. Two directions",
        promise: "If a task finds `Read` ready, then an event for writers comes, and then the task \
                  clears, `Read` isn't ready. The same holds the other way round.",
        usual_cause: "Both directions share one tick. While events for the other direction keep \
                      coming, the task gets `WouldBlock`, can't clear, and tries again: it spins.",
        read: "io/readiness.html#two-directions",
    };
    check(lesson, || {
        for (direction, other) in [(Read, WRITABLE), (Write, READABLE)] {
            let readiness = Readiness::new();
            readiness.set_ready(BOTH);
            let seen = see(&readiness, direction);
            readiness.set_ready(other);
            readiness.clear(seen);
            assert!(
                !is_ready(&readiness, direction),
                "an event for the other direction came between `poll_ready` and `clear`, and \
                 `{direction:?}` is still ready"
            );
        }
    });
}

/// Clause 4: a reader's `WouldBlock` says nothing about writing.
#[test]
fn clearing_one_direction_leaves_the_other_ready() {
    let lesson = Lesson {
        clause: "4. Two directions",
        promise: "After an event for both directions, clearing one leaves the other ready.",
        usual_cause: "`clear` clears everything that the event had set.",
        read: "io/readiness.html#two-directions",
    };
    check(lesson, || {
        for (direction, other) in [(Read, Write), (Write, Read)] {
            let readiness = Readiness::new();
            readiness.set_ready(BOTH);
            readiness.clear(see(&readiness, direction));
            assert!(
                is_ready(&readiness, other),
                "clearing `{direction:?}` cleared `{other:?}`, too"
            );
        }
    });
}

/// Clause 4: a writer waits for a client that sends a lot and reads slowly.
#[test]
fn an_event_wakes_only_the_tasks_of_its_direction() {
    let lesson = Lesson {
        clause: "4. Two directions",
        promise: "A thousand events for readers don't wake a task that waits for `Write`, and the \
                  other way round.",
        usual_cause: "Every event wakes all tasks of the source. Each event of one direction then \
                      causes polls in vain of the tasks that wait for the other.",
        read: "io/readiness.html#two-directions",
    };
    check(lesson, || {
        for (direction, other) in [(Read, WRITABLE), (Write, READABLE)] {
            let readiness = Readiness::new();
            let polled = wait(&readiness, direction);
            let (_future, waiting) = begin(&readiness, direction);
            (0..1_000).for_each(|_| readiness.set_ready(other));
            for (way, counts) in [("poll_ready", polled), ("ready", waiting)] {
                assert!(
                    counts.wakes() == 0,
                    "events for the other direction woke a task that waits by `{way}` for \
                     `{direction:?}`"
                );
            }
        }
    });
}
