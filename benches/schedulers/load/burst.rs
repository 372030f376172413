//! How soon a second worker helps when many tasks come from outside at once.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::thread;
use std::time::{Duration, Instant};

use super::census::Census;
use super::latch::Latch;
use super::{Sample, patience};
use crate::cost;
use crate::schedulers::{Scheduler, Spawn};

/// Longer than the slowest takes.
const LIMIT: Duration = Duration::from_secs(20);

/// Spawns so many tasks that do next to nothing. Gives the time until the first
/// and until the second worker polls one of them, until all are spawned and until
/// all have ended, and the CPU time.
pub fn measure<S: Scheduler>(scheduler: &S, tasks: usize) -> Sample {
    run(scheduler, tasks, |spawn_all| {
        let census = Arc::new(Census::new());
        spawn_all(&census);
        census
    })
}

/// The same, but all workers are busy until all tasks are spawned. The times begin
/// when they no longer are.
pub fn release<S: Scheduler>(scheduler: &S, workers: usize, tasks: usize) -> Sample {
    let gate = Arc::new(Gate::default());
    let guests = Arc::new(Census::new());
    let spawner = scheduler.spawner();
    scheduler.block_on(async {
        for _ in 0..workers {
            let (gate, guests) = (gate.clone(), guests.clone());
            spawner.spawn(async move {
                guests.note();
                gate.pass();
            });
        }
    });
    let begun = Instant::now();
    while guests.workers() < workers && begun.elapsed() < patience() {
        thread::sleep(Duration::from_millis(1));
    }
    run(scheduler, tasks, |spawn_all| {
        let census = Arc::new(Census::new());
        spawn_all(&census);
        census.restart();
        gate.open();
        census
    })
}

/// Keeps the workers in a poll until all tasks are there. They don't sleep: that
/// would measure how soon the operating system wakes them.
#[derive(Default)]
struct Gate(AtomicBool);

impl Gate {
    fn pass(&self) {
        // Acquire: pairs with the Release in `open`.
        while !self.0.load(Acquire) {
            thread::yield_now();
        }
    }

    fn open(&self) {
        // Release: pairs with the Acquire in `pass`; publishes the census' start.
        self.0.store(true, Release);
    }
}

/// Lets `begin` spawn the tasks and return the census, and waits for their end.
fn run<S: Scheduler>(
    scheduler: &S,
    tasks: usize,
    begin: impl FnOnce(&dyn Fn(&Arc<Census>)) -> Arc<Census>,
) -> Sample {
    let latch = Arc::new(Latch::new(tasks));
    let ((census, pushed, ended), cost) = cost::of(|| {
        scheduler.block_on(async {
            let (spawner, start) = (scheduler.spawner(), Instant::now());
            let census = begin(&|census| spawn_all(&spawner, tasks, census, &latch));
            let pushed = start.elapsed().as_nanos() as f64;
            let is_over = latch.wait(LIMIT);
            let ended = if is_over {
                census.age_ns()
            } else {
                f64::INFINITY
            };
            (census, pushed, ended)
        })
    });
    let firsts = census.first_polls();
    let first = |number: usize| firsts.get(number).copied().unwrap_or(f64::INFINITY);
    Sample {
        waits: Vec::new(),
        figures: vec![first(0), first(1), pushed, ended, cost.cpu_ns(), f64::NAN],
    }
}

fn spawn_all<S: Spawn>(spawner: &S, tasks: usize, census: &Arc<Census>, latch: &Arc<Latch>) {
    for _ in 0..tasks {
        let (census, latch) = (census.clone(), latch.clone());
        spawner.spawn(async move {
            census.note();
            latch.one_done();
        });
    }
}
