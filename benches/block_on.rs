//! `block_on` of each solution and of its peers, on a future that wakes itself
//! 0, 10 and 50 times: `cargo bench -p benches --bench block_on`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use benches::contenders::{block_on_borrowed, block_on_shared};
use benches::table::{Estimates, Row, criterion_home, render};
use benches::workloads::{OpaqueYields, Yields, bare_loop};
use criterion::{BenchmarkId, Criterion};
use tokio::runtime;

/// How often the future wakes itself.
const YIELDS: [u32; 3] = [0, 10, 50];

/// All contenders, in the order in which they are measured and shown: those
/// that are compared with the bare loop stand next to it.
const ROWS: &[Row<'static>] = &[
    row(
        "bare-loop",
        "never sleeps; its waker is hidden from the optimizer",
    ),
    row("solution-4", "a nested call panics; own token"),
    #[cfg(feature = "mine-4")]
    row("exercise-4", "yours"),
    row("pollster", "nested calls share the thread's token"),
    row(
        "futures-lite",
        "a nested call works, and allocates; own token",
    ),
    row("futures", "a nested call panics; own token"),
    row("v4-borrowed", "a nested call panics; own token"),
    row("v3-shared", "nested calls share a token"),
    row("solution-2", "allocates; nested calls work; own token"),
    #[cfg(feature = "mine-2")]
    row("exercise-2", "yours"),
    row("solution-1", "allocates; shares the thread's token"),
    #[cfg(feature = "mine-1")]
    row("exercise-1", "yours"),
    row(
        "solution-3",
        "hand-made waker, mutex and condition variable; allocates",
    ),
    #[cfg(feature = "mine-3")]
    row("exercise-3", "yours"),
    row(
        "async-io",
        "waits for I/O and timers meanwhile; a nested call works",
    ),
    row(
        "tokio",
        "runs spawned tasks meanwhile; a nested call panics",
    ),
];

const fn row<'a>(contender: &'a str, notes: &'a str) -> Row<'a> {
    Row { contender, notes }
}

/// Runs `Yields` of so many, by one contender.
type Call<'a> = Box<dyn Fn(&mut criterion::Bencher<'_>, u32) + 'a>;

/// Times a `block_on` at four places of the program: see [`Yields`]. A macro,
/// so that each is compiled as in a program that uses it.
macro_rules! call {
    ($block_on:expr) => {
        call!($block_on, Yields)
    };
    ($block_on:expr, $future:ident) => {
        Box::new(|bencher, yields| {
            bencher.iter_custom(|times| {
                let places = [
                    time(times, || $block_on($future::<1>::new(black_box(yields)))),
                    time(times, || $block_on($future::<2>::new(black_box(yields)))),
                    time(times, || $block_on($future::<3>::new(black_box(yields)))),
                    time(times, || $block_on($future::<4>::new(black_box(yields)))),
                ];
                places.iter().sum::<Duration>() / 4
            })
        })
    };
}

/// Times so many calls. Never inlined: each call has its place.
#[inline(never)]
fn time(times: u64, call: impl Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        call();
    }
    start.elapsed()
}

fn call_of<'a>(contender: &str, runtime: &'a runtime::Runtime) -> Call<'a> {
    match contender {
        "bare-loop" => call!(bare_loop),
        "solution-1" => call!(solution_1::block_on),
        "solution-2" => call!(solution_2::block_on),
        "solution-3" => call!(solution_3::block_on),
        "solution-4" => call!(solution_4::block_on),
        #[cfg(feature = "mine-1")]
        "exercise-1" => call!(exercise_1::block_on),
        #[cfg(feature = "mine-2")]
        "exercise-2" => call!(exercise_2::block_on),
        #[cfg(feature = "mine-3")]
        "exercise-3" => call!(exercise_3::block_on),
        #[cfg(feature = "mine-4")]
        "exercise-4" => call!(exercise_4::block_on),
        "v3-shared" => call!(block_on_shared),
        "v4-borrowed" => call!(block_on_borrowed),
        "futures" => call!(futures::executor::block_on),
        "futures-lite" => call!(futures_lite::future::block_on),
        "pollster" => call!(pollster::block_on),
        "async-io" => call!(async_io::block_on),
        "tokio" => call!(|future| runtime.block_on(future)),
        other => unreachable!("no call for `{other}`"),
    }
}

/// The contenders that are also measured where the optimizer can't look from
/// the future into the waker.
const OPAQUE_ROWS: &[Row<'static>] = &[
    row("bare-loop", ""),
    row("solution-4", ""),
    row("pollster", ""),
    row("futures-lite", ""),
    row("futures", ""),
];

fn opaque_call_of(contender: &str) -> Call<'static> {
    macro_rules! opaque {
        ($block_on:expr) => {
            call!($block_on, OpaqueYields)
        };
    }
    match contender {
        "bare-loop" => opaque!(bare_loop),
        "solution-4" => opaque!(solution_4::block_on),
        "pollster" => opaque!(pollster::block_on),
        "futures-lite" => opaque!(futures_lite::future::block_on),
        "futures" => opaque!(futures::executor::block_on),
        other => unreachable!("no call for `{other}`"),
    }
}

/// Whether a reader's exercise can run a future at all; asks once a group.
fn is_written(contender: &str) -> bool {
    let call: Option<fn()> = match contender {
        #[cfg(feature = "mine-1")]
        "exercise-1" => Some(|| exercise_1::block_on(Yields::<0>::new(1))),
        #[cfg(feature = "mine-2")]
        "exercise-2" => Some(|| exercise_2::block_on(Yields::<0>::new(1))),
        #[cfg(feature = "mine-3")]
        "exercise-3" => Some(|| exercise_3::block_on(Yields::<0>::new(1))),
        #[cfg(feature = "mine-4")]
        "exercise-4" => Some(|| exercise_4::block_on(Yields::<0>::new(1))),
        _ => None,
    };
    let is_written = call.is_none_or(|call| std::panic::catch_unwind(call).is_ok());
    if !is_written {
        eprintln!("{contender} panics and is left out");
    }
    is_written
}

fn measure<'a>(
    criterion: &mut Criterion,
    group: &str,
    rows: &[Row<'_>],
    call_of: impl Fn(&str) -> Call<'a>,
) {
    let rows: Vec<_> = rows
        .iter()
        .filter(|row| is_written(row.contender))
        .collect();
    let mut group = criterion.benchmark_group(group);
    for yields in YIELDS {
        for row in &rows {
            let call = call_of(row.contender);
            let id = BenchmarkId::new(row.contender, yields);
            group.bench_with_input(id, &yields, |bencher, yields| call(bencher, *yields));
        }
    }
    group.finish();
}

fn main() {
    let runtime = runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers can always be built");
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .nresamples(10_000)
        .configure_from_args();

    let estimates = Estimates::from_now_on("block_on");
    measure(&mut criterion, "block_on", ROWS, |contender| {
        call_of(contender, &runtime)
    });
    let opaque = Estimates::from_now_on("block_on_opaque");
    measure(
        &mut criterion,
        "block_on_opaque",
        OPAQUE_ROWS,
        opaque_call_of,
    );
    criterion.final_summary();

    println!("\nA future that wakes itself 0, 10 and 50 times:\n");
    println!("{}", show(&estimates, ROWS));
    println!("The same where the compiler cannot look from the future into the waker:\n");
    println!("{}", show(&opaque, OPAQUE_ROWS));
}

fn show(estimates: &Estimates, rows: &[Row<'_>]) -> String {
    let parameters = YIELDS.map(|yields| yields.to_string());
    let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
    render(
        estimates,
        rows,
        &parameters,
        &["10", "50"],
        ("bare-loop", "futures"),
    )
}
