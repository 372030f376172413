//! Counts the primes below 500,000, one task for each number, and yields more
//! or less often: `cargo bench -p benches --bench yields`. One run of each.
//!
//! The rows that yield at each divisor take minutes at full size. A smaller
//! limit makes it shorter: `… --bench yields -- --below 100000`.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use benches::cost::{self, Cost};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Wolverson's limit, see `src/sources.md`. A reader who measures an exercise
/// need not wait so long.
const BELOW: u32 = if cfg!(feature = "mine-7") {
    100_000
} else {
    500_000
};
/// How often the heartbeat means to beat.
const BEAT: Duration = Duration::from_millis(10);

/// Tries all divisors, and does `$between` after each. A macro, so that each
/// is compiled as in a program that uses it.
macro_rules! is_prime {
    ($number:ident, $between:expr) => {{
        for divisor in 2..$number {
            if u32::is_multiple_of($number, divisor) {
                return false;
            }
            let () = $between;
        }
        true
    }};
}

/// A task that yields by `$exercise` after every `$n`-th divisor.
macro_rules! every_nth {
    ($exercise:ident, $n:expr) => {
        |number| async move {
            let n = NonZeroU32::new($n).expect("no row counts to zero");
            let mut every_nth = $exercise::EveryNth::new(n);
            is_prime!(number, every_nth.tick().await)
        }
    };
}

fn main() {
    let below = below(std::env::args().collect());
    let runtime = Builder::new_multi_thread().enable_time().build();
    let bench = Bench {
        runtime: runtime.expect("the workers can be started"),
        below,
    };
    println!("primes below {below}, and a heartbeat every {BEAT:?}\n");
    println!("| yields | wall | CPU | multiple of never | the longest pause of the heart |");
    println!("|---|---|---|---|---|");
    let never = bench.row("never", None, |number| async move { is_prime!(number, ()) });
    let never = Some(never);
    bench.row(
        "every 1000th, solution 7",
        never,
        every_nth!(solution_7, 1_000),
    );
    bench.row(
        "every 100th, solution 7",
        never,
        every_nth!(solution_7, 100),
    );
    bench.row("every 10th, solution 7", never, every_nth!(solution_7, 10));
    #[cfg(feature = "mine-7")]
    let is_written = is_written();
    #[cfg(feature = "mine-7")]
    if is_written {
        bench.row("every 1000th, yours", never, every_nth!(exercise_7, 1_000));
    }
    bench.row("each, solution 7", never, |number| async move {
        is_prime!(number, solution_7::yield_now().await)
    });
    #[cfg(feature = "mine-7")]
    if is_written {
        bench.row("each, yours", never, |number| async move {
            is_prime!(number, exercise_7::yield_now().await)
        });
    }
    bench.row("each, tokio", never, |number| async move {
        is_prime!(number, tokio::task::yield_now().await)
    });
}

/// Whether the reader's exercise can run at all.
#[cfg(feature = "mine-7")]
fn is_written() -> bool {
    let call = || {
        let mut every_tick = exercise_7::EveryNth::new(NonZeroU32::MIN);
        solution_4::block_on(every_tick.tick());
    };
    let is_written = std::panic::catch_unwind(call).is_ok();
    if !is_written {
        eprintln!("exercise-7 panics and is left out");
    }
    is_written
}

/// What follows `--below`, or the full size.
fn below(arguments: Vec<String>) -> u32 {
    let given = arguments.iter().skip_while(|it| *it != "--below").nth(1);
    match given {
        Some(limit) => limit.parse().expect("a number follows `--below`"),
        None if arguments.iter().any(|it| it == "--test") => 1_000,
        None => BELOW,
    }
}

struct Bench {
    runtime: Runtime,
    below: u32,
}

impl Bench {
    /// Measures, prints a row, and returns the time on the clock.
    fn row<F>(&self, what: &str, never: Option<Duration>, is_prime: fn(u32) -> F) -> Duration
    where
        F: Future<Output = bool> + Send + 'static,
    {
        let pauses = Arc::new(Mutex::new(Pauses::begin()));
        let heart = self.runtime.spawn(beat(pauses.clone()));
        let (count, Cost { wall, cpu }) =
            cost::of(|| self.runtime.block_on(count_primes(self.below, is_prime)));
        heart.abort();
        let mut pauses = pauses.lock().expect("no thread panics with it");
        // The heart may not have had a turn to this moment.
        pauses.note_beat();
        assert_eq!(count, primes_below(self.below), "`{what}` miscounts");
        let cpu = cpu.map_or("?".into(), |cpu| format!("{:.2} s", cpu.as_secs_f64()));
        let times = wall.div_duration_f64(never.unwrap_or(wall));
        let (wall_s, longest_ms) = (wall.as_secs_f64(), pauses.longest.as_millis());
        println!("| {what} | {wall_s:.2} s | {cpu} | {times:.2} | {longest_ms} ms |");
        wall
    }
}

async fn count_primes<F>(below: u32, is_prime: fn(u32) -> F) -> usize
where
    F: Future<Output = bool> + Send + 'static,
{
    let mut numbers = JoinSet::new();
    for number in 2..below {
        numbers.spawn(is_prime(number));
    }
    let primes = numbers.join_all().await;
    primes.into_iter().filter(|is_prime| *is_prime).count()
}

/// Beats for as long as it is polled.
async fn beat(pauses: Arc<Mutex<Pauses>>) {
    loop {
        sleep(BEAT).await;
        pauses.lock().expect("no thread panics with it").note_beat();
    }
}

/// The time between two beats.
struct Pauses {
    last_beat: Instant,
    longest: Duration,
}

impl Pauses {
    fn begin() -> Self {
        Self {
            last_beat: Instant::now(),
            longest: Duration::ZERO,
        }
    }

    fn note_beat(&mut self) {
        self.longest = self.longest.max(self.last_beat.elapsed());
        self.last_beat = Instant::now();
    }
}

/// The same count by a sieve.
fn primes_below(below: u32) -> usize {
    let mut is_prime = vec![true; below as usize];
    for number in 2..is_prime.len() {
        if is_prime[number] {
            let multiples = (number * number..is_prime.len()).step_by(number);
            multiples.for_each(|multiple| is_prime[multiple] = false);
        }
    }
    is_prime.into_iter().skip(2).filter(|it| *it).count()
}
