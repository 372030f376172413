//! What it costs to ask whether a socket is ready, and to be told:
//! `cargo bench -p benches --bench readiness`. Solution 15 and the other designs
//! of `alternatives/src/exercise_15`.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use alternatives::exercise_15::{
    atomic_wakers, intrusive_list, lock_for_each_direction, one_lock, packed_word,
};
use benches::table::{Estimates, Row, criterion_home, render};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};

/// Ready: a poll that finds the direction ready. Would-block: an event, and a
/// task that sees it and clears. Wait: the same, and the task waits before, by
/// `poll_ready`. Future: it waits by a new future of `ready`.
const SHAPES: [&str; 4] = ["ready", "would-block", "wait", "future"];

const ROWS: &[Row<'static>] = &[
    row(
        "solution-15",
        "a word for each direction, futures in a map under a lock",
    ),
    #[cfg(feature = "mine-15")]
    row("exercise-15", "yours"),
    row("one-lock", "everything under one lock, futures in a map"),
    row("two-locks", "a lock for each direction, futures in slots"),
    row("packed", "one word, and a lock for the wakers"),
    row("atomic-wakers", "two words, and futures' `AtomicWaker`s"),
    row(
        "intrusive",
        "one lock, and a list of the futures themselves",
    ),
];

const fn row<'a>(contender: &'a str, notes: &'a str) -> Row<'a> {
    Row { contender, notes }
}

/// Measures the shapes of one design, in this module or crate. A macro, so that each is compiled as
/// in a runtime that uses it.
macro_rules! measure {
    ($group:expr, $contender:expr, $module:ident) => {{
        use $module::{Direction::Read, Event, Readiness};

        let group: &mut BenchmarkGroup<'_, WallTime> = $group;
        let name = |shape| BenchmarkId::new($contender, shape);
        let readable = Event {
            readable: true,
            ..Event::default()
        };
        let mut cx = Context::from_waker(Waker::noop());

        let readiness = Readiness::new();
        readiness.set_ready(readable);
        group.bench_function(name("ready"), |bencher| {
            bencher.iter(|| black_box(&readiness).poll_ready(&mut cx, Read).is_ready());
        });
        let readiness = Readiness::new();
        let see_and_clear = |readiness: &Readiness, cx: &mut Context<'_>| {
            let Poll::Ready(Ok(seen)) = readiness.poll_ready(cx, Read) else {
                unreachable!("there was an event")
            };
            readiness.clear(seen);
        };
        group.bench_function(name("would-block"), |bencher| {
            bencher.iter(|| {
                let readiness = black_box(&readiness);
                readiness.set_ready(readable);
                see_and_clear(readiness, &mut cx);
            });
        });
        group.bench_function(name("wait"), |bencher| {
            bencher.iter(|| {
                let readiness = black_box(&readiness);
                let waits = readiness.poll_ready(&mut cx, Read).is_pending();
                readiness.set_ready(readable);
                see_and_clear(readiness, &mut cx);
                waits
            });
        });
        group.bench_function(name("future"), |bencher| {
            bencher.iter(|| {
                let readiness = black_box(&readiness);
                let mut future = pin!(readiness.ready(Read));
                let waits = future.as_mut().poll(&mut cx).is_pending();
                readiness.set_ready(readable);
                see_and_clear(readiness, &mut cx);
                waits
            });
        });
    }};
}

/// Whether the reader's exercise can do anything at all.
#[cfg(feature = "mine-15")]
fn is_written() -> bool {
    use exercise_15::{Direction::Read, Event, Readiness};

    let is_written = std::panic::catch_unwind(|| {
        let readiness = Readiness::new();
        let mut cx = Context::from_waker(Waker::noop());
        let _ = pin!(readiness.ready(Read)).poll(&mut cx);
        readiness.set_ready(Event::default());
        if let Poll::Ready(Ok(seen)) = readiness.poll_ready(&mut cx, Read) {
            readiness.clear(seen);
        }
    });
    if is_written.is_err() {
        eprintln!("exercise-15 panics and is left out");
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
    let estimates = Estimates::from_now_on("readiness");
    let mut group = criterion.benchmark_group("readiness");
    measure!(&mut group, "solution-15", solution_15);
    #[cfg(feature = "mine-15")]
    if is_written() {
        measure!(&mut group, "exercise-15", exercise_15);
    }
    measure!(&mut group, "one-lock", one_lock);
    measure!(&mut group, "two-locks", lock_for_each_direction);
    measure!(&mut group, "packed", packed_word);
    measure!(&mut group, "atomic-wakers", atomic_wakers);
    measure!(&mut group, "intrusive", intrusive_list);
    group.finish();
    criterion.final_summary();

    println!("\nOne thread, ns:\n");
    let bases = ("solution-15", "packed");
    println!("{}", render(&estimates, ROWS, &SHAPES, &[], bases));
}
