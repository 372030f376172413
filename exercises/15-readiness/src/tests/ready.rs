//! Clauses 1 and 6: when a direction is ready.

use super::*;

/// Clause 1: a new source may be ready, but no event has said so.
#[test]
fn neither_direction_is_ready_at_first() {
    let lesson = Lesson {
        clause: "1. Ready or not",
        promise: "Before the first event, a poll in either direction is pending.",
        usual_cause: "`new` makes a direction ready, or `poll_ready` returns `Ready` until the \
                      direction is first cleared.",
        read: "io/readiness.html#what-readiness-is",
    };
    check(lesson, || {
        let readiness = Readiness::new();
        for direction in [Read, Write] {
            wait(&readiness, direction);
            drop(begin(&readiness, direction));
        }
    });
}

/// Clause 1: in both ways to wait.
#[test]
fn an_event_makes_its_direction_ready() {
    let lesson = Lesson {
        clause: "1. Ready or not",
        promise: "After an event, a poll returns a `Ready` of the event's direction, and a poll in \
                  the other direction is pending.",
        usual_cause: "`Read` and `Write` are swapped, `Ready` always has the same direction, or \
                      each event makes both directions ready.",
        read: "io/readiness.html#what-readiness-is",
    };
    check(lesson, || {
        for (event, ready) in [
            (READABLE, [true, false]),
            (WRITABLE, [false, true]),
            (BOTH, [true, true]),
        ] {
            let readiness = Readiness::new();
            readiness.set_ready(event);
            for (direction, is_ready) in [Read, Write].into_iter().zip(ready) {
                let mut future: Waiting<'_> =
                    Box::pin(readiness.ready(direction));
                for (name, outcome) in [
                    ("ready", poll_future(&mut future, Waker::noop())),
                    ("poll_ready", poll(&readiness, Waker::noop(), direction)),
                ] {
                    let seen = match &outcome {
                        Poll::Ready(Ok(seen)) => Some(seen.direction()),
                        _ => None,
                    };
                    assert!(
                        seen == is_ready.then_some(direction),
                        "after {}, `{name}` for `{direction:?}` returned `{outcome:?}`, and the \
                         direction that is ready is {seen:?}",
                        Named(event)
                    );
                }
            }
        }
    });
}

/// Clause 1: readiness is a state, not a message.
#[test]
fn a_direction_stays_ready_until_it_is_cleared() {
    let lesson = Lesson {
        clause: "1. Ready or not",
        promise: "After one event, every poll of every task returns `Ready` until a task clears.",
        usual_cause: "The poll that returns `Ready` takes the readiness with it. A task that \
                      reads only a part of the data would then wait for an event that has already \
                      come.",
        read: "io/readiness.html#what-readiness-is",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            readiness.set_ready(event);
            for count in 1..=3 {
                for way in ["poll_ready", "ready"] {
                    let is_ready = match way {
                        "ready" => is_ready(&readiness, direction),
                        _ => poll(&readiness, Waker::noop(), direction)
                            .is_ready(),
                    };
                    assert!(
                        is_ready,
                        "after one event and no `clear`, poll {count} by `{way}` is pending"
                    );
                }
            }
        }
    });
}

/// Clause 6: epoll may report something that concerns neither direction.
#[test]
fn an_event_without_a_field_changes_nothing() {
    let lesson = Lesson {
        clause: "6. A guess",
        promise: "An event with no field set makes no direction ready, wakes no task, and doesn't \
                  keep `clear` from clearing.",
        usual_cause: "Each event counts a tick or wakes all tasks, without a look at its fields.",
        read: "io/readiness.html#a-guess-not-a-promise",
    };
    check(lesson, || {
        let readiness = Readiness::new();
        for direction in [Read, Write] {
            let polled = wait(&readiness, direction);
            let (_future, waiting) = begin(&readiness, direction);
            readiness.set_ready(NOTHING);
            let wakes = polled.wakes() + waiting.wakes();
            assert!(
                wakes == 0,
                "the event woke a task that waits for `{direction:?}`"
            );
            assert!(
                !is_ready(&readiness, direction),
                "the event made `{direction:?}` ready"
            );
        }
        readiness.set_ready(BOTH);
        for direction in [Read, Write] {
            let seen = see(&readiness, direction);
            readiness.set_ready(NOTHING);
            readiness.clear(seen);
            assert!(
                !is_ready(&readiness, direction),
                "the event came between `poll_ready` and `clear`, and `{direction:?}` is still \
                 ready"
            );
        }
    });
}

/// Clause 6: the source returned `WouldBlock` although an event had come.
#[test]
fn a_task_that_clears_waits_again() {
    let lesson = Lesson {
        clause: "6. A guess",
        promise: "A task may be woken, clear, and wait again, any number of times, and each event \
                  wakes it.",
        usual_cause: "A flag says that the task has stored its waker, and the flag stays set when \
                      an event takes the waker. A poll has to store the waker each time it finds \
                      the direction not ready.",
        read: "io/readiness.html#a-guess-not-a-promise",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            let (mut future, mut waiting) = begin(&readiness, direction);
            for round in 1..=5 {
                let polled = wait(&readiness, direction);
                readiness.set_ready(event);
                for (way, counts) in
                    [("poll_ready", polled), ("ready", waiting)]
                {
                    assert!(
                        counts.wakes() > 0,
                        "event {round} didn't wake the task that waits by `{way}`"
                    );
                }
                // Another task is faster, gets `WouldBlock`, and clears.
                readiness.clear(see(&readiness, direction));
                waiting = poll_again(&mut future);
            }
        }
    });
}
