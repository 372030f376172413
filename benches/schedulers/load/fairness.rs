//! How the workers share their time between their own tasks and those that come
//! from outside, when there are always more of these.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::busy::{Busy, Habit, Load, with_busy, work_for};
use super::{Sample, duration};
use crate::cost;
use crate::schedulers::{Scheduler, Spawn};

/// So many tasks from outside always wait.
const WAITING: usize = 5_000;

const POLL: Duration = Duration::from_micros(10);

#[derive(Default)]
struct Flood {
    waiting: AtomicUsize,
    polled: AtomicUsize,
    is_over: AtomicBool,
}

impl Flood {
    /// A task from outside. All orderings here are Relaxed: they are counts.
    async fn task(self: Arc<Self>) {
        if !self.is_over.load(Relaxed) {
            work_for(POLL);
            self.polled.fetch_add(1, Relaxed);
        }
        self.waiting.fetch_sub(1, Relaxed);
    }

    fn top_up<S: Spawn>(self: &Arc<Self>, spawner: &S) {
        for _ in self.waiting.load(Relaxed)..WAITING {
            self.waiting.fetch_add(1, Relaxed);
            spawner.spawn(self.clone().task());
        }
    }

    /// Keeps tasks waiting for so long.
    fn last<S: Spawn>(self: &Arc<Self>, spawner: &S, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            self.top_up(spawner);
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Gives the polls of the workers' own tasks and those of the tasks from
/// outside, and which part of all polls the smaller of the two is.
pub fn measure<S: Scheduler>(scheduler: &S, workers: usize, habit: Habit) -> Sample {
    let load = Load { habit, poll: POLL };
    let flood = Arc::new(Flood::default());
    let ((local, remote), cost) = with_busy(scheduler, workers, load, |busy: &Busy| {
        let local = || busy.census.polls().into_iter().sum::<usize>();
        let remote = || flood.polled.load(Relaxed);
        let measured = cost::of(|| {
            scheduler.block_on(async {
                let spawner = scheduler.spawner();
                // Until it has its effect.
                flood.last(&spawner, duration(20));
                let before = (local(), remote());
                flood.last(&spawner, duration(150));
                (local() - before.0, remote() - before.1)
            })
        });
        flood.is_over.store(true, Relaxed);
        measured
    });
    let all = (local + remote).max(1) as f64;
    let smaller = local.min(remote) as f64 / all * 100.0;
    Sample {
        waits: Vec::new(),
        figures: vec![local as f64, remote as f64, smaller, cost.cores()],
    }
}
