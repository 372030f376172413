//! How soon a second worker helps when many tasks come from outside at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::census::Census;
use super::latch::Latch;
use super::{Sample, count};
use crate::cost;
use crate::schedulers::{Scheduler, Spawn};

/// Longer than the slowest takes.
const LIMIT: Duration = Duration::from_secs(20);

/// Spawns so many tasks that do next to nothing. Gives the time until the first
/// and until the second worker polls one of them, until all are spawned and until
/// all have ended, and the CPU time.
pub fn measure<S: Scheduler>(scheduler: &S, tasks: usize) -> Sample {
    let tasks = count(tasks);
    let ((census, pushed, ended), cost) =
        cost::of(|| scheduler.block_on(async { spawn_all(scheduler.spawner(), tasks) }));
    let firsts = census.first_polls();
    let first = |number: usize| firsts.get(number).copied().unwrap_or(f64::INFINITY);
    Sample {
        waits: Vec::new(),
        figures: vec![first(0), first(1), pushed, ended, cost.cpu_ns(), f64::NAN],
    }
}

fn spawn_all<S: Spawn>(spawner: S, tasks: usize) -> (Arc<Census>, f64, f64) {
    let latch = Arc::new(Latch::new(tasks));
    let (census, start) = (Arc::new(Census::new()), Instant::now());
    for _ in 0..tasks {
        let (census, latch) = (census.clone(), latch.clone());
        spawner.spawn(async move {
            census.note();
            latch.one_done();
        });
    }
    let pushed = start.elapsed().as_nanos() as f64;
    let ended = match latch.wait(LIMIT) {
        true => start.elapsed().as_nanos() as f64,
        false => f64::INFINITY,
    };
    (census, pushed, ended)
}
