//! The program in a simulation.

#[path = "../../../exercises/17-simulator/src/tests/program/mod.rs"]
mod program;
#[path = "../../../exercises/17-simulator/src/tests/world.rs"]
mod world;

use program::Version;
use solution_17::{
    JoinHandle, Simulation, find, net, random_below, random_duration, sleep,
    spawn, spawn_on, timeout,
};
use trace::document::Document;

/// How many seeds are run. More than this would take longer than five seconds.
const SEEDS: u64 = if cfg!(debug_assertions) { 200 } else { 1_000 };

#[test]
fn seeds_replay_byte_by_byte() {
    for seed in 0..SEEDS {
        let [one, other] = [0; 2].map(|_| {
            let simulation = Simulation::new(seed);
            let outcome = world::check(&simulation, Version::Right);
            simulation.trace(&format!("{outcome:?}"))
        });
        assert!(one == other, "seed {seed} has two traces");
    }
}

#[test]
fn each_bug_is_found_and_replayed_and_opens_as_a_timeline() {
    for version in [
        Version::LostUpdate,
        Version::AppliedTwice,
        Version::Futurelock,
    ] {
        let found = find(0..1_000, |it| world::check(it, version));
        let found = found.unwrap_or_else(|| panic!("{version:?} isn't found"));
        assert!(found.is_replayed, "{version:?}: {}", found.seed);
        let document = Document::read(&found.trace);
        assert!(document.is_ok(), "{version:?}: {document:?}");
    }
}

#[test]
fn the_right_program_has_no_failing_seed() {
    let found = find(0..SEEDS, |it| world::check(it, Version::Right));
    let failure = found.map(|it| (it.seed, it.failure));
    assert_eq!(failure, None);
}
