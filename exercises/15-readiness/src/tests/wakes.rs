//! Clauses 2, 7 and 8: which wakers are woken.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::task::Wake;
use std::thread;
use std::time::{Duration, Instant};

use parker::block_on;
use primitives::chaos::with_chaos;
use testkit::{HostileClone, StackWakers};

use super::*;

/// The seed of the chaos, which delays threads at random.
const SEED: u64 = 15;
/// How long each race lasts. The next two constants limit the number of rounds.
const TIME: Duration = Duration::from_millis(200);
const FEWEST_ROUNDS: usize = 20;
const MOST_ROUNDS: usize = 5_000;

/// Clause 2: in both ways to wait.
#[test]
fn an_event_wakes_the_task_that_waits_for_it() {
    let lesson = Lesson {
        clause: "2. No lost wake-up",
        promise: "An event that makes a direction ready wakes the task that waits for it.",
        usual_cause: "`set_ready` changes the readiness but wakes no task, or a poll that returns \
                      `Pending` doesn't store its waker.",
        read: "io/readiness.html#between-wouldblock-and-the-waker",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            let polled = wait(&readiness, direction);
            readiness.set_ready(event);
            assert!(
                polled.wakes() > 0,
                "{} didn't wake the task that waits by `poll_ready`",
                Named(event)
            );
            let readiness = Readiness::new();
            let (_future, waiting) = begin(&readiness, direction);
            readiness.set_ready(event);
            assert!(
                waiting.wakes() > 0,
                "{} didn't wake the task that waits by `ready`",
                Named(event)
            );
        }
    });
}

/// A task that polls as soon as it's woken: an executor may run a task within
/// `wake`, or on another thread at once.
struct PollsAtOnce {
    readiness: Arc<Readiness>,
    found: Mutex<Vec<bool>>,
}

impl Wake for PollsAtOnce {
    fn wake(self: Arc<Self>) {
        let is_ready = poll(&self.readiness, Waker::noop(), Read).is_ready();
        self.found
            .lock()
            .expect("no code panics here")
            .push(is_ready);
    }
}

/// Clause 2: the direction is ready before the wake-up.
#[test]
fn a_task_that_is_woken_finds_the_direction_ready() {
    let lesson = Lesson {
        clause: "2. No lost wake-up",
        promise: "A task that's polled the moment it's woken finds the direction ready.",
        usual_cause: "`set_ready` wakes the task first and then makes the direction ready. The \
                      task finds the direction not ready, and waits for an event that has already \
                      come. If the check hangs: the task is woken under the lock, see clause 11.",
        read: "io/readiness.html#between-wouldblock-and-the-waker, at a hang #many-tasks-one-source",
    };
    check(lesson, || {
        let readiness = Arc::new(Readiness::new());
        let task = Arc::new(PollsAtOnce {
            readiness: readiness.clone(),
            found: Mutex::default(),
        });
        let waker = Waker::from(task.clone());
        assert!(poll(&readiness, &waker, Read).is_pending());
        let mut future: Waiting<'_> = Box::pin(readiness.ready(Read));
        assert!(poll_future(&mut future, &waker).is_pending());
        readiness.set_ready(READABLE);
        let found = task.found.lock().expect("no code panics here").clone();
        assert!(
            !found.is_empty() && found.iter().all(|is_ready| *is_ready),
            "what the task found when it was woken (`true` is ready): {found:?}"
        );
    });
}

/// Clause 2: the event comes while a poll clones its waker.
#[test]
fn an_event_during_a_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "2. No lost wake-up",
        promise: "If an event comes while a poll clones its waker, the poll returns `Ready`, or \
                  the waker is woken.",
        usual_cause: "The poll finds the direction not ready, clones the waker, and stores it \
                      without looking again. The event found no waker to wake. If the check hangs: \
                      the waker is cloned under the lock, see clause 11.",
        read: "io/readiness.html#between-wouldblock-and-the-waker, at a hang #many-tasks-one-source",
    };
    check(lesson, || {
        for way in ["poll_ready", "ready"] {
            let readiness = Arc::new(Readiness::new());
            // Weak, so that a waker that's stored in the readiness doesn't keep
            // the readiness alive.
            let driver = Arc::downgrade(&readiness);
            let (waker, wakes) = HostileClone::counted(move || {
                let driver = driver.upgrade().expect("this check owns it");
                driver.set_ready(READABLE);
            });
            let mut future: Waiting<'_> = Box::pin(readiness.ready(Read));
            let outcome = match way {
                "ready" => poll_future(&mut future, &waker),
                _ => poll(&readiness, &waker, Read),
            };
            assert!(
                outcome.is_ready() || wakes.load(SeqCst) > 0,
                "an event came during a poll by `{way}`, and then the poll returned `Pending`, and \
                 its waker wasn't woken"
            );
        }
    });
}

/// A race between a driver and a reader, for a source with at most one byte. The
/// driver adds a byte, reports an event, and waits until the byte was read.
fn race_for_bytes(by_poll: bool) {
    let (readiness, bytes) = (Readiness::new(), AtomicUsize::new(0));
    let (tell, told) = mpsc::channel();
    let try_read =
        || bytes.fetch_update(SeqCst, SeqCst, |it| it.checked_sub(1));
    let wait = || async {
        match by_poll {
            true => {
                std::future::poll_fn(|cx| readiness.poll_ready(cx, Read)).await
            }
            false => readiness.ready(Read).await,
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let tell = tell;
            block_on(async {
                while let Ok(seen) = wait().await {
                    match try_read() {
                        Ok(_) => tell.send(()).expect("the driver is there"),
                        Err(_) => readiness.clear(seen),
                    }
                }
            });
        });
        let start = Instant::now();
        for round in 0..MOST_ROUNDS {
            if round >= FEWEST_ROUNDS && start.elapsed() > TIME {
                break;
            }
            bytes.fetch_add(1, SeqCst);
            readiness.set_ready(READABLE);
            told.recv().expect("the reader is there");
        }
        readiness.shut_down();
    });
}

/// Clause 2: races whose windows are too short to hit on purpose.
#[test]
fn thousands_of_events_reach_their_task() {
    let lesson = Lesson {
        clause: "2. No lost wake-up",
        promise: "A reader that tries, clears, and waits again reads each byte that arrives \
                  meanwhile.",
        usual_cause: "The poll looks at the readiness and stores its waker in two steps, and an \
                      event comes in between. Or `clear` compares the tick and clears in two \
                      steps. Many other mistakes make this check fail, too. The other checks that \
                      fail then name the mistake.",
        read: "io/readiness.html#between-wouldblock-and-the-waker",
    };
    check(lesson, || {
        for by_poll in [true, false] {
            race_for_bytes(by_poll);
            with_chaos(SEED, || race_for_bytes(by_poll));
        }
    });
}

/// Clause 7: a task may move to another executor, or a future to another task.
#[test]
fn the_waker_of_the_newest_poll_is_woken() {
    let lesson = Lesson {
        clause: "7. The newest waker",
        promise: "After polls with two wakers, the second is woken, and the first is dropped.",
        usual_cause: "A waker is stored only if none is stored already, or each poll adds its \
                      waker to a list. A poll has to replace the waker of the previous poll.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            let first = wait(&readiness, direction);
            let second = wait(&readiness, direction);
            assert_dropped(&first, "after a poll with another waker");
            readiness.set_ready(event);
            assert!(second.wakes() > 0, "the newest waker wasn't woken");
            assert!(first.wakes() == 0, "an older waker was woken");

            let readiness = Readiness::new();
            let (mut future, first) = begin(&readiness, direction);
            let second = poll_again(&mut future);
            assert_dropped(&first, "after a poll with another waker");
            readiness.set_ready(event);
            assert!(second.wakes() > 0, "the newest waker wasn't woken");
            assert!(first.wakes() == 0, "an older waker was woken");
        }
    });
}

/// Clause 7: two wakers with the same address may belong to two tasks.
#[test]
fn wakers_at_one_address_are_told_apart() {
    let lesson = Lesson {
        clause: "7. The newest waker",
        promise: "If two wakers were at the same address, one after the other, the newer one is \
                  woken.",
        usual_cause: "The address of the new waker is compared with that of the previous one. Call \
                      `will_wake` on the stored clone instead.",
        read: "blocking/sleep.html#whose-waker",
    };
    check(lesson, || {
        let readiness = Readiness::new();
        let mut future: Waiting<'_> = Box::pin(readiness.ready(Read));
        let mut place = StackWakers::new();
        for way in ["poll_ready", "ready"] {
            let mut poll = |waker: &Waker| match way {
                "ready" => poll_future(&mut future, waker).is_pending(),
                _ => poll(&readiness, waker, Read).is_pending(),
            };
            let (_, first) = place.lend(&mut poll);
            let (_, second) = place.lend(&mut poll);
            readiness.set_ready(READABLE);
            let woken = [first.wakes(), second.wakes()];
            assert!(
                woken[0] == 0 && woken[1] > 0,
                "by `{way}`, the two were woken {woken:?} times"
            );
            readiness.clear(see(&readiness, Read));
        }
    });
}

/// Clause 8: for example, one task reads, and another watches for the hang-up.
#[test]
fn an_event_wakes_all_that_wait() {
    let lesson = Lesson {
        clause: "8. Any number",
        promise: "A hundred futures wait beside `poll_ready`, and one event wakes all of them.",
        usual_cause: "If one was woken: there's one place for a waker, and each future replaces the \
                      waker of the future before. Or the event wakes only one task, as if it were \
                      a message in a queue. However, readiness concerns all tasks. If some \
                      were woken: the wakers are taken out in batches of a fixed size, and only \
                      the first batch is woken.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for (direction, event) in DIRECTIONS {
            let readiness = Readiness::new();
            let waiting: Vec<_> =
                (0..100).map(|_| begin(&readiness, direction)).collect();
            let polled = wait(&readiness, direction);
            readiness.set_ready(event);
            let woken = waiting.iter().filter(|(_, counts)| counts.wakes() > 0);
            let woken = woken.count();
            assert!(woken == 100, "of a hundred futures {woken} were woken");
            assert!(
                polled.wakes() > 0,
                "the futures were woken, and the task that waits by `poll_ready` wasn't"
            );
            for (mut future, _) in waiting {
                let outcome = poll_future(&mut future, Waker::noop());
                assert!(
                    outcome.is_ready(),
                    "a future was woken, and then it's pending, although no task has cleared"
                );
            }
        }
    });
}
