//! The driver's wait: deadlines, unparks, a runtime's workers, and the
//! shutdown.

use std::future::Future;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener as StdListener, TcpStream as StdStream};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use solution_16::{Driver, TcpListener, TcpStream, sleep};
use testkit::{Lesson, ThreadProbe, check, idle_cost};
use work_stealing::{Runtime, spawn, yield_now};

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

fn pair() -> (TcpStream, StdStream) {
    let listener = StdListener::bind(HERE).unwrap();
    let ours = StdStream::connect(listener.local_addr().unwrap()).unwrap();
    let (peer, _) = listener.accept().unwrap();
    (TcpStream::from_std(ours).unwrap(), peer)
}

fn spin(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        std::hint::spin_loop();
    }
}

/// Row: timers in the same wait: never early, no busy loop.
#[test]
fn a_sleep_is_never_early_and_its_thread_does_not_spin() {
    let lesson = lesson(
        "7. Sleep",
        "No sleep ends before its deadline, and the thread that waits for it \
         wakes up only a few times.",
        "The time left is rounded down to milliseconds. The wait then ends \
         early, and the last millisecond is a busy loop.",
    );
    check(lesson, || {
        let mut driver = Driver::new().unwrap();
        let handle = driver.handle();
        for micros in [1, 100, 900, 1_100, 2_500, 20_300, 70_900] {
            let asked = Duration::from_micros(micros);
            let start = Instant::now();
            let mut sleep = pin!(handle.sleep(asked));
            let mut cx = Context::from_waker(Waker::noop());
            let mut waits = 0;
            while sleep.as_mut().poll(&mut cx).is_pending() {
                driver.wait();
                while driver.dispatch(usize::MAX) {}
                waits += 1;
            }
            assert!(start.elapsed() >= asked, "{asked:?} ended early");
            assert!(waits <= 12, "{waits} waits for {asked:?}");
        }
    });
}

/// Row: timers in the same wait. A sleep with an earlier deadline interrupts
/// the wait for a later one.
#[test]
fn a_shorter_sleep_interrupts_the_wait_for_a_longer_one() {
    let lesson = lesson(
        "7. Sleep",
        "A sleep that begins while the driver waits for a longer sleep, or for \
         none, ends on time.",
        "The driver reads the next deadline before it says that it waits.",
    );
    check(lesson, || {
        let runtime = runtime(1);
        let long = runtime.spawn(sleep_long());
        for _ in 0..300 {
            let start = Instant::now();
            runtime.block_on(sleep_short());
            assert!(start.elapsed() >= Duration::from_millis(1));
        }
        assert!(!long.is_finished());
    });

    async fn sleep_long() {
        sleep(Duration::from_secs(3_600)).await;
    }

    async fn sleep_short() {
        sleep(Duration::from_millis(1)).await;
    }
}

/// Row: timers in the same wait, with the workers of a runtime.
#[test]
fn idle_workers_do_not_use_the_processor() {
    let lesson = lesson(
        "7. Sleep",
        "While a runtime waits for a socket and for a distant deadline, its \
         workers use no processor time.",
        "The worker waits in the driver with a short timeout, or polls it in a \
         loop.",
    );
    check(lesson, || {
        let runtime = runtime(1);
        let (sender, probes) = mpsc::channel();
        let (stream, _peer) = runtime.block_on(async { pair() });
        runtime.spawn(async move {
            sender.send(ThreadProbe::here()).unwrap();
            let _ = stream.read(&mut [0]).await;
        });
        runtime.spawn(async { sleep(Duration::from_secs(3_600)).await });
        let probe = probes.recv().unwrap();
        probe.wait_until_asleep();
        if let Some(cost) = idle_cost(&probe, Duration::from_millis(300)) {
            assert!(
                cost.cpu < Duration::from_millis(30),
                "a worker has used {:?} of 300 ms",
                cost.cpu
            );
        }
    });
}

/// Row: an unpark is never lost.
#[test]
fn an_unpark_ends_a_wait_whenever_it_comes() {
    let lesson = lesson(
        "8. Unpark",
        "An unpark ends the wait, whether it comes before the wait, as the \
         wait begins, or during it.",
        "The driver checks whether it was unparked and then waits. An unpark \
         that comes in between leaves no token.",
    );
    check(lesson, || {
        let mut driver = Driver::new().unwrap();
        let handle = driver.handle();
        const ROUNDS: usize = 20_000;
        let asked = Arc::new(AtomicUsize::new(0));
        let seen = Arc::new(AtomicUsize::new(0));
        let unparking = thread::spawn({
            let (asked, seen) = (asked.clone(), seen.clone());
            move || {
                for round in 1..=ROUNDS {
                    asked.store(round, SeqCst);
                    handle.unpark();
                    while seen.load(SeqCst) < round {
                        thread::yield_now();
                    }
                }
            }
        });
        for round in 1..=ROUNDS {
            while asked.load(SeqCst) < round {
                driver.wait();
                driver.dispatch(usize::MAX);
            }
            seen.store(round, SeqCst);
        }
        unparking.join().unwrap();
    });
}

/// Row: a worker that leaves the driver with work hands the driver on.
#[test]
fn a_worker_that_stays_in_a_poll_has_handed_the_driver_on() {
    let lesson = lesson(
        "1. Ready",
        "While one worker blocks in the poll of a task that an event woke, the \
         other worker waits for events.",
        "A worker that leaves the driver polls its task at once, without \
         notifying another worker.",
    );
    check(lesson, || {
        for _ in 0..200 {
            let runtime = runtime(2);
            let ((first, mut first_peer), (second, mut second_peer)) =
                runtime.block_on(async { (pair(), pair()) });
            let (is_in_poll, in_poll) = mpsc::channel();
            let meeting = Arc::new(Barrier::new(2));
            let tasks = [first, second].map(|stream| {
                let (is_in_poll, meeting) =
                    (is_in_poll.clone(), meeting.clone());
                runtime.spawn(async move {
                    stream.read(&mut [0]).await.unwrap();
                    is_in_poll.send(()).unwrap();
                    meeting.wait();
                })
            });
            first_peer.write_all(b"!").unwrap();
            in_poll.recv().unwrap();
            second_peer.write_all(b"!").unwrap();
            for task in tasks {
                runtime.block_on(task).unwrap();
            }
        }
    });
}

/// Row: many events don't flood one queue.
#[test]
fn both_of_two_busy_workers_poll_what_a_batch_has_woken() {
    let lesson = lesson(
        "1. Ready",
        "If one look finds many events, two busy workers share the tasks that \
         these events wake.",
        "All the tasks go to the queue of the worker that had the driver.",
    );
    check(lesson, || {
        let runtime = runtime(2);
        let pairs: Vec<_> =
            runtime.block_on(async { (0..200).map(|_| pair()).collect() });
        let (sender, polled_on) = mpsc::channel::<ThreadId>();
        let mut peers = Vec::new();
        for (stream, peer) in pairs {
            peers.push(peer);
            let sender = sender.clone();
            runtime.spawn(async move {
                stream.read(&mut [0]).await.unwrap();
                spin(Duration::from_micros(500));
                sender.send(thread::current().id()).unwrap();
            });
        }
        // These keep both workers busy all the time.
        let is_over = Arc::new(AtomicUsize::new(0));
        for _ in 0..4 {
            let is_over = is_over.clone();
            runtime.spawn(async move {
                while is_over.load(SeqCst) == 0 {
                    spin(Duration::from_micros(100));
                    yield_now().await;
                }
            });
        }
        // Gives all the tasks time to begin their reads.
        runtime.block_on(sleep_a_moment());
        for peer in &mut peers {
            peer.write_all(b"!").unwrap();
        }
        let threads: Vec<_> =
            (0..200).map(|_| polled_on.recv().unwrap()).collect();
        is_over.store(1, SeqCst);
        let first = threads.iter().filter(|it| **it == threads[0]).count();
        assert!(
            (20..=180).contains(&first),
            "one worker has polled {first} of 200 tasks"
        );
    });

    async fn sleep_a_moment() {
        sleep(Duration::from_millis(20)).await;
    }
}

/// Busy workers look at the driver, too.
#[test]
fn an_event_is_seen_though_all_workers_are_busy() {
    let lesson = lesson(
        "1. Ready",
        "Reads and sleeps make progress while tasks that yield keep all \
         workers busy.",
        "Only a worker without work looks for events.",
    );
    check(lesson, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let is_over = Arc::new(AtomicUsize::new(0));
            for _ in 0..4 {
                let is_over = is_over.clone();
                runtime.spawn(async move {
                    while is_over.load(SeqCst) == 0 {
                        yield_now().await;
                    }
                });
            }
            let (stream, mut peer) = runtime.block_on(async { pair() });
            let reading = runtime.spawn(async move {
                for _ in 0..20 {
                    stream.read(&mut [0]).await.unwrap();
                    sleep(Duration::from_millis(1)).await;
                    stream.write_all(b"!").await.unwrap();
                }
            });
            for _ in 0..20 {
                peer.write_all(b"!").unwrap();
                std::io::Read::read_exact(&mut peer, &mut [0]).unwrap();
            }
            runtime.block_on(reading).unwrap();
            is_over.store(1, SeqCst);
        }
    });
}

/// Row: the shutdown wakes all tasks that wait, with an error.
#[test]
fn the_end_of_a_runtime_is_an_error_for_all_that_wait() {
    let lesson = lesson(
        "9. Shut down",
        "When a runtime ends, each future that waits for one of its sockets \
         gets an error, and each of its sleeps panics. Later operations on the \
         sockets get the error, too.",
        "The shutdown doesn't wake the wakers of the registered sources: their \
         tasks wait forever.",
    );
    check(lesson, || {
        let runtime = runtime(2);
        let (stream, _peer) = runtime.block_on(async { pair() });
        let listener = {
            let _inside = runtime.enter();
            TcpListener::bind(HERE.into()).unwrap()
        };
        let nap = {
            let _inside = runtime.enter();
            sleep(Duration::from_secs(3_600))
        };
        let (about_to_wait, waiting) = mpsc::channel();
        let stream = Arc::new(stream);
        let threads = [
            {
                let (stream, sender) = (stream.clone(), about_to_wait.clone());
                thread::spawn(move || {
                    sender.send(ThreadProbe::here()).unwrap();
                    let end = block_on::block_on(stream.read(&mut [0]));
                    assert_eq!(
                        end.unwrap_err().kind(),
                        ErrorKind::NotConnected
                    );
                })
            },
            {
                let sender = about_to_wait.clone();
                thread::spawn(move || {
                    sender.send(ThreadProbe::here()).unwrap();
                    let end = block_on::block_on(listener.accept());
                    assert_eq!(
                        end.unwrap_err().kind(),
                        ErrorKind::NotConnected
                    );
                })
            },
            thread::spawn(move || {
                about_to_wait.send(ThreadProbe::here()).unwrap();
                let nap = std::panic::AssertUnwindSafe(nap);
                let end = std::panic::catch_unwind(|| {
                    let nap = nap;
                    block_on::block_on(nap.0);
                });
                assert!(end.is_err(), "the sleep has ended early");
            }),
        ];
        for probe in waiting.iter().take(3) {
            probe.wait_until_asleep();
        }
        drop(runtime);
        for thread in threads {
            thread.join().unwrap();
        }
        let late = block_on::block_on(stream.read(&mut [0]));
        assert_eq!(late.unwrap_err().kind(), ErrorKind::NotConnected);
    });
}

/// Dropping a runtime drops the tasks that wait for its sockets.
#[test]
fn a_runtime_with_tasks_that_wait_ends() {
    let lesson = lesson(
        "9. Shut down",
        "Dropping a runtime ends it, even while its tasks wait for sockets and \
         sleeps.",
        "The worker that waits in the driver isn't unparked.",
    );
    check(lesson, || {
        for _ in 0..100 {
            let runtime = runtime(2);
            let (stream, _peer) = runtime.block_on(async { pair() });
            runtime.spawn(async move { stream.read(&mut [0]).await });
            runtime.spawn(async { sleep(Duration::from_secs(3_600)).await });
            drop(runtime);
        }
    });
}

/// Clause 10.
#[test]
fn a_task_that_always_finds_bytes_yields() {
    let lesson = lesson(
        "10. In turn",
        "A task with a budget that reads many bytes from a ready socket lets \
         another task run in between.",
        "Reading from a ready socket isn't a checkpoint.",
    );
    check(lesson, || {
        let runtime = runtime(1);
        let (stream, mut peer) = runtime.block_on(async { pair() });
        peer.write_all(&[0; 100_000]).unwrap();
        drop(peer);
        let turns = Arc::new(AtomicUsize::new(0));
        let counted = turns.clone();
        let reading = runtime.spawn(async move {
            let other = spawn(async move {
                loop {
                    counted.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            });
            let slice = Duration::from_micros(500);
            let reading = async move {
                while stream.read(&mut [0]).await.unwrap() > 0 {}
            };
            budget::with_budget(slice, reading).await;
            other.abort();
        });
        runtime.block_on(reading).unwrap();
        let turns = turns.load(SeqCst);
        assert!(turns > 5, "the other task had {turns} turns");
    });
}
