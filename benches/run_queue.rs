//! Run queues of one owner and many thieves, by solution 11 and its peers:
//! `cargo bench -p benches --bench run_queue`.
//!
//! An item is one word, as a task is. Each workload moves [`ITEMS`] of them
//! through a queue of [`SLOTS`], and what is told is the time for one.

use std::collections::VecDeque;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use benches::table::{Estimates, criterion_home};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};

/// As many as tokio's queues have.
const SLOTS: usize = 256;
/// What one round moves.
const ITEMS: usize = 128;

const WORKLOADS: [&str; 3] = ["push-pop", "steal", "thief-at-work"];

/// A contender.
trait RunQueue: Sized {
    const NAME: &str;
    const NOTES: &str;
    type Thief: Send + 'static;

    fn make() -> (Self, Self::Thief);
    fn push(&self, item: usize) -> Result<(), usize>;
    fn pop(&self) -> Option<usize>;
    /// Moves a batch into this queue, and returns one more.
    fn steal_from(&self, thief: &Self::Thief) -> Option<usize>;
}

/// Contenders with the exercise's interface.
macro_rules! with_our_interface {
    ($queue:ident, $module:ident, $name:literal, $notes:literal) => {
        struct $queue($module::Local<usize, SLOTS>);

        impl RunQueue for $queue {
            const NAME: &str = $name;
            const NOTES: &str = $notes;
            type Thief = $module::Stealer<usize, SLOTS>;

            fn make() -> (Self, Self::Thief) {
                let (local, stealer) = $module::run_queue();
                (Self(local), stealer)
            }

            fn push(&self, item: usize) -> Result<(), usize> {
                self.0.push(item)
            }

            fn pop(&self) -> Option<usize> {
                self.0.pop()
            }

            fn steal_from(&self, thief: &Self::Thief) -> Option<usize> {
                thief.steal_into(&self.0)
            }
        }
    };
}

with_our_interface!(Solution, solution_11, "solution-11", "bounded; half");
#[cfg(feature = "mine-11")]
with_our_interface!(Mine, exercise_11, "exercise-11", "yours");

struct St3(st3::fifo::Worker<usize>);

impl RunQueue for St3 {
    const NAME: &str = "st3";
    const NOTES: &str = "bounded; half";
    type Thief = st3::fifo::Stealer<usize>;

    fn make() -> (Self, Self::Thief) {
        let worker = st3::fifo::Worker::new(SLOTS);
        let stealer = worker.stealer();
        (Self(worker), stealer)
    }

    fn push(&self, item: usize) -> Result<(), usize> {
        self.0.push(item)
    }

    fn pop(&self) -> Option<usize> {
        self.0.pop()
    }

    fn steal_from(&self, thief: &Self::Thief) -> Option<usize> {
        let stolen = thief.steal_and_pop(&self.0, |count| count.div_ceil(2));
        stolen.ok().map(|(item, _)| item)
    }
}

struct Crossbeam(crossbeam_deque::Worker<usize>);

impl RunQueue for Crossbeam {
    const NAME: &str = "crossbeam-deque";
    const NOTES: &str = "grows; half, 32 at most";
    type Thief = crossbeam_deque::Stealer<usize>;

    fn make() -> (Self, Self::Thief) {
        let worker = crossbeam_deque::Worker::new_fifo();
        let stealer = worker.stealer();
        (Self(worker), stealer)
    }

    fn push(&self, item: usize) -> Result<(), usize> {
        self.0.push(item);
        Ok(())
    }

    fn pop(&self) -> Option<usize> {
        self.0.pop()
    }

    fn steal_from(&self, thief: &Self::Thief) -> Option<usize> {
        thief.steal_batch_and_pop(&self.0).success()
    }
}

#[derive(Clone)]
struct Locked(Arc<Mutex<VecDeque<usize>>>);

impl Locked {
    fn with<R>(&self, change: impl FnOnce(&mut VecDeque<usize>) -> R) -> R {
        change(&mut self.0.lock().expect("no thread panics with the lock"))
    }
}

impl RunQueue for Locked {
    const NAME: &str = "mutex";
    const NOTES: &str = "`Mutex<VecDeque>`; half";
    type Thief = Self;

    fn make() -> (Self, Self) {
        let queue = Self(Arc::new(Mutex::new(VecDeque::with_capacity(SLOTS))));
        (queue.clone(), queue)
    }

    fn push(&self, item: usize) -> Result<(), usize> {
        self.with(|items| match items.len() {
            SLOTS => Err(item),
            _ => {
                items.push_back(item);
                Ok(())
            }
        })
    }

    fn pop(&self) -> Option<usize> {
        self.with(VecDeque::pop_front)
    }

    fn steal_from(&self, thief: &Self) -> Option<usize> {
        // No thread steals from a thief here, so no two threads wait for each other's locks.
        thief.with(|items| {
            let count = items.len().div_ceil(2);
            let mut stolen = items.drain(..count);
            let first = stolen.next();
            self.with(|own| own.extend(stolen));
            first
        })
    }
}

/// Pushes all, and pops all.
fn push_pop<Q: RunQueue>(queue: &Q) {
    fill(queue);
    drain(queue);
}

/// Pushes all; another queue steals half, of what is left half, and so on;
/// pops all.
fn steal<Q: RunQueue>(queue: &Q, thief: &Q::Thief, other: &Q) {
    fill(queue);
    while let Some(item) = other.steal_from(thief) {
        black_box(item);
        drain(other);
    }
}

fn fill<Q: RunQueue>(queue: &Q) {
    for item in 0..ITEMS {
        // With a thief at work slots may not be free again yet.
        while queue.push(black_box(item)).is_err() {
            black_box(queue.pop());
        }
    }
}

fn drain<Q: RunQueue>(queue: &Q) {
    while let Some(item) = queue.pop() {
        black_box(item);
    }
}

/// Steals as fast as it can until it is over.
fn thieve<Q: RunQueue>(thief: &Q::Thief, is_over: &AtomicBool) {
    let (own, _) = Q::make();
    while !is_over.load(Relaxed) {
        match own.steal_from(thief) {
            Some(item) => {
                black_box(item);
                drain(&own);
            }
            None => spin_loop(),
        }
    }
}

/// The time of so many rounds of `round`.
fn time(rounds: u64, mut round: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..rounds).for_each(|_| round());
    start.elapsed()
}

/// Measures all workloads for one contender.
fn measure<Q: RunQueue>(group: &mut BenchmarkGroup<WallTime>) {
    for workload in WORKLOADS {
        let (queue, thief) = Q::make();
        let (other, _) = Q::make();
        let id = BenchmarkId::new(Q::NAME, workload);
        group.bench_function(id, |bencher| match workload {
            "push-pop" => bencher.iter(|| push_pop(&queue)),
            "steal" => bencher.iter(|| steal(&queue, &thief, &other)),
            _ => bencher.iter_custom(with_thief_at_work::<Q>),
        });
    }
}

/// Pushes and pops while another thread steals.
fn with_thief_at_work<Q: RunQueue>(rounds: u64) -> Duration {
    let (queue, thief) = Q::make();
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(move || thieve::<Q>(&thief, is_over));
        let elapsed = time(rounds, || push_pop(&queue));
        is_over.store(true, Relaxed);
        elapsed
    })
}

fn main() {
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(30)
        .configure_from_args();
    let estimates = Estimates::from_now_on("run_queue");
    let mut group = criterion.benchmark_group("run_queue");
    measure::<Solution>(&mut group);
    #[cfg(feature = "mine-11")]
    measure::<Mine>(&mut group);
    measure::<St3>(&mut group);
    measure::<Crossbeam>(&mut group);
    measure::<Locked>(&mut group);
    group.finish();
    println!("\nmedian ns an item, of {ITEMS} in {SLOTS} slots\n");
    println!("| | {} | |\n|---|---|---|---|---|", WORKLOADS.join(" | "));
    print_row::<Solution>(&estimates);
    #[cfg(feature = "mine-11")]
    print_row::<Mine>(&estimates);
    print_row::<St3>(&estimates);
    print_row::<Crossbeam>(&estimates);
    print_row::<Locked>(&estimates);
}

/// The times of a contender, and how many times solution 11's they are.
fn print_row<Q: RunQueue>(estimates: &Estimates) {
    let cells = WORKLOADS.map(|workload| {
        let per_item = |name| Some(estimates.median_ns(name, workload)? / ITEMS as f64);
        let (own, ours) = (per_item(Q::NAME), per_item(Solution::NAME));
        let ns = own.map_or("–".into(), |ns| format!("{ns:.1}"));
        let ratio = own
            .zip(ours)
            .map(|(own, ours)| format!(" ({:.2})", own / ours));
        ns + &ratio.unwrap_or_default()
    });
    println!("| {} | {} | {} |", Q::NAME, cells.join(" | "), Q::NOTES);
}
