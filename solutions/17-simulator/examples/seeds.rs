//! Looks for a seed with which a version of the program fails, and replays it.
//!
//! ```text
//! cargo run --release -p solution-17 --example seeds -- applied-twice 1000
//! SEED=55 cargo run --release -p solution-17 --example seeds -- applied-twice
//! ```

#[path = "../../../exercises/17-simulator/src/tests/program/mod.rs"]
mod program;
#[path = "../../../exercises/17-simulator/src/tests/world.rs"]
mod world;

use std::path::Path;
use std::time::Instant;
use std::{env, fs};

use program::Version;
use solution_17::{
    JoinHandle, Simulation, find, net, random_below, random_duration, sleep,
    spawn, spawn_on, timeout,
};

const COMMAND: &str = "cargo run --release -p solution-17 --example seeds --";

fn main() {
    let words: Vec<_> = env::args().skip(1).collect();
    let name = words.first().map_or("right", String::as_str);
    let version = match name {
        "right" => Version::Right,
        "lost-update" => Version::LostUpdate,
        "applied-twice" => Version::AppliedTwice,
        "futurelock" => Version::Futurelock,
        _ => panic!(
            "`{name}` is no version: right, lost-update, applied-twice, \
             futurelock"
        ),
    };
    let count = words.get(1).map_or(1_000, |word| {
        word.parse()
            .expect("the second argument is a number of seeds")
    });
    // The only place where a seed is read.
    let seeds = match env::var("SEED") {
        Ok(seed) => {
            let seed = seed.parse().expect("`SEED` is a number");
            seed..seed + 1
        }
        Err(_) => 0..count,
    };
    let start = Instant::now();
    let run_count = seeds.end - seeds.start;
    let found = find(seeds, |simulation| world::check(simulation, version));
    let took = start.elapsed();
    let Some(found) = found else {
        println!("{name}: {run_count} seeds, no failure, {took:.1?}");
        return;
    };
    let seed = found.seed;
    println!("{name}: seed {seed} fails, after {took:.1?}");
    println!("  {}", found.failure);
    if !found.is_replayed {
        println!("  A second run was different: something isn't simulated.");
    }
    println!("  Replay it:\n    SEED={seed} {COMMAND} {name}");
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2).unwrap_or(package);
    let folder = root.join("target");
    let file = folder.join(format!("{name}-{seed}.json"));
    match fs::create_dir_all(folder)
        .and_then(|()| fs::write(&file, &found.trace))
    {
        Ok(()) => println!("  Its timeline: {}", file.display()),
        Err(error) => println!("  Its timeline isn't saved: {error}"),
    }
}
