//! Clauses 1 and 9: what happens at each moment of a call, one after the other.
//! A moment is what lies between two of the call's operations on the types of
//! `primitives`.

use super::*;

/// Calls `body`, and has another thread call `other` at one moment of it.
/// Returns `None` if `body` was over before that moment came.
fn meanwhile<R, O: Send + 'static>(
    moment: usize,
    other: impl FnOnce() -> O + Send + 'static,
    body: impl FnOnce() -> R,
) -> Option<(R, O)> {
    let (sender, thread) = mpsc::channel();
    let happens = move || sender.send(start_elsewhere(other)).unwrap();
    let (result, has_happened) = at_moment(moment, happens, body);
    if !has_happened {
        return None;
    }
    let other = thread.recv().unwrap().join();
    Some((result, other.unwrap()))
}

/// Clause 9: a thread that has found the driver running may be late.
#[test]
fn a_source_that_comes_during_the_shutdown_does_not_wait_forever() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "If the driver shuts down at any moment of a `bind`, the `bind` fails, or the \
                  operations of the new socket do.",
        usual_cause: "`register` checks whether the driver has shut down, and adds the source in a \
                      second step. If the shutdown comes in between, it doesn't find that source. \
                      Check and add under one lock, the same that the shutdown takes.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        for moment in 0.. {
            let driver = driver().into_inner();
            let handle = driver.handle();
            let bind = || UdpSocket::bind_on(&handle, HERE.into());
            let ended = meanwhile(moment, || drop(driver), bind);
            let Some((bound, ())) = ended else {
                assert!(moment > 0, "`bind` uses nothing of `primitives`");
                break;
            };
            let end = end_of(bound);
            assert!(
                end == ENDED,
                "the driver shut down during a `bind`, and a `recv` on the new socket is `{end:?}`"
            );
        }
    });
}

const HOUR: Duration = Duration::from_secs(3_600);

const ENDED: Poll<Result<(), ErrorKind>> =
    Poll::Ready(Err(ErrorKind::NotConnected));

/// Returns how the first operation on a socket ends, or its `bind`.
fn end_of(bound: std::io::Result<UdpSocket>) -> Poll<Result<(), ErrorKind>> {
    let end = match bound {
        Ok(socket) => poll_once(socket.recv(&mut [0])).map(|it| it.map(drop)),
        Err(error) => Poll::Ready(Err(error)),
    };
    end.map(|end| end.map_err(|error| error.kind()))
}

/// Clause 9: and a shutdown, which takes several steps, is late as well.
#[test]
fn at_no_moment_of_the_shutdown_does_a_task_begin_to_wait_forever() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "At each moment of the shutdown, a `bind`, a read or a sleep that begins fails, \
                  or it's woken and fails then. No sleep is ready.",
        usual_cause: "The steps of the shutdown come in the wrong order: first it has to refuse \
                      new sources and say that the driver has ended, and only then may it wake \
                      tasks and sleeps.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        for moment in 0.. {
            let driver = driver().into_inner();
            let handle = driver.handle();
            let _entered = handle.enter();
            let (stream, _peer) = pair();
            let other = move || {
                let bound = UdpSocket::bind_on(&handle, HERE.into());
                let mut reading =
                    Box::pin(async move { stream.readable().await });
                let (waker, read_counts) = CountingWaker::new();
                let mut cx = Context::from_waker(&waker);
                let read = reading.as_mut().poll(&mut cx).is_pending();
                let mut nap = Box::pin(handle.sleep(HOUR));
                let (waker, nap_counts) = CountingWaker::new();
                let mut cx = Context::from_waker(&waker);
                let mut slept = None;
                panic_message(|| slept = Some(nap.as_mut().poll(&mut cx)));
                let reading = read.then_some((reading, read_counts));
                (bound, reading, slept, nap, nap_counts)
            };
            let Some(((), other)) = meanwhile(moment, other, || drop(driver))
            else {
                break;
            };
            let (bound, reading, slept, _nap, nap_counts) = other;
            let end = end_of(bound);
            assert!(
                end == ENDED,
                "a `bind` came during the shutdown, and a `recv` on the new socket is `{end:?}`"
            );
            if let Some((reading, counts)) = reading {
                assert!(counts.wakes() > 0, "a read began, and isn't woken");
                assert!(poll_once(reading).is_ready(), "a read goes on");
            }
            assert!(
                slept != Some(Poll::Ready(())),
                "a sleep of an hour began during the shutdown, and is ready"
            );
            assert!(
                slept.is_none() || nap_counts.wakes() > 0,
                "a sleep began during the shutdown, and isn't woken"
            );
        }
    });
}

/// Clause 7: a sleep may begin between two steps of the driver, too.
#[test]
fn a_sleep_that_begins_at_any_moment_of_a_wait_ends_in_time() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "A sleep that begins on another thread at any moment of the driver's `wait` ends \
                  in time.",
        usual_cause: "The driver asks for the first deadline and only then says that it waits. A \
                      sleep that begins in between interrupts nothing.",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        assert_ends_wait(|handle| {
            let soon = Instant::now() + Duration::from_millis(1);
            let mut nap = Box::pin(handle.sleep_until(soon));
            let mut cx = Context::from_waker(Waker::noop());
            let _is_ready = nap.as_mut().poll(&mut cx);
            Some(nap)
        });
    });
}

/// Clause 8: so may an unpark come.
#[test]
fn an_unpark_at_any_moment_of_a_wait_ends_it() {
    let lesson = Lesson {
        clause: "8. Unpark",
        promise: "An unpark that another thread calls at any moment of the driver's `wait` ends \
                  that wait.",
        usual_cause: "The driver checks whether it was unparked and then waits. An unpark that \
                      comes in between leaves no token.",
        read: "io/reactor.html#waking-the-worker-in-the-seat",
    };
    check(lesson, || {
        assert_ends_wait(|handle| {
            handle.unpark();
            None::<()>
        });
    });
}

/// Has another thread call `other` at each moment of a wait. Fails if that doesn't
/// end the wait.
fn assert_ends_wait<O: Send + 'static>(other: fn(&Handle) -> O) {
    /// After so long a wait is ended by one more thread.
    const LONG: Duration = Duration::from_millis(300);
    /// A machine that is that slow once isn't so each time.
    const TRIES: usize = 3;
    for moment in 0.. {
        let mut late_waits = 0;
        while late_waits < TRIES {
            let mut driver = driver();
            let handle = driver.handle();
            let (waited, wait_for) = mpsc::channel::<()>();
            let late = handle.clone();
            let last = thread::spawn(move || {
                if wait_for.recv_timeout(LONG).is_err() {
                    late.unpark();
                }
            });
            let start = Instant::now();
            let other = move || (Instant::now(), other(&handle));
            let ended = meanwhile(moment, other, || {
                driver.wait();
                Instant::now()
            });
            // It may be over.
            let _ = waited.send(());
            last.join().unwrap();
            let Some((ended, (begun, _kept))) = ended else {
                assert!(moment > 0, "`wait` uses nothing of `primitives`");
                return;
            };
            if begun > start + LONG / 3 {
                // The driver had slept before that moment came.
                return;
            }
            if ended < begun + LONG / 3 {
                break;
            }
            late_waits += 1;
        }
        assert!(
            late_waits < TRIES,
            "it came in the middle of `wait`, which then waited for {LONG:?}, until it was unparked"
        );
    }
}

/// Clause 1: an event may come at each moment of a poll.
#[test]
fn an_event_at_any_moment_of_a_read_wakes_its_task() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "If an event comes at any moment of a read that finds nothing, the read is ready, \
                  or its task is woken.",
        usual_cause: "The read isn't what the peer wrote. At a hang: after `WouldBlock`, the read \
                      clears the readiness as it's by then, instead of what it saw before its \
                      attempt. An event that came in between is lost.",
        read: "io/readiness.html#clear-only-what-you-saw",
    };
    check(lesson, || {
        for moment in 0.. {
            let mut driver = driver();
            let _entered = driver.handle().enter();
            let (ours, mut peer) = std_pair();
            let mut duplicate = ours.try_clone().unwrap();
            let stream = TcpStream::from_std(ours).unwrap();
            // The stream counts as ready, but the byte is gone.
            peer.write_all(b"?").unwrap();
            drive(&mut driver, stream.readable()).unwrap();
            while duplicate.read(&mut [0]).is_err() {
                thread::yield_now();
            }
            let mut byte = [0];
            let mut reading = Box::pin(stream.read(&mut byte));
            let (waker, counts) = CountingWaker::new();
            let mut cx = Context::from_waker(&waker);
            let other = move || {
                peer.write_all(b"!").unwrap();
                for _ in 0..3 {
                    driver.look();
                    while driver.dispatch(usize::MAX) {}
                }
                (driver, peer)
            };
            let poll = || reading.as_mut().poll(&mut cx);
            let Some((polled, (mut driver, _peer))) =
                meanwhile(moment, other, poll)
            else {
                break;
            };
            let count = match polled {
                Poll::Ready(count) => count,
                Poll::Pending => {
                    while counts.wakes() == 0 {
                        turn(&mut driver);
                    }
                    drive(&mut driver, reading.as_mut())
                }
            };
            drop(reading);
            assert_eq!((count.unwrap(), byte), (1, *b"!"));
        }
    });
}
