//! What a busy task gets done and what it costs another one, if it yields
//! never, at every item, at every n-th, and by a budget of time:
//! `cargo bench -p benches --bench budget`.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::time::Duration;

use benches::schedulers::measure::is_test;
use benches::victim::{self, Outcome, item};
use tokio::runtime::{Builder, Runtime};

/// With less than this part of a core for its thread, a run says what the
/// system does, and not what a budget does.
const QUIET: f64 = 0.9;
const SLICES_US: [u64; 4] = [50, 100, 200, 1_000];

type Busy = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Contender {
    name: String,
    /// The slice that it promises.
    slice: Option<Duration>,
    busy: Box<dyn Fn(u64) -> Busy>,
}

impl Contender {
    fn new<F: Future<Output = ()> + Send + 'static>(
        name: impl Into<String>,
        busy: impl Fn(u64) -> F + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            slice: None,
            busy: Box::new(move |items| Box::pin(busy(items))),
        }
    }
}

/// Does so many items, and `$between` after each. A macro, so that each is
/// compiled as in a program that uses it.
macro_rules! work {
    ($items:ident, $between:expr) => {
        async move {
            let mut number = 1;
            for _ in 0..$items {
                number = item(number);
                $between
            }
            black_box(number);
        }
    };
}

macro_rules! budgets {
    ($name:literal, $budget:ident) => {
        SLICES_US.map(|slice_us| {
            let slice = Duration::from_micros(slice_us);
            let budgeted =
                move |items| $budget::with_budget(slice, work!(items, $budget::checkpoint().await));
            let name = format!("{} {slice_us} µs", $name);
            let slice = Some(slice);
            Contender {
                slice,
                ..Contender::new(name, budgeted)
            }
        })
    };
}

fn contenders() -> Vec<Contender> {
    let mut contenders = vec![
        Contender::new("never", |items| work!(items, ())),
        Contender::new("every item", |items| {
            work!(items, solution_7::yield_now().await)
        }),
    ];
    contenders.extend([10, 100, 1_000, 10_000, 100_000].map(|n| {
        let n = NonZeroU32::new(n).expect("none is zero");
        Contender::new(format!("every {n}"), move |items| {
            let mut every_nth = solution_7::EveryNth::new(n);
            work!(items, every_nth.tick().await)
        })
    }));
    contenders.push(Contender::new("tokio's budget", |items| {
        work!(items, tokio::task::consume_budget().await)
    }));
    contenders.extend(budgets!("solution-8", solution_8));
    #[cfg(feature = "mine-8")]
    if is_written() {
        contenders.extend(budgets!("exercise-8", exercise_8));
    }
    contenders
}

/// Whether the reader's exercise can run at all.
#[cfg(feature = "mine-8")]
fn is_written() -> bool {
    let once = exercise_8::with_budget(Duration::ZERO, exercise_8::checkpoint());
    let call = std::panic::AssertUnwindSafe(|| futures::executor::block_on(once));
    let is_written = std::panic::catch_unwind(call).is_ok();
    if !is_written {
        eprintln!("exercise-8 panics and is left out");
    }
    is_written
}

/// What came of one contender in all rounds.
#[derive(Default)]
struct Results {
    items_per_s: Vec<f64>,
    /// To the one that never yields, in the same round.
    ratios: Vec<f64>,
    cpu_shares: Vec<f64>,
    waits: Vec<Duration>,
}

impl Results {
    fn add(&mut self, items: u64, outcome: Outcome, never: Option<f64>) -> f64 {
        let rate = items as f64 / outcome.took.as_secs_f64();
        self.items_per_s.push(rate);
        self.ratios.push(rate / never.unwrap_or(rate));
        let share = |cpu: Duration| cpu.div_duration_f64(outcome.took);
        self.cpu_shares.extend(outcome.cpu.map(share));
        self.waits.extend(outcome.waits);
        rate
    }
}

/// The value below which this part of the values lies.
fn quantile<T: PartialOrd + Copy>(values: &[T], part: f64) -> Option<T> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|one, other| one.partial_cmp(other).expect("they can be compared"));
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(last as f64 * part) as usize])
}

fn main() {
    // The victim is woken from another thread. Look for that at each turn, and
    // not only at every 31st.
    let runtime = Builder::new_current_thread()
        .global_queue_interval(1)
        .build()
        .expect("a runtime without drivers can always be built");
    let contenders = contenders();
    // How long a task takes that never yields, and how often all take their turn.
    let (run_time, rounds) = match is_test() {
        true => (Duration::from_millis(2), 1),
        false => (Duration::from_millis(50), 21),
    };
    let items = items_in(run_time, &runtime, &contenders[0]);
    let mut results: Vec<Results> = contenders.iter().map(|_| Results::default()).collect();
    for _ in 0..rounds {
        let mut never = None;
        for (contender, results) in contenders.iter().zip(&mut results) {
            let outcome = victim::run(&runtime, (contender.busy)(items));
            let rate = results.add(items, outcome, never);
            never.get_or_insert(rate);
        }
    }
    print(&contenders, &results, rounds);
}

/// How many items take so long.
fn items_in(run_time: Duration, runtime: &Runtime, never: &Contender) -> u64 {
    const SOME: u64 = 1_000_000;
    let runs = [(); 5].map(|()| victim::run(runtime, (never.busy)(SOME)).took);
    let fastest = runs.into_iter().min().expect("there are some");
    (SOME as f64 * run_time.div_duration_f64(fastest)) as u64
}

fn print(contenders: &[Contender], results: &[Results], rounds: usize) {
    let ns_of = |results: &Results| 1e9 / quantile(&results.items_per_s, 0.5).expect("was run");
    let item_ns = ns_of(&results[0]);
    let yield_ns = ns_of(&results[1]) - item_ns;
    println!("\nAn item takes {item_ns:.1} ns, a yield {yield_ns:.1} ns. {rounds} rounds.\n");
    println!(
        "{:<20}{:>12}{:>16}{:>8}{:>10}{:>10}{:>10}  waits",
        "yields", "M items/s", "share of never", "CPU", "p50 µs", "p99 µs", "max µs"
    );
    for (contender, results) in contenders.iter().zip(results) {
        let rate = quantile(&results.items_per_s, 0.5).unwrap_or_default() / 1e6;
        let ratio = quantile(&results.ratios, 0.5).unwrap_or_default() * 100.0;
        let share = quantile(&results.cpu_shares, 0.5)
            .map_or("–".into(), |share| format!("{:.0} %", share * 100.0));
        let wait = |part| {
            quantile(&results.waits, part).map_or("–".into(), |wait| {
                format!("{:.1}", wait.as_secs_f64() * 1e6)
            })
        };
        println!(
            "{:<20}{rate:>12.1}{:>16}{share:>8}{:>10}{:>10}{:>10}  {}",
            contender.name,
            format!("{ratio:.1} %"),
            wait(0.5),
            wait(0.99),
            wait(1.0),
            results.waits.len()
        );
    }
    println!();
    for (contender, results) in contenders.iter().zip(results) {
        if let Some(slice) = contender.slice {
            println!("{}: {}", contender.name, verdict(results, slice));
        }
    }
}

/// Says whether a budget does what the chapter promises.
fn verdict(results: &Results, slice: Duration) -> String {
    let ratio = quantile(&results.ratios, 0.5).unwrap_or_default();
    let Some(wait) = quantile(&results.waits, 0.99) else {
        return "the victim was never woken".into();
    };
    let slices = wait.div_duration_f64(slice);
    let par = match quantile(&results.cpu_shares, 0.5) {
        Some(share) if share < QUIET => format!(
            "The thread had {:.0} % of a core, so this says nothing: repeat it when the \
             machine does nothing else.",
            share * 100.0
        ),
        _ if ratio >= 0.95 && slices < 2.0 => "Par is 95 % and 2: reached.".into(),
        _ => "Par is 95 % and 2: not yet.".into(),
    };
    format!(
        "{:.1} % of what never yielding does, and 99 of 100 waits below {slices:.2} slices. {par}",
        ratio * 100.0
    )
}
