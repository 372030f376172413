//! How soon many blocking jobs run that all block at once:
//! `cargo bench -p benches --bench blocking_start`.
//!
//! 64 jobs are submitted to a pool that has no thread yet. Each of them blocks until
//! all have begun, so that the pool needs a thread for each. What counts is when the
//! last of them begins: on a quiet machine, and beside four threads for each
//! processor that never stop. All pools take turns, in an order that differs each
//! time. `SCHEDULER_ROUNDS=31` in the environment sets the number of rounds.

use std::process;
use std::sync::Arc;
use std::time::Duration;

use benches::noise;
use benches::random::Random;
use benches::schedulers::load::census::Census;
use benches::schedulers::load::latch::Latch;
use benches::schedulers::measure::{is_test, rounds};
use benches::summary::{Summary, time, time_with_spread};

const JOBS: usize = 64;
const MAX_THREADS: usize = 512;
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// A job doesn't wait longer for the others.
const LIMIT: Duration = Duration::from_secs(5);

/// A pool's name, and what submits jobs to a new pool and waits for their end.
type Contender = (&'static str, fn(&Round));

const CONTENDERS: &[Contender] = &[
    ("solution-6", |round| {
        let pool = solution_6::Pool::new(MAX_THREADS, KEEP_ALIVE);
        let handles = [(); JOBS].map(|()| pool.spawn_blocking(round.job()));
        round.wait();
        drop(handles);
    }),
    #[cfg(feature = "mine-6")]
    ("exercise-6", |round| {
        let pool = exercise_6::Pool::new(MAX_THREADS, KEEP_ALIVE);
        let handles = [(); JOBS].map(|()| pool.spawn_blocking(round.job()));
        round.wait();
        drop(handles);
    }),
    ("tokio", |round| {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime without a thread can be built");
        let handles = [(); JOBS].map(|()| runtime.spawn_blocking(round.job()));
        round.wait();
        drop(handles);
    }),
];

/// The jobs of a pool.
struct Round {
    began: Arc<Census>,
    all_began: Arc<Latch>,
}

impl Round {
    fn new() -> Self {
        Self {
            began: Arc::new(Census::new()),
            all_began: Arc::new(Latch::new(JOBS)),
        }
    }

    fn job(&self) -> impl FnOnce() + Send + 'static {
        let (began, all_began) = (self.began.clone(), self.all_began.clone());
        move || {
            began.note();
            all_began.one_done();
            all_began.wait(LIMIT);
        }
    }

    fn wait(&self) {
        self.all_began.wait(LIMIT);
    }

    /// When the first and the last job began, in nanoseconds.
    fn first_and_last(&self) -> (f64, f64) {
        let began = self.began.first_polls();
        let first = began.first().copied().unwrap_or(f64::INFINITY);
        match began.len() {
            JOBS => (first, began[JOBS - 1]),
            _ => (first, f64::INFINITY),
        }
    }
}

fn measure(rounds: usize) -> Vec<Vec<(f64, f64)>> {
    let mut begun: Vec<_> = CONTENDERS.iter().map(|_| Vec::new()).collect();
    let mut order: Vec<_> = (0..CONTENDERS.len()).collect();
    let mut random = Random::new(u64::from(process::id()));
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for &number in &order {
            let round = Round::new();
            (CONTENDERS[number].1)(&round);
            begun[number].push(round.first_and_last());
        }
    }
    begun
}

fn main() {
    let rounds = rounds().unwrap_or(if is_test() { 1 } else { 21 });
    for (title, is_loaded) in [("quiet", false), ("loaded", true)] {
        let begun = match is_loaded {
            true => noise::beside(|| measure(rounds)),
            false => measure(rounds),
        };
        println!(
            "{title:<14}{:>24}{:>24}{:>14}",
            "first of 64", "last of 64", "longest"
        );
        for ((name, _), begun) in CONTENDERS.iter().zip(begun) {
            let (firsts, lasts): (Vec<_>, Vec<_>) = begun.into_iter().unzip();
            let longest = lasts.iter().copied().fold(0.0, f64::max);
            let [first, last] = [firsts, lasts].map(|times| {
                let summary = Summary::of(times).expect("there is a round");
                time_with_spread(summary)
            });
            println!("{name:<14}{first:>24}{last:>24}{:>14}", time(longest));
        }
        println!();
    }
}
