//! What happens in thousands of runs, in a few numbers.

use std::fmt::Write;

use super::{Event, LoadName, Outcome, Parts, Scheduler, Settings, cost};

const SEEDS: u32 = 5000;
/// The seeds that have a digest together.
const BLOCK: u32 = 50;
/// So many runs of each seed.
const RUNS: u32 = 8;
/// After so many seeds, every combination of load, workers and parts has had its turn.
const TURN: u32 = 4 * 3 * 32 / RUNS;

/// FNV-1a over whole numbers.
struct Digest(u32);

impl Digest {
    const fn new() -> Self {
        Self(0x811C_9DC5)
    }

    fn fold(&mut self, number: u32) {
        self.0 = (self.0 ^ number).wrapping_mul(0x0100_0193);
    }

    fn add_event(&mut self, event: &Event) {
        event
            .numbers()
            .into_iter()
            .for_each(|number| self.fold(number));
    }

    fn add_outcome(&mut self, outcome: &Outcome) {
        self.fold(outcome.makespan.unwrap_or(u32::MAX));
        self.fold(outcome.longest_wait.unwrap_or(u32::MAX));
        outcome.polls.iter().for_each(|&polls| self.fold(polls));
        let Outcome {
            steals,
            unparks,
            useless_unparks,
            parks,
            ..
        } = *outcome;
        [steals, unparks, useless_unparks, parks]
            .into_iter()
            .for_each(|count| self.fold(count));
    }
}

/// Returns the runs of a seed.
pub fn runs_of(seed: u32) -> impl Iterator<Item = Settings> {
    // The usual costs for a turn of all combinations, and others for the next.
    let is_usual = (seed / TURN).is_multiple_of(2);
    (0..RUNS).map(move |nth| {
        let combination = seed * RUNS + nth;
        Settings {
            load: LoadName::ALL[combination as usize % 4],
            workers: 2 + (combination / 4 % 3) as usize,
            seed,
            parts: Parts::from_bits(combination / 12 % 32),
            unpark: if is_usual { cost::UNPARK } else { seed % 51 },
            wake: if is_usual { cost::WAKE } else { seed * 3 % 201 },
        }
    })
}

/// Returns a line for each fifty seeds: the digest of all that happens in their runs.
pub fn digests() -> String {
    let mut text = String::new();
    for first in (0..SEEDS).step_by(BLOCK as usize) {
        let mut digest = Digest::new();
        for settings in (first..first + BLOCK).flat_map(runs_of) {
            let mut scheduler = Scheduler::new(settings);
            let outcome = scheduler.run();
            scheduler
                .events()
                .iter()
                .for_each(|event| digest.add_event(event));
            digest.add_outcome(&outcome);
        }
        writeln!(text, "{:08x}", digest.0).unwrap();
    }
    text
}
