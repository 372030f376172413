//! 100,000 sleeps at once, cancelled or fired, by solution 5 and its peers:
//! `cargo bench -p benches --bench timers`.
//!
//! Each sleep is made and polled once, and there is one waker for all of them,
//! which counts. What is timed is said at [`cancelled`] and [`fired`]. Either
//! is done alone, and among as many others that wait all the while.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use benches::cost::{self, Cost};
use benches::schedulers::measure::is_test;
use benches::table::{Estimates, criterion_home};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode};
use tokio::runtime::Builder;

/// How many sleeps there are.
fn sleep_count() -> usize {
    if is_test() { 1_000 } else { 100_000 }
}

/// What is done with the sleeps, and whether others wait meanwhile.
const WORKLOADS: [(&str, Kind, bool); 4] = [
    ("cancelled", Kind::Cancelled, false),
    ("fired", Kind::Fired, false),
    ("cancelled-among", Kind::Cancelled, true),
    ("fired-among", Kind::Fired, true),
];

#[derive(Clone, Copy)]
enum Kind {
    Cancelled,
    Fired,
}

/// Counts down to the last wake-up, and then wakes the future that waits for it.
struct Countdown {
    left: AtomicUsize,
    waits: Mutex<Option<Waker>>,
}

impl Countdown {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            left: AtomicUsize::new(sleep_count()),
            waits: Mutex::default(),
        })
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        *waits = Some(cx.waker().clone());
        match self.left.load(SeqCst) {
            0 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

impl Wake for Countdown {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.left.fetch_sub(1, SeqCst) == 1 {
            let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
            waits.take().into_iter().for_each(Waker::wake);
        }
    }
}

/// Durations that look random, from `shortest` on: xorshift64 (Marsaglia, 2003).
fn durations(shortest: Duration, spread: Duration) -> Vec<Duration> {
    let mut number = 88_172_645_463_325_252_u64;
    let draw = |_| {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        shortest + Duration::from_nanos(number % spread.as_nanos() as u64)
    };
    (0..sleep_count()).map(draw).collect()
}

/// Polls each sleep where it lies, as in a task; nothing is boxed.
fn poll_each<F: Future>(sleeps: &mut [F], waker: &Waker) -> usize {
    let mut cx = Context::from_waker(waker);
    let is_ready = |sleep: &mut F| {
        // SAFETY: the caller drops the vector of sleeps in place, and never moves one.
        let sleep = unsafe { Pin::new_unchecked(sleep) };
        sleep.poll(&mut cx).is_ready()
    };
    sleeps
        .iter_mut()
        .map(is_ready)
        .filter(|ready| *ready)
        .count()
}

/// Makes the sleeps, polls each, and drops them: the life of most timeouts.
fn cancelled<F: Future>(make: impl Fn(Duration) -> F) -> Cost {
    let durations = durations(Duration::from_secs(10), Duration::from_secs(10));
    let waker = Waker::from(Countdown::new());
    let mut sleeps = Vec::with_capacity(sleep_count());
    let ((), cost) = cost::of(|| {
        sleeps.extend(durations.into_iter().map(make));
        assert_eq!(poll_each(&mut sleeps, &waker), 0, "none is due yet");
        sleeps.clear();
    });
    cost
}

/// Makes the sleeps, polls each, waits until all are woken, polls each again
/// and drops them. The time from the last first poll to the last deadline, in
/// which most of them fire, is left out; its CPU time isn't.
fn fired<F: Future>(make: impl Fn(Duration) -> F, wait: impl Fn(&Countdown)) -> Cost {
    let (shortest, spread) = (Duration::from_millis(150), Duration::from_millis(50));
    let durations = durations(shortest, spread);
    let countdown = Countdown::new();
    let waker = Waker::from(countdown.clone());
    let mut sleeps = Vec::with_capacity(sleep_count());
    let (left_out, mut cost) = cost::of(|| {
        sleeps.extend(durations.into_iter().map(make));
        let last = Instant::now() + shortest + spread;
        assert_eq!(poll_each(&mut sleeps, &waker), 0, "none is due yet");
        let left_out = last.saturating_duration_since(Instant::now());
        wait(&countdown);
        assert_eq!(poll_each(&mut sleeps, &waker), sleep_count(), "all are due");
        sleeps.clear();
        left_out
    });
    cost.wall = cost.wall.saturating_sub(left_out);
    cost
}

/// Sleeps that outlast all that is measured, each with a deadline of its own.
/// They wait until they are dropped.
fn others<F: Future>(make: impl Fn(Duration) -> F) -> Vec<F> {
    let durations = durations(Duration::from_secs(150), Duration::from_secs(3_600));
    let mut others: Vec<_> = durations.into_iter().map(make).collect();
    let ready_count = poll_each(&mut others, Waker::noop());
    assert_eq!(ready_count, 0, "none is due yet");
    others
}

/// What has been measured.
struct Measured<'a> {
    group: BenchmarkGroup<'a, WallTime>,
    cpu_times: BTreeMap<(&'static str, &'static str), Vec<Duration>>,
    /// The contenders and what there is to know about them.
    contenders: Vec<(&'static str, &'static str)>,
}

impl Measured<'_> {
    /// Measures all workloads for one contender, which makes its sleeps by
    /// `make`, and drives them by `wait` where nothing else does.
    fn measure<F: Future>(
        &mut self,
        (contender, notes): (&'static str, &'static str),
        make: impl Fn(Duration) -> F,
        wait: impl Fn(&Countdown),
    ) {
        self.contenders.push((contender, notes));
        for (workload, kind, is_among) in WORKLOADS {
            let others = is_among.then(|| others(&make));
            let cpu_times = self.cpu_times.entry((contender, workload)).or_default();
            let mut once = || {
                let cost = match kind {
                    Kind::Cancelled => cancelled(&make),
                    Kind::Fired => fired(&make, &wait),
                };
                cpu_times.extend(cost.cpu);
                cost.wall
            };
            let id = BenchmarkId::new(contender, workload);
            self.group.bench_function(id, |bencher| {
                bencher.iter_custom(|times| (0..times).map(|_| once()).sum());
            });
            drop(others);
        }
    }

    /// Median ns for a sleep: time on the clock, and CPU time of all threads.
    fn medians(&mut self, estimates: &Estimates, contender: &'static str) -> Vec<[Option<f64>; 2]> {
        let per_sleep = |ns: f64| ns / sleep_count() as f64;
        let mut medians = |(workload, _, _)| {
            let wall = estimates.median_ns(contender, workload);
            let times = self.cpu_times.get_mut(&(contender, workload));
            let cpu = times.and_then(|times| {
                times.sort();
                Some(times.get(times.len() / 2)?.as_nanos() as f64)
            });
            [wall.map(per_sleep), cpu.map(per_sleep)]
        };
        WORKLOADS.map(&mut medians).to_vec()
    }

    fn print_table(mut self, estimates: &Estimates) {
        let sleep_count = sleep_count();
        println!("\n{sleep_count} sleeps, median ns for each: wall / CPU of all threads");
        println!("(of tokio's). Among: while {sleep_count} others wait.\n");
        println!("| | {} | |", WORKLOADS.map(|(name, ..)| name).join(" | "));
        println!("|---{}|---|", "|---".repeat(WORKLOADS.len()));
        let tokio = self.medians(estimates, "tokio");
        for (contender, notes) in std::mem::take(&mut self.contenders) {
            let own = self.medians(estimates, contender);
            let cells = own.iter().zip(&tokio).map(|(own, tokio)| cell(own, tokio));
            let cells = cells.collect::<Vec<_>>().join(" | ");
            println!("| {contender} | {cells} | {notes} |");
        }
    }
}

/// A contender's wall and CPU time, and their ratios to tokio's.
fn cell(own: &[Option<f64>; 2], tokio: &[Option<f64>; 2]) -> String {
    let ns = |ns: Option<f64>| ns.map_or("–".into(), |ns| format!("{ns:.0}"));
    let ratio = |at: usize| {
        let ratio = own[at].zip(tokio[at]).map(|(own, tokio)| own / tokio);
        ratio.map_or("–".into(), |ratio| format!("{ratio:.2}"))
    };
    let [wall, cpu] = own.map(ns);
    format!("{wall} / {cpu} ({} / {})", ratio(0), ratio(1))
}

fn main() {
    let worker = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build();
    let worker = worker.expect("a worker can be started");
    let current = Builder::new_current_thread().enable_time().build();
    let current = current.expect("a runtime without a thread can be built");
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(200))
        .sample_size(12)
        .nresamples(2_000)
        .configure_from_args();
    let estimates = Estimates::from_now_on("timers");
    let mut group = criterion.benchmark_group("timers");
    group.sampling_mode(SamplingMode::Flat);
    let mut measured = Measured {
        group,
        cpu_times: BTreeMap::new(),
        contenders: Vec::new(),
    };
    let on_our_thread = |all: &Countdown| solution_4::block_on(poll_fn(|cx| all.poll(cx)));
    let about = ("solution-5", "a wheel, driven by a thread of its own");
    measured.measure(about, solution_5::sleep, on_our_thread);
    #[cfg(feature = "mine-5")]
    measured.measure(("exercise-5", "yours"), exercise_5::sleep, on_our_thread);
    let about = ("tokio", "a wheel, driven by a worker; made outside of it");
    {
        let _context = worker.enter();
        let wait = |all: &Countdown| worker.block_on(poll_fn(|cx| all.poll(cx)));
        measured.measure(about, tokio::time::sleep, wait);
    }
    let about = (
        "tokio-current",
        "the same, driven by the thread that makes them",
    );
    {
        let _context = current.enter();
        let wait = |all: &Countdown| current.block_on(poll_fn(|cx| all.poll(cx)));
        measured.measure(about, tokio::time::sleep, wait);
    }
    let about = ("async-io", "an ordered map, driven by the waiting threads");
    let wait = |all: &Countdown| async_io::block_on(poll_fn(|cx| all.poll(cx)));
    measured.measure(about, async_io::Timer::after, wait);
    measured.print_table(&estimates);
}
