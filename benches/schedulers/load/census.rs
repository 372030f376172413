//! Which worker polls how much, and when each of them polls first.

use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::Instant;

/// As many threads as there may be at most.
const MOST_WORKERS: usize = 64;

/// Counts polls by worker. Workers are numbered in the order of their first poll.
pub struct Census {
    /// Differs from that of all other censuses; never 0.
    id: u64,
    /// When it began, in nanoseconds since the program's first census.
    start_ns: AtomicU64,
    /// How many workers have polled.
    seen: AtomicUsize,
    workers: [OfWorker; MOST_WORKERS],
}

/// Written by one worker only, so it has its cache lines for itself.
#[derive(Default)]
#[repr(align(128))]
struct OfWorker {
    polls: AtomicUsize,
    /// Which thread it is; 0 until it is known.
    thread: AtomicU64,
    /// When it polled first, in nanoseconds since the start.
    first_ns: AtomicU64,
}

static THREADS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Differs from that of all other threads.
    static THREAD: u64 = THREADS.fetch_add(1, Relaxed);
    /// The census that this thread was counted in last, and its number there.
    static COUNTED: Cell<(u64, usize)> = const { Cell::new((0, 0)) };
}

impl Census {
    /// Begins to count.
    pub fn new() -> Self {
        static IDS: AtomicU64 = AtomicU64::new(1);
        Self {
            id: IDS.fetch_add(1, Relaxed),
            start_ns: AtomicU64::new(now_ns()),
            seen: AtomicUsize::new(0),
            workers: std::array::from_fn(|_| OfWorker::default()),
        }
    }

    /// Counts a poll on this thread.
    pub fn note(&self) {
        let (id, number) = COUNTED.get();
        let number = if id == self.id { number } else { self.admit() };
        let polls = &self.workers[number].polls;
        // Relaxed: only this thread writes it, and a reader wants a number only.
        polls.store(polls.load(Relaxed) + 1, Relaxed);
    }

    #[cold]
    fn admit(&self) -> usize {
        let thread = THREAD.with(|&thread| thread);
        // Relaxed: this thread looks for what it has stored itself.
        let known = |worker: &OfWorker| worker.thread.load(Relaxed) == thread;
        let number = self.workers[..self.workers()].iter().position(known);
        let number = number.unwrap_or_else(|| {
            let first = self.age_ns() as u64;
            // Relaxed: it only gives out numbers.
            let number = self.seen.fetch_add(1, Relaxed);
            self.workers[number].thread.store(thread, Relaxed);
            // Release: pairs with the Acquire in `first_polls`.
            self.workers[number].first_ns.store(first.max(1), Release);
            number
        });
        COUNTED.set((self.id, number));
        number
    }

    /// Starts the time again. The caller must know that no task is polled.
    pub fn restart(&self) {
        // Relaxed: what lets the workers go on publishes it.
        self.start_ns.store(now_ns(), Relaxed);
    }

    /// Returns how long ago it began, in nanoseconds.
    pub fn age_ns(&self) -> f64 {
        // Relaxed: as in `restart`.
        (now_ns() - self.start_ns.load(Relaxed)) as f64
    }

    /// Returns how many workers have polled.
    pub fn workers(&self) -> usize {
        self.seen.load(Relaxed)
    }

    /// Returns the polls of each worker that has polled.
    pub fn polls(&self) -> Vec<usize> {
        let workers = &self.workers[..self.workers()];
        let polls = workers.iter().map(|worker| worker.polls.load(Relaxed));
        polls.collect()
    }

    /// Returns when each worker polled first, in nanoseconds since the census
    /// began, the earliest first.
    pub fn first_polls(&self) -> Vec<f64> {
        let workers = &self.workers[..self.workers()];
        // Acquire: pairs with the Release in `admit`.
        let firsts = workers.iter().map(|worker| worker.first_ns.load(Acquire));
        let mut firsts: Vec<_> = firsts.filter(|&ns| ns > 0).map(|ns| ns as f64).collect();
        firsts.sort_by(f64::total_cmp);
        firsts
    }
}

fn now_ns() -> u64 {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST.elapsed().as_nanos() as u64
}

impl Default for Census {
    fn default() -> Self {
        Self::new()
    }
}
