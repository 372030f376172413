//! Clause 5: hang-ups and errors.

use super::*;

/// The event for epoll's hang-up: both directions are closed.
const HANG_UP: Event = Event {
    read_closed: true,
    write_closed: true,
    ..NOTHING
};

/// Asserts that the event makes exactly the expected directions ready, and wakes
/// exactly the tasks that wait for them, by `poll_ready` and by `ready`.
#[track_caller]
fn assert_wakes(event: Event, expected: &[Direction]) {
    let readiness = Readiness::new();
    let waiting = [Read, Write].map(|direction| {
        (
            direction,
            wait(&readiness, direction),
            begin(&readiness, direction),
        )
    });
    readiness.set_ready(event);
    for (direction, polled, (_future, waiting)) in waiting {
        let woken = [polled.wakes() > 0, waiting.wakes() > 0];
        let is_ready = is_ready(&readiness, direction);
        let is_expected = expected.contains(&direction);
        assert!(
            woken == [is_expected; 2] && is_ready == is_expected,
            "after {}, `{direction:?}` is ready: {is_ready}, the task that waits by `poll_ready` \
             is woken: {}, the one that waits by `ready`: {}",
            Named(event),
            woken[0],
            woken[1]
        );
    }
}

/// Clause 5: a read is worth a try, because it returns the end of the stream.
#[test]
fn a_closed_direction_wakes_its_tasks() {
    let lesson = Lesson {
        clause: "5. Closed",
        promise: "`read_closed` wakes the tasks that wait for `Read`, `write_closed` wakes those \
                  that wait for `Write`, and an event with both wakes both.",
        usual_cause: "Only `readable` and `writable` make a direction ready. A task that waits \
                      would never learn that the peer is gone. Or a hang-up wakes only the \
                      readers.",
        read: "io/readiness.html#hanging-up",
    };
    check(lesson, || {
        assert_wakes(READ_CLOSED, &[Read]);
        assert_wakes(WRITE_CLOSED, &[Write]);
        assert_wakes(HANG_UP, &[Read, Write]);
    });
}

/// Clause 5: the operating system returns the error to the first read or write.
#[test]
fn an_error_wakes_both_directions() {
    let lesson = Lesson {
        clause: "5. Closed",
        promise: "`error` wakes the tasks that wait for `Read` and those that wait for `Write`.",
        usual_cause: "Only the readers are woken. A task that connects waits for `Write`, and \
                      would never learn that its connection was refused.",
        read: "io/readiness.html#hanging-up",
    };
    check(lesson, || assert_wakes(ERROR, &[Read, Write]));
}

/// Clause 5: an edge-triggered poller reports the end only once.
#[test]
fn a_closed_direction_stays_ready() {
    let lesson = Lesson {
        clause: "5. Closed",
        promise: "A closed direction is ready after each `clear`, even if other events come later.",
        usual_cause: "`clear` clears a closed direction like any other. The end isn't reported \
                      again, so the next task that waits would wait forever. Or a later event \
                      reopens it, whether or not it repeats that the direction is closed.",
        read: "io/readiness.html#hanging-up",
    };
    check(lesson, || {
        for (direction, event, later) in [
            (Read, READ_CLOSED, READABLE),
            (Write, WRITE_CLOSED, WRITABLE),
            (Read, HANG_UP, READABLE),
            (Write, HANG_UP, WRITABLE),
        ] {
            let readiness = Readiness::new();
            readiness.set_ready(event);
            for later in [NOTHING, later, BOTH, ERROR, event, HANG_UP] {
                readiness.set_ready(later);
                for _ in 0..2 {
                    readiness.clear(see(&readiness, direction));
                    assert!(
                        is_ready(&readiness, direction),
                        "after {}, then {}, and then `clear`, `{direction:?}` isn't ready",
                        Named(event),
                        Named(later)
                    );
                }
            }
        }
    });
}

/// Clause 5: a half-closed connection can still be written to.
#[test]
fn closing_one_direction_does_not_close_the_other() {
    let lesson = Lesson {
        clause: "5. Closed",
        promise: "After `read_closed`, `clear` still clears `Write`, and after `write_closed`, it \
                  still clears `Read`.",
        usual_cause: "One flag for both directions says that the source is closed. A client may \
                      send its whole request, close its side, and wait for a long answer. The task \
                      that writes the answer would spin.",
        read: "io/readiness.html#hanging-up",
    };
    check(lesson, || {
        for (event, other, ready) in [
            (READ_CLOSED, Write, WRITABLE),
            (WRITE_CLOSED, Read, READABLE),
        ] {
            let readiness = Readiness::new();
            readiness.set_ready(event);
            readiness.set_ready(ready);
            readiness.clear(see(&readiness, other));
            assert!(
                !is_ready(&readiness, other),
                "after {}, `{other:?}` can't be cleared",
                Named(event)
            );
        }
    });
}

/// Clause 5: a source may go on after it has returned its error.
#[test]
fn an_error_can_be_cleared() {
    let lesson = Lesson {
        clause: "5. Closed",
        promise: "After `error`, both directions can be cleared.",
        usual_cause: "An error is taken for the end. The operating system returns an error once, \
                      to one call, and a UDP socket goes on after that. Its task would get \
                      `WouldBlock`, find the socket ready, and spin.",
        read: "io/readiness.html#hanging-up",
    };
    check(lesson, || {
        let readiness = Readiness::new();
        readiness.set_ready(ERROR);
        for direction in [Read, Write] {
            readiness.clear(see(&readiness, direction));
            assert!(
                !is_ready(&readiness, direction),
                "after `error` and `clear`, `{direction:?}` is still ready"
            );
        }
    });
}
