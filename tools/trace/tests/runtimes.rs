//! It records tasks on any runtime.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::Builder;
use trace::Trace;
use trace::document::Document;

fn turn() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[track_caller]
fn assert_fits(trace: &Trace) {
    let document = Document::read(&trace.to_json());
    assert!(document.is_ok(), "{document:?}");
    assert_eq!(trace.dropped(), 0);
}

#[test]
fn tokio_with_several_workers() {
    static HAS_PARKED: AtomicBool = AtomicBool::new(false);
    let _turn = turn();
    let recording = trace::record("three tasks", "tokio multi_thread", 2);
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(trace::thread_start)
        .on_thread_park(|| {
            trace::thread_park();
            HAS_PARKED.store(true, Relaxed);
        })
        .on_thread_unpark(trace::thread_unpark)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for name in ["A", "B", "C"] {
            tasks.spawn(trace::task(name, async {
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
            }));
        }
        tasks.join_all().await;
    });
    // The workers have nothing to do, so that one of them sleeps in the end.
    while !HAS_PARKED.load(Relaxed) {
        std::thread::yield_now();
    }
    drop(runtime);
    let trace = recording.finish();
    assert_fits(&trace);
    for name in ["A", "B", "C"] {
        let polls = trace.polls(name);
        assert_eq!(polls.len(), 4, "{name}: {polls:?}");
        assert!(polls.iter().all(|poll| poll.worker >= 0), "{polls:?}");
        assert!(polls.last().is_some_and(|poll| poll.is_ready));
        assert_eq!(trace.waits_ns(name).len(), 4, "each was asked for");
    }
    assert!(!trace.parks().is_empty());
}

#[test]
fn tokio_on_the_current_thread() {
    let _turn = turn();
    let recording = trace::record("ping, pong", "tokio current_thread", 1);
    trace::thread_start();
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (ping, mut pinged) = tokio::sync::mpsc::channel(1);
        let receiver = tokio::spawn(trace::task("receiver", async move { pinged.recv().await }));
        tokio::task::yield_now().await;
        tokio::spawn(trace::task("sender", async move { ping.send(7).await }));
        assert_eq!(receiver.await.unwrap(), Some(7));
    });
    let trace = recording.finish();
    assert_fits(&trace);
    let polls = trace.polls("receiver");
    assert_eq!(polls.len(), 2, "{polls:?}");
    let sender = &trace.polls("sender")[0];
    assert_eq!(polls[1].asked_by, sender.task, "the sender wakes it");
    assert_eq!((polls[1].worker, sender.worker), (0, 0));
}

#[test]
fn rayons_threads() {
    static EXITED: AtomicUsize = AtomicUsize::new(0);
    let _turn = turn();
    let recording = trace::record("jobs", "rayon", 2);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(|_| trace::thread_start())
        .exit_handler(|_| _ = EXITED.fetch_add(1, Relaxed))
        .build()
        .unwrap();
    pool.scope(|scope| {
        for name in ["A", "B", "C", "D"] {
            let job = trace::job(name, || std::hint::black_box(()));
            scope.spawn(move |_| job());
        }
    });
    drop(pool);
    // rayon doesn't wait for its threads. A late one would start in the recording of
    // another test.
    while EXITED.load(Relaxed) < 2 {
        std::thread::yield_now();
    }
    let trace = recording.finish();
    assert_fits(&trace);
    for name in ["A", "B", "C", "D"] {
        let polls = trace.polls(name);
        assert_eq!(polls.len(), 1, "{name}");
        assert!((0..2).contains(&polls[0].worker) && polls[0].is_ready);
        assert!(
            polls[0].waited_ns.is_some(),
            "it waits from when it is made"
        );
    }
}

#[test]
fn threads_that_come_and_go() {
    const THREADS: usize = 40;
    let _turn = turn();
    let recording = trace::record("many threads", "std", 1);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                trace::thread_start();
                trace::span("work", || std::hint::black_box(()));
            });
        }
    });
    let trace = recording.finish();
    assert_fits(&trace);
    let mut workers: Vec<_> = trace.polls("work").iter().map(|poll| poll.worker).collect();
    workers.sort_unstable();
    let all: Vec<_> = (0..THREADS as i32).collect();
    assert_eq!(workers, all, "each thread is a worker of its own");
}

#[test]
fn the_parts_of_a_join() {
    let _turn = turn();
    let recording = trace::record("a join", "by hand", 1);
    let one_yield = || async {
        tokio::task::yield_now().await;
    };
    let whole = trace::task("whole", async {
        futures::join!(trace::task("A", one_yield()), trace::task("B", one_yield()))
    });
    Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(whole);
    let trace = recording.finish();
    assert_fits(&trace);
    let whole = trace.polls("whole");
    for name in ["A", "B"] {
        for (part, whole) in trace.polls(name).iter().zip(&whole) {
            assert!(part.start_ns >= whole.start_ns, "{part:?} {whole:?}");
            assert!(part.end_ns <= whole.end_ns, "{part:?} {whole:?}");
        }
    }
}
