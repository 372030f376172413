//! The models of exercise 15, for bugs that an ordinary test may miss on any
//! number of runs. loom tries every interleaving.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize as Counter, Ordering::Relaxed};
use std::task::{Context, Wake, Waker};

use parker::block_on;
use primitives::atomic::{AtomicUsize, Ordering::SeqCst};
use primitives::{Arc, thread};
use testkit::{Lesson, check_model};

use super::Direction::{self, Read, Write};
use super::{Event, Readiness, Ready, ShutDown};

const NOTHING: Event = Event {
    readable: false,
    writable: false,
    read_closed: false,
    write_closed: false,
    error: false,
};
const READABLE: Event = Event {
    readable: true,
    ..NOTHING
};
const WRITABLE: Event = Event {
    writable: true,
    ..NOTHING
};
const BOTH: Event = Event {
    readable: true,
    ..WRITABLE
};

/// The two ways to wait.
#[derive(Clone, Copy)]
enum Way {
    Poll,
    Future,
}

const WAYS: [Way; 2] = [Way::Poll, Way::Future];

/// Waits for the direction on this thread, as a task does.
fn wait(
    readiness: &Readiness,
    direction: Direction,
    way: Way,
) -> Result<Ready, ShutDown> {
    match way {
        Way::Poll => {
            block_on(poll_fn(|cx| readiness.poll_ready(cx, direction)))
        }
        Way::Future => block_on(readiness.ready(direction)),
    }
}

/// Runs `driver` on a thread of its own, and `task` on this one.
fn beside(
    readiness: &Arc<Readiness>,
    driver: impl FnOnce(&Readiness) + Send + 'static,
    task: impl FnOnce(&Readiness),
) {
    let theirs = readiness.clone();
    let thread = thread::spawn(move || driver(&theirs));
    task(readiness);
    thread.join().expect("it doesn't panic");
}

/// What a thread does as another one reports an event.
#[derive(Clone, Copy)]
enum Call {
    Report(Event),
    End,
    /// Clears what was seen before: that was cleared already.
    Clear(Direction),
    Look(Direction),
    /// Polls a future of `ready` for the first time.
    Begin(Direction),
    PollAgain(Direction),
    /// Drops a future of `ready` that waits.
    Leave(Direction),
}

use Call::*;

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report(READABLE) => f.write_str("another event for `Read`"),
            Report(_) => f.write_str("an event for `Write`"),
            End => f.write_str("`shut_down`"),
            Clear(it) => write!(f, "`clear` for `{it:?}`"),
            Look(it) => write!(f, "`poll_ready` for `{it:?}`"),
            Begin(it) => write!(f, "the first poll of a future for `{it:?}`"),
            PollAgain(it) => {
                write!(f, "another poll of a future for `{it:?}`")
            }
            Leave(it) => write!(f, "the drop of a future for `{it:?}`"),
        }
    }
}

/// Two tasks wait for `Read`, and aren't polled again. Makes `call` as an event
/// for `Read` comes, and asserts that both are woken.
fn assert_both_are_woken(call: Call) {
    let readiness = Arc::new(Readiness::new());
    readiness.set_ready(BOTH);
    let seen = [Read, Write].map(|it| wait(&readiness, it, Way::Poll));
    let [read, write] = seen.map(|it| it.expect("the driver runs"));
    readiness.clear(read);
    readiness.clear(write);

    let woken = [(); 2].map(|()| std::sync::Arc::new(Woken::default()));
    let wakers = woken.clone().map(Waker::from);
    let mut cx = Context::from_waker(&wakers[0]);
    let mut stays = pin!(readiness.ready(Read));
    assert!(stays.as_mut().poll(&mut cx).is_pending());
    let mut cx = Context::from_waker(&wakers[1]);
    assert!(readiness.poll_ready(&mut cx, Read).is_pending());

    let mut cx = Context::from_waker(Waker::noop());
    let mut other = match call {
        Begin(direction) | PollAgain(direction) | Leave(direction) => {
            Some(Box::pin(readiness.ready(direction)))
        }
        _ => None,
    };
    if let PollAgain(_) | Leave(_) = call {
        let other = other.as_mut().expect("just made");
        assert!(other.as_mut().poll(&mut cx).is_pending());
    }
    beside(
        &readiness,
        |readiness| readiness.set_ready(READABLE),
        |readiness| match call {
            Report(event) => readiness.set_ready(event),
            End => readiness.shut_down(),
            Clear(Read) => readiness.clear(read),
            Clear(Write) => readiness.clear(write),
            Look(direction) => {
                let _ = readiness.poll_ready(&mut cx, direction);
            }
            Begin(_) | PollAgain(_) => {
                let other = other.as_mut().expect("made above");
                let _ = other.as_mut().poll(&mut cx);
            }
            Leave(_) => drop(other.take()),
        },
    );
    let [stays, polled] = woken.map(|it| it.0.load(Relaxed) > 0);
    // A poll replaces the waker of the poll before it.
    let is_replaced = matches!(call, Look(Read));
    assert!(
        stays && (polled || is_replaced),
        "an event for `Read` came, and beside it {call}; the task that waits by `ready` was woken: \
         {stays}; the one that waits by `poll_ready`: {polled}"
    );
}

/// Counts wake-ups. Its task doesn't exist.
#[derive(Default)]
struct Woken(Counter);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Clause 2: the event comes between the look at the readiness and the store of
/// the waker.
#[test]
fn an_event_that_comes_as_a_task_begins_to_wait_wakes_it() {
    let lesson = Lesson {
        clause: "2. No lost wake-up",
        promise: "In every interleaving, a task that begins to wait as the event comes goes on.",
        usual_cause: "The poll looks at the readiness and stores its waker in two steps, and the \
                      event comes in between. Look again after storing the waker, or do both under \
                      one lock. Or `set_ready` looks for wakers before it makes the direction \
                      ready.",
        read: "io/readiness.html#between-wouldblock-and-the-waker",
    };
    check_model(lesson, || {
        for way in WAYS {
            primitives::model(move || {
                beside(
                    &Arc::new(Readiness::new()),
                    |readiness| readiness.set_ready(READABLE),
                    |readiness| {
                        let outcome = wait(readiness, Read, way);
                        assert!(outcome.is_ok(), "`shut_down` wasn't called");
                    },
                );
            });
        }
    });
}

/// Clause 2: the task replaces a waker that it stored before.
#[test]
fn an_event_that_comes_as_a_task_is_polled_again_wakes_it() {
    let lesson = Lesson {
        clause: "2. No lost wake-up",
        promise: "In every interleaving, a task that's polled again with another waker as the \
                  event comes goes on.",
        usual_cause: "The event takes the old waker, and then the poll stores the new one without \
                      looking at the readiness again.",
        read: "io/readiness.html#between-wouldblock-and-the-waker",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let readiness = Arc::new(Readiness::new());
            let mut cx = Context::from_waker(Waker::noop());
            assert!(readiness.poll_ready(&mut cx, Read).is_pending());
            beside(
                &readiness,
                |readiness| readiness.set_ready(READABLE),
                |readiness| {
                    assert!(wait(readiness, Read, Way::Poll).is_ok());
                },
            );
        });
        primitives::model(|| {
            beside(
                &Arc::new(Readiness::new()),
                |readiness| readiness.set_ready(READABLE),
                |readiness| {
                    let mut future = pin!(readiness.ready(Read));
                    let mut cx = Context::from_waker(Waker::noop());
                    if future.as_mut().poll(&mut cx).is_pending() {
                        assert!(block_on(future).is_ok());
                    }
                },
            );
        });
    });
}

/// Clause 2: whatever another thread does meanwhile, with a lock or without one.
#[test]
fn an_event_that_comes_during_another_call_wakes_the_tasks_that_wait() {
    let lesson = Lesson {
        clause: "2. No lost wake-up",
        promise: "In every interleaving of an event and another call, the event wakes the tasks \
                  that wait, even if no other call comes after that.",
        usual_cause: "The event doesn't wait for the lock: it only tries to lock the waiters, and \
                      leaves the wakers to the thread that holds the lock. That thread has to look \
                      for such an event after each unlock, and on one path it doesn't. For \
                      example, a poll finds the direction ready, or has nothing to store.",
        read: "io/readiness.html#between-wouldblock-and-the-waker",
    };
    check_model(lesson, || {
        let beside = [Report(READABLE), Report(WRITABLE), End];
        let of = |it| [Clear(it), Look(it), Begin(it), PollAgain(it)];
        for call in beside
            .into_iter()
            .chain([Read, Write].into_iter().flat_map(of))
        {
            primitives::model(move || assert_both_are_woken(call));
        }
    });
}

/// Clause 3: the event comes between `WouldBlock` and `clear`.
#[test]
fn an_event_that_comes_as_a_task_clears_is_kept() {
    let lesson = Lesson {
        clause: "3. Clear only what was seen",
        promise: "In every interleaving, a task that got `WouldBlock` and clears as data arrives \
                  reads the data.",
        usual_cause: "`clear` compares the tick and clears in two steps, and the event comes in \
                      between. Or there's no tick.",
        read: "io/readiness.html#clear-only-what-you-saw",
    };
    check_model(lesson, || {
        for way in WAYS {
            primitives::model(move || {
                let readiness = Arc::new(Readiness::new());
                // A spurious event: there's nothing to read.
                readiness.set_ready(READABLE);
                let bytes = Arc::new(AtomicUsize::new(0));
                let source = bytes.clone();
                beside(
                    &readiness,
                    move |readiness| {
                        source.store(1, SeqCst);
                        readiness.set_ready(READABLE);
                    },
                    |readiness| {
                        let mut seen = wait(readiness, Read, way);
                        while bytes.swap(0, SeqCst) == 0 {
                            readiness.clear(seen.expect("the driver runs"));
                            seen = wait(readiness, Read, way);
                        }
                    },
                );
            });
        }
    });
}

/// Clause 4: if one word holds both directions, two threads change it at once.
#[test]
fn what_happens_to_one_direction_leaves_the_other_alone() {
    let lesson = Lesson {
        clause: "4. Two directions",
        promise: "In every interleaving, if an event for writers comes as a reader clears, then \
                  `Write` is ready and `Read` isn't.",
        usual_cause: "Both directions are in one word, which `clear` or `set_ready` loads, changes \
                      and stores. The store overwrites what another thread has changed meanwhile.",
        read: "io/readiness.html#two-directions",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let readiness = Arc::new(Readiness::new());
            readiness.set_ready(READABLE);
            beside(
                &readiness,
                |readiness| readiness.set_ready(WRITABLE),
                |readiness| {
                    let seen = wait(readiness, Read, Way::Poll);
                    readiness.clear(seen.expect("the driver runs"));
                },
            );
            let mut cx = Context::from_waker(Waker::noop());
            let [read, write] =
                [Read, Write].map(|it| readiness.poll_ready(&mut cx, it));
            assert!(
                read.is_pending() && write.is_ready(),
                "afterward a poll for `Read` returns `{read:?}`, and one for `Write` `{write:?}`"
            );
        });
    });
}

/// Clause 9: of two futures that wait, one is dropped as the event comes.
#[test]
fn a_future_that_is_dropped_as_the_event_comes_takes_nothing_with_it() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "In every interleaving, an event wakes the task that waits, even if another \
                  future is dropped at the same time. The dropped future leaves no waker.",
        usual_cause: "The event gives its wake-up to only one future, which is dropped. Or `Drop` \
                      removes the waker from a slot that belongs to another future by now. Or the \
                      event only tries to lock the waiters, and leaves the wakers to the thread \
                      that holds the lock: `Drop` locks, too, and has to look for such an event \
                      after it has unlocked.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let dropped = std::sync::Arc::new(Woken::default());
            let stays = std::sync::Arc::new(Woken::default());
            let wakers = [dropped.clone(), stays.clone()].map(Waker::from);
            beside(
                &Arc::new(Readiness::new()),
                |readiness| readiness.set_ready(READABLE),
                |readiness| {
                    let mut stay = pin!(readiness.ready(Read));
                    let is_pending = {
                        let leave = pin!(readiness.ready(Read));
                        let mut cx = Context::from_waker(&wakers[0]);
                        let _ = leave.poll(&mut cx);
                        let mut cx = Context::from_waker(&wakers[1]);
                        stay.as_mut().poll(&mut cx).is_pending()
                    };
                    if is_pending {
                        assert!(block_on(stay).is_ok());
                    }
                },
            );
            drop(wakers);
            let left = std::sync::Arc::strong_count(&dropped);
            assert!(left == 1, "the dropped future has left a waker");
        });
        for direction in [Read, Write] {
            primitives::model(move || assert_both_are_woken(Leave(direction)));
        }
    });
}

/// Clause 8: readiness is a state for all tasks, not a message to one.
#[test]
fn two_tasks_that_wait_for_one_event_both_go_on() {
    let lesson = Lesson {
        clause: "8. Any number",
        promise: "In every interleaving, a task that waits by `poll_ready` and a task that waits \
                  by `ready` both go on when an event comes.",
        usual_cause: "The event wakes only one of them, or the waker of one replaces the waker of \
                      the other.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check_model(lesson, || {
        // With three threads, more preemptions would take minutes.
        primitives::model_within(2, || {
            let readiness = Arc::new(Readiness::new());
            let theirs = readiness.clone();
            let other = thread::spawn(move || {
                assert!(wait(&theirs, Read, Way::Future).is_ok());
            });
            beside(
                &readiness,
                |readiness| readiness.set_ready(READABLE),
                |readiness| {
                    assert!(wait(readiness, Read, Way::Poll).is_ok());
                },
            );
            other.join().expect("it doesn't panic");
        });
    });
}

/// Clause 10: the shutdown comes between the look at the readiness and the store
/// of the waker.
#[test]
fn a_task_that_begins_to_wait_as_the_driver_ends_gets_the_error() {
    let lesson = Lesson {
        clause: "10. Shut down",
        promise: "In every interleaving, a task that begins to wait as `shut_down` is called gets \
                  the error.",
        usual_cause: "`shut_down` takes the wakers before it sets its flag. A task that stores its \
                      waker in between is never woken.",
        read: "io/readiness.html#when-the-driver-ends",
    };
    check_model(lesson, || {
        for way in WAYS {
            primitives::model(move || {
                beside(
                    &Arc::new(Readiness::new()),
                    Readiness::shut_down,
                    |readiness| {
                        let outcome = wait(readiness, Read, way);
                        assert!(outcome.is_err(), "no event has come");
                    },
                );
            });
        }
    });
}
