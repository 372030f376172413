//! What may go wrong between a task and its socket, tested over the loopback
//! interface. The peer is a socket of std.

use std::future::Future;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener as StdListener};
use std::net::{TcpStream as StdStream, UdpSocket as StdUdpSocket};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use solution_16::{Driver, Handle, TcpListener, TcpStream, UdpSocket};
use testkit::{CountingWaker, Lesson, check};
use work_stealing::{Runtime, spawn};

const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

fn lesson(
    clause: &'static str,
    promise: &'static str,
    usual_cause: &'static str,
) -> Lesson {
    Lesson {
        clause,
        promise,
        usual_cause,
        read: "",
    }
}

fn runtime(workers: usize) -> Runtime {
    let mut builder = Runtime::builder();
    builder.worker_threads(workers);
    builder.build_on(Driver::new().unwrap()).unwrap()
}

/// Returns one of our streams, and its peer.
fn pair() -> (TcpStream, StdStream) {
    let listener = StdListener::bind(HERE).unwrap();
    let ours = StdStream::connect(listener.local_addr().unwrap()).unwrap();
    let (peer, _) = listener.accept().unwrap();
    (TcpStream::from_std(ours).unwrap(), peer)
}

/// Resets the connection, as a close with a linger time of zero does.
#[cfg(unix)]
fn reset(stream: StdStream) {
    use std::os::fd::AsRawFd;
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // SAFETY: the descriptor is open, and the option has this type.
    let result = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        )
    };
    assert_eq!(result, 0);
}

/// Row: an event between `WouldBlock` and storing the waker wakes; and: clear
/// only the readiness you saw.
#[test]
fn no_event_is_lost_in_many_round_trips() {
    let lesson = lesson(
        "1. Ready",
        "A byte that arrives at any moment of a read wakes the reading task.",
        "The waker is stored after the event has come, or a read clears \
         readiness that it hasn't seen.",
    );
    check(lesson, || {
        const TRIPS: usize = 20_000;
        let runtime = runtime(2);
        runtime.block_on(async {
            let (stream, mut peer) = pair();
            stream.set_nodelay(true).unwrap();
            peer.set_nodelay(true).unwrap();
            let echo = thread::spawn(move || {
                let mut byte = [0];
                while let Ok(1) = peer.read(&mut byte) {
                    peer.write_all(&byte).unwrap();
                }
            });
            let task = spawn(async move {
                for trip in 0..TRIPS {
                    stream.write_all(&[trip as u8]).await.unwrap();
                    let mut byte = [0];
                    assert_eq!(stream.read(&mut byte).await.unwrap(), 1);
                    assert_eq!(byte, [trip as u8]);
                }
            });
            task.await.unwrap();
            echo.join().unwrap();
        });
    });
}

/// Row: reading and writing are independent.
#[test]
fn a_task_reads_while_another_waits_for_room() {
    let lesson = lesson(
        "1. Ready",
        "A task can read from a stream while a write waits for room, and write \
         while a read waits for bytes.",
        "Both directions share one waker or one tick.",
    );
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            let (stream, mut peer) = pair();
            let stream = Arc::new(stream);
            let writer = stream.clone();
            let large = vec![7; 32 << 20];
            let length = large.len();
            let writing =
                spawn(async move { writer.write_all(&large).await.unwrap() });
            // Until the peer has sent all its numbers, it reads only one byte
            // for each of them.
            let peer = thread::spawn(move || {
                for number in 0..100 {
                    peer.write_all(&[number]).unwrap();
                    let mut answer = [0; 1];
                    peer.read_exact(&mut answer).unwrap();
                }
                let mut rest = Vec::new();
                peer.read_to_end(&mut rest).unwrap();
                100 + rest.len()
            });
            for number in 0..100 {
                let mut byte = [0];
                stream.read_exact(&mut byte).await.unwrap();
                assert_eq!(byte[0], number);
                assert!(!writing.is_finished() || number > 0);
            }
            // The peer has read 100 of these bytes as its answers.
            writing.await.unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(peer.join().unwrap(), length);
        });
    });
}

/// Row: hang-up and error wake both directions; closed stays closed.
#[cfg(unix)]
#[test]
fn a_reset_ends_a_read_and_a_write() {
    let lesson = lesson(
        "1. Ready",
        "If the peer resets the connection, a task that waits for bytes and a \
         task that waits for room are woken, and both operations end.",
        "A hang-up or an error makes only one direction ready.",
    );
    check(lesson, || {
        let runtime = runtime(2);
        runtime.block_on(async {
            let (stream, peer) = pair();
            let stream = Arc::new(stream);
            // Fills the kernel's buffer, so that the next write waits.
            let full = vec![0; 1 << 16];
            let mut cx = Context::from_waker(std::task::Waker::noop());
            while stream.poll_write(&mut cx, &full).is_ready() {}
            let (reader, writer) = (stream.clone(), stream.clone());
            let reading = spawn(async move { reader.read(&mut [0]).await });
            let writing = spawn(async move {
                loop {
                    writer.write(&full).await?;
                }
                #[allow(unreachable_code)]
                std::io::Result::Ok(())
            });
            reset(peer);
            // The kernel reports the reset to one of the two operations. To the
            // other one, the stream is at its end.
            assert!(matches!(reading.await.unwrap(), Ok(0) | Err(_)));
            assert!(writing.await.unwrap().is_err());
            // Both directions stay closed: later operations don't wait.
            assert!(matches!(stream.read(&mut [0]).await, Ok(0) | Err(_)));
            assert!(stream.write(&[0]).await.is_err());
        });
    });
}

/// Row: edge-triggered: drain to `WouldBlock`.
#[test]
fn what_came_at_once_is_read_in_small_parts() {
    let lesson = lesson(
        "1. Ready",
        "Bytes that arrived together can be read in small parts.",
        "The readiness is cleared after a read that may have left bytes \
         behind, and edge-triggered events aren't repeated.",
    );
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            for size in [1, 3, 1_000, 4_096] {
                let (stream, mut peer) = pair();
                peer.write_all(&[1; 12_000]).unwrap();
                drop(peer);
                let mut buffer = vec![0; size];
                let mut total = 0;
                loop {
                    match stream.read(&mut buffer).await.unwrap() {
                        0 => break,
                        count => total += count,
                    }
                }
                assert_eq!(total, 12_000, "in parts of {size} bytes");
            }
        });
    });
}

/// Row: spurious events are harmless.
#[test]
fn of_two_tasks_that_are_woken_one_waits_again() {
    let lesson = lesson(
        "2. A guess",
        "If two tasks read and one byte arrives, one task gets it, and the \
         other waits for the next byte.",
        "The task that gets `WouldBlock` takes readiness for a promise, and \
         doesn't wait again.",
    );
    check(lesson, || {
        let runtime = runtime(2);
        runtime.block_on(async {
            let (stream, mut peer) = pair();
            let stream = Arc::new(stream);
            let (sender, bytes) = mpsc::channel();
            let tasks = [0, 1].map(|_| {
                let (stream, sender) = (stream.clone(), sender.clone());
                spawn(async move {
                    loop {
                        let mut byte = [0];
                        match stream.read(&mut byte).await.unwrap() {
                            0 => break,
                            _ => sender.send(byte[0]).unwrap(),
                        }
                    }
                })
            });
            for number in 0..=255 {
                peer.write_all(&[number]).unwrap();
                assert_eq!(bytes.recv().unwrap(), number);
            }
            drop(peer);
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
}

/// Row: a dropped future leaves no waker and loses no byte.
#[test]
fn a_read_that_is_dropped_has_read_nothing() {
    let lesson = lesson(
        "3. Nothing lost",
        "A read that's dropped while it waits leaves no waker behind, and the \
         next read gets all the bytes.",
        "The future reads ahead, or its waker stays in the list.",
    );
    check(lesson, || {
        let mut driver = Driver::new().unwrap();
        let _entered = driver.handle().enter();
        let (stream, mut peer) = pair();
        let (waker, counts) = CountingWaker::new();
        for _ in 0..1_000 {
            let mut buffer = [0; 8];
            let reading = pin!(stream.read(&mut buffer));
            assert!(
                reading.poll(&mut Context::from_waker(&waker)).is_pending()
            );
        }
        assert_eq!(counts.clones(), counts.drops(), "a waker is left");
        peer.write_all(b"12345678").unwrap();
        let mut read = Vec::new();
        let mut cx = Context::from_waker(&waker);
        while read.len() < 8 {
            driver.wait();
            while driver.dispatch(usize::MAX) {}
            let mut buffer = [0; 3];
            while let Poll::Ready(count) =
                stream.poll_read(&mut cx, &mut buffer)
            {
                read.extend_from_slice(&buffer[..count.unwrap()]);
            }
        }
        assert_eq!(read, b"12345678");
        assert_eq!(counts.wakes(), 0, "a future that was dropped was woken");
    });
}

/// Row: no event of an old registration reaches a new one.
#[test]
fn an_event_of_a_stream_that_is_gone_reaches_no_other() {
    let lesson = lesson(
        "4. Old registrations",
        "If a stream is dropped while a batch of events is being dispatched, \
         its event doesn't reach a stream that's created later.",
        "The key of an event is the file descriptor, or an index without a \
         generation.",
    );
    check(lesson, || {
        for _ in 0..100 {
            let mut driver = Driver::new().unwrap();
            let _entered = driver.handle().enter();
            let mut pairs = [pair(), pair()];
            let (waker, counts) = CountingWaker::new();
            let mut cx = Context::from_waker(&waker);
            // The first events report that there's room to write.
            driver.look();
            driver.dispatch(usize::MAX);
            for (_, peer) in &mut pairs {
                peer.write_all(b"!").unwrap();
            }
            let [first, second] = pairs;
            driver.look();
            assert!(driver.dispatch(1), "there are two events");
            let is_ready = |stream: &TcpStream| {
                let mut cx = Context::from_waker(std::task::Waker::noop());
                pin!(stream.readable()).poll(&mut cx).is_ready()
            };
            let (kept, gone) = match is_ready(&first.0) {
                true => (first, second),
                false => (second, first),
            };
            // The new stream gets the descriptor and the index of the old one.
            drop(gone.0);
            let (new, _peer) = pair();
            let mut waiting = pin!(new.readable());
            assert!(waiting.as_mut().poll(&mut cx).is_pending());
            assert!(!driver.dispatch(usize::MAX));
            assert_eq!(counts.wakes(), 0, "woken by an event of another one");
            assert!(waiting.as_mut().poll(&mut cx).is_pending());
            assert!(is_ready(&kept.0));
        }
    });
}

/// Row: deregister before close (a duplicate keeps the registration alive).
#[test]
fn a_stream_that_is_gone_makes_no_events() {
    let lesson = lesson(
        "4. Old registrations",
        "A dropped stream causes no more events, even if a duplicate of its \
         descriptor is still open.",
        "The stream is closed without being deregistered first.",
    );
    check(lesson, || {
        let mut driver = Driver::new().unwrap();
        let handle = driver.handle();
        let _entered = handle.enter();
        let listener = StdListener::bind(HERE).unwrap();
        let ours = StdStream::connect(listener.local_addr().unwrap()).unwrap();
        let duplicate = ours.try_clone().unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        drop(TcpStream::from_std(ours).unwrap());
        // If the stream were still registered, each write would be an event.
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let writing = thread::spawn(move || {
            for _ in 0..200 {
                peer.write_all(b"!").unwrap();
                thread::sleep(Duration::from_millis(1));
            }
            over.store(true, SeqCst);
            handle.unpark();
            drop(duplicate);
        });
        let mut waits = 0;
        while !is_over.load(SeqCst) {
            driver.wait();
            driver.dispatch(usize::MAX);
            waits += 1;
        }
        writing.join().unwrap();
        assert!(waits < 20, "{waits} waits ended, though one was to end");
    });
}

/// Row: connect: writable, *then* `SO_ERROR`.
#[test]
fn a_connection_that_is_refused_is_an_error() {
    let lesson = lesson(
        "5. Connect",
        "If an attempt to connect fails, `connect` returns its error.",
        "A writable socket is taken for a connected one, without a look at \
         `SO_ERROR`.",
    );
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            let listener = StdListener::bind(HERE).unwrap();
            let address = listener.local_addr().unwrap();
            drop(listener);
            let refused = TcpStream::connect(address).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        });
    });
}

/// Clauses 5 and 6, with many connections at a time.
#[test]
fn many_connections_are_made_and_accepted() {
    let lesson = lesson(
        "6. Accept",
        "All connections are accepted, and each client gets its bytes back.",
        "Only one connection is accepted for each event.",
    );
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

/// UDP: an error of an earlier datagram neither ends the socket nor makes its
/// task spin.
#[test]
fn a_udp_socket_goes_on_after_an_error() {
    let lesson = lesson(
        "2. A guess",
        "After an error, a UDP socket waits again and receives the next \
         datagram.",
        "An error is taken for the end, as if the socket were a stream. Then \
         the socket stays ready, and its task spins.",
    );
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            let socket = UdpSocket::bind(HERE.into()).unwrap();
            let absent = StdUdpSocket::bind(HERE).unwrap();
            let address: SocketAddr = absent.local_addr().unwrap();
            drop(absent);
            socket.connect(address).unwrap();
            let _ = socket.send(b"is the port open?").await;
            // The kernel answers that the port is closed. The next call returns
            // that as its error.
            let refused = socket.recv(&mut [0; 32]).await;
            assert!(refused.is_err());
            let peer = StdUdpSocket::bind(address).unwrap();
            let own = socket.local_addr().unwrap();
            let late = thread::spawn(move || {
                thread::sleep(Duration::from_millis(50));
                peer.send_to(b"it's open now", own).unwrap();
            });
            let mut buffer = [0; 32];
            let count = socket.recv(&mut buffer).await.unwrap();
            assert_eq!(&buffer[..count], b"it's open now");
            late.join().unwrap();
        });
    });
}

/// A waker may be any code of the program.
#[test]
fn a_waker_that_panics_takes_no_worker_with_it() {
    let lesson = lesson(
        "1. Ready",
        "After a panic of a waker that isn't a task's, the driver goes on: \
         sockets and sleeps wake their tasks.",
        "The panic ends the thread that has the driver.",
    );
    check(lesson, || {
        struct Panics;
        impl std::task::Wake for Panics {
            fn wake(self: Arc<Self>) {
                // Not `panic!`: no hook is to report it.
                std::panic::resume_unwind(Box::new("this waker panics"));
            }
        }
        let runtime = runtime(1);
        let (stream, mut peer) = runtime.block_on(async { pair() });
        let waker = Arc::new(Panics).into();
        let mut cx = Context::from_waker(&waker);
        for _ in 0..3 {
            assert!(stream.poll_read(&mut cx, &mut [0; 8]).is_pending());
            peer.write_all(b"!").unwrap();
            let mut buffer = [0; 8];
            let count = runtime.block_on(async {
                solution_16::sleep(Duration::from_millis(1)).await;
                stream.read(&mut buffer).await
            });
            assert_eq!(count.unwrap(), 1);
        }
    });
}

/// A function that needs a driver panics with a message that says so.
#[test]
fn without_a_driver_there_is_a_panic_that_says_so() {
    let thrown = std::panic::catch_unwind(|| TcpListener::bind(HERE.into()));
    let thrown = thrown.expect_err("there's no driver");
    let message = thrown.downcast_ref::<String>().cloned();
    let message =
        message.or_else(|| Some((*thrown.downcast_ref::<&str>()?).to_owned()));
    assert!(message.unwrap().contains("runtime with I/O"));
    assert!(Handle::try_current().is_none());
}
