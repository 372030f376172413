//! Clauses 1, 2 and 10: tasks read and write.

use super::*;

/// Clause 1: a byte may arrive between `WouldBlock` and storing the waker.
#[test]
fn no_event_is_lost_in_many_round_trips() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "A byte that arrives at any moment of a read wakes the reading task.",
        usual_cause: "The waker is stored after the event has come, or a read clears readiness \
                      that it hasn't seen.",
        read: "io/readiness.html#between-wouldblock-and-the-waker",
    };
    check(lesson, || {
        const TRIPS: usize = 5_000;
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

/// Clause 1: the first event of a source may come at once.
#[test]
fn a_new_stream_can_be_written_to() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "A stream that has just been registered becomes ready for writing, because there \
                  is room in the kernel's buffer.",
        usual_cause: "The source is registered for reading only, an event counts for one direction \
                      only, or the first event is dropped because the driver doesn't know its \
                      key yet.",
        read: "io/reactor.html#what-an-event-says",
    };
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            for round in 0..100 {
                let (ours, mut peer) = std_pair();
                if round % 2 == 0 {
                    // The first event then reports both directions.
                    peer.write_all(b"!").unwrap();
                }
                let stream = TcpStream::from_std(ours).unwrap();
                stream.writable().await.unwrap();
                assert_eq!(stream.write(b"!").await.unwrap(), 1);
                peer.read_exact(&mut [0]).unwrap();
            }
        });
    });
}

/// Clause 1: each direction has its own waker and its own tick.
#[test]
fn a_task_reads_while_another_waits_for_room() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "A task can read from a stream while a write waits for room, and write while a \
                  read waits for bytes.",
        usual_cause: "Both directions share one waker or one tick.",
        read: "io/readiness.html#two-directions",
    };
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            let (stream, mut peer) = pair();
            let stream = Arc::new(stream);
            let writer = stream.clone();
            let large = vec![7; 16 << 20];
            let length = large.len();
            let writing =
                spawn(async move { writer.write_all(&large).await.unwrap() });
            // Until the peer has sent all its numbers, it reads only one byte
            // for each of them.
            let peer = thread::spawn(move || {
                for number in 0..100 {
                    peer.write_all(&[number]).unwrap();
                    peer.read_exact(&mut [0]).unwrap();
                }
                let mut rest = Vec::new();
                peer.read_to_end(&mut rest).unwrap();
                100 + rest.len()
            });
            for number in 0..100 {
                let mut byte = [0];
                stream.read_exact(&mut byte).await.unwrap();
                assert_eq!(byte[0], number);
            }
            // The peer has read 100 of these bytes as its answers.
            writing.await.unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(peer.join().unwrap(), length);
        });
    });
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

/// Clause 1: a hang-up and an error wake both directions, and closed stays
/// closed.
#[test]
#[cfg(unix)]
fn a_reset_ends_a_read_and_a_write() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "If the peer resets the connection, a task that waits for bytes and a task that \
                  waits for room are woken, and both operations end.",
        usual_cause: "A hang-up or an error makes only one direction ready, or a closed direction \
                      is cleared.",
        read: "io/readiness.html#hanging-up",
    };
    check(lesson, || {
        let runtime = runtime(2);
        runtime.block_on(async {
            let (stream, peer) = pair();
            let stream = Arc::new(stream);
            // Fills the kernel's buffer, so that the next write waits.
            let full = vec![0; 1 << 16];
            stream.writable().await.unwrap();
            let mut cx = Context::from_waker(Waker::noop());
            while stream.poll_write(&mut cx, &full).is_ready() {}
            let (reader, writer) = (stream.clone(), stream.clone());
            let reading = spawn(async move { reader.read(&mut [0]).await });
            let writing = spawn(async move {
                loop {
                    if let Err(error) = writer.write(&full).await {
                        return error;
                    }
                }
            });
            reset(peer);
            // The kernel reports the reset to one of the two operations. To the
            // other one, the stream is at its end.
            assert!(matches!(reading.await.unwrap(), Ok(0) | Err(_)));
            writing.await.unwrap();
            // Both directions stay closed: later operations don't wait.
            assert!(matches!(stream.read(&mut [0]).await, Ok(0) | Err(_)));
            assert!(stream.write(&[0]).await.is_err());
        });
    });
}

/// Clause 1: an edge isn't repeated, so a read that leaves bytes behind must
/// leave the readiness, too.
#[test]
fn what_came_at_once_is_read_in_small_parts() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "Bytes that arrived together can be read in small parts.",
        usual_cause: "The readiness is cleared after a read that may have left bytes behind, and \
                      edge-triggered events aren't repeated. At a hang: a read that has filled \
                      its buffer clears the readiness, and the next read waits for an event \
                      that doesn't come. Bytes may be left, and edge-triggered events aren't \
                      repeated.",
        read: "io/readiness.html#level-edge-one-shot",
    };
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            for size in [1, 3, 1_000, 4_096] {
                let (stream, mut peer) = pair();
                peer.write_all(&[1; 12_000]).unwrap();
                let mut buffer = vec![0; size];
                let mut left = 12_000;
                // The peer isn't dropped before, because a hang-up would make
                // the stream ready forever.
                while left > 0 {
                    let count = stream.read(&mut buffer).await.unwrap();
                    assert!(count > 0, "the stream ended {left} bytes early");
                    left -= count;
                }
                drop(peer);
            }
        });
    });
}

/// Clause 2: an event wakes both tasks, and for one of them it's spurious.
#[test]
fn of_two_tasks_that_are_woken_one_waits_again() {
    let lesson = Lesson {
        clause: "2. A guess",
        promise: "If two tasks read and one byte arrives, one task gets it, and the other waits \
                  for the next byte.",
        usual_cause: "The task that gets `WouldBlock` takes readiness for a promise, and doesn't \
                      wait again.",
        read: "io/readiness.html#a-guess-not-a-promise",
    };
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
            // If both tasks end with an error, the channel is closed.
            drop(sender);
            for number in 0..=255 {
                peer.write_all(&[number]).unwrap();
                assert_eq!(bytes.recv().ok(), Some(number));
            }
            drop(peer);
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
}

/// Clause 2: a read that fills its buffer doesn't tell whether more is there.
#[test]
fn a_read_that_finds_nothing_waits() {
    let lesson = Lesson {
        clause: "2. A guess",
        promise: "A read that finds nothing, though its source was ready, is pending. The next \
                  byte wakes its task.",
        usual_cause: "The readiness isn't cleared after `WouldBlock`, so that the read tries again \
                      and again, within one poll.",
        read: "io/readiness.html#a-guess-not-a-promise",
    };
    check(lesson, || {
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let (stream, mut peer) = pair();
        for number in 0..50 {
            peer.write_all(&[number]).unwrap();
            let mut byte = [0];
            while poll_once(stream.read(&mut byte)).is_pending() {
                turn(&mut driver);
            }
            assert_eq!(byte, [number]);
            let mut buffer = [0];
            let mut reading = Box::pin(stream.read(&mut buffer));
            let counts = begin(&mut reading);
            peer.write_all(b"!").unwrap();
            while counts.wakes() == 0 {
                turn(&mut driver);
            }
            assert!(poll_once(reading).is_ready());
        }
    });
}

/// Clause 2: an error of an earlier datagram isn't the end of a socket.
#[test]
fn a_udp_socket_goes_on_after_an_error() {
    let lesson = Lesson {
        clause: "2. A guess",
        promise: "After an error, a UDP socket waits again and receives the next datagram.",
        usual_cause: "An error is taken for the end, as if the socket were a stream. At a \
                      hang: an error counts as the end, so the socket stays ready, and its task \
                      spins. Or `dispatch` leaves out an event's error, so the receiver isn't \
                      woken.",
        read: "io/readiness.html#hanging-up",
    };
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            let socket = UdpSocket::bind(HERE.into()).unwrap();
            let own = socket.local_addr().unwrap();
            // A peer that receives only from another socket: to ours, its port
            // is closed, and no other process can take it.
            let other = StdUdpSocket::bind(HERE).unwrap();
            let peer = StdUdpSocket::bind(HERE).unwrap();
            peer.connect(other.local_addr().unwrap()).unwrap();
            socket.connect(peer.local_addr().unwrap()).unwrap();
            let _ = socket.send(b"is the port open?").await;
            // The kernel answers that the port is closed. The next call returns
            // that as its error.
            let refused = socket.recv(&mut [0; 32]).await;
            assert!(refused.is_err(), "the error of the datagram is lost");
            let reading = spawn(async move {
                let mut buffer = [0; 32];
                let count = socket.recv(&mut buffer).await.unwrap();
                buffer[..count].to_vec()
            });
            // A task that spins would leave this one no turn.
            let other = spawn(async {
                for _ in 0..100 {
                    yield_now().await;
                }
            });
            other.await.unwrap();
            peer.connect(own).unwrap();
            peer.send(b"it's open now").unwrap();
            assert_eq!(reading.await.unwrap(), b"it's open now");
        });
    });
}

/// Clause 10: a source that is always ready mustn't keep the worker.
#[test]
fn a_task_that_always_finds_bytes_yields() {
    let lesson = Lesson {
        clause: "10. In turn",
        promise: "A task with a budget that reads many bytes from a ready socket lets another task \
                  run in between.",
        usual_cause: "Reading from a ready socket isn't a checkpoint: `run` doesn't await \
                      `budget::checkpoint`.",
        read: "yielding/budget.html",
    };
    check(lesson, || {
        let turns = turns_beside(|stream| async move {
            while stream.read(&mut [0]).await.unwrap() > 0 {}
        });
        assert!(turns > 5, "the other task had {turns} turns");
    });
}

/// Clause 10: the methods that are polls are checkpoints, too.
#[test]
fn a_task_that_polls_for_bytes_yields() {
    let lesson = Lesson {
        clause: "10. In turn",
        promise: "A task with a budget that reads many bytes with `poll_read` lets another task \
                  run in between.",
        usual_cause: "`poll_bytes` polls no checkpoint.",
        read: "yielding/budget.html",
    };
    check(lesson, || {
        let turns = turns_beside(|stream| async move {
            let mut byte = [0];
            loop {
                let read = poll_fn(|cx| stream.poll_read(cx, &mut byte));
                if read.await.unwrap() == 0 {
                    break;
                }
            }
        });
        assert!(turns > 5, "the other task had {turns} turns");
    });
}

/// Clause 10: datagrams and connections come without end, too.
#[test]
fn a_task_that_always_finds_datagrams_yields() {
    let lesson = Lesson {
        clause: "10. In turn",
        promise: "A task with a budget that sends and receives one datagram after the other, \
                  without having to wait, lets another task run in between.",
        usual_cause: "`run` doesn't await `budget::checkpoint`, although `run_bytes` does.",
        read: "yielding/budget.html",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let task = runtime.spawn(async {
            let socket = UdpSocket::bind(HERE.into()).unwrap();
            let own = socket.local_addr().unwrap();
            let exchange = async || {
                socket.send_to(b"!", own).await.unwrap();
                socket.recv_from(&mut [0]).await.unwrap();
            };
            // This has to wait for the driver. Later ones don't.
            exchange().await;
            let exchanging = async {
                for _ in 0..10_000 {
                    exchange().await;
                }
            };
            turns_of_another(exchanging).await
        });
        let turns = runtime.block_on(task).unwrap();
        assert!(turns > 5, "the other task had {turns} turns");
    });
}

/// Clause 10: waiting for readiness is using the source, too.
#[test]
fn a_task_that_asks_for_readiness_yields() {
    let lesson = Lesson {
        clause: "10. In turn",
        promise: "A task with a budget that awaits `readable` again and again lets another task \
                  run in between, even if its socket is always ready.",
        usual_cause: "`ready` doesn't await `budget::checkpoint`, although the operations do.",
        read: "yielding/budget.html",
    };
    check(lesson, || {
        let turns = turns_beside(|stream| async move {
            for _ in 0..200_000 {
                stream.readable().await.unwrap();
            }
        });
        assert!(turns > 5, "the other task had {turns} turns");
    });
}

/// Clause 10: each of many sources may be used a few times only.
#[test]
fn a_task_with_many_ready_sources_yields() {
    let lesson = Lesson {
        clause: "10. In turn",
        promise: "A task with a budget that uses many ready sockets in turn, each only a few times, \
                  lets another task run in between.",
        usual_cause: "Each source has a count of its own, and passes a checkpoint at every so many \
                      of its operations. Count the operations of the thread.",
        read: "yielding/budget.html",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let task = runtime.spawn(async {
            let sockets: Vec<_> = (0..300)
                .map(|_| UdpSocket::bind(HERE.into()).unwrap())
                .collect();
            let exchange = async |socket: &UdpSocket| {
                let own = socket.local_addr().unwrap();
                socket.send_to(b"!", own).await.unwrap();
                socket.recv_from(&mut [0]).await.unwrap();
            };
            // This has to wait for the driver. Later ones don't.
            for socket in &sockets {
                exchange(socket).await;
            }
            let exchanging = async {
                for socket in sockets.iter().chain(&sockets) {
                    exchange(socket).await;
                }
            };
            turns_of_another(exchanging).await
        });
        let turns = runtime.block_on(task).unwrap();
        assert!(turns > 0, "the other task had no turn");
    });
}

/// Runs a task within a budget, on a stream that has 20,000 bytes to read, and
/// returns how often another task has run in between.
fn turns_beside<F>(read: impl FnOnce(TcpStream) -> F + Send + 'static) -> usize
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = runtime(1);
    let (stream, mut peer) = runtime.block_on(async { pair() });
    peer.write_all(&[0; 20_000]).unwrap();
    drop(peer);
    let task = runtime.spawn(async move {
        // The other task has turns while this one waits, too: those don't count.
        stream.readable().await.unwrap();
        turns_of_another(read(stream)).await
    });
    runtime.block_on(task).unwrap()
}

/// Awaits a future within a budget, and returns how often another task has run
/// in between.
async fn turns_of_another(future: impl Future<Output = ()>) -> usize {
    let turns = Arc::new(AtomicUsize::new(0));
    let counted = turns.clone();
    let other = spawn(async move {
        loop {
            counted.fetch_add(1, SeqCst);
            yield_now().await;
        }
    });
    let slice = Duration::from_micros(200);
    budget::with_budget(slice, future).await;
    other.abort();
    turns.load(SeqCst)
}
