//! The loop that runs a simulation, and the loop that looks for a seed.

use std::ops::Range;

use super::{POLL, Simulation, Stop, TIME_LIMIT, TaskId, World};

// ANCHOR: drive
/// Runs the tasks until `main` is over.
///
/// # Errors
///
/// Returns why the simulation stopped earlier.
pub fn drive(world: &World, main: TaskId) -> Result<(), Stop> {
    loop {
        let time = match (world.next_task(), world.next_deadline()) {
            (Some(task), _) => {
                let is_over = world.poll(task)?;
                if is_over && task == main {
                    return Ok(());
                }
                world.now() + POLL
            }
            (None, Some(deadline)) => deadline,
            (None, None) => return Err(Stop::Deadlock(world.waiting())),
        };
        if time > TIME_LIMIT {
            return Err(Stop::TimeLimit(world.waiting()));
        }
        world.advance_to(time);
    }
}
// ANCHOR_END: drive

// ANCHOR: find
/// A seed with which a scenario fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The seed.
    pub seed: u64,
    /// What went wrong.
    pub failure: String,
    /// What happened, for the book's timeline.
    pub trace: String,
    /// Whether a second run with this seed failed with the same trace.
    pub is_replayed: bool,
}

/// Runs a scenario with one seed after the other until it fails, and then a
/// second time with the seed that failed. A scenario gets a new simulation,
/// runs in it and says what went wrong.
pub fn find(
    seeds: Range<u64>,
    scenario: impl Fn(&Simulation) -> Result<(), String>,
) -> Option<Failing> {
    let run = |seed| {
        let simulation = Simulation::new(seed);
        let failure = scenario(&simulation).err()?;
        let trace = simulation.trace(&format!("Seed {seed}: {failure}"));
        Some((failure, trace))
    };
    for seed in seeds {
        if let Some((failure, trace)) = run(seed) {
            let again = run(seed);
            let is_replayed = again.is_some_and(|(_, it)| it == trace);
            return Some(Failing {
                seed,
                failure,
                trace,
                is_replayed,
            });
        }
    }
    None
}
// ANCHOR_END: find
