//! Whether one worker keeps for itself what comes from outside.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::busy::{Busy, Habit, Load, with_busy, work_for};
use super::census::Census;
use super::latch::Latch;
use super::{Sample, patience};
use crate::cost;
use crate::schedulers::{Scheduler, Spawn};

/// How many tasks come at once, and how long each of them takes.
const TASKS: usize = 100;
const WORK: Duration = Duration::from_millis(1);

const LOAD: Load = Load {
    habit: Habit::Yields,
    poll: Duration::from_micros(20),
};

/// Spawns some tasks at once while every worker is busy. Gives the time until
/// all have ended, how many of them one worker polled, how many workers took
/// part, and the CPU time.
pub fn measure<S: Scheduler>(scheduler: &S, workers: usize) -> Sample {
    let (census, latch) = (Arc::new(Census::new()), Arc::new(Latch::new(TASKS)));
    let (took, cost) = with_busy(scheduler, workers, LOAD, |_: &Busy| {
        cost::of(|| scheduler.block_on(async { spawn_all(scheduler.spawner(), &census, &latch) }))
    });
    // They end now at the latest, when the busy tasks have.
    latch.wait(patience());
    let most = census.polls().into_iter().max().unwrap_or_default();
    let figures = vec![took, most as f64, census.workers() as f64, cost.cpu_ns()];
    Sample {
        waits: Vec::new(),
        figures,
    }
}

fn spawn_all<S: Spawn>(spawner: S, census: &Arc<Census>, latch: &Arc<Latch>) -> f64 {
    let start = Instant::now();
    for _ in 0..TASKS {
        let (census, latch) = (census.clone(), latch.clone());
        spawner.spawn(async move {
            census.note();
            work_for(WORK);
            latch.one_done();
        });
    }
    match latch.wait(patience()) {
        true => start.elapsed().as_nanos() as f64,
        false => f64::INFINITY,
    }
}
