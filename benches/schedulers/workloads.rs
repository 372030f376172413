//! What the schedulers are measured by: the workloads of tokio's own
//! `benches/rt_multi_threaded.rs`, written from what they do, and two more,
//! `wake_many` and `spawn_many_worker`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::{Scheduler, Spawn, wake_itself};

const SPAWNS: usize = 10_000;
const YIELDING_TASKS: usize = 200;
const YIELDS: usize = 1_000;
const PINGS: usize = 1_000;
const LINKS: usize = 1_000;

/// How long a poll of a busy task takes.
const STALL: Duration = Duration::from_micros(10);
/// Busy tasks end by then, so that a scheduler that starves the others ends, too.
const STALLED: Duration = Duration::from_millis(200);

/// What is measured, and what one run of it does. The first is the one in which all
/// schedulers do the same: a `yield_now` means what each of them makes of it. Tokio's
/// lets its worker look for other tasks, and at its drivers, before the task runs again.
pub const WORKLOADS: [(&str, &str); 9] = [
    (
        "wake_many",
        "200 tasks that yield 1,000 times by waking themselves",
    ),
    (
        "yield_many",
        "the same, but they yield as their scheduler would have it",
    ),
    (
        "chained_spawn",
        "1,000 tasks, each of which spawns the next",
    ),
    (
        "ping_pong",
        "1,000 tasks, each of which spawns another and answers it",
    ),
    (
        "spawn_many_inside",
        "10,000 tasks, from a future in `block_on`",
    ),
    (
        "spawn_many_outside",
        "10,000 tasks, from a thread, then awaited",
    ),
    ("spawn_many_worker", "10,000 tasks, from a task"),
    (
        "spawn_many_busy1",
        "10,000 tasks, from a thread, beside two tasks a worker that yield, 10 µs a poll",
    ),
    (
        "spawn_many_busy2",
        "1,000 tasks, from a thread, beside a task per worker that respawns itself, 10 µs a poll",
    ),
];

/// Runs a workload once.
///
/// # Panics
///
/// If there is none of this name.
pub fn run<S: Scheduler>(scheduler: &S, workers: usize, workload: &str) {
    let spawner = scheduler.spawner();
    match workload {
        "chained_spawn" => scheduler.block_on(chained_spawn(spawner)),
        "ping_pong" => scheduler.block_on(ping_pong(spawner)),
        "spawn_many_inside" => scheduler.block_on(spawn_many(spawner)),
        "spawn_many_outside" => spawn_and_join(scheduler, SPAWNS),
        "spawn_many_busy1" => spawn_beside_yields(scheduler, workers),
        "spawn_many_busy2" => spawn_beside_spawns(scheduler, workers),
        "spawn_many_worker" => {
            let spawner_of_task = spawner.clone();
            let (done, end) = oneshot::channel();
            scheduler.block_on(async move {
                spawner.spawn(async {
                    spawn_many(spawner_of_task).await;
                    let _ = done.send(());
                });
                let _ = end.await;
            });
        }
        "yield_many" => scheduler.block_on(yield_many(spawner, S::Spawner::yield_now)),
        "wake_many" => scheduler.block_on(yield_many(spawner, wake_itself)),
        other => unreachable!("no workload `{other}`"),
    }
}

/// Shared by tasks, the last of which says that all are done.
struct Countdown {
    left: AtomicUsize,
    done: Mutex<Option<oneshot::Sender<()>>>,
}

impl Countdown {
    fn new(count: usize) -> (Arc<Self>, oneshot::Receiver<()>) {
        let (done, all_done) = oneshot::channel();
        let countdown = Self {
            left: AtomicUsize::new(count),
            done: Mutex::new(Some(done)),
        };
        (Arc::new(countdown), all_done)
    }

    fn one_done(&self) {
        // Relaxed: the channel publishes what has to be.
        if self.left.fetch_sub(1, Relaxed) == 1 {
            let done = self.done.lock().expect("no thread panics").take();
            let _ = done.expect("only one is the last").send(());
        }
    }
}

async fn chained_spawn<S: Spawn>(spawner: S) {
    let (done, all_done) = oneshot::channel();
    spawn_link(spawner, LINKS, done);
    let _ = all_done.await;
}

fn spawn_link<S: Spawn>(spawner: S, left: usize, done: oneshot::Sender<()>) {
    let next = spawner.clone();
    spawner.spawn(async move {
        match left {
            0 => drop(done.send(())),
            _ => spawn_link(next, left - 1, done),
        }
    });
}

async fn ping_pong<S: Spawn>(spawner: S) {
    let (countdown, all_done) = Countdown::new(PINGS);
    let spawner_of_task = spawner.clone();
    spawner.spawn(async move {
        for _ in 0..PINGS {
            let countdown = countdown.clone();
            let spawner = spawner_of_task.clone();
            spawner_of_task.spawn(async move {
                let (ping, pinged) = oneshot::channel();
                let (pong, ponged) = oneshot::channel();
                spawner.spawn(async move {
                    let _ = pinged.await;
                    let _ = pong.send(());
                });
                let _ = ping.send(());
                let _ = ponged.await;
                countdown.one_done();
            });
        }
    });
    let _ = all_done.await;
}

async fn spawn_many<S: Spawn>(spawner: S) {
    let (countdown, all_done) = Countdown::new(SPAWNS);
    for _ in 0..SPAWNS {
        let countdown = countdown.clone();
        spawner.spawn(async move { countdown.one_done() });
    }
    let _ = all_done.await;
}

fn spawn_and_join<S: Scheduler>(scheduler: &S, tasks: usize) {
    let handles: Vec<_> = (0..tasks).map(|_| scheduler.spawn(async {})).collect();
    scheduler.block_on(async {
        for handle in handles {
            handle.await;
        }
    });
}

async fn yield_many<S: Spawn, Y: Future<Output = ()> + Send>(
    spawner: S,
    yield_now: impl Fn() -> Y + Copy + Send + 'static,
) {
    let (countdown, all_done) = Countdown::new(YIELDING_TASKS);
    for _ in 0..YIELDING_TASKS {
        let countdown = countdown.clone();
        spawner.spawn(async move {
            for _ in 0..YIELDS {
                yield_now().await;
            }
            countdown.one_done();
        });
    }
    let _ = all_done.await;
}

/// Keeps the workers busy until it is told to end.
struct Stall {
    start: Instant,
    is_over: AtomicBool,
}

impl Stall {
    fn begin() -> Arc<Self> {
        Arc::new(Self {
            start: Instant::now(),
            is_over: AtomicBool::new(false),
        })
    }

    /// A poll's work, as tokio's benchmark has it: other threads may run meanwhile.
    fn stall(&self) {
        let start = Instant::now();
        while start.elapsed() < STALL {
            thread::yield_now();
        }
    }

    fn goes_on(&self) -> bool {
        // Relaxed: a poll more does no harm.
        !self.is_over.load(Relaxed) && self.start.elapsed() < STALLED
    }

    fn end(&self) {
        // Relaxed: as in `goes_on`.
        self.is_over.store(true, Relaxed);
    }
}

fn spawn_beside_yields<S: Scheduler>(scheduler: &S, workers: usize) {
    let stall = Stall::begin();
    let busy = |stall: Arc<Stall>| async move {
        while stall.goes_on() {
            S::Spawner::yield_now().await;
            stall.stall();
        }
    };
    let busy: Vec<_> = (0..2 * workers)
        .map(|_| Box::pin(scheduler.spawn(busy(stall.clone()))))
        .collect();
    spawn_and_join(scheduler, SPAWNS);
    stall.end();
    scheduler.block_on(async {
        for handle in busy {
            handle.await;
        }
    });
}

fn spawn_beside_spawns<S: Scheduler>(scheduler: &S, workers: usize) {
    let stall = Stall::begin();
    let (countdown, all_done) = Countdown::new(workers);
    let spawner = scheduler.spawner();
    scheduler.block_on(async {
        for _ in 0..workers {
            spawn_again(spawner.clone(), stall.clone(), countdown.clone());
        }
    });
    spawn_and_join(scheduler, SPAWNS / 10);
    stall.end();
    let _ = scheduler.block_on(all_done);
}

fn spawn_again<S: Spawn>(spawner: S, stall: Arc<Stall>, countdown: Arc<Countdown>) {
    let next = spawner.clone();
    spawner.spawn(async move {
        if !stall.goes_on() {
            return countdown.one_done();
        }
        stall.stall();
        spawn_again(next, stall, countdown);
    });
}
