//! Clause 9: the end of the driver.

use super::*;

/// Very long, but an `Instant` can still express the end of such a sleep, unlike
/// that of `Duration::MAX`.
const CENTURIES: Duration = Duration::from_secs(300 * 365 * 24 * 60 * 60);

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
        let (stream, mut peer) = pair();
        let listener = TcpListener::bind(HERE.into()).unwrap();
        let socket = UdpSocket::bind(HERE.into()).unwrap();
        socket.connect(socket.local_addr().unwrap()).unwrap();
        let mut buffer = [0];
        let mut reading: Waiting<'_, _> = Box::pin(stream.read(&mut buffer));
        let mut accepting = Box::pin(listener.accept());
        let mut nap = Box::pin(handle.sleep(Duration::from_secs(3_600)));
        let mut long_naps =
            [CENTURIES, Duration::MAX].map(|long| Box::pin(handle.sleep(long)));
        let counts = [
            begin(&mut reading),
            begin(&mut accepting),
            begin(&mut nap),
            begin(&mut long_naps[0]),
            begin(&mut long_naps[1]),
        ];
        // After the end, there'd be a byte to read.
        peer.write_all(b"!").unwrap();
        drop(driver);
        let woken = counts.map(|one| one.wakes() > 0);
        assert!(woken == [true; 5], "of five tasks, these woke: {woken:?}");
        let mut cx = Context::from_waker(Waker::noop());
        let socket_ends = [
            (
                "`recv`",
                poll_once(socket.recv(&mut [0])).map(|it| it.map(drop)),
            ),
            (
                "`send`",
                poll_once(socket.send(&[0])).map(|it| it.map(drop)),
            ),
        ];
        let ends = [
            (
                "a read that waited",
                poll_once(reading).map(|it| it.map(drop)),
            ),
            (
                "an `accept` that waited",
                poll_once(accepting).map(|it| it.map(drop)),
            ),
            (
                "`accept`",
                poll_once(listener.accept()).map(|it| it.map(drop)),
            ),
            (
                "`read`",
                poll_once(stream.read(&mut [0])).map(|it| it.map(drop)),
            ),
            (
                "`write`",
                poll_once(stream.write(&[0])).map(|it| it.map(drop)),
            ),
            ("`readable`", poll_once(stream.readable())),
            ("`writable`", poll_once(stream.writable())),
            (
                "`poll_read`",
                stream.poll_read(&mut cx, &mut [0]).map(|it| it.map(drop)),
            ),
            (
                "`poll_write`",
                stream.poll_write(&mut cx, &[0]).map(|it| it.map(drop)),
            ),
        ];
        for (name, end) in ends.into_iter().chain(socket_ends) {
            let kind = end.map(|end| end.map_err(|error| error.kind()));
            assert!(
                matches!(kind, Poll::Ready(Err(ErrorKind::NotConnected))),
                "after the end, {name} returned `{kind:?}`"
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

/// Clause 9: a task that has found its source closed may want to try again in a
/// second.
#[test]
fn a_sleep_that_begins_after_the_end_does_not_wait() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "A sleep that's polled for the first time after the driver has shut down panics.",
        usual_cause: "The timers are fired with the present time, or one deadline after the other, \
                      and a sleep that begins later waits forever. Fire them once with a time that \
                      is after each possible deadline, and set the flag behind `is_shut_down` first.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        let driver = driver().into_inner();
        let handle = driver.handle();
        let _entered = handle.enter();
        let before = [1, 3_600].map(|it| handle.sleep(Duration::from_secs(it)));
        let mut waiting = Box::pin(handle.sleep(Duration::from_secs(60)));
        let counts = begin(&mut waiting);
        drop(driver);
        assert!(counts.wakes() > 0, "a sleep that waited wasn't woken");
        let after = [1, 60, 3_600]
            .map(|seconds| handle.sleep(Duration::from_secs(seconds)));
        let endless = [CENTURIES, Duration::MAX].map(|it| handle.sleep(it));
        for nap in before.into_iter().chain(after).chain(endless) {
            let mut outcome = None;
            panic_message(|| outcome = Some(poll_once(nap)));
            assert!(
                outcome.is_none(),
                "after the end, the first poll of a sleep returned `{outcome:?}`"
            );
        }
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

/// Clause 9: the wakers that the shutdown calls may panic, too.
#[test]
fn a_waker_that_panics_at_the_end_keeps_no_task_waiting() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "If a waker panics while the driver shuts down, all other tasks that wait are \
                  still woken, and the panic ends no thread.",
        usual_cause: "The shutdown calls the wakers without catching their panics, or catches one \
                      panic around all of them. The tasks behind it wait forever.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        let driver = driver().into_inner();
        let handle = driver.handle();
        let _entered = handle.enter();
        let pairs = [(); 10].map(|()| pair());
        let panicking = [(); 11].map(|()| wakers::panicking());
        let mut waiting: Vec<_> =
            pairs.iter().map(|one| Box::pin(one.0.readable())).collect();
        for (one, (waker, _)) in waiting.iter_mut().zip(&panicking) {
            let mut cx = Context::from_waker(waker);
            assert!(one.as_mut().poll(&mut cx).is_pending());
        }
        let mut nap = Box::pin(handle.sleep(Duration::from_secs(3_600)));
        let mut cx = Context::from_waker(&panicking[10].0);
        assert!(nap.as_mut().poll(&mut cx).is_pending());
        let thrown = panic_message(|| drop(driver));
        let woken = panicking.iter().filter(|one| one.1.load(SeqCst)).count();
        assert!(
            woken == 11,
            "of 11 tasks with wakers that panic, {woken} were woken"
        );
        assert!(thrown.is_none(), "the panic of a waker came out of `drop`");
    });
}

/// Clause 9: a task may be polled while the shutdown is still waking others.
#[test]
fn a_task_that_is_polled_as_it_is_woken_sees_the_end() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "A task that the shutdown wakes may be polled within the wake-up: its operation \
                  returns an error, and its sleep panics.",
        usual_cause: "The tasks are woken before their sources are told that the driver is gone. An \
                      operation that's polled in between waits again, or takes its source for \
                      ready.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        let driver = driver().into_inner();
        let handle = driver.handle();
        let _entered = handle.enter();
        let (stream, _peer) = pair();
        let nap = handle.sleep(Duration::from_secs(3_600));
        let reading = async move { stream.readable().await.map_err(|_| ()) };
        let reading = PolledAtOnce::begin(reading);
        let nap = PolledAtOnce::begin(async move {
            nap.await;
            Ok(())
        });
        drop(driver);
        let slept = nap.outcome();
        assert!(
            slept.is_none(),
            "a sleep of an hour, polled in the wake-up, returned `{slept:?}`"
        );
        let read = reading.outcome();
        assert!(
            read == Some(Poll::Ready(Err(()))),
            "a read, polled in the wake-up, returned `{read:?}`"
        );
    });
}

type Task = Pin<Box<dyn Future<Output = Result<(), ()>> + Send>>;
type Polled = Poll<Result<(), ()>>;

/// A task whose waker polls it at once.
struct PolledAtOnce {
    task: Mutex<Option<Task>>,
    outcome: Mutex<Option<Polled>>,
}

impl PolledAtOnce {
    /// Polls the task once. It has to wait.
    fn begin(
        task: impl Future<Output = Result<(), ()>> + Send + 'static,
    ) -> Arc<Self> {
        let mut task = Box::pin(task);
        let this = Arc::new(Self {
            task: Mutex::new(None),
            outcome: Mutex::new(None),
        });
        let waker = Waker::from(this.clone());
        let polled = task.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        *this.task.lock().unwrap() = Some(task);
        this
    }

    /// Returns what the poll in the wake-up returned, or `None` if it panicked.
    fn outcome(&self) -> Option<Polled> {
        *self.outcome.lock().unwrap()
    }
}

impl Wake for PolledAtOnce {
    fn wake(self: Arc<Self>) {
        let task = self.task.lock().unwrap().take();
        let Some(mut task) = task else { return };
        panic_message(|| {
            let mut cx = Context::from_waker(Waker::noop());
            let polled = task.as_mut().poll(&mut cx);
            *self.outcome.lock().unwrap() = Some(polled);
        });
    }
}
