//! A million tasks, with all that can happen to them: spawned by tasks and by
//! other threads, woken by foreign threads, aborted, detached, panicking, and
//! dropped with their runtime while they wait. In the end each future must have
//! been dropped once.
//!
//! ```sh
//! cargo run --release -p solution-14 --example stress -- 1000000
//! RUSTFLAGS=-Zsanitizer=address cargo +nightly run -p solution-14 \
//!     --features without-recycling --target x86_64-unknown-linux-gnu \
//!     --example stress -- 1000000
//! ```

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, Sender};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Instant;

use solution_14::{JoinHandle, Runtime, spawn, yield_now};

/// How many tasks share a runtime: so few that many runtimes end in each run.
const TASKS_OF_A_RUNTIME: u64 = 20_000;
const WORKERS: [usize; 4] = [1, 2, 4, 8];

static BEGUN: AtomicU64 = AtomicU64::new(0);
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Counts the futures that hold one.
struct Counted;

impl Counted {
    fn new() -> Self {
        // Relaxed: read once all threads were joined.
        BEGUN.fetch_add(1, Relaxed);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // Relaxed: as above.
        DROPPED.fetch_add(1, Relaxed);
    }
}

/// Gives its waker away, and is ready once it has been woken, or never.
async fn woken_by(wakers: Sender<Waker>, is_ready_then: bool) {
    let mut was_polled = false;
    poll_fn(|cx| {
        if was_polled && is_ready_then {
            return Poll::Ready(());
        }
        was_polled = true;
        // There is no receiver once the foreign thread has gone.
        let _ = wakers.send(cx.waker().clone());
        Poll::Pending
    })
    .await;
}

/// One of many kinds of task.
async fn task(number: u64, counted: Counted, wakers: Sender<Waker>) -> u64 {
    match number % 8 {
        0 => {}
        1 => yield_now().await,
        2 => woken_by(wakers, true).await,
        // Only its end ends it.
        3 => poll_fn(|_| Poll::Pending).await,
        4 => {
            let inner = Counted::new();
            let inner = spawn(async move {
                let _inner = inner;
                yield_now().await;
            });
            let _ = inner.await;
        }
        5 => {
            let inner = Counted::new();
            drop(spawn(async move {
                let _inner = inner;
                woken_by(wakers, true).await;
            }));
        }
        6 => std::panic::resume_unwind(Box::new(number)),
        _ => (0..3).for_each(|_| drop(spawn(async {}))),
    }
    drop(counted);
    number
}

/// Wakes each waker that it receives twice, and keeps some until the task has
/// long ended.
fn wake_all(wakers: &Receiver<Waker>) {
    let mut kept = Vec::new();
    for waker in wakers {
        waker.wake_by_ref();
        if kept.len() < 100 {
            kept.push(waker.clone());
        }
        waker.wake();
    }
    kept.into_iter().for_each(Waker::wake);
}

/// Spawns these tasks from this thread, aborts some, and awaits some.
fn spawn_from_here(
    runtime: &Runtime,
    numbers: std::ops::Range<u64>,
    wakers: &Sender<Waker>,
) {
    let mut awaited: Vec<(u64, JoinHandle<u64>)> = Vec::new();
    for number in numbers {
        let counted = Counted::new();
        let handle = runtime.spawn(task(number, counted, wakers.clone()));
        match number % 5 {
            0 => handle.abort(),
            1 if number % 8 != 3 => awaited.push((number, handle)),
            _ => {}
        }
    }
    runtime.block_on(async {
        for (number, handle) in awaited {
            match handle.await {
                Ok(output) => assert_eq!(output, number),
                Err(error) => assert!(error.is_panic() && number % 8 == 6),
            }
        }
    });
}

/// One runtime, from its first task to its end, in the midst of wake-ups.
fn round(workers: usize) {
    let mut builder = Runtime::builder();
    let runtime = builder.worker_threads(workers).build();
    let runtime = runtime.expect("there are threads left");
    let (sender, receiver) = mpsc::channel();
    let waking = thread::spawn(move || wake_all(&receiver));
    let half = TASKS_OF_A_RUNTIME / 2;
    thread::scope(|scope| {
        scope.spawn(|| spawn_from_here(&runtime, 0..half, &sender));
        spawn_from_here(&runtime, half..TASKS_OF_A_RUNTIME, &sender);
    });
    // Tasks that wait forever keep the channel open: it closes with them.
    drop(sender);
    drop(runtime);
    waking.join().expect("to wake is harmless");
}

fn main() {
    let arguments = std::env::args().nth(1);
    let tasks: u64 = arguments.map_or(1_000_000, |tasks| {
        tasks.parse().expect("the argument is a number of tasks")
    });
    let started = Instant::now();
    for number in 0..tasks.div_ceil(TASKS_OF_A_RUNTIME) {
        round(WORKERS[number as usize % WORKERS.len()]);
        let (begun, dropped) = (BEGUN.load(Relaxed), DROPPED.load(Relaxed));
        assert_eq!(begun, dropped, "each future is dropped once");
    }
    let begun = BEGUN.load(Relaxed);
    println!(
        "{begun} futures in {:?}, each dropped once",
        started.elapsed()
    );
}
