//! Clause 6: accepting, also without a file descriptor. The limit holds for a
//! process, and each check has its own.

use super::*;

/// Returns the lowest descriptor that is free.
#[cfg(unix)]
pub fn lowest_free() -> u64 {
    let next = std::fs::File::open("/dev/null").unwrap();
    std::os::fd::AsRawFd::as_raw_fd(&next) as u64
}

/// From now on, the process opens no descriptor from `count` on.
#[cfg(unix)]
pub fn limit_descriptors(count: u64) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer points to a limit that may be written.
    let result =
        unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    assert_eq!(result, 0);
    limit.rlim_cur = count as libc::rlim_t;
    // SAFETY: the pointer points to an initialized limit.
    let result =
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(result, 0);
}

/// Clause 6: while there's no descriptor, the listener stays ready.
#[test]
#[cfg(unix)]
fn a_loop_that_goes_on_after_errors_does_not_spin() {
    let lesson = Lesson {
        clause: "6. Accept",
        promise: "While the process has no descriptor for a connection, a loop around `accept` \
                  tries only a few times, and its worker polls other tasks. Once there's one \
                  again, the waiting connections are accepted.",
        usual_cause: "The listener stays ready, so the next attempt fails at once. Or its \
                      readiness was cleared, and no event comes for a connection that waits \
                      already. Or the pause blocks the worker's thread.",
        read: "io/reactor.html#connecting-and-accepting",
    };
    check(lesson, || {
        const CLIENTS: usize = 8;
        let runtime = runtime(1);
        let listener = {
            let _inside = runtime.enter();
            TcpListener::bind(HERE.into()).unwrap()
        };
        let address = listener.local_addr().unwrap();
        // They wait in the kernel until the task accepts them.
        let clients = [(); CLIENTS].map(|()| StdStream::connect(address));
        let lowest = lowest_free();
        limit_descriptors(lowest);
        let failed = Arc::new(AtomicUsize::new(0));
        let failing = failed.clone();
        let accepting = runtime.spawn(async move {
            // What watches this check frees a descriptor now and then. As the
            // streams are kept, not all of them get one like that.
            let mut accepted = Vec::new();
            while accepted.len() < CLIENTS {
                match listener.accept().await {
                    Ok((stream, _peer)) => accepted.push(stream),
                    Err(_) => drop(failing.fetch_add(1, SeqCst)),
                }
            }
        });
        while failed.load(SeqCst) == 0 && !accepting.is_finished() {
            thread::yield_now();
        }
        let start = Instant::now();
        let others = runtime.spawn(async {
            for _ in 0..100 {
                yield_now().await;
            }
        });
        runtime.block_on(others).unwrap();
        let early = failed.load(SeqCst);
        let most = start.elapsed().as_millis() as usize / 50 + 3;
        assert!(
            early <= most,
            "`accept` has failed {early} times while another task yielded 100 times"
        );
        while start.elapsed() < Duration::from_millis(300) {
            thread::sleep(Duration::from_millis(10));
        }
        limit_descriptors(lowest + 20);
        runtime.block_on(accepting).unwrap();
        let failed = failed.load(SeqCst);
        let most = start.elapsed().as_millis() as usize / 50 + 3;
        assert!(failed <= most, "`accept` has failed {failed} times");
        drop(clients);
    });
}

/// Clause 6: a loop that gives each call a short time drops many of them.
#[test]
#[cfg(unix)]
fn an_accept_that_is_dropped_does_not_end_the_pause() {
    let lesson = Lesson {
        clause: "6. Accept",
        promise: "While the process has no descriptor, a loop that drops each `accept` after one \
                  poll tries only every 50 ms.",
        usual_cause: "The call that pauses takes the end of the pause out of the listener before \
                      the pause is over. If the call is dropped, the next call tries at once.",
        read: "io/reactor.html#connecting-and-accepting",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let listener = {
            let _inside = runtime.enter();
            TcpListener::bind(HERE.into()).unwrap()
        };
        let address = listener.local_addr().unwrap();
        let clients = [(); 8].map(|()| StdStream::connect(address));
        limit_descriptors(lowest_free());
        let accepting = runtime.spawn(async move {
            // What watches this check frees a descriptor now and then.
            let mut accepted = Vec::new();
            let (mut failed, start) = (0, Instant::now());
            while start.elapsed() < Duration::from_millis(200) {
                match poll_once(listener.accept()) {
                    Poll::Ready(Ok(pair)) => accepted.push(pair),
                    Poll::Ready(Err(_)) => failed += 1,
                    Poll::Pending => {}
                }
                yield_now().await;
            }
            (failed, start.elapsed())
        });
        let (failed, passed) = runtime.block_on(accepting).unwrap();
        let most = passed.as_millis() / 50 + 3;
        assert!(
            failed <= most,
            "in {passed:.0?}, `accept` has failed {failed} times"
        );
        drop(clients);
    });
}

/// Clause 6: there are several errors that say so.
#[test]
#[cfg(target_os = "linux")]
fn a_lack_of_anything_makes_accept_pause() {
    let lesson = Lesson {
        clause: "6. Accept",
        promise: "Whatever the system lacks, a descriptor of the process (`EMFILE`) or of the \
                  system (`ENFILE`), or memory (`ENOMEM`, `ENOBUFS`), `accept` returns the error, \
                  and the next call waits for 50 ms.",
        usual_cause: "Only some of the errors count as a lack. `ErrorKind::OutOfMemory`, for \
                      example, doesn't stand for `ENOBUFS`. `errors::is_of_the_system` knows all \
                      of them.",
        read: "io/reactor.html#connecting-and-accepting",
    };
    check(lesson, || {
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let listener = TcpListener::bind(HERE.into()).unwrap();
        let address = listener.local_addr().unwrap();
        for lack in [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ENOBUFS] {
            let client = StdStream::connect(address).unwrap();
            fail_accepts(&[lack]);
            let (first, start) = drive_and_time(&mut driver, listener.accept());
            if fail_accepts(&[]) > 0 {
                // It accepts by another call than mio.
                break;
            }
            let error =
                first.map(drop).expect_err("the system lacks something");
            assert!(error.raw_os_error() == Some(lack), "the error is {error}");
            drive(&mut driver, listener.accept()).unwrap();
            let passed = start.elapsed();
            assert!(
                passed >= Duration::from_millis(49),
                "{passed:.1?} after `{error}`, `accept` has tried again"
            );
            drop(client);
        }
    });
}

/// Clause 6: a program may have several loops around one listener.
#[test]
#[cfg(target_os = "linux")]
fn a_pause_that_another_call_has_begun_stays() {
    let lesson = Lesson {
        clause: "6. Accept",
        promise: "Two calls have paused. One of them fails again, and the other accepts a \
                  connection. The call after these waits for 50 ms.",
        usual_cause: "When a call's pause is over, it clears the end of the pause in the listener, \
                      also if another call has begun a new pause meanwhile. Clear it only if it's \
                      still the one that the call has waited for.",
        read: "io/reactor.html#connecting-and-accepting",
    };
    check(lesson, || {
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let listener = TcpListener::bind(HERE.into()).unwrap();
        let address = listener.local_addr().unwrap();
        let clients = [(); 2].map(|()| StdStream::connect(address).unwrap());
        fail_accepts(&[libc::EMFILE]);
        let _lack = drive(&mut driver, listener.accept());
        if fail_accepts(&[]) > 0 {
            return; // It accepts by another call than mio.
        }
        let [mut first, mut second] = [(); 2].map(|()| {
            let mut accepting: Waiting<'_, _> = Box::pin(listener.accept());
            begin(&mut accepting);
            accepting
        });
        fail_accepts(&[libc::EMFILE]);
        let (failed, start) = drive_and_time(&mut driver, &mut first);
        assert!(failed.is_err(), "there was no descriptor");
        drive(&mut driver, &mut second).unwrap();
        drive(&mut driver, listener.accept()).unwrap();
        let passed = start.elapsed();
        assert!(
            passed >= Duration::from_millis(49),
            "{passed:.1?} after an error, `accept` has tried again"
        );
        drop(clients);
    });
}

/// Clause 6: a client may give up before the server accepts.
#[test]
#[cfg(target_os = "linux")]
fn a_connection_that_ended_before_is_passed_over() {
    let lesson = Lesson {
        clause: "6. Accept",
        promise: "If a connection has ended before it was accepted (`ECONNABORTED`), `accept` goes \
                  on with the next one, at once.",
        usual_cause: "The error is returned, or makes `accept` pause. Nothing is wrong with the \
                      listener: see `errors::is_of_the_connection`.",
        read: "io/reactor.html#connecting-and-accepting",
    };
    check(lesson, || {
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let listener = TcpListener::bind(HERE.into()).unwrap();
        let address = listener.local_addr().unwrap();
        let mut accept = || {
            let _client = StdStream::connect(address).unwrap();
            fail_accepts(&[libc::ECONNABORTED; 3]);
            let start = Instant::now();
            let accepted = drive(&mut driver, listener.accept());
            fail_accepts(&[]);
            if let Err(error) = accepted {
                panic!("`accept` returned the error `{error}`");
            }
            start.elapsed()
        };
        // On a busy machine, any of them may take long.
        let fastest = (0..8).map(|_| accept()).min().unwrap();
        assert!(
            fastest < Duration::from_millis(50),
            "it took {fastest:.1?} to pass over three connections that had ended"
        );
    });
}

/// Clause 6: one event may stand for many connections.
#[test]
fn many_connections_are_made_and_accepted() {
    let lesson = Lesson {
        clause: "6. Accept",
        promise: "All connections are accepted, and each client gets its bytes back.",
        usual_cause: "Only one connection is accepted for each event.",
        read: "io/readiness.html#level-edge-one-shot",
    };
    check(lesson, || {
        let runtime = runtime(2);
        runtime.block_on(async {
            let listener = TcpListener::bind(HERE.into()).unwrap();
            let address = listener.local_addr().unwrap();
            let serving = spawn(async move {
                for _ in 0..300 {
                    let (stream, _peer) = listener.accept().await.unwrap();
                    spawn(async move {
                        let mut bytes = [0; 4];
                        stream.read_exact(&mut bytes).await.unwrap();
                        stream.write_all(&bytes).await.unwrap();
                    });
                }
            });
            let clients: Vec<_> = (0..300_u32)
                .map(|number| {
                    spawn(async move {
                        let stream = TcpStream::connect(address).await.unwrap();
                        let sent = number.to_be_bytes();
                        stream.write_all(&sent).await.unwrap();
                        let mut answer = Vec::new();
                        stream.read_to_end(&mut answer).await.unwrap();
                        assert_eq!(answer, sent);
                    })
                })
                .collect();
            for client in clients {
                client.await.unwrap();
            }
            serving.await.unwrap();
        });
    });
}
