//! What a program may do to the runtime, and what it must not lose by it.

use std::cell::Cell;
use std::future::poll_fn;
use std::io::{ErrorKind, Write};
use std::net::{
    Ipv4Addr, Shutdown, TcpListener as StdListener, TcpStream as StdStream,
};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use runtime::net::{TcpListener, TcpStream};
use runtime::{
    LocalRuntime, Runtime, select, sleep, spawn, spawn_local, timeout,
    yield_now,
};
use testkit::{DropProbe, Lesson, Opener, check, live_bytes, panic_message};

const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);
const LONG: Duration = Duration::from_secs(3_600);

fn lesson(promise: &'static str, usual_cause: &'static str) -> Lesson {
    Lesson {
        clause: "The runtime in hard use",
        promise,
        usual_cause,
        read: "",
    }
}

fn two_workers() -> Runtime {
    runtime::Builder::new().worker_threads(2).build().unwrap()
}

/// A connection: the runtime's end, and std's.
async fn pair() -> (TcpStream, StdStream) {
    let listener = StdListener::bind(HERE).unwrap();
    let address = listener.local_addr().unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    (stream, listener.accept().unwrap().0)
}

/// A connection on which so many bytes have come, and then the end.
async fn full_pair(length: usize) -> TcpStream {
    let (stream, mut peer) = pair().await;
    peer.write_all(&vec![0; length]).unwrap();
    stream
}

async fn read_byte_by_byte(stream: TcpStream) {
    while stream.read(&mut [0]).await.unwrap() > 0 {}
}

#[cfg(target_os = "linux")]
fn descriptor_count() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[cfg(not(target_os = "linux"))]
fn descriptor_count() -> usize {
    0
}

#[test]
fn connections_that_come_and_go_leave_nothing() {
    let lesson = lesson(
        "Connections leave no descriptor and no memory behind.",
        "A source stays registered after it's closed, or a task is kept that \
         is over.",
    );
    check(lesson, || {
        let runtime = two_workers();
        let address = runtime.block_on(async {
            let listener = TcpListener::bind(HERE.into()).unwrap();
            let address = listener.local_addr().unwrap();
            spawn(async move {
                loop {
                    let (stream, _peer) = listener.accept().await.unwrap();
                    spawn(read_byte_by_byte(stream));
                }
            });
            address
        });
        let rounds = async move |count| {
            for number in 0..count {
                let stream = TcpStream::connect(address).await.unwrap();
                if number % 2 == 0 {
                    stream.write_all(b"!").await.unwrap();
                }
                // The other end is closed by the time that this is over.
                stream.shutdown(Shutdown::Write).unwrap();
                stream.read(&mut [0]).await.unwrap();
            }
        };
        runtime.block_on(rounds(200));
        let descriptors = descriptor_count();
        // Blocks of tasks are kept for the next ones, more of them once both
        // workers have had many at a time. What leaks does so in each batch,
        // and with more than five bytes for each connection.
        let least = (0..8).map(|_| {
            let before = live_bytes();
            runtime.block_on(rounds(1_000));
            live_bytes() - before
        });
        let bytes = least.min().unwrap();
        assert!(bytes < 5_000, "1,000 connections left {bytes} bytes");
        let descriptors = descriptor_count().saturating_sub(descriptors);
        // A few may be about to be closed.
        assert!(descriptors <= 2, "{descriptors} descriptors are left");
    });
}

#[test]
fn a_connection_that_waits_costs_little_memory() {
    let lesson = lesson(
        "A task that waits for a socket takes less than 2 KiB, with the socket.",
        "Each source has a buffer, or a map, of its own.",
    );
    check(lesson, || {
        const COUNT: usize = 200;
        two_workers().block_on(async {
            let listener = StdListener::bind(HERE).unwrap();
            let address = listener.local_addr().unwrap();
            let mut peers = Vec::with_capacity(COUNT);
            let mut tasks = Vec::with_capacity(COUNT);
            let before = live_bytes();
            for _ in 0..COUNT {
                let stream = TcpStream::connect(address).await.unwrap();
                peers.push(listener.accept().unwrap().0);
                tasks.push(spawn(read_byte_by_byte(stream)));
            }
            // Each task has been polled once it has read this.
            peers.iter_mut().for_each(|it| it.write_all(b"!").unwrap());
            let each = (live_bytes() - before) / COUNT as isize;
            assert!(each < 2_048, "it takes {each} bytes");
            drop(peers);
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
}

#[test]
fn a_local_runtime_with_tasks_that_are_ready_leaves_nothing() {
    let lesson = lesson(
        "A local runtime that's dropped leaves no memory and no descriptor, \
         even if a task is ready, or is woken later.",
        "What a waker points to is in the queue that it points to.",
    );
    check(lesson, || {
        let leave_one_ready = || {
            let runtime = LocalRuntime::new().unwrap();
            let waker = runtime.block_on(async {
                drop(spawn_local(async {}));
                poll_fn(|cx| Poll::Ready(cx.waker().clone())).await
            });
            drop(runtime);
            waker.wake();
        };
        leave_one_ready();
        // The kit's watchdog, too, opens files and allocates now and then. What
        // leaks does so each time.
        let left = (0..10).map(|_| {
            let before = (descriptor_count(), live_bytes());
            leave_one_ready();
            let after = (descriptor_count(), live_bytes());
            (after.0.saturating_sub(before.0), after.1 - before.1)
        });
        let (descriptors, bytes): (Vec<_>, Vec<_>) = left.unzip();
        let least = (descriptors.iter().min(), bytes.iter().min());
        assert!(least <= (Some(&0), Some(&0)), "{least:?} are left");
    });
}

#[test]
fn a_future_that_always_finds_bytes_lets_its_siblings_be_polled() {
    let lesson = lesson(
        "A read that's always ready yields within `block_on`, too, so that a \
         timeout around it ends.",
        "Only the tasks have time slices.",
    );
    check(lesson, || {
        two_workers().block_on(async {
            let stream = full_pair(50_000).await;
            let turns = Cell::new(0);
            let sibling = poll_fn(|_| {
                turns.set(turns.get() + 1);
                Poll::<()>::Pending
            });
            select(read_byte_by_byte(stream), sibling).await;
            assert!(turns.get() > 5, "it had {} turns", turns.get());
        });
    });
}

#[test]
fn a_local_task_that_always_finds_bytes_yields() {
    let lesson = lesson(
        "A local task whose socket is always ready lets other tasks run.",
        "Only the tasks of workers have time slices.",
    );
    check(lesson, || {
        let turns = LocalRuntime::new().unwrap().block_on(async {
            let stream = full_pair(50_000).await;
            let turns = Rc::new(Cell::new(0));
            let counted = turns.clone();
            drop(spawn_local(async move {
                loop {
                    counted.set(counted.get() + 1);
                    yield_now().await;
                }
            }));
            let reading = spawn_local(async move {
                // Before, it isn't known that there are bytes.
                stream.read(&mut [0]).await.unwrap();
                let before = turns.get();
                read_byte_by_byte(stream).await;
                turns.get() - before
            });
            reading.await.unwrap()
        });
        assert!(turns > 5, "it had {turns} turns");
    });
}

#[test]
fn a_block_on_within_a_local_one_panics() {
    let lesson = lesson(
        "`Runtime::block_on` within `LocalRuntime::block_on` panics.",
        "Its sockets are registered at the local driver, and that's the \
         driver of the thread that waits: it waits forever.",
    );
    check(lesson, || {
        let runtime = two_workers();
        let local = LocalRuntime::new().unwrap();
        let nap = async || sleep(Duration::from_millis(1)).await;
        let nested = || local.block_on(async { runtime.block_on(nap()) });
        let message = panic_message(nested).expect("it panics");
        assert!(message.contains("`.await` the inner one"), "{message}");
        // The other way round there's no harm.
        let job = runtime.spawn_blocking(move || {
            let local = LocalRuntime::new().unwrap();
            local.block_on(nap());
        });
        runtime.block_on(job).unwrap();
        runtime.block_on(nap());
    });
}

#[test]
fn timeouts_that_race_with_data_lose_no_byte() {
    let lesson = lesson(
        "A read that is given up at the moment when data comes has read \
         nothing.",
        "A byte is taken before the future says so.",
    );
    check(lesson, || {
        two_workers().block_on(async {
            let (stream, mut peer) = pair().await;
            peer.set_nodelay(true).unwrap();
            let writing = thread::spawn(move || {
                for number in 0..3_000_u32 {
                    peer.write_all(&number.to_le_bytes()).unwrap();
                    if number % 10 == 0 {
                        thread::yield_now();
                    }
                }
            });
            let mut received = Vec::new();
            let mut count = 0_u32;
            loop {
                let mut buffer = [0; 7];
                let is_later = count.is_multiple_of(3);
                let reading = async {
                    if is_later {
                        yield_now().await;
                    }
                    stream.read(&mut buffer).await.unwrap()
                };
                // At times it's over at the first poll.
                let time = Duration::from_micros((count % 4).into());
                count += 1;
                match timeout(time, reading).await {
                    Ok(0) => break,
                    Ok(length) => received.extend(&buffer[..length]),
                    Err(_) => {}
                }
            }
            writing.join().unwrap();
            let sent = (0..3_000_u32).flat_map(u32::to_le_bytes);
            assert!(sent.eq(received), "bytes were lost");
        });
    });
}

#[test]
fn a_stream_is_used_on_another_runtime_as_long_as_its_own_lives() {
    let lesson = lesson(
        "Tasks of any runtime may use a stream. When the runtime that made it \
         ends, it gives errors.",
        "The waker of another runtime's task isn't woken at the end.",
    );
    check(lesson, || {
        let (first, second) = (two_workers(), two_workers());
        let (stream, mut peer) = first.block_on(pair());
        let stream = Arc::new(stream);
        let reading = stream.clone();
        let (read, counts) = mpsc::channel();
        let task = second.spawn(async move {
            loop {
                match reading.read(&mut [0; 16]).await {
                    Ok(count) => read.send(count).unwrap(),
                    Err(error) => return error.kind(),
                }
            }
        });
        for _ in 0..100 {
            peer.write_all(b"!").unwrap();
            assert_eq!(counts.recv().unwrap(), 1);
        }
        drop(first);
        assert_eq!(second.block_on(task).unwrap(), ErrorKind::NotConnected);
        let write = second.block_on(stream.write(b"!"));
        assert_eq!(write.unwrap_err().kind(), ErrorKind::NotConnected);
    });
}

#[test]
fn a_runtime_ends_while_many_tasks_wait_for_sockets() {
    let lesson = lesson(
        "At its end a runtime drops all tasks that wait, and closes their \
         sockets, also if one of its own tasks drops it.",
        "A waker that is kept by a source keeps its task.",
    );
    check(lesson, || {
        for is_within in [false, true] {
            let descriptors = descriptor_count();
            let runtime = two_workers();
            let (probe, log) = DropProbe::new();
            let probe = Arc::new(probe);
            let mut peers = runtime.block_on(async {
                let mut peers = Vec::new();
                for number in 0..200 {
                    let (stream, peer) = pair().await;
                    peers.push(peer);
                    let probe = probe.clone();
                    spawn(async move {
                        let _probe = probe;
                        if number % 2 == 0 {
                            read_byte_by_byte(stream).await;
                        } else {
                            let reading = read_byte_by_byte(stream);
                            let _ = timeout(LONG, reading).await;
                        }
                    });
                }
                peers
            });
            drop(probe);
            if is_within {
                let handle = runtime.handle();
                handle.spawn(async move { drop(runtime) });
            } else {
                drop(runtime);
                assert_eq!(log.count(), 1, "tasks are left");
            }
            for peer in &mut peers {
                let end = std::io::Read::read(peer, &mut [0]).unwrap();
                assert_eq!(end, 0, "a socket is open");
            }
            drop(peers);
            // The kit's watchdog, too, has a file open now and then. What leaks
            // stays open.
            let is_left = || descriptor_count() > descriptors;
            let mut looks = (0..1_000).map(|_| thread::yield_now());
            while !is_within && is_left() {
                looks.next().expect("descriptors are left");
            }
        }
    });
}

#[test]
fn the_drop_of_a_runtime_waits_for_its_jobs() {
    let lesson = lesson(
        "The drop waits for a blocking job that runs, and its output can \
         still be had. A job that drops its own runtime doesn't wait for \
         itself.",
        "The job is waited for on the thread that runs it.",
    );
    check(lesson, || {
        let runtime = two_workers();
        let opener = Opener::new();
        let gate = opener.gate();
        let (begun, beginning) = mpsc::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = is_over.clone();
        let job = runtime.spawn_blocking(move || {
            begun.send(()).unwrap();
            gate.wait();
            ended.store(true, SeqCst);
            5
        });
        beginning.recv().unwrap();
        let opening = opener.open_once_asleep();
        drop(runtime);
        assert!(is_over.load(SeqCst), "the job goes on after the drop");
        opening.join().unwrap();
        assert_eq!(two_workers().block_on(job).unwrap(), 5);

        let (give, given) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let runtime = two_workers();
        runtime.spawn_blocking(move || {
            drop::<Runtime>(given.recv().unwrap());
            end.send(()).unwrap();
        });
        give.send(runtime).unwrap();
        ended.recv().unwrap();
    });
}
