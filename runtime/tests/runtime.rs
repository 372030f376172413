//! What programs rely on, for each part of the runtime.

use std::cell::Cell;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener as StdListener, TcpStream as StdStream};
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use runtime::net::{self, TcpListener, TcpStream, UdpSocket};
use runtime::{Either, LocalRuntime, Runtime, join, select, sleep, timeout};
use testkit::{Lesson, check};

const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

fn lesson(promise: &'static str) -> Lesson {
    Lesson {
        clause: "The runtime",
        promise,
        usual_cause: "A wake-up is lost between two parts of the runtime.",
        read: "",
    }
}

fn two_workers() -> Runtime {
    runtime::Builder::new().worker_threads(2).build().unwrap()
}

#[test]
fn a_timeout_ends_a_read_that_gets_nothing_and_loses_no_byte() {
    check(lesson("A read can time out and be tried again."), || {
        two_workers().block_on(async {
            let listener = StdListener::bind(HERE).unwrap();
            let address = listener.local_addr().unwrap();
            let stream = TcpStream::connect(address).await.unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            let moment = Duration::from_millis(10);
            let mut buffer = [0; 8];
            let read = timeout(moment, stream.read(&mut buffer)).await;
            assert!(read.is_err(), "there's nothing to read");
            peer.write_all(b"late").unwrap();
            let long = Duration::from_secs(60);
            let read = timeout(long, stream.read(&mut buffer)).await;
            assert_eq!(read.unwrap().unwrap(), 4);
            assert_eq!(&buffer[..4], b"late");
        });
    });
}

#[test]
fn an_interval_leaves_out_what_it_has_missed_and_does_not_drift() {
    check(lesson("Ticks are due at multiples of the period."), || {
        two_workers().block_on(async {
            let period = Duration::from_millis(10);
            let mut interval = runtime::interval(period);
            let first = interval.tick().await;
            let mut last = 0;
            for number in 1..8 {
                if number == 3 {
                    thread::sleep(3 * period);
                }
                let due = interval.tick().await;
                assert!(Instant::now() >= due, "a tick is early");
                let since = due.duration_since(first).as_nanos();
                assert_eq!(since % period.as_nanos(), 0, "it drifts");
                let multiple = since / period.as_nanos();
                assert!(multiple > last, "a tick came twice");
                last = multiple;
            }
            assert!(last >= 9, "the missed ticks weren't skipped");
        });
    });
}

#[test]
fn select_drops_the_other_one_and_join_waits_for_all() {
    check(lesson("`select` waits for one, `join` for all."), || {
        two_workers().block_on(async {
            let dropped = Rc::new(());
            let kept = dropped.clone();
            let never = async move {
                std::future::pending::<()>().await;
                drop(kept);
            };
            let short = sleep(Duration::from_millis(1));
            assert_eq!(select(never, short).await, Either::Right(()));
            assert_eq!(Rc::strong_count(&dropped), 1);
            let number = |number: u64| async move {
                sleep(Duration::from_millis(5 - number)).await;
                number
            };
            assert_eq!(join(number(1), number(2)).await, (1, 2));
            let six = runtime::join!(
                number(0),
                number(1),
                number(2),
                number(3),
                number(4),
                number(5)
            );
            assert_eq!(six, (0, 1, 2, 3, 4, 5));
            let all = runtime::join_all((0..5).map(number)).await;
            assert_eq!(all, [0, 1, 2, 3, 4]);
        });
    });
}

#[test]
fn a_name_is_resolved_and_connected_to() {
    check(lesson("`connect` resolves a host name."), || {
        two_workers().block_on(async {
            let listener = TcpListener::bind(HERE.into()).unwrap();
            let port = listener.local_addr().unwrap().port();
            let accepting = runtime::spawn(async move {
                listener.accept().await.unwrap().0.write_all(b"!").await
            });
            let stream = net::connect(format!("localhost:{port}")).await;
            let mut answer = b"so".to_vec();
            let count = stream.unwrap().read_to_end(&mut answer).await;
            assert_eq!((count.unwrap(), &answer[..]), (1, &b"so!"[..]));
            accepting.await.unwrap().unwrap();
            assert!(net::lookup_host("no port").await.is_err());
        });
    });
}

#[test]
fn a_full_stream_is_writable_once_its_peer_has_read() {
    let promise = "`writable` waits until the kernel has room for more bytes.";
    check(lesson(promise), || {
        two_workers().block_on(async {
            let listener = TcpListener::bind(HERE.into()).unwrap();
            let address = listener.local_addr().unwrap();
            let stream = TcpStream::connect(address).await.unwrap();
            let (peer, _) = listener.accept().await.unwrap();
            stream.writable().await.unwrap();
            let mut cx = Context::from_waker(Waker::noop());
            let bytes = [0; 1 << 16];
            // The kernel goes on moving bytes to the peer's buffer for a moment.
            while stream.poll_write(&mut cx, &bytes).is_ready() {
                while stream.poll_write(&mut cx, &bytes).is_ready() {}
                sleep(Duration::from_millis(10)).await;
            }

            let mut writable = Box::pin(stream.writable());
            let asked = writable.as_mut().poll(&mut cx);
            assert!(asked.is_pending(), "no byte was read: {asked:?}");
            let reading = runtime::spawn(async move {
                peer.read_to_end(&mut Vec::new()).await
            });
            writable.await.unwrap();
            let written = stream.poll_write(&mut cx, &bytes);
            assert!(written.is_ready(), "there is no room");
            drop(stream);
            reading.await.unwrap().unwrap();
        });
    });
}

#[test]
fn a_datagram_is_answered_to_its_sender() {
    let promise = "A socket learns who sent a datagram, and can send the answer \
                   there without a connection.";
    check(lesson(promise), || {
        two_workers().block_on(async {
            let server = UdpSocket::bind(HERE.into()).unwrap();
            let address = server.local_addr().unwrap();
            let serving = runtime::spawn(async move {
                let mut buffer = [0; 32];
                for _ in 0..2 {
                    let received = server.recv_from(&mut buffer).await;
                    let (count, sender) = received.unwrap();
                    let answer = &buffer[..count];
                    let sent = server.send_to(answer, sender).await.unwrap();
                    assert_eq!(sent, count);
                }
            });
            for question in [&b"who is there?"[..], b"me"] {
                let client = UdpSocket::bind(HERE.into()).unwrap();
                let sent = client.send_to(question, address).await.unwrap();
                assert_eq!(sent, question.len());
                let mut buffer = [0; 32];
                let received = client.recv_from(&mut buffer).await;
                let (count, sender) = received.unwrap();
                assert_eq!(&buffer[..count], question);
                assert_eq!(sender, address);
            }
            serving.await.unwrap();
        });
    });
}

#[test]
fn tasks_of_one_thread_need_not_be_send() {
    let lesson = lesson("A `LocalRuntime` runs futures that aren't `Send`.");
    check(lesson, || {
        let runtime = LocalRuntime::new().unwrap();
        let count = Rc::new(Cell::new(0));
        runtime.block_on(async {
            let listener = TcpListener::bind(HERE.into()).unwrap();
            let address = listener.local_addr().unwrap();
            let counted = count.clone();
            let serving = runtime::spawn_local(async move {
                for _ in 0..50 {
                    let (stream, _) = listener.accept().await.unwrap();
                    let counted = counted.clone();
                    let task = runtime::spawn_local(async move {
                        let mut byte = [0];
                        stream.read_exact(&mut byte).await.unwrap();
                        sleep(Duration::from_millis(1)).await;
                        counted.set(counted.get() + 1);
                        stream.write_all(&byte).await.unwrap();
                    });
                    // This detaches the task.
                    drop(task);
                }
            });
            let clients = (0..50).map(|number| async move {
                let stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(&[number]).await.unwrap();
                let mut byte = [0];
                stream.read_exact(&mut byte).await.unwrap();
                assert_eq!(byte[0], number);
            });
            runtime::join_all(clients).await;
            serving.await.unwrap();
        });
        assert_eq!(count.get(), 50);
    });
}

#[test]
fn a_local_task_is_woken_by_another_thread() {
    let lesson = lesson("A wake-up from another thread ends the wait.");
    check(lesson, || {
        let runtime = LocalRuntime::new().unwrap();
        let threads = two_workers();
        for number in 0..2_000 {
            let task = threads.spawn(async move { number });
            assert_eq!(runtime.block_on(task).unwrap(), number);
        }
        // Dropping the runtime drops its tasks, even detached ones.
        let (sender, receiver) = mpsc::channel::<()>();
        let task = runtime.spawn_local(async move {
            std::future::pending::<()>().await;
            drop(sender);
        });
        drop(task);
        runtime.block_on(async {});
        drop(runtime);
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn a_panic_of_a_local_task_reaches_its_handle_only() {
    let lesson = lesson("A task's panic reaches its handle and nothing else.");
    check(lesson, || {
        let runtime = LocalRuntime::new().unwrap();
        runtime.block_on(async {
            let task = runtime::spawn_local(async { panic!("on purpose") });
            assert!(task.await.unwrap_err().is_panic());
        });
    });
}

#[test]
fn where_there_is_no_runtime_a_panic_says_so() {
    let panics: [fn(); 3] = [
        || drop(runtime::spawn(async {})),
        || drop(sleep(Duration::ZERO)),
        || drop(runtime::spawn_local(async {})),
    ];
    for panic in panics {
        let message = testkit::panic_message(panic).expect("it panics");
        assert!(message.to_lowercase().contains("runtime"), "{message}");
    }
}

#[cfg(feature = "metrics")]
#[test]
fn what_the_workers_do_is_counted() {
    check(lesson("The metrics count polls and list tasks."), || {
        let runtime = two_workers();
        let (begun, has_begun) = mpsc::channel();
        let waiting = runtime.spawn(async move {
            begun.send(()).unwrap();
            std::future::pending::<()>().await
        });
        // A worker that took it may be stopped before it polls it.
        has_begun.recv().unwrap();
        runtime.block_on(async {
            let tasks: Vec<_> = (0..100)
                .map(|_| runtime::spawn(runtime::yield_now()))
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        let metrics = runtime.metrics();
        let polls = metrics.workers.iter().map(|it| it.poll_count);
        // Two polls for each task that yields, and one for the waiting task.
        assert_eq!(polls.sum::<u64>(), 201);
        let [task] = &metrics.tasks[..] else {
            panic!("one task should be left, not {:?}", metrics.tasks);
        };
        assert_eq!(task.poll_count, 1);
        assert!(task.spawned_at.file().ends_with("runtime.rs"));
        let queued = metrics.workers.iter().map(|it| it.queue_length);
        assert_eq!(queued.sum::<u64>(), 0);
        waiting.abort();
    });
}

#[test]
fn a_stream_that_is_dropped_is_closed() {
    check(lesson("A dropped stream is closed."), || {
        two_workers().block_on(async {
            let listener = TcpListener::bind(HERE.into()).unwrap();
            let address = listener.local_addr().unwrap();
            let mut peer = StdStream::connect(address).unwrap();
            drop(listener.accept().await.unwrap());
            let mut rest = Vec::new();
            std::io::Read::read_to_end(&mut peer, &mut rest).unwrap();
            assert!(rest.is_empty());
        });
    });
}
