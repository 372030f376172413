//! How long a request takes when now and then one of them is a long one.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::busy::work_for;
use super::{Sample, duration, patience};
use crate::cost;
use crate::random::Random;
use crate::schedulers::{Scheduler, Spawn};

const SHORT: Duration = Duration::from_micros(10);
const LONG: Duration = Duration::from_millis(1);
/// One in so many is long.
const ONE_LONG_IN: u64 = 100;
/// Which part of the processors the requests need.
const UTILIZATION: f64 = 0.5;

/// Spawns requests from outside, an open loop: it doesn't wait for any of them,
/// and spawns all that are due whenever it runs. Gives the times from when a request
/// was due to its end.
pub fn measure<S: Scheduler>(scheduler: &S, workers: usize) -> Sample {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let (took, cost) = cost::of(|| {
        scheduler.block_on(async { request(scheduler.spawner(), workers.min(processors)) })
    });
    Sample {
        waits: vec![took],
        figures: vec![cost.cores()],
    }
}

fn request<S: Spawn>(spawner: S, processors: usize) -> Vec<f64> {
    let mean_work = SHORT + LONG / ONE_LONG_IN as u32;
    let mean_distance = mean_work.div_f64(UTILIZATION * processors as f64);
    let mut random = Random::of_a_round();
    let took = Arc::new(Mutex::new(Vec::<f64>::new()));
    let (start, mut sent) = (Instant::now(), 0);
    let mut due = Duration::ZERO;
    while due < duration(300) {
        while due < start.elapsed() {
            let is_long = random.number().is_multiple_of(ONE_LONG_IN);
            let (work, took) = (if is_long { LONG } else { SHORT }, took.clone());
            // A spawn that comes late, because this thread does, is no excuse.
            let begun = start + due;
            spawner.spawn(async move {
                work_for(work);
                let ns = begun.elapsed().as_nanos() as f64;
                took.lock().expect("no thread panics with it").push(ns);
            });
            sent += 1;
            // Exponential distances, as of independent requests.
            due += mean_distance.mul_f64(-(1.0 - random.fraction()).ln());
        }
        thread::sleep(Duration::from_micros(20));
    }
    let over = Instant::now();
    let came = || took.lock().expect("no thread panics with it").len();
    while came() < sent && over.elapsed() < patience() {
        thread::sleep(Duration::from_millis(1));
    }
    let mut took = std::mem::take(&mut *took.lock().expect("no thread panics with it"));
    took.resize(sent, f64::INFINITY);
    took
}
