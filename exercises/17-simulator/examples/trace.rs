//! Which seed finds the bug, and what happened in that run? A request is tried
//! again while its first attempt still waits for the disk, and is applied twice.
//! The run takes about a second of simulated time.
//!
//! `cargo workshop trace 17` shows it as a timeline.

#[path = "../src/tests/program/mod.rs"]
#[allow(dead_code, reason = "only one version runs")]
mod program;
#[path = "../src/tests/world.rs"]
mod world;

use std::{env, fs};

use exercise_17::{
    JoinHandle, Simulation, find, net, random_below, random_duration, sleep,
    spawn, spawn_on, timeout,
};
use program::Version;

fn main() {
    let scenario = |simulation: &Simulation| {
        world::check(simulation, Version::AppliedTwice)
    };
    let found = find(0..1_000, scenario).expect("a seed finds the bug");
    println!("seed {}: {}", found.seed, found.failure);
    // The command says where.
    if let Some(folder) = env::var_os("WORKSHOP_FIGURES") {
        let file = std::path::Path::new(&folder).join("your-trace.json");
        fs::write(file, found.trace).expect("the folder exists");
    }
}
