//! Looks for a failing execution that is short, and records it.
//!
//! The failing executions that a random scheduler finds are hard to follow, because the threads
//! change at every other step. Schedules by priority, which have few changes, are therefore tried
//! first. The one that fails is then shortened: preemptions are left out one by one, as long as it
//! still fails. Finally, a binary search finds the step that decides it: after this step, all other
//! orders that are tried fail, too.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler, TaskId};
use shuttle::{MaxSteps, Runner};

use super::schedule::{Choices, Followed, Kept, Then};
use super::{Arc, DEPTH, SCHEDULES, SEED, STEPS, config};
use crate::record::{self, Mode};

/// How many schedules are tried with each number of changes of priority, from few to many, before
/// those that the model itself tries.
const OF_EACH_DEPTH: usize = 200;
/// How many changed orders are tried, at most, to find a shorter one that fails.
const CHANGES: usize = 400;
/// How long that may take.
const TIME_OF_CHANGES: Duration = Duration::from_secs(2);
/// How many ways to go on are tried, half of them at random and half by priority.
const WAYS: usize = 60;

/// Records an execution of `body` that fails, and fails like it; or does nothing if none is found.
pub fn record<B: Fn() + Send + Sync + 'static>(body: &Arc<B>) {
    record::watch_panics("shuttle");
    let Some(found) = first_failing(body) else {
        return;
    };
    // If a later execution aborts the process, this one has been written.
    let short = shortened(body, found.choices);
    let lost = point_of_no_return(body, &short);
    record::record_again();
    let mut followed = Followed::new(short.tasks, Then::Straight);
    if let Some(step) = lost {
        followed = followed.lost_at(step, WAYS);
    }
    let failed = run(body, followed, MaxSteps::ContinueAfter(STEPS), Mode::Newest);
    panic::resume_unwind(failed.map_or(found.panic, |failed| failed.panic));
}

/// An execution that has failed.
struct Failed {
    choices: Choices,
    panic: Box<dyn Any + Send>,
}

/// Tries what `scheduler` proposes, until one fails.
fn run<B: Fn() + Send + Sync + 'static>(
    body: &Arc<B>,
    scheduler: impl Scheduler + 'static,
    max_steps: MaxSteps,
    mode: Mode,
) -> Option<Failed> {
    let (scheduler, choices) = Kept::new(scheduler);
    let body = body.clone();
    record::set_mode(mode);
    let ran = panic::catch_unwind(AssertUnwindSafe(|| {
        Runner::new(scheduler, config(max_steps)).run(move || {
            record::begin_execution(1);
            body();
        })
    }));
    let failed = ran.err().map(|panic| {
        record::finish_with_first_panic();
        Failed {
            choices: choices.take(),
            panic,
        }
    });
    record::set_mode(Mode::Off);
    failed
}

fn first_failing<B: Fn() + Send + Sync + 'static>(body: &Arc<B>) -> Option<Failed> {
    let by_priorities = |depth, count| {
        let scheduler = PctScheduler::new_from_seed(SEED, depth, count);
        let max_steps = MaxSteps::ContinueAfter(STEPS);
        run(body, scheduler, max_steps, Mode::Newest)
    };
    let failed = (1..=DEPTH).find_map(|depth| by_priorities(depth, OF_EACH_DEPTH));
    failed
        .or_else(|| {
            let scheduler = RandomScheduler::new_from_seed(SEED, SCHEDULES);
            run(body, scheduler, MaxSteps::FailAfter(STEPS), Mode::Newest)
        })
        .or_else(|| by_priorities(DEPTH, SCHEDULES))
}

/// Leaves out preemptions, as long as it still fails.
fn shortened<B: Fn() + Send + Sync + 'static>(body: &Arc<B>, mut best: Choices) -> Choices {
    let start = Instant::now();
    let mut changes = 0;
    let mut number = 0;
    while number < best.preemptions.len() {
        changes += 1;
        if changes > CHANGES || start.elapsed() > TIME_OF_CHANGES {
            break;
        }
        let followed = Followed::new(best.without_preemption(number), Then::Straight);
        let failed = run(body, followed, MaxSteps::ContinueAfter(STEPS), Mode::Off);
        match failed {
            Some(Failed { choices, .. }) if choices.length() < best.length() => {
                best = choices;
                number = 0;
            }
            _ => number += 1,
        }
    }
    best
}

/// The step after which every way to go on was found to fail, if before it one wasn't.
fn point_of_no_return<B: Fn() + Send + Sync + 'static>(
    body: &Arc<B>,
    choices: &Choices,
) -> Option<usize> {
    let is_lost = |steps: usize| fails_always(body, &choices.tasks[..steps]);
    let (mut open, mut lost) = (0, choices.tasks.len());
    if is_lost(open) || !is_lost(lost) {
        return None;
    }
    while open + 1 < lost {
        let middle = open.midpoint(lost);
        match is_lost(middle) {
            true => lost = middle,
            false => open = middle,
        }
    }
    Some(open)
}

/// Whether it fails after these choices, whatever follows.
fn fails_always<B: Fn() + Send + Sync + 'static>(body: &Arc<B>, tasks: &[TaskId]) -> bool {
    (1..=WAYS as u64).all(|seed| {
        let then = match seed % 2 {
            0 => Then::Random(RandomScheduler::new_from_seed(seed, 1)),
            _ => Then::Priorities(PctScheduler::new_from_seed(seed, DEPTH, 1)),
        };
        let followed = Followed::new(tasks.to_vec(), then);
        run(body, followed, MaxSteps::ContinueAfter(STEPS), Mode::Off).is_some()
    })
}
