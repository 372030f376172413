//! What it costs to decide whom to wake, without the waking:
//! `cargo bench -p benches --bench sleepers`. Solution 13 and the other designs
//! of `alternatives/src/exercise_13`.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use alternatives::exercise_13::{counts_and_stack, linked_in_one_word, locked, waking_token};
use benches::table::{Estimates, Row, criterion_home, render};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};

const WORKERS: usize = 8;

/// Busy: `notify` while no worker is parked. Searching: while seven are parked and
/// one searches. Beside: as busy, but another thread does the same all the time.
/// Round: a worker parks, is chosen, is unparked and finds work.
const SHAPES: [&str; 4] = ["busy", "searching", "beside", "round"];

const ROWS: &[Row<'static>] = &[
    row("solution-13", "two counts in a word, and a bit for each"),
    #[cfg(feature = "mine-13")]
    row("exercise-13", "yours"),
    row("locked", "everything under one lock"),
    row("counts-stack", "counts in a word, a stack under a lock"),
    row("token", "one searches at a time; a stack under a lock"),
    row("linked", "a list without a lock"),
];

const fn row<'a>(contender: &'a str, notes: &'a str) -> Row<'a> {
    Row { contender, notes }
}

/// Measures the shapes of one design, in this module or crate. A macro, so that each is compiled as in a
/// scheduler that uses it.
macro_rules! measure {
    ($group:expr, $contender:expr, $module:ident) => {{
        use $module::{Activity::Busy, Sleepers};

        let group: &mut BenchmarkGroup<'_, WallTime> = $group;
        let name = |shape| BenchmarkId::new($contender, shape);

        let sleepers = Sleepers::new(WORKERS);
        group.bench_function(name("busy"), |bencher| {
            bencher.iter(|| black_box(&sleepers).notify());
        });
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    black_box(black_box(&sleepers).notify());
                }
            });
            group.bench_function(name("beside"), |bencher| {
                bencher.iter(|| black_box(&sleepers).notify());
            });
            is_over.store(true, Relaxed);
        });

        let sleepers = Sleepers::new(WORKERS);
        for worker in 1..WORKERS {
            let _ = sleepers.transition_to_parked(worker, Busy);
        }
        assert!(sleepers.transition_to_searching(), "no worker searches yet");
        group.bench_function(name("searching"), |bencher| {
            bencher.iter(|| black_box(&sleepers).notify());
        });

        let sleepers = Sleepers::new(WORKERS);
        group.bench_function(name("round"), |bencher| {
            bencher.iter(|| {
                let sleepers = black_box(&sleepers);
                let must_look = sleepers.transition_to_parked(3, Busy);
                let worker = sleepers.notify().expect("one sleeps");
                (
                    must_look,
                    sleepers.transition_from_parked(worker),
                    sleepers.transition_from_searching(),
                )
            });
        });
    }};
}

/// Whether the reader's exercise can do anything at all.
#[cfg(feature = "mine-13")]
fn is_written() -> bool {
    let is_written = std::panic::catch_unwind(|| {
        let sleepers = exercise_13::Sleepers::new(1);
        let _ = sleepers.transition_to_parked(0, exercise_13::Activity::Busy);
        (
            sleepers.notify(),
            sleepers.transition_from_parked(0),
            sleepers.transition_from_searching(),
        )
    });
    if is_written.is_err() {
        eprintln!("exercise-13 panics and is left out");
    }
    is_written.is_ok()
}

fn main() {
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .nresamples(10_000)
        .configure_from_args();
    let estimates = Estimates::from_now_on("sleepers");
    let mut group = criterion.benchmark_group("sleepers");
    measure!(&mut group, "solution-13", solution_13);
    #[cfg(feature = "mine-13")]
    if is_written() {
        measure!(&mut group, "exercise-13", exercise_13);
    }
    measure!(&mut group, "locked", locked);
    measure!(&mut group, "counts-stack", counts_and_stack);
    measure!(&mut group, "token", waking_token);
    measure!(&mut group, "linked", linked_in_one_word);
    group.finish();
    criterion.final_summary();

    println!("\nA decision of eight workers, ns:\n");
    let bases = ("solution-13", "locked");
    println!("{}", render(&estimates, ROWS, &SHAPES, &[], bases));
}
