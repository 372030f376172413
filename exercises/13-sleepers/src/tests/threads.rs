//! The checks that take several threads: races, and running workers.

#[path = "../workers.rs"]
mod workers;

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use primitives::chaos::with_chaos;
use testkit::{Lesson, check};

use super::super::{Activity::Busy, Sleepers};
use super::all_parked;
use workers::{Job, Scheduler, Workers};

/// Determines what happens under chaos.
const SEED: u64 = 13;
/// How long each race lasts.
const TIME: Duration = Duration::from_millis(100);
/// A race of rounds has no more rounds than this, and no fewer even if its time
/// is up.
const MOST_ROUNDS: usize = 2_000;
const FEWEST_ROUNDS: usize = 20;

/// Clause 4: a check and a change are two steps.
#[test]
fn several_threads_keep_to_the_half() {
    let lesson = Lesson {
        clause: "4. Half",
        promise: "However many workers ask at the same time, at most half search.",
        usual_cause: "The count is looked at and changed in two steps. Other threads look in \
                      between.",
        read: "scheduler/sleepers.html#half-may-search",
    };
    const COUNT: usize = 4;
    check(lesson, || {
        let sleepers = Sleepers::new(COUNT);
        let (searching, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let ask = || {
            for _ in 0..300 {
                if sleepers.transition_to_searching() {
                    most.fetch_max(searching.fetch_add(1, SeqCst) + 1, SeqCst);
                    thread::yield_now();
                    searching.fetch_sub(1, SeqCst);
                    let _ = sleepers.transition_from_searching();
                }
            }
        };
        // On a busy machine, few rounds have threads that ask at the same time.
        for seed in SEED..SEED + 16 {
            with_chaos(seed, || {
                thread::scope(|scope| {
                    (0..COUNT).for_each(|_| drop(scope.spawn(ask)))
                });
            });
        }
        let most = most.into_inner();
        assert!(
            most <= COUNT / 2,
            "of {COUNT} workers {most} searched at once"
        );
    });
}

/// Clause 7: one thread says that it is parked, and the other that it is awake.
#[test]
fn a_notify_and_an_unparked_worker_agree() {
    let lesson = Lesson {
        clause: "7. Unparking",
        promise: "If a worker wakes up while `notify` chooses it, both agree on whether it was \
                  chosen.",
        usual_cause: "`transition_from_parked` checks whether the worker is listed, and takes it \
                      off the list in a second step, when it has already been chosen.",
        read: "scheduler/sleepers.html#unparking",
    };
    check(lesson, || {
        race_to_get_up();
        with_chaos(SEED, race_to_get_up);
    });
}

fn race_to_get_up() {
    let (meeting, end) = (Barrier::new(2), AtomicUsize::new(MOST_ROUNDS));
    let rounds: Vec<_> = (0..MOST_ROUNDS).map(|_| all_parked(2)).collect();
    // Whether there is another round must be known to both once they have met.
    let meet = |round: usize| {
        meeting.wait();
        round < end.load(SeqCst)
    };
    thread::scope(|scope| {
        let notifying = scope.spawn(|| {
            let numbered = rounds.iter().enumerate();
            let met = numbered.take_while(|(round, _)| meet(*round));
            met.map(|(_, sleepers)| sleepers.notify())
                .collect::<Vec<_>>()
        });
        let begun = Instant::now();
        let met = rounds.iter().enumerate().take_while(|(round, _)| {
            // Each meeting takes two time slices of the CPU, for which the two
            // may have to queue.
            if *round >= FEWEST_ROUNDS && begun.elapsed() > TIME {
                end.store(*round, SeqCst);
            }
            meet(*round)
        });
        let now = met.map(|(_, sleepers)| sleepers.transition_from_parked(0));
        let now: Vec<_> = now.collect();
        let named = notifying.join().expect("`notify` doesn't panic");
        for ((sleepers, now), named) in rounds.iter().zip(now).zip(named) {
            assert!(
                (now == Busy) == (named != Some(0)),
                "{named:?} was chosen, and `transition_from_parked` says that 0, which is awake, \
                 is {now:?}"
            );
            assert!(
                named.is_some(),
                "1 is parked all the time, and none is chosen"
            );
            assert!(
                sleepers.transition_from_searching(),
                "the chosen worker was the only searcher"
            );
        }
    });
}

/// Jobs that wait until this many of them run; the thread that pushed them
/// waits, too.
fn meeting_jobs(count: usize) -> (Arc<Barrier>, Job) {
    let meeting = Arc::new(Barrier::new(count + 1));
    let here = meeting.clone();
    let meet = move |_: &Scheduler, _| {
        meeting.wait();
    };
    (here, Box::new(meet))
}

/// Clause 5: the work is there, and all but one are parked.
#[test]
fn as_many_workers_come_as_there_are_jobs() {
    let lesson = Lesson {
        clause: "5. One leads to the next",
        promise: "There are as many jobs as workers, each job waits for the others, and all of \
                  them run.",
        usual_cause: "A worker that finds a job looks no further. The jobs that came while it \
                      searched woke no worker, so it has to wake the next one.",
        read: "scheduler/sleepers.html#one-leads-to-the-next",
    };
    check(lesson, || {
        for (count, rounds) in [(1, 20), (2, 50), (4, 30), (64, 3), (200, 1)] {
            let (meeting, job) = meeting_jobs(count);
            let workers = Workers::start(count, job);
            for _ in 0..rounds {
                workers.push(count);
                meeting.wait();
            }
            workers.end();
        }
    });
}

/// Clause 5: here only a searcher finds them.
#[test]
fn jobs_that_a_worker_pushes_reach_the_others() {
    let lesson = Lesson {
        clause: "5. One leads to the next",
        promise: "A worker pushes a job for each of the others into its own queue, and all of them run.",
        usual_cause: "A worker that finds a job looks no further. The jobs that came while it \
                      searched woke no worker, so it has to wake the next one.",
        read: "scheduler/sleepers.html#one-leads-to-the-next",
    };
    check(lesson, || {
        for (count, rounds) in [(2, 50), (4, 30), (64, 3), (200, 1)] {
            let meeting = Arc::new(Barrier::new(count + 1));
            let (here, is_first) = (meeting.clone(), AtomicUsize::new(0));
            let job: Job = Box::new(move |scheduler, worker| {
                if is_first.fetch_add(1, SeqCst) % count == 0 {
                    scheduler.push(worker, count - 1);
                }
                meeting.wait();
            });
            let workers = Workers::start(count, job);
            for _ in 0..rounds {
                workers.push(1);
                here.wait();
            }
            workers.end();
        }
    });
}

/// Repeatedly pushes this many jobs that wait for one another.
fn race_to_sleep(workers: usize, jobs: usize) {
    let (meeting, job) = meeting_jobs(jobs);
    let workers = Workers::start(workers, job);
    let start = Instant::now();
    while start.elapsed() < TIME / 2 {
        workers.push(jobs);
        meeting.wait();
    }
    workers.end();
}

/// Clause 1: the moment between the last look and the park.
#[test]
fn thousands_of_jobs_find_a_worker() {
    let lesson = Lesson {
        clause: "1. No task waits",
        promise: "Each job that comes as the workers park is run.",
        usual_cause: "If other checks fail, read those first: any mistake ends here, too. If no \
                      other check fails, `transition_to_parked` counts the worker too late, or \
                      before it is on the list. A job that comes in between isn't seen and wakes \
                      no worker. Or \
                      `notify` counts a searcher before it has found a sleeper, and takes it back \
                      if there is none: a worker that parks in between takes it for a real \
                      searcher, and doesn't look again. Or `transition_from_parked` ignores that a \
                      `notify` has chosen the worker meanwhile: it says that the worker was \
                      parked, so that a searcher is counted forever, or subtracts the worker from \
                      the number of sleepers again.",
        read: "scheduler/sleepers.html#both-look-too-early",
    };
    check(lesson, || {
        race_to_sleep(2, 1);
        race_to_sleep(4, 3);
        with_chaos(SEED, || {
            race_to_sleep(2, 1);
            race_to_sleep(4, 3);
        });
    });
}
