//! Clauses 12 and 13: the replay, and the search.

use super::program::Version;
use super::*;

/// A few tasks that meet on the network.
fn chatter(seed: u64) -> String {
    let simulation = Simulation::new(seed);
    let outcome = world::check(&simulation, Version::Right);
    simulation.trace(&format!("{outcome:?}"))
}

/// Clause 12: without it, a seed is worth nothing.
#[test]
fn a_seed_replays_byte_by_byte() {
    let lesson = Lesson {
        clause: "12. Replays",
        promise: "Two runs with the same seed have the same trace, byte by byte.",
        usual_cause: "Something else than the seed decides: a real clock, a hash map's order, an \
                      address, a thread.",
        read: "io/simulator.html#what-must-not-get-in",
    };
    check(lesson, || {
        for seed in 0..100 {
            let (one, other) = (chatter(seed), chatter(seed));
            let differ = one.lines().zip(other.lines()).find(|(a, b)| a != b);
            assert!(
                one == other,
                "two runs with seed {seed} differ first at {differ:?}"
            );
        }
    });
}

/// Clause 12: and with one order, no seed finds anything.
#[test]
fn another_seed_is_another_run() {
    let lesson = Lesson {
        clause: "12. Replays",
        promise: "The seed decides which ready task is polled next.",
        usual_cause: "The loop or the queue doesn't ask the seed.",
        read: "io/simulator.html#the-seed-chooses",
    };
    check(lesson, || {
        let orders = (0..200).map(|seed| {
            let simulation = Simulation::new(seed);
            let order = simulation.run(async {
                let order = Rc::new(RefCell::new(Vec::new()));
                let tasks = [1, 2, 3].map(|number| {
                    let order = order.clone();
                    spawn(format!("task {number}"), async move {
                        order.borrow_mut().push(number);
                    })
                });
                for task in tasks {
                    task.await.expect("it's never cancelled");
                }
                order.take()
            });
            order.expect("it ends")
        });
        let count = orders.collect::<BTreeSet<_>>().len();
        assert!(
            count == 6,
            "with 200 seeds, three tasks ran in {count} of the 6 orders"
        );
    });
}

/// Clause 13: and it's replayed at once.
#[test]
fn the_first_seed_that_fails_is_found() {
    let lesson = Lesson {
        clause: "13. Finds",
        promise: "`find` runs the seeds in order until one fails, runs that one a second time, and \
                  returns it.",
        usual_cause: "`find` goes on after a failure and returns the last one, or counts from 0 \
                      and not from the start of the range, or the second run has another seed.",
        read: "io/simulator.html#a-seed-is-a-bug-report",
    };
    check(lesson, || {
        let runs = Cell::new(0);
        let found = find(100..200, |simulation| {
            runs.set(runs.get() + 1);
            let wait = simulation.run(async { random_duration(MS..SECOND) });
            assert!(wait.is_ok());
            if runs.get() < 6 {
                Ok(())
            } else {
                Err("broken".into())
            }
        });
        let found = found.expect("the sixth run and the later ones fail");
        let (seed, count) = (found.seed, runs.get());
        assert!(
            seed == 105 && found.failure == "broken",
            "of the seeds 100 to 199, those from 105 on fail, and `find` returned seed {seed} with \
             the failure {:?}",
            found.failure
        );
        assert!(
            count == 7 && found.is_replayed,
            "seed 105 is the sixth and should run twice; there were {count} runs, and \
             `is_replayed` is {}",
            found.is_replayed
        );
        let nothing = find(100..120, |_| Ok(()));
        assert!(nothing.is_none(), "no seed fails, and one was found");
    });
}

/// What a simulation draws first, which tells its seed.
fn first_draw(simulation: &Simulation) -> u64 {
    let drawn = simulation.run(async { random_below(u64::MAX) });
    drawn.expect("it ends")
}

/// Clause 13: each seed once, as it is, and no other.
#[test]
fn a_search_runs_the_seeds_of_its_range() {
    let lesson = Lesson {
        clause: "13. Finds",
        promise: "`find` runs the scenario with each seed of the range, in order, until one fails, \
                  and that one a second time.",
        usual_cause: "The end of the range is run, too, or the last seed isn't, or the simulation \
                      gets another seed than the one that is returned.",
        read: "io/simulator.html#a-seed-is-a-bug-report",
    };
    check(lesson, || {
        for (seeds, failing) in [
            (100..110, None),
            (100..110, Some(109)),
            (100..110, Some(110)),
            (0..1, Some(0)),
            (7..7, Some(7)),
            (u64::MAX - 2..u64::MAX, Some(u64::MAX - 1)),
        ] {
            let runs = RefCell::new(Vec::new());
            let found = find(seeds.clone(), |simulation| {
                let drawn = first_draw(simulation);
                runs.borrow_mut().push(drawn);
                let fails = failing.is_some_and(|failing| {
                    drawn == first_draw(&Simulation::new(failing))
                });
                if fails { Err("broken".into()) } else { Ok(()) }
            });
            let is_there = failing.filter(|seed| seeds.contains(seed));
            let last = is_there.map_or(seeds.end, |seed| seed + 1);
            let mut expected: Vec<_> = (seeds.start..last).collect();
            expected.extend(is_there);
            let draws = expected.iter().copied().map(Simulation::new);
            let draws: Vec<_> = draws.map(|it| first_draw(&it)).collect();
            let runs = runs.into_inner();
            assert!(
                runs == draws,
                "with the range {seeds:?}, if seed {failing:?} fails, the seeds {expected:?} \
                 should run, which are {}; there were {} runs, or they had other seeds",
                expected.len(),
                runs.len()
            );
            let seed = found.as_ref().map(|found| found.seed);
            assert!(
                seed == is_there,
                "of the seeds {seeds:?}, seed {failing:?} fails, and `find` returned {seed:?}"
            );
            let has_trace = found.is_none_or(|it| it.trace.contains("main"));
            assert!(has_trace, "the trace doesn't contain the main task");
        }
    });
}

/// Clause 13: a scenario may itself be unsteady, and then its seed is useless.
#[test]
fn a_failure_that_cannot_be_replayed_is_told() {
    let lesson = Lesson {
        clause: "13. Finds",
        promise: "If the second run doesn't fail, or has another trace, `is_replayed` is `false`.",
        usual_cause: "`is_replayed` is set without a second run, or says only whether the failures \
                      are the same, or only whether the traces are. It takes both: the second run \
                      has to fail, and to have the same trace.",
        read: "io/simulator.html#what-must-not-get-in",
    };
    check(lesson, || {
        for way in ["passes", "has another trace"] {
            let runs = Cell::new(0);
            let found = find(0..10, |simulation| {
                runs.set(runs.get() + 1);
                let count = runs.get();
                let ended = simulation.run(async move {
                    if way == "has another trace" {
                        Yields(count).await;
                    }
                });
                assert!(ended.is_ok());
                match (way, count) {
                    ("passes", 2) => Ok(()),
                    _ => Err("broken".into()),
                }
            });
            let found = found.expect("the first seed fails");
            assert!(
                !found.is_replayed,
                "the second run {way}, and `is_replayed` is `true`"
            );
        }
    });
}

/// Clause 13: what all this is for.
#[test]
fn the_planted_bugs_are_found() {
    let lesson = Lesson {
        clause: "13. Finds",
        promise: "Each of the three bugs in the folder `program` shows within 1,000 seeds.",
        usual_cause: "The order or the delays depend too little on the seed, or the loop doesn't \
                      notice that a program is stuck.",
        read: "io/simulator.html#three-bugs",
    };
    check(lesson, || {
        for version in [
            Version::LostUpdate,
            Version::AppliedTwice,
            Version::Futurelock,
        ] {
            let found = find(0..1_000, |it| world::check(it, version));
            let Some(found) = found else {
                panic!("no seed below 1,000 finds the bug {version:?}");
            };
            assert!(
                found.is_replayed,
                "seed {} finds the bug {version:?}, but a second run is different",
                found.seed
            );
        }
    });
}

/// Clause 13: a simulator that finds bugs where there are none is soon ignored.
#[test]
fn the_right_program_passes() {
    let lesson = Lesson {
        clause: "13. Finds",
        promise: "With no seed does the right version of the program fail.",
        usual_cause: "A byte or a wake-up is lost, or time goes wrong, and the program can't \
                      tolerate that.",
        read: "io/simulator.html#three-bugs",
    };
    check(lesson, || {
        let found = find(0..200, |it| world::check(it, Version::Right));
        if let Some(found) = found {
            panic!("seed {} fails: {}", found.seed, found.failure);
        }
    });
}
