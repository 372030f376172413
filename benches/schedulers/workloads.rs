//! What the schedulers are measured by: the workloads that tokio's is.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use super::{Scheduler, Spawn, wake_itself};

const SPAWNS: usize = 10_000;
const YIELDING_TASKS: usize = 200;
const YIELDS: usize = 1_000;
const PINGS: usize = 1_000;
const LINKS: usize = 1_000;

/// What is measured, and what one run of it does.
pub const WORKLOADS: [(&str, &str); 7] = [
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
        "yield_many",
        "200 tasks that yield 1,000 times as the runtime would",
    ),
    ("wake_many", "the same, but they yield by waking themselves"),
];

/// Runs a workload once.
///
/// # Panics
///
/// If there is none of this name.
pub fn run<S: Scheduler>(scheduler: &S, workload: &str) {
    let spawner = scheduler.spawner();
    match workload {
        "chained_spawn" => scheduler.block_on(chained_spawn(spawner)),
        "ping_pong" => scheduler.block_on(ping_pong(spawner)),
        "spawn_many_inside" => scheduler.block_on(spawn_many(spawner)),
        "spawn_many_outside" => spawn_and_join(scheduler),
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
            let done = self.done.lock().expect("nobody panics").take();
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

fn spawn_and_join<S: Scheduler>(scheduler: &S) {
    let handles: Vec<_> = (0..SPAWNS).map(|_| scheduler.spawn(async {})).collect();
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
