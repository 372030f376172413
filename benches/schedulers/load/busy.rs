//! Tasks that keep all workers busy.

use std::fmt;
use std::future::poll_fn;
use std::hint;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use futures::task::AtomicWaker;

use super::census::Census;
use super::duration;
use crate::schedulers::{Scheduler, Spawn, wake_itself};

/// How many busy tasks there are for each worker.
const TASKS_EACH: usize = 4;

/// What a busy task does between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// It yields, as its scheduler would have it.
    Yields,
    /// It wakes itself.
    WakesItself,
    /// It wakes another, which wakes it.
    PingPongs,
}

impl Habit {
    /// Says what tasks of this habit do.
    pub fn what(self) -> &'static str {
        match self {
            Self::Yields => "yield",
            Self::WakesItself => "wake themselves",
            Self::PingPongs => "wake one another",
        }
    }
}

/// As in a cell's name.
impl fmt::Display for Habit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yields => "yield",
            Self::WakesItself => "wake",
            Self::PingPongs => "ping-pong",
        })
    }
}

/// How the workers are kept busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// What each task does between two polls.
    pub habit: Habit,
    /// How long each poll takes.
    pub poll: Duration,
}

/// Uses the processor for so long, by the clock.
pub fn work_for(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        hint::spin_loop();
    }
}

/// The busy tasks, while they run.
pub struct Busy {
    poll: Duration,
    is_over: AtomicBool,
    /// Of the polls of busy tasks.
    pub census: Census,
}

impl Busy {
    /// One poll's work. Returns `false` if it was the last.
    fn works(&self) -> bool {
        self.census.note();
        work_for(self.poll);
        // Relaxed: a poll more does no harm.
        !self.is_over.load(Relaxed)
    }

    async fn run<S: Spawn>(self: Arc<Self>, habit: Habit, court: Arc<Court>, side: usize) {
        match habit {
            Habit::Yields => {
                while self.works() {
                    S::yield_now().await;
                }
            }
            Habit::WakesItself => {
                while self.works() {
                    wake_itself().await;
                }
            }
            Habit::PingPongs => {
                let mut goes_on = true;
                while goes_on {
                    court.ball(side).await;
                    goes_on = self.works();
                    // The other must end, too.
                    court.hit_to(1 - side);
                }
            }
        }
    }
}

/// Where two tasks play.
#[derive(Default)]
struct Court {
    sides: [Side; 2],
}

#[derive(Default)]
struct Side {
    has_ball: AtomicBool,
    player: AtomicWaker,
}

impl Court {
    /// Waits for the ball.
    async fn ball(&self, side: usize) {
        let Side { has_ball, player } = &self.sides[side];
        poll_fn(|cx| {
            player.register(cx.waker());
            // Acquire: pairs with the Release in `hit_to`; nothing else is
            // published by it.
            match has_ball.swap(false, Acquire) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }

    fn hit_to(&self, side: usize) {
        // Release: pairs with the Acquire in `ball`.
        self.sides[side].has_ball.store(true, Release);
        self.sides[side].player.wake();
    }
}

/// Keeps all workers busy while `measure` runs on this thread.
pub fn with_busy<S: Scheduler, R>(
    scheduler: &S,
    workers: usize,
    load: Load,
    measure: impl FnOnce(&Busy) -> R,
) -> R {
    let busy = Arc::new(Busy {
        poll: load.poll,
        is_over: AtomicBool::new(false),
        census: Census::new(),
    });
    let mut handles: Vec<Pin<Box<_>>> = Vec::new();
    for _ in 0..workers * TASKS_EACH / 2 {
        let court = Arc::new(Court::default());
        for side in 0..2 {
            let task = busy
                .clone()
                .run::<S::Spawner>(load.habit, court.clone(), side);
            handles.push(Box::pin(scheduler.spawn(task)));
        }
        court.hit_to(0);
    }
    warm_up(&busy, workers);
    let measured = measure(&busy);
    // Relaxed: as in `works`.
    busy.is_over.store(true, Relaxed);
    scheduler.block_on(async {
        for handle in handles {
            handle.await;
        }
    });
    measured
}

/// Waits until all workers are busy. One that never is shows in the figures.
fn warm_up(busy: &Busy, workers: usize) {
    let (start, limit) = (Instant::now(), duration(500));
    while busy.census.workers() < workers && start.elapsed() < limit {
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(duration(10).max(busy.poll * 10));
}
