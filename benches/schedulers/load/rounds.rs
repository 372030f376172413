//! Rounds in which all contenders take turns, in an order that differs each time.

use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::{Cell, Sample};
use crate::random::Random;
use crate::schedulers::{Scheduler, workloads};

/// A contender: its name, and how to start it with so many workers.
pub struct Contender {
    /// As the tables have it.
    pub name: String,
    /// Starts it.
    pub start: Start,
    /// Whether a cell is measured on it.
    pub takes: fn(Cell) -> bool,
}

/// Starts a contender with so many workers.
pub type Start = Box<dyn Fn(usize) -> Box<dyn Measured>>;

/// A contender that was started, for the cells that it takes.
pub struct Running {
    /// As the tables have it.
    pub name: String,
    started: Box<dyn Measured>,
    takes: fn(Cell) -> bool,
}

impl Contender {
    /// Starts it with so many workers.
    pub fn run(&self, workers: usize) -> Running {
        Running {
            name: self.name.clone(),
            started: (self.start)(workers),
            takes: self.takes,
        }
    }
}

/// A contender that was started.
pub trait Measured {
    /// Measures a cell once.
    fn measure(&mut self, cell: Cell) -> Sample;
}

/// Makes a contender of a scheduler.
pub fn contender<S: Scheduler + 'static>(name: &str) -> Contender {
    Contender {
        takes: |_| true,
        ..watched::<S>(name, || f64::NAN)
    }
}

/// Makes a contender of a scheduler that counts how often a worker parked while
/// tasks were ready, for the cells that show it. `parks` returns the number since
/// its last call.
pub fn watched<S: Scheduler + 'static>(name: &str, parks: fn() -> f64) -> Contender {
    let start = move |workers| {
        let scheduler = S::start(workers);
        workloads::run(&scheduler, workers, "spawn_many_outside");
        Box::new(Started {
            scheduler,
            workers,
            parks,
        }) as Box<dyn Measured>
    };
    Contender {
        name: name.to_owned(),
        start: Box::new(start),
        takes: |cell| matches!(cell, Cell::Burst(_) | Cell::Release(_)),
    }
}

struct Started<S> {
    scheduler: S,
    workers: usize,
    parks: fn() -> f64,
}

impl<S: Scheduler> Measured for Started<S> {
    fn measure(&mut self, cell: Cell) -> Sample {
        (self.parks)();
        let mut sample = cell.measure(&self.scheduler, self.workers);
        if let (Cell::Burst(_) | Cell::Release(_), Some(parks)) = (cell, sample.figures.last_mut())
        {
            *parks = (self.parks)();
        }
        sample
    }
}

/// The samples of each contender, in the contenders' order. None where the contender
/// doesn't take the cell.
pub type Samples = Vec<Vec<Sample>>;

/// Measures a cell in so many rounds.
pub fn measure(cell: Cell, running: &mut [Running], rounds: usize, limit: &Limit) -> Samples {
    let mut samples: Samples = running.iter().map(|_| Vec::new()).collect();
    let mut order: Vec<_> = (0..running.len()).collect();
    order.retain(|&number| (running[number].takes)(cell));
    let mut random = Random::new(u64::from(process::id()));
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for &number in &order {
            let Running { name, started, .. } = &mut running[number];
            limit.restart(format!("{name} has not ended {cell}"));
            samples[number].push(started.measure(cell));
        }
    }
    samples
}

/// Ends the program if a step takes too long: a scheduler that hangs, such as one
/// that is being written.
pub struct Limit(Sender<String>);

impl Limit {
    /// No step takes so long.
    const TIME: Duration = Duration::from_secs(40);

    /// Starts the thread that watches.
    pub fn new() -> Self {
        let (begins, steps) = mpsc::channel::<String>();
        thread::spawn(move || {
            let mut step = String::from("nothing has begun");
            loop {
                match steps.recv_timeout(Self::TIME) {
                    Ok(next) => step = next,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        eprintln!("{step} after {:?}", Self::TIME);
                        process::exit(1);
                    }
                }
            }
        });
        Self(begins)
    }

    /// Begins the next step.
    pub fn restart(&self, step: String) {
        self.0.send(step).expect("it watches as long as this lives");
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self::new()
    }
}
