//! How evenly tasks that never wait get their turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use super::busy::Habit;
use super::{Sample, duration};
use crate::cost;
use crate::schedulers::{Scheduler, Spawn, wake_itself};

const TASKS: usize = 200;

/// Written by one task, so it has its cache lines for itself.
#[derive(Default)]
#[repr(align(128))]
struct Turns(AtomicUsize);

struct Ring {
    turns: Vec<Turns>,
    is_over: AtomicBool,
}

impl Ring {
    /// A task that only takes its turns. All orderings are Relaxed: they are counts.
    async fn run<S: Spawn>(self: Arc<Self>, number: usize, habit: Habit) {
        while !self.is_over.load(Relaxed) {
            let turns = &self.turns[number].0;
            turns.store(turns.load(Relaxed) + 1, Relaxed);
            match habit {
                Habit::Yields => S::yield_now().await,
                _ => wake_itself().await,
            }
        }
    }

    fn counts(&self) -> Vec<usize> {
        self.turns.iter().map(|one| one.0.load(Relaxed)).collect()
    }
}

/// Gives the least, the median and the most turns that one of the tasks got, and
/// the time between two turns of any tasks.
pub fn measure<S: Scheduler>(scheduler: &S, habit: Habit) -> Sample {
    let ring = Arc::new(Ring {
        turns: (0..TASKS).map(|_| Turns::default()).collect(),
        is_over: AtomicBool::new(false),
    });
    let run = |number| ring.clone().run::<S::Spawner>(number, habit);
    let handles: Vec<_> = (0..TASKS)
        .map(|number| Box::pin(scheduler.spawn(run(number))))
        .collect();
    thread::sleep(duration(20));
    let before = ring.counts();
    let ((), cost) = cost::of(|| thread::sleep(duration(150)));
    let after = ring.counts().into_iter();
    let mut turns: Vec<_> = after
        .zip(before)
        .map(|(after, before)| after - before)
        .collect();
    ring.is_over.store(true, Relaxed);
    scheduler.block_on(async {
        for handle in handles {
            handle.await;
        }
    });
    turns.sort();
    let all = turns.iter().sum::<usize>() as f64;
    let between = cost.wall.as_nanos() as f64 / all;
    let (least, median, most) = (turns[0], turns[TASKS / 2], turns[TASKS - 1]);
    let figures = [least, median, most].map(|turns| turns as f64);
    Sample {
        waits: Vec::new(),
        figures: [figures.as_slice(), &[between, cost.cores()]].concat(),
    }
}
