//! Clause 9: the end of the driver.

use super::*;

/// Clause 9: no event will wake these tasks anymore.
#[test]
fn the_end_of_a_driver_is_an_error_for_all_that_wait() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "When a driver is dropped, all futures that wait for its sources are woken and \
                  return an error of the kind `NotConnected`. A sleep is woken, too.",
        usual_cause: "The shutdown doesn't wake the tasks that wait for a source, or those that \
                      sleep.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        let driver = driver().into_inner();
        let handle = driver.handle();
        let _entered = handle.enter();
        let (stream, _peer) = pair();
        let listener = TcpListener::bind(HERE.into()).unwrap();
        let mut buffer = [0];
        let mut reading: Waiting<'_, _> = Box::pin(stream.read(&mut buffer));
        let mut accepting = Box::pin(listener.accept());
        let mut nap = Box::pin(handle.sleep(Duration::from_secs(3_600)));
        let counts =
            [begin(&mut reading), begin(&mut accepting), begin(&mut nap)];
        drop(driver);
        let woken = counts.map(|one| one.wakes() > 0);
        assert!(woken == [true; 3], "of three tasks, these woke: {woken:?}");
        let ends = [
            poll_once(reading).map(|end| end.map(drop)),
            poll_once(accepting).map(|end| end.map(drop)),
            poll_once(stream.read(&mut [0])).map(|end| end.map(drop)),
            poll_once(stream.write(&[0])).map(|end| end.map(drop)),
        ];
        for end in ends {
            let kind = end.map(|end| end.map_err(|error| error.kind()));
            assert!(
                matches!(kind, Poll::Ready(Err(ErrorKind::NotConnected))),
                "after the end, an operation returned `{kind:?}`"
            );
        }
        let mut outcome = None;
        panic_message(|| outcome = Some(poll_once(nap)));
        assert!(
            outcome.is_none(),
            "before its deadline, the sleep returned `{outcome:?}`"
        );
    });
}

/// Clause 9: a source may be registered during the shutdown, or after it.
#[test]
fn after_the_end_no_source_is_registered() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "After the driver has shut down, registering a source returns an error of the \
                  kind `NotConnected`.",
        usual_cause: "The tasks are woken, but the table isn't closed. A source that's registered \
                      later waits forever.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        let mut driver = driver().into_inner();
        let handle = driver.handle();
        driver.shut_down();
        assert!(handle.is_shut_down(), "the handle doesn't know of the end");
        let bound = TcpListener::bind_on(&handle, HERE.into());
        let kind = bound.map(drop).map_err(|error| error.kind());
        assert!(
            kind == Err(ErrorKind::NotConnected),
            "after the end, `bind` returned `{kind:?}`"
        );
        driver.shut_down();
        drop(driver);
        let socket = UdpSocket::bind_on(&handle, HERE.into());
        assert!(socket.is_err(), "a socket was registered after the drop");
    });
}

/// Clause 9: other threads may wait for the sockets of a runtime.
#[test]
fn the_end_of_a_runtime_is_an_error_for_other_threads() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "When a runtime ends, each future that waits for one of its sockets on another \
                  thread gets an error.",
        usual_cause: "The shutdown doesn't wake the wakers of the registered sources: their \
                      threads wait forever.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        let runtime = runtime_on(2, driver().into_inner());
        let (stream, _peer) = runtime.block_on(async { pair() });
        let (about_to_wait, waiting) = mpsc::channel();
        let stream = Arc::new(stream);
        let reading = stream.clone();
        let thread = thread::spawn(move || {
            about_to_wait.send(ThreadProbe::here()).unwrap();
            let end = block_on::block_on(reading.read(&mut [0]));
            end.map_err(|error| error.kind())
        });
        waiting.recv().unwrap().wait_until_asleep();
        drop(runtime);
        let end = thread.join().unwrap();
        assert!(
            end == Err(ErrorKind::NotConnected),
            "a read that waited returned `{end:?}`"
        );
        let late = block_on::block_on(stream.read(&mut [0]));
        assert_eq!(late.unwrap_err().kind(), ErrorKind::NotConnected);
    });
}

/// Clause 9: the worker in the driver has to come out.
#[test]
fn a_runtime_with_tasks_that_wait_ends() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "Dropping a runtime ends it, even while its tasks wait for sockets and sleeps.",
        usual_cause: "The worker that waits in the driver isn't unparked.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        for _ in 0..50 {
            let runtime = runtime_on(2, driver().into_inner());
            let (stream, _peer) = runtime.block_on(async { pair() });
            runtime.spawn(async move { stream.read(&mut [0]).await });
            runtime.spawn(async { sleep(Duration::from_secs(3_600)).await });
            drop(runtime);
        }
    });
}

/// Clause 9: a pause of `accept` is a wait like any other.
#[test]
#[cfg(unix)]
fn the_end_of_a_driver_is_an_error_in_the_pause_too() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "An `accept` that waits because there was no descriptor gets an error when the \
                  driver ends, as any other does.",
        usual_cause: "It waits in a sleep, which panics: `Handle::pause_until` doesn't.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        let mut driver = driver().into_inner();
        let handle = driver.handle();
        let listener = TcpListener::bind_on(&handle, HERE.into()).unwrap();
        let address = listener.local_addr().unwrap();
        let clients = [(); 8].map(|()| StdStream::connect(address));
        accepts::limit_descriptors(accepts::lowest_free());
        let mut accepted = Vec::new();
        loop {
            match poll_once(listener.accept()) {
                Poll::Ready(Ok(stream)) => accepted.push(stream),
                Poll::Ready(Err(_)) => break,
                Poll::Pending => turn(&mut driver),
            }
        }
        let mut pausing = Box::pin(listener.accept());
        let counts = begin(&mut pausing);
        drop(driver);
        assert!(counts.wakes() > 0, "`accept` wasn't woken in its pause");
        let end = poll_once(pausing).map(|end| end.map(drop));
        let kind = end.map(|end| end.map_err(|error| error.kind()));
        assert!(
            matches!(kind, Poll::Ready(Err(ErrorKind::NotConnected))),
            "after the end, `accept` returned `{kind:?}`"
        );
        drop(clients);
    });
}
