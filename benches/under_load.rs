//! What a scheduler does while its workers are busy:
//! `cargo bench -p benches --bench under_load`.
//!
//! Arguments choose contenders by their names, and cells by a part of theirs, as in
//! `-- solution-14 tokio latency/yield hoarding`. `SCHEDULER_ROUNDS=9` in the
//! environment sets the number of rounds, in each of which all contenders take
//! turns, and `SCHEDULER_WORKERS=2` chooses numbers of workers. `--list` lists
//! cells and contenders, and `--loaded` measures beside four threads for each
//! processor that never stop.
//!
//! Two versions of solution 14 take turns if one of them was built before:
//! `--against PATH` adds the solution 14 of the build at that path, as
//! `solution-14*`.

use std::env;
use std::path::PathBuf;
use std::process;

use benches::schedulers::load::rounds::{Contender, Limit, contender, watched};
use benches::schedulers::load::{self, Cell, build, report, rounds};
use benches::schedulers::measure::{self, is_test};
use benches::{noise, runtime, schedulers};
use variants::watched as variant;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

runtime!(Watched, WatchedSpawner, variant);

#[cfg(feature = "mine-14")]
runtime!(Exercise14, Exercise14Spawner, exercise_14);

const SOLUTION: &str = "solution-14";

fn contenders() -> Vec<Contender> {
    vec![
        contender::<schedulers::Solution14>(SOLUTION),
        #[cfg(feature = "mine-14")]
        contender::<Exercise14>("exercise-14"),
        contender::<schedulers::Tokio>("tokio"),
        contender::<schedulers::AsyncExecutor>("async-executor"),
        contender::<schedulers::DequePool>("deque-pool"),
        contender::<schedulers::FuturesPool>("futures"),
        contender::<schedulers::OneQueue>("one-queue"),
        contender::<schedulers::Sharded>("sharded"),
        watched::<Watched>(WATCHED, variant::parks_while_ready),
    ]
}

/// It counts, which costs something, so its times aren't those of solution 14.
const WATCHED: &str = "solution-14-watched";

/// What the arguments ask for.
struct Asked {
    contenders: Vec<Contender>,
    cells: Vec<Cell>,
}

fn asked() -> Asked {
    let mut arguments = Vec::new();
    let mut all = contenders();
    let mut rest = env::args().skip(1);
    let mut other = None;
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--against" => {
                let path = rest.next().expect("`--against` takes a path");
                other = Some(build::other(&PathBuf::from(path), SOLUTION));
            }
            flag if flag.starts_with('-') => {}
            _ => arguments.push(argument),
        }
    }
    let names: Vec<_> = all.iter().map(|one| one.name.clone()).collect();
    let (of_contenders, of_cells): (Vec<_>, Vec<_>) = arguments
        .into_iter()
        .partition(|argument| names.contains(argument));
    all.retain(|one| of_contenders.is_empty() || of_contenders.contains(&one.name));
    all.extend(other);
    let mut cells = load::all();
    let cell_names: Vec<_> = cells.iter().map(Cell::to_string).collect();
    // A whole name is no part of another's.
    let chooses = |part: &String, name: &String| match cell_names.contains(part) {
        true => part == name,
        false => name.contains(part.as_str()),
    };
    for part in &of_cells {
        if !cell_names.iter().any(|name| chooses(part, name)) {
            eprintln!("there is no contender or cell `{part}`: see `--list`");
            process::exit(2);
        }
    }
    cells.retain(|cell| {
        let name = cell.to_string();
        of_cells.is_empty() || of_cells.iter().any(|part| chooses(part, &name))
    });
    Asked {
        contenders: all,
        cells,
    }
}

fn list() {
    let cells: Vec<_> = load::all().iter().map(Cell::to_string).collect();
    let contenders: Vec<_> = contenders().into_iter().map(|one| one.name).collect();
    println!("cells: {}", cells.join(", "));
    println!("contenders: {}", contenders.join(", "));
}

fn main() {
    let arguments: Vec<_> = env::args().collect();
    if let [_, serve, name, workers] = arguments.as_slice()
        && serve == build::SERVE
    {
        let contenders = contenders();
        let asked = contenders.iter().find(|one| one.name == *name);
        let workers = workers.parse().expect("it is a number of workers");
        return build::serve(asked.expect("there is such a contender"), workers);
    }
    if arguments.iter().any(|argument| argument == "--list") {
        return list();
    }
    let rounds = measure::rounds().unwrap_or(if is_test() { 1 } else { 3 });
    let usual = if is_test() { vec![2] } else { vec![2, 4] };
    let workers = env::var("SCHEDULER_WORKERS").map_or(usual, |_| measure::workers());
    let asked = asked();
    match arguments.iter().any(|argument| argument == "--loaded") {
        true => noise::beside(|| measure_all(&asked, &workers, rounds)),
        false => measure_all(&asked, &workers, rounds),
    }
}

fn measure_all(asked: &Asked, workers: &[usize], rounds: usize) {
    let limit = Limit::new();
    for &workers in workers {
        let run = |one: &Contender| one.run(workers);
        let mut running: Vec<_> = asked.contenders.iter().map(run).collect();
        let names: Vec<_> = running.iter().map(|one| one.name.clone()).collect();
        for cell in &asked.cells {
            let samples = rounds::measure(*cell, &mut running, rounds, &limit);
            report::print(*cell, workers, &names, &samples);
        }
    }
}
