//! How long a task waits that comes from outside while every worker is busy.

use std::future::poll_fn;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use futures::task::AtomicWaker;

use super::busy::{Load, with_busy};
use super::{Sample, duration, patience};
use crate::cost;
use crate::random::Random;
use crate::schedulers::{Scheduler, Spawn};

/// So many tasks wait to be woken, in turn.
const SLEEPERS: usize = 8;

/// How long the samples of one kind waited, in nanoseconds.
#[derive(Default)]
struct Waits {
    sent: AtomicUsize,
    waited: Mutex<Vec<f64>>,
}

impl Waits {
    fn waited(&self) -> MutexGuard<'_, Vec<f64>> {
        self.waited.lock().expect("no thread panics with it")
    }

    fn send(&self) -> Instant {
        // Relaxed: one thread sends and asks.
        self.sent.fetch_add(1, Relaxed);
        Instant::now()
    }

    fn came(&self, sent: Instant) {
        let waited = sent.elapsed();
        self.waited().push(waited.as_nanos() as f64);
    }

    fn have_come(&self) -> bool {
        // Relaxed: as in `send`.
        self.waited().len() == self.sent.load(Relaxed)
    }

    /// Ends the measurement: what hasn't come never came.
    fn take(&self) -> Vec<f64> {
        let mut waited = std::mem::take(&mut *self.waited());
        // Relaxed: as in `send`.
        waited.resize(self.sent.load(Relaxed), f64::INFINITY);
        waited
    }
}

/// Wakes a task, and knows since when it has been waiting for its poll.
#[derive(Default)]
struct Bell {
    rung: Mutex<Vec<Instant>>,
    sleeper: AtomicWaker,
    is_heard: AtomicBool,
    is_over: AtomicBool,
}

impl Bell {
    fn rung(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.rung.lock().expect("no thread panics with it")
    }

    fn ring(&self, waits: &Waits) {
        self.rung().push(waits.send());
        self.sleeper.wake();
    }

    fn end(&self) {
        // Release: pairs with the Acquire in `hear`; nothing else is published.
        self.is_over.store(true, Release);
        self.sleeper.wake();
    }

    /// The task.
    async fn hear(self: Arc<Self>, waits: Arc<Waits>) {
        poll_fn(|cx| {
            self.sleeper.register(cx.waker());
            self.rung().drain(..).for_each(|sent| waits.came(sent));
            // Relaxed: for `start` only, which waits for nothing else.
            self.is_heard.store(true, Relaxed);
            // Acquire: pairs with the Release in `end`.
            match self.is_over.load(Acquire) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

/// Starts the tasks that are to be woken, before the workers are busy.
fn start<S: Scheduler>(scheduler: &S, woken: &Arc<Waits>) -> Vec<Arc<Bell>> {
    let bells: Vec<_> = (0..SLEEPERS).map(|_| Arc::<Bell>::default()).collect();
    scheduler.block_on(async {
        let spawner = scheduler.spawner();
        for bell in &bells {
            spawner.spawn(bell.clone().hear(woken.clone()));
        }
    });
    let begun = Instant::now();
    while !bells.iter().all(|bell| bell.is_heard.load(Relaxed)) && begun.elapsed() < patience() {
        thread::sleep(Duration::from_millis(1));
    }
    bells
}

/// Spawns and wakes, in turn, at random distances, so that the samples keep no
/// phase with the polls. They don't wait for one another: a scheduler that is
/// late isn't asked less often.
pub fn measure<S: Scheduler>(scheduler: &S, workers: usize, load: Load) -> Sample {
    let (spawned, woken) = (Arc::<Waits>::default(), Arc::<Waits>::default());
    let bells = start(scheduler, &woken);
    let ((), cost) = with_busy(scheduler, workers, load, |_| {
        cost::of(|| {
            scheduler
                .block_on(async { sample(scheduler.spawner(), load, &spawned, &bells, &woken) });
        })
    });
    let waits = vec![spawned.take(), woken.take()];
    bells.iter().for_each(|bell| bell.end());
    Sample {
        waits,
        figures: vec![cost.cores()],
    }
}

fn sample<S: Spawn>(
    spawner: S,
    load: Load,
    spawned: &Arc<Waits>,
    bells: &[Arc<Bell>],
    woken: &Waits,
) {
    let start = Instant::now();
    let mut random = Random::of_a_round();
    let mean = Duration::from_micros(100) + load.poll.mul_f64(2.5);
    for turn in 0.. {
        thread::sleep(mean.mul_f64(0.5 + random.fraction()));
        if start.elapsed() > time(load) {
            break;
        }
        if turn % 2 == 0 {
            let waits = spawned.clone();
            let sent = waits.send();
            spawner.spawn(async move { waits.came(sent) });
        } else {
            bells[turn / 2 % bells.len()].ring(woken);
        }
    }
    let over = Instant::now();
    while !(spawned.have_come() && woken.have_come()) && over.elapsed() < patience() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// How long a round takes: long enough for some hundred samples.
fn time(load: Load) -> Duration {
    duration(150 + load.poll.as_micros() as u64 / 2)
}
