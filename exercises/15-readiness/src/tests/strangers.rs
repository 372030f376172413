//! Clause 11: wakers that run arbitrary code.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use testkit::{HostileClone, HostileWaker};

use super::*;

/// Uses the readiness as a task may that an executor runs at once. It wakes no
/// task that waits for `Read`.
pub(super) fn use_all(readiness: &Readiness) {
    for direction in [Read, Write] {
        let outcome = poll(readiness, Waker::noop(), direction);
        if let Poll::Ready(Ok(seen)) = outcome {
            readiness.clear(seen);
        }
        let mut future: Waiting<'_> = Box::pin(readiness.ready(direction));
        let _ = poll_future(&mut future, Waker::noop());
        drop(future);
    }
    readiness.set_ready(WRITABLE);
}

/// Clause 11: an executor may run the task within `wake`.
#[test]
fn a_waker_may_use_the_readiness_when_it_is_woken() {
    let lesson = Lesson {
        clause: "11. Free wakers",
        promise: "A waker that `set_ready` or `shut_down` wakes may poll, clear, report events, \
                  and drop futures.",
        usual_cause: "The direction keeps only one waker, or wakes only one task. At a hang: The \
                      wakers are woken under the lock. A guard in the head of a `for`, `match` or \
                      `if let` lives until the end of its body.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for ends in [false, true] {
            let readiness = Arc::new(Readiness::new());
            let calls = Arc::new(AtomicUsize::new(0));
            // Each is the waker of another task.
            let waker = || {
                let (readiness, calls) = (readiness.clone(), calls.clone());
                HostileWaker::new(move || {
                    use_all(&readiness);
                    calls.fetch_add(1, SeqCst);
                })
            };
            assert!(poll(&readiness, &waker(), Read).is_pending());
            let mut futures: Vec<Waiting<'_>> = (0..2)
                .map(|_| Box::pin(readiness.ready(Read)) as _)
                .collect();
            for future in &mut futures {
                assert!(poll_future(future, &waker()).is_pending());
            }
            match ends {
                true => readiness.shut_down(),
                false => readiness.set_ready(READABLE),
            }
            let calls = calls.load(SeqCst);
            assert!(calls >= 3, "of three wakers {calls} were woken");
        }
    });
}

/// Clause 11: a task that's polled within `wake` may find nothing, and wait again.
#[test]
fn a_waker_may_wait_again_when_it_is_woken() {
    let lesson = Lesson {
        clause: "11. Free wakers",
        promise: "If tasks clear and wait again while an event wakes them, that event is over: \
                  `set_ready` returns.",
        usual_cause: "`set_ready` takes one waker out after the other until there is none, or a \
                      batch of them until one isn't full. A task that waits again is among them, \
                      so one event wakes it forever. Take all of them out first, and then wake \
                      them; or stop at those that have come since the event.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        // Around the sizes of usual batches.
        let crowds = [1, 2, 31, 32, 33, 64, 65, 300].map(|it| (it, true));
        for (count, by_future) in iter::once((1, false)).chain(crowds) {
            let most = 100 * count;
            let readiness = Arc::new(Readiness::new());
            let own = Arc::new(Mutex::new(None::<Waker>));
            let waiting = Arc::new(Mutex::new(Vec::new()));
            let calls = Arc::new(AtomicUsize::new(0));
            let wait = {
                let (readiness, own) = (readiness.clone(), own.clone());
                let waiting = waiting.clone();
                move || {
                    let waker = own.lock().unwrap().clone().unwrap();
                    let outcome = poll(&readiness, &waker, Read);
                    if let Poll::Ready(Ok(seen)) = outcome {
                        readiness.clear(seen);
                    }
                    let readiness = Arc::clone(&readiness);
                    if !by_future {
                        let _ = poll(&readiness, &waker, Read);
                        return;
                    }
                    let mut future: Waiting<'static> =
                        Box::pin(async move { readiness.ready(Read).await });
                    let _ = poll_future(&mut future, &waker);
                    waiting.lock().unwrap().push(future);
                }
            };
            let waker = HostileWaker::new({
                let (calls, wait) = (calls.clone(), wait.clone());
                move || {
                    if calls.fetch_add(1, SeqCst) < most {
                        wait();
                    }
                }
            });
            *own.lock().unwrap() = Some(waker);
            for _ in 0..count {
                wait();
            }
            readiness.set_ready(READABLE);
            let calls = calls.load(SeqCst);
            assert!(
                calls < most / 2,
                "{count} futures waited, and waited again within `wake`; one event called their \
                 wakers {calls} times, and would have gone on"
            );
            // The stored waker owns the readiness that stores it. This poll replaces
            // it, so that neither leaks.
            let _ = poll(&readiness, Waker::noop(), Read);
            own.lock().unwrap().take();
            waiting.lock().unwrap().clear();
        }
    });
}

/// Owned by a waker, just as a waker may own a task with its future.
struct UsesItWhenDropped {
    readiness: Arc<Readiness>,
    drops: Arc<AtomicUsize>,
}

impl std::task::Wake for UsesItWhenDropped {
    fn wake(self: Arc<Self>) {}
}

impl Drop for UsesItWhenDropped {
    fn drop(&mut self) {
        use_all(&self.readiness);
        self.drops.fetch_add(1, SeqCst);
    }
}

/// Clause 11: a waker may be the last owner of its task.
#[test]
fn a_waker_may_use_the_readiness_when_it_is_dropped() {
    let lesson = Lesson {
        clause: "11. Free wakers",
        promise: "Dropping a waker may drop its task, and with it other futures of the same \
                  source: when the waker is replaced, when its future is dropped, and after it was \
                  woken.",
        usual_cause: "A waker is dropped under the lock: a waker that a newer one replaces, or a \
                      waker that a future's `Drop` removes. A guard that isn't dropped explicitly \
                      lives to the end of its block, and a temporary guard to the end of its \
                      statement.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let readiness = Arc::new(Readiness::new());
        let drops = Arc::new(AtomicUsize::new(0));
        let waker = || {
            Waker::from(Arc::new(UsesItWhenDropped {
                readiness: readiness.clone(),
                drops: drops.clone(),
            }))
        };
        // A newer waker replaces the first one, whose stored clone is the last
        // owner.
        let _ = poll(&readiness, &waker(), Read);
        let _ = poll(&readiness, Waker::noop(), Read);
        let mut future: Waiting<'_> = Box::pin(readiness.ready(Read));
        let _ = poll_future(&mut future, &waker());
        let _ = poll_future(&mut future, Waker::noop());
        // The future of a waker is dropped.
        let _ = poll_future(&mut future, &waker());
        drop(future);
        // An event wakes the waker.
        let _ = poll(&readiness, &waker(), Read);
        readiness.set_ready(READABLE);
        let drops = drops.load(SeqCst);
        assert!(drops == 4, "of four wakers {drops} were dropped");
    });
}

/// Clause 11: cloning a waker runs the executor's code, too.
#[test]
fn a_waker_may_use_the_readiness_when_it_is_cloned() {
    let lesson = Lesson {
        clause: "11. Free wakers",
        promise: "When a poll clones a waker, the waker may poll, clear, report events, and drop \
                  futures.",
        usual_cause: "The poll clones the waker under the lock, and the code of the clone waits \
                      for that lock. Clone first, then lock, and then look at the readiness.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let readiness = Arc::new(Readiness::new());
        let other = readiness.clone();
        let (waker, _wakes) = HostileClone::counted(move || use_all(&other));
        let mut future: Waiting<'_> = Box::pin(readiness.ready(Read));
        assert!(poll(&readiness, &waker, Read).is_pending());
        assert!(poll_future(&mut future, &waker).is_pending());
        let (mut future, _) = begin(&readiness, Read);
        assert!(poll_future(&mut future, &waker).is_pending());
    });
}

/// Clause 11: the driver goes on after such a panic, and no event comes again.
#[test]
fn a_waker_that_panics_loses_nothing_of_the_event() {
    let lesson = Lesson {
        clause: "11. Free wakers",
        promise: "If the waker of a task that waits for one direction panics, the event has made \
                  the other direction ready, too, and `shut_down` has shut down both. The next \
                  event wakes the tasks that wait by then.",
        usual_cause: "One direction's tasks are woken before the other direction is made ready or \
                      shut down. Change both first, take the wakers of both, and then wake. If the \
                      next event wakes no task: a flag says that a thread is busy with waking, and \
                      the panic skips the line that resets it. Reset it in a `Drop`.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    let error = Event {
        error: true,
        ..NOTHING
    };
    check(lesson, move || {
        for waits in [Read, Write] {
            for event in [Some(BOTH), Some(error), None] {
                let readiness = Readiness::new();
                assert!(
                    poll(&readiness, &HostileWaker::panicking(), waits)
                        .is_pending()
                );
                let mut future: Waiting<'_> = Box::pin(readiness.ready(waits));
                assert!(
                    poll_future(&mut future, &HostileWaker::panicking())
                        .is_pending()
                );
                let report = || match event {
                    Some(event) => readiness.set_ready(event),
                    None => readiness.shut_down(),
                };
                let _ = catch_unwind(AssertUnwindSafe(report));
                for direction in [Read, Write] {
                    let outcome = poll(&readiness, Waker::noop(), direction);
                    let (is_right, what) = match event {
                        Some(event) => (
                            matches!(outcome, Poll::Ready(Ok(_))),
                            Named(event).to_string(),
                        ),
                        None => (
                            matches!(outcome, Poll::Ready(Err(_))),
                            "`shut_down`".into(),
                        ),
                    };
                    assert!(
                        is_right,
                        "a waker for {waits:?} panicked during {what}, and then a poll for \
                         {direction:?} returned `{outcome:?}`"
                    );
                }
                let Some(event) = event else { continue };
                for direction in [Read, Write] {
                    readiness.clear(see(&readiness, direction));
                }
                let old = poll_again(&mut future);
                let polled = [Read, Write].map(|it| wait(&readiness, it));
                let (_reader, new_reader) = begin(&readiness, Read);
                let (_writer, new_writer) = begin(&readiness, Write);
                readiness.set_ready(event);
                let [reads, writes] = polled;
                for (who, counts) in [
                    ("the same future", old),
                    ("`poll_ready` for `Read`", reads),
                    ("`poll_ready` for `Write`", writes),
                    ("a new future for `Read`", new_reader),
                    ("a new future for `Write`", new_writer),
                ] {
                    assert!(
                        counts.wakes() > 0,
                        "a waker for {waits:?} panicked during {}; then a task cleared, and \
                         waited by {who}; the next event didn't wake it",
                        Named(event)
                    );
                }
            }
        }
    });
}
