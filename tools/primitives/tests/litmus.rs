//! What the book's figure of memory orderings claims, against loom and against this machine.
//!
//! `litmus.txt` has, for each program and each choice of orderings, which outcomes Rust's memory
//! model allows, and which of them x86-64 and ARM can show. `npm test` in `web` compares it with
//! what the figure computes (`web/src/figures/litmus`). Here the same programs run: in loom, which
//! explores the model, and for many rounds on the processor, which must show nothing that isn't
//! claimed for it.

#![cfg(any(feature = "loom", not(feature = "shuttle")))]

use std::collections::BTreeSet;

use primitives::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use primitives::atomic::{AtomicUsize, fence};

/// The orderings of a program's operations, by what they do.
struct Orders {
    load: Ordering,
    store: Ordering,
    swap: Ordering,
    has_fences: bool,
}

impl Orders {
    fn fence(&self) {
        if self.has_fences {
            fence(SeqCst);
        }
    }
}

const fn orders(load: Ordering, store: Ordering, swap: Ordering, has_fences: bool) -> Orders {
    Orders {
        load,
        store,
        swap,
        has_fences,
    }
}

static PRESETS: [(&str, Orders); 4] = [
    ("relaxed", orders(Relaxed, Relaxed, Relaxed, false)),
    ("pairs", orders(Acquire, Release, AcqRel, false)),
    ("seqcst", orders(SeqCst, SeqCst, SeqCst, false)),
    ("fences", orders(Relaxed, Relaxed, Relaxed, true)),
];

/// The two locations of a program, each in cache lines of its own.
#[derive(Default)]
struct Shared {
    x: Line,
    y: Line,
}

#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicUsize);

/// What the reads of a thread return.
type Reads = [Option<usize>; 2];
type Thread = fn(&Shared, &Orders) -> Reads;

const NOTHING: Reads = [None, None];

/// The programs of the figure. Each operation's partner is that of another thread on the same
/// location; which of them synchronize is what the test asks.
const PROGRAMS: [(&str, &[Thread]); 6] = [
    ("mp", &[writer, reader]),
    ("sb", &[store_x_load_y, store_y_load_x]),
    ("parked", &[store_x_load_y, swap_y_load_x]),
    ("unpark", &[unpark, unpark_with_compare_exchange, park]),
    ("swap", &[unpark, unpark_with_swap, park]),
    ("lb", &[load_x_store_y, load_y_store_x]),
];

fn writer(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    x.0.store(1, Relaxed);
    orders.fence();
    y.0.store(1, orders.store);
    NOTHING
}

fn reader(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    let flag = y.0.load(orders.load);
    orders.fence();
    [Some(flag), Some(x.0.load(Relaxed))]
}

fn store_x_load_y(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    x.0.store(1, orders.store);
    orders.fence();
    [Some(y.0.load(orders.load)), None]
}

fn store_y_load_x(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    y.0.store(1, orders.store);
    orders.fence();
    [Some(x.0.load(orders.load)), None]
}

fn swap_y_load_x(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    let _zero = y.0.swap(1, orders.swap);
    orders.fence();
    [Some(x.0.load(orders.load)), None]
}

fn unpark(Shared { y, .. }: &Shared, orders: &Orders) -> Reads {
    let _token = y.0.swap(1, orders.swap);
    NOTHING
}

fn unpark_with_compare_exchange(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    x.0.store(1, Relaxed);
    orders.fence();
    let found = y.0.compare_exchange(0, 1, orders.swap, orders.load);
    [Some(found.unwrap_or_else(|found| found)), None]
}

fn unpark_with_swap(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    x.0.store(1, Relaxed);
    orders.fence();
    [Some(y.0.swap(1, orders.swap)), None]
}

fn park(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    let token = y.0.swap(0, orders.swap);
    orders.fence();
    [Some(token), Some(x.0.load(Relaxed))]
}

fn load_x_store_y(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    let read = x.0.load(orders.load);
    orders.fence();
    y.0.store(1, orders.store);
    [Some(read), None]
}

fn load_y_store_x(Shared { x, y }: &Shared, orders: &Orders) -> Reads {
    let read = y.0.load(orders.load);
    orders.fence();
    x.0.store(1, orders.store);
    [Some(read), None]
}

/// What the reads of all threads return, as `litmus.txt` has it.
fn outcome(reads: &[Reads]) -> String {
    let values = reads.iter().flatten().flatten();
    values.map(usize::to_string).collect()
}

/// What is claimed for `judge`, which is `rust`, `x86` or `arm`.
fn claimed(program: &str, preset: &str, judge: &str) -> BTreeSet<String> {
    let start = format!("{program} {preset}: ");
    let mut lines = include_str!("litmus.txt").lines();
    let line = lines.find_map(|line| line.strip_prefix(&start));
    let mut parts = line.expect("it has every program").split("; ");
    let part = parts.find_map(|part| part.strip_prefix(judge)?.strip_prefix(' '));
    let outcomes = part.expect("it has every model").split_whitespace();
    outcomes.map(str::to_owned).collect()
}

/// loom documents two limits. It takes a `SeqCst` load or store for an `AcqRel` one, and so finds
/// more than there is. It doesn't let a load return a value that is stored later in the execution
/// that it tries, and so never finds load buffering.
#[cfg(feature = "loom")]
#[test]
fn loom_finds_what_is_claimed() {
    use std::sync::{Arc, Mutex};

    for (program, threads) in PROGRAMS {
        for (preset, orders) in &PRESETS {
            let seen: &Mutex<BTreeSet<String>> = Box::leak(Box::default());
            primitives::model(move || {
                let shared = Arc::new(Shared::default());
                let spawned: Vec<_> = threads[1..]
                    .iter()
                    .map(|thread| {
                        let shared = shared.clone();
                        primitives::thread::spawn(move || thread(&shared, orders))
                    })
                    .collect();
                let mut reads = vec![threads[0](&shared, orders)];
                reads.extend(spawned.into_iter().map(|thread| thread.join().unwrap()));
                seen.lock().unwrap().insert(outcome(&reads));
            });
            let seen = seen.lock().unwrap();
            let mut claimed = claimed(program, preset, "rust");
            match (program, *preset) {
                ("lb", "relaxed") => assert!(claimed.remove("11"), "it is allowed"),
                (_, "seqcst") => claimed.retain(|outcome| seen.contains(outcome)),
                _ => {}
            }
            let more = match *preset {
                "seqcst" => &*seen - &claimed,
                _ => BTreeSet::new(),
            };
            assert_eq!(*seen, &claimed | &more, "{program} {preset}");
            let is_taken_for_less = matches!((program, *preset), ("sb" | "parked", "seqcst"));
            assert_eq!(!more.is_empty(), is_taken_for_less, "{program} {preset}");
        }
    }
}

/// This processor shows nothing that isn't claimed for it.
#[cfg(not(feature = "loom"))]
#[test]
fn the_processor_shows_nothing_else() {
    use std::sync::atomic::AtomicUsize;
    use std::time::{Duration, Instant};
    use std::{hint, iter, thread};

    const ROUNDS: usize = 10_000;
    /// On a busy machine each round waits for a thread that isn't running.
    const LONGEST: Duration = Duration::from_millis(80);
    /// Instead of the number of threads: there is no further round.
    const ENDED: usize = 1_000;
    /// After so many looks in vain the other thread needs the core.
    const LOOKS: usize = 100;

    let judge = match std::env::consts::ARCH {
        "x86_64" => "x86",
        "aarch64" => "arm",
        _ => "rust",
    };
    for (program, threads) in PROGRAMS {
        for (preset, orders) in &PRESETS {
            let rounds: Vec<(AtomicUsize, Shared)> =
                iter::repeat_with(Default::default).take(ROUNDS).collect();
            let start = Instant::now();
            // Relaxed throughout: the threads only begin together, and publish nothing by it.
            let begins = |arrived: &AtomicUsize, leads: bool, round: usize| {
                let ends = leads && round > 0 && start.elapsed() > LONGEST;
                arrived.fetch_add(if ends { ENDED } else { 1 }, Relaxed);
                for look in 1.. {
                    match arrived.load(Relaxed) {
                        all if all == threads.len() => return true,
                        more if more >= ENDED => return false,
                        _ if look % LOOKS == 0 => thread::yield_now(),
                        _ => hint::spin_loop(),
                    }
                }
                unreachable!("it looks until all have arrived");
            };
            let run = |thread: Thread, leads: bool| {
                let rounds = rounds.iter().enumerate();
                rounds
                    .map_while(|(round, (arrived, shared))| {
                        begins(arrived, leads, round).then(|| thread(shared, orders))
                    })
                    .collect::<Vec<_>>()
            };
            let read: Vec<Vec<Reads>> = thread::scope(|scope| {
                let running: Vec<_> = threads
                    .iter()
                    .enumerate()
                    .map(|(index, &one)| scope.spawn(move || run(one, index == 0)))
                    .collect();
                let joined = running.into_iter().map(|one| one.join().unwrap());
                joined.collect()
            });
            let outcomes = (0..read[0].len()).map(|round| {
                let reads: Vec<_> = read.iter().map(|own| own[round]).collect();
                outcome(&reads)
            });
            let seen: BTreeSet<_> = outcomes.collect();
            let claimed = claimed(program, preset, judge);
            println!("{program} {preset}: {seen:?} in {} rounds", read[0].len());
            assert!(
                seen.is_subset(&claimed),
                "{program} {preset}: {judge} can show {claimed:?}, and it showed {seen:?}"
            );
        }
    }
}
