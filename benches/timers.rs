//! 100,000 sleeps at once, cancelled or fired, by solution 5 and its peers:
//! `cargo bench -p benches --bench timers`.
//!
//! Each sleep is made and polled once, and there is one waker for all of them,
//! which counts. What is timed is said at [`cancelled`] and [`fired`].

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use benches::cost::{self, Cost};
use benches::table::{Estimates, criterion_home};
use criterion::{BenchmarkId, Criterion, SamplingMode};
use tokio::runtime::{Builder, Runtime};

const SLEEPS: usize = 100_000;

/// The contenders and what there is to know about them.
const CONTENDERS: &[(&str, &str)] = &[
    ("solution-5", "a wheel, driven by a thread of its own"),
    #[cfg(feature = "mine")]
    ("exercise-5", "yours"),
    ("tokio", "a wheel, driven by a worker; made outside of it"),
    (
        "tokio-current",
        "the same, driven by the thread that makes them",
    ),
    ("async-io", "an ordered map, driven by whoever waits"),
];

/// Counts down to the last wake-up, and then wakes whoever waits for it.
struct Countdown {
    left: AtomicUsize,
    waits: Mutex<Option<Waker>>,
}

impl Countdown {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            left: AtomicUsize::new(SLEEPS),
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
    (0..SLEEPS).map(draw).collect()
}

/// Polls each sleep where it lies, as in a task; nothing is boxed.
fn poll_each<F: Future>(sleeps: &mut [F], waker: &Waker) -> usize {
    let mut cx = Context::from_waker(waker);
    let is_ready = |sleep: &mut F| {
        // SAFETY: whoever calls this drops the vector of sleeps in place, and never moves one.
        let sleep = unsafe { Pin::new_unchecked(sleep) };
        sleep.poll(&mut cx).is_ready()
    };
    sleeps
        .iter_mut()
        .map(is_ready)
        .filter(|ready| *ready)
        .count()
}

/// Makes the sleeps, polls each, and drops them: the life of most time-outs.
fn cancelled<F: Future>(make: impl Fn(Duration) -> F) -> Cost {
    let durations = durations(Duration::from_secs(10), Duration::from_secs(10));
    let waker = Waker::from(Countdown::new());
    let mut sleeps = Vec::with_capacity(SLEEPS);
    let ((), cost) = cost::of(|| {
        sleeps.extend(durations.into_iter().map(make));
        assert_eq!(poll_each(&mut sleeps, &waker), 0, "none is due yet");
        sleeps.clear();
    });
    cost
}

/// Makes the sleeps, polls each, waits until all are woken, polls each again
/// and drops them. The time from the last first poll to the last deadline, in
/// which most of them fire, is left out; its CPU time is not.
fn fired<F: Future>(make: impl Fn(Duration) -> F, wait: impl FnOnce(&Countdown)) -> Cost {
    let (shortest, spread) = (Duration::from_millis(150), Duration::from_millis(50));
    let durations = durations(shortest, spread);
    let countdown = Countdown::new();
    let waker = Waker::from(countdown.clone());
    let mut sleeps = Vec::with_capacity(SLEEPS);
    let (left_out, mut cost) = cost::of(|| {
        sleeps.extend(durations.into_iter().map(make));
        let last = Instant::now() + shortest + spread;
        assert_eq!(poll_each(&mut sleeps, &waker), 0, "none is due yet");
        let left_out = last.saturating_duration_since(Instant::now());
        wait(&countdown);
        assert_eq!(poll_each(&mut sleeps, &waker), SLEEPS, "all are due");
        sleeps.clear();
        left_out
    });
    cost.wall = cost.wall.saturating_sub(left_out);
    cost
}

/// The runtimes that some contenders need.
struct Runtimes {
    worker: Runtime,
    current: Runtime,
}

/// Runs one workload by one contender, in the way that is its own.
fn run(contender: &str, workload: &str, runtimes: &Runtimes) -> Cost {
    macro_rules! run {
        ($make:expr, $block_on:expr) => {
            match workload {
                "cancelled" => cancelled($make),
                "fired" => fired($make, |all| $block_on(poll_fn(|cx| all.poll(cx)))),
                other => unreachable!("no workload `{other}`"),
            }
        };
    }
    match contender {
        "solution-5" => run!(solution_5::sleep, solution_4::block_on),
        #[cfg(feature = "mine")]
        "exercise-5" => run!(exercise_5::sleep, solution_4::block_on),
        "tokio" => {
            let _context = runtimes.worker.enter();
            run!(tokio::time::sleep, |all| runtimes.worker.block_on(all))
        }
        "tokio-current" => {
            let _context = runtimes.current.enter();
            run!(tokio::time::sleep, |all| runtimes.current.block_on(all))
        }
        "async-io" => run!(async_io::Timer::after, async_io::block_on),
        other => unreachable!("no contender `{other}`"),
    }
}

fn main() {
    let runtimes = Runtimes {
        worker: Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .expect("a worker can be started"),
        current: Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime without a thread can be built"),
    };
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(200))
        .sample_size(12)
        .nresamples(2_000)
        .configure_from_args();
    let estimates = Estimates::from_now_on("timers");
    let mut cpu_times = BTreeMap::<_, Vec<Duration>>::new();
    let mut group = criterion.benchmark_group("timers");
    group.sampling_mode(SamplingMode::Flat);
    for workload in ["cancelled", "fired"] {
        for (contender, _) in CONTENDERS {
            let cpu_times = cpu_times.entry((*contender, workload)).or_default();
            group.bench_function(BenchmarkId::new(*contender, workload), |bencher| {
                bencher.iter_custom(|times| {
                    let mut one = || {
                        let cost = run(contender, workload, &runtimes);
                        cpu_times.extend(cost.cpu);
                        cost.wall
                    };
                    (0..times).map(|_| one()).sum()
                });
            });
        }
    }
    group.finish();
    println!("\n{SLEEPS} sleeps, median ns for each (wall, then CPU of all threads):\n");
    print_table(&estimates, cpu_times);
}

fn print_table(
    estimates: &Estimates,
    mut cpu_times: BTreeMap<(&'static str, &'static str), Vec<Duration>>,
) {
    let per_sleep = |ns: f64| ns / SLEEPS as f64;
    let mut row = |contender: &'static str| {
        let mut cells = Vec::new();
        for workload in ["cancelled", "fired"] {
            let wall = estimates.median_ns(contender, workload);
            let cpu = cpu_times.get_mut(&(contender, workload)).and_then(|times| {
                times.sort();
                Some(times.get(times.len() / 2)?.as_nanos() as f64)
            });
            cells.extend([wall.map(per_sleep), cpu.map(per_sleep)]);
        }
        cells
    };
    let tokio = row("tokio");
    println!("| | cancelled | CPU | of tokio's | fired | CPU | of tokio's | |");
    println!("|---|---|---|---|---|---|---|---|");
    for (contender, notes) in CONTENDERS {
        let own = row(contender);
        let cell = |at: usize| own[at].map_or("–".into(), |ns| format!("{ns:.0}"));
        let ratio = |at: usize| {
            let of = own[at].zip(tokio[at]).map(|(own, tokio)| own / tokio);
            of.map_or("–".into(), |ratio| format!("{ratio:.2}"))
        };
        println!(
            "| {contender} | {} | {} | {} / {} | {} | {} | {} / {} | {notes} |",
            cell(0),
            cell(1),
            ratio(0),
            ratio(1),
            cell(2),
            cell(3),
            ratio(2),
            ratio(3),
        );
    }
}
