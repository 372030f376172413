//! Clause 10: the end of the driver.

use super::*;

/// Clause 10: no event will wake these tasks anymore.
#[test]
fn shut_down_wakes_all_tasks() {
    let lesson = Lesson {
        clause: "10. Shut down",
        promise: "All tasks that wait, for both directions and in both ways, are woken and get \
                  `ShutDown`.",
        usual_cause: "`shut_down` only sets a flag, or wakes only some of the tasks: those of one \
                      direction, or those that wait by `poll_ready`.",
        read: "io/readiness.html#when-the-driver-ends",
    };
    check(lesson, || {
        let readiness = Readiness::new();
        let polled = [Read, Write].map(|it| wait(&readiness, it));
        let waiting =
            [Read, Write, Read, Write].map(|it| begin(&readiness, it));
        readiness.shut_down();
        for counts in polled {
            assert!(
                counts.wakes() > 0,
                "a task that waits by `poll_ready` wasn't woken"
            );
        }
        for (mut future, counts) in waiting {
            assert!(
                counts.wakes() > 0,
                "a task that waits by `ready` wasn't woken"
            );
            let outcome = poll_future(&mut future, Waker::noop());
            assert!(
                matches!(outcome, Poll::Ready(Err(ShutDown))),
                "a task was woken, and then its future returned `{outcome:?}`"
            );
        }
    });
}

/// Clause 10: a task that never waits must learn of the shutdown, too.
#[test]
fn after_the_end_each_poll_returns_an_error() {
    let lesson = Lesson {
        clause: "10. Shut down",
        promise: "After `shut_down`, each poll returns `ShutDown`, even if the direction is ready \
                  or closed, and even after later events.",
        usual_cause: "The poll looks at the readiness first, or only the tasks that waited when \
                      `shut_down` was called get the error.",
        read: "io/readiness.html#when-the-driver-ends",
    };
    check(lesson, || {
        let closed = Event {
            read_closed: true,
            write_closed: true,
            ..BOTH
        };
        for before in [NOTHING, BOTH, closed] {
            let readiness = Readiness::new();
            readiness.set_ready(before);
            let seen = (before != NOTHING).then(|| see(&readiness, Read));
            for later in [NOTHING, BOTH, closed] {
                readiness.shut_down();
                readiness.set_ready(later);
                for direction in [Read, Write] {
                    let mut future: Waiting<'_> =
                        Box::pin(readiness.ready(direction));
                    for (way, outcome) in [
                        ("ready", poll_future(&mut future, Waker::noop())),
                        (
                            "poll_ready",
                            poll(&readiness, Waker::noop(), direction),
                        ),
                    ] {
                        assert!(
                            matches!(outcome, Poll::Ready(Err(ShutDown))),
                            "`{way}` for `{direction:?}` returned `{outcome:?}` after \
                             `{before:?}`, `shut_down` and `{later:?}`"
                        );
                    }
                }
                if let Some(seen) = seen {
                    readiness.clear(seen);
                }
            }
        }
    });
}
