//! Clause 3: futures that are dropped.

use super::*;

/// Clause 3: another task may want the bytes, or the same one a moment later.
#[test]
fn a_read_that_is_dropped_has_read_nothing() {
    let lesson = Lesson {
        clause: "3. Nothing lost",
        promise: "A read that's dropped while it waits leaves no waker behind, and the next read \
                  gets all the bytes.",
        usual_cause: "The future waits by `poll_ready`, whose waker stays when the future is \
                      dropped, or the future reads ahead.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let (stream, mut peer) = pair();
        let (waker, counts) = CountingWaker::new();
        for _ in 0..1_000 {
            let mut buffer = [0; 8];
            let reading = pin!(stream.read(&mut buffer));
            assert!(
                reading.poll(&mut Context::from_waker(&waker)).is_pending(),
                "nothing was sent, and a read was ready"
            );
        }
        let left = counts.clones() - counts.drops();
        assert!(left == 0, "{left} wakers are left of 1,000 dropped reads");
        peer.write_all(b"12345678").unwrap();
        let mut read = Vec::new();
        let mut cx = Context::from_waker(Waker::noop());
        while read.len() < 8 {
            turn(&mut driver);
            let mut buffer = [0; 3];
            while let Poll::Ready(count) =
                stream.poll_read(&mut cx, &mut buffer)
            {
                read.extend_from_slice(&buffer[..count.unwrap()]);
            }
        }
        assert_eq!(read, b"12345678");
        let wakes = counts.wakes();
        assert!(wakes == 0, "futures that were dropped were woken: {wakes}");
    });
}

/// Clause 3: a future that yields does so before its operation, not after it.
#[test]
fn a_read_that_yields_and_is_dropped_has_read_nothing() {
    let lesson = Lesson {
        clause: "3. Nothing lost",
        promise: "A read that's dropped at the end of its task's time slice hasn't read anything.",
        usual_cause: "The checkpoint comes after the operation, so that a future that has read is \
                      pending again.",
        read: "scheduler/cancellation.html",
    };
    check(lesson, || {
        const COUNT: usize = 20_000;
        let runtime = runtime(1);
        let (stream, mut peer) = runtime.block_on(async { pair() });
        peer.write_all(&[1; COUNT]).unwrap();
        drop(peer);
        let reading = async move {
            let mut total = 0;
            loop {
                // Polls a new future each time, and drops it.
                let count = poll_fn(|cx| {
                    let mut byte = [0];
                    let reading = pin!(stream.read(&mut byte));
                    Poll::Ready(reading.poll(cx))
                });
                match count.await {
                    Poll::Ready(count) if count.as_ref().unwrap() == &0 => {
                        return total;
                    }
                    Poll::Ready(count) => total += count.unwrap(),
                    Poll::Pending => yield_now().await,
                }
            }
        };
        let slice = Duration::from_micros(1);
        let task = runtime.spawn(budget::with_budget(slice, reading));
        let total = runtime.block_on(task).unwrap();
        assert!(total == COUNT, "{total} of {COUNT} bytes were read");
    });
}

/// Clause 3: a connection that nothing has accepted waits for the next call.
#[test]
fn an_accept_that_is_dropped_has_accepted_nothing() {
    let lesson = Lesson {
        clause: "3. Nothing lost",
        promise: "An `accept` that's dropped before it's ready has accepted no connection.",
        usual_cause: "The connection is accepted, and then the future waits again before it \
                      returns it.",
        read: "scheduler/cancellation.html",
    };
    check(lesson, || {
        const COUNT: usize = 50;
        let runtime = runtime(1);
        let listener = {
            let _inside = runtime.enter();
            TcpListener::bind(HERE.into()).unwrap()
        };
        let address = listener.local_addr().unwrap();
        let clients: Vec<_> = (0..COUNT)
            .map(|_| StdStream::connect(address).unwrap())
            .collect();
        let accepting = async move {
            let mut accepted = Vec::new();
            while accepted.len() < COUNT {
                let stream = poll_fn(|cx| {
                    let accepting = pin!(listener.accept());
                    Poll::Ready(accepting.poll(cx))
                });
                match stream.await {
                    Poll::Ready(stream) => accepted.push(stream.unwrap()),
                    Poll::Pending => yield_now().await,
                }
            }
        };
        let slice = Duration::from_micros(1);
        let task = runtime.spawn(budget::with_budget(slice, accepting));
        runtime.block_on(task).unwrap();
        drop(clients);
    });
}

/// Clause 3: all operations that wait keep their wakers in the same way.
#[test]
fn no_dropped_operation_leaves_a_waker() {
    let lesson = Lesson {
        clause: "3. Nothing lost",
        promise: "An operation that's dropped while it waits leaves no waker behind: `accept`, \
                  `recv_from`, `readable`, a read, or a write.",
        usual_cause: "The operation waits by `poll_ready`, whose waker stays when the future is \
                      dropped. `ready` returns a future with a waker of its own.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let listener = TcpListener::bind(HERE.into()).unwrap();
        let socket = UdpSocket::bind(HERE.into()).unwrap();
        let (stream, _peer) = pair();
        drive(&mut driver, stream.writable()).unwrap();
        let part = vec![7; 1 << 16];
        let mut cx = Context::from_waker(Waker::noop());
        while stream.poll_write(&mut cx, &part).is_ready() {}
        let (mut read, mut received) = ([0], [0]);
        let operations: [(_, Waiting<'_, bool>); 6] = [
            ("`accept`", begun(listener.accept())),
            ("`recv_from`", begun(socket.recv_from(&mut received))),
            ("`readable`", begun(stream.readable())),
            ("`writable`", begun(stream.writable())),
            ("a read", begun(stream.read(&mut read))),
            ("a write", begun(stream.write(&part))),
        ];
        for (name, mut operation) in operations {
            let (waker, counts) = CountingWaker::new();
            let mut cx = Context::from_waker(&waker);
            if operation.as_mut().poll(&mut cx).is_ready() {
                // There may be a little more room by now.
                continue;
            }
            drop(operation);
            let left = counts.clones() - counts.drops();
            assert!(left == 0, "{name} was dropped, and has left its waker");
        }
    });
}

/// Boxes an operation, so that several kinds of them have one type.
fn begun<'a, T>(
    operation: impl Future<Output = std::io::Result<T>> + 'a,
) -> Waiting<'a, bool> {
    Box::pin(async { operation.await.is_ok() })
}

/// Clause 1: no task displaces the waker of another.
#[test]
fn all_tasks_that_wait_for_a_source_are_woken() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "If several tasks await `readable` or `accept` of one source, an event wakes them \
                  all.",
        usual_cause: "The operations wait by `poll_ready`, which keeps only the newest waker.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let listener = TcpListener::bind(HERE.into()).unwrap();
        let address = listener.local_addr().unwrap();
        let (stream, mut peer) = pair();
        let mut reading = [(); 3].map(|()| begun(stream.readable()));
        let mut accepting = [(); 3].map(|()| begun(listener.accept()));
        let operations = reading.iter_mut().chain(&mut accepting);
        let counts: Vec<_> = operations.map(begin).collect();
        peer.write_all(b"!").unwrap();
        let _client = StdStream::connect(address).unwrap();
        for first in [0, 3] {
            let of_one = &counts[first..first + 3];
            while of_one.iter().all(|one| one.wakes() == 0) {
                turn(&mut driver);
            }
            let woken = of_one.iter().filter(|one| one.wakes() > 0).count();
            assert!(woken == 3, "of 3 tasks that wait, {woken} were woken");
        }
    });
}
