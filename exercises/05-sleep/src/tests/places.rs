//! What sleeps leave behind, and which sleeps get their entries next.

use super::*;

/// Clause 6: the entry of a sleep that is over may belong to another sleep by
/// now.
#[test]
fn a_sleep_that_is_over_does_nothing_to_younger_ones() {
    let lesson = Lesson {
        clause: "6. Nothing left behind",
        promise: "A sleep that has fired may be polled and dropped later. Those that began \
                  meanwhile are still woken, each by its own waker.",
        usual_cause: "A sleep knows its entry by an index or an address, and another sleep has \
                      that entry now. Give each sleep a number of its own, and compare it.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    const SLEEPS: usize = 5;
    check(lesson, || {
        for is_polled in [false, true] {
            let mut driven = Driven::new();
            let older: Vec<_> =
                (0..SLEEPS).map(|_| begin(driven.after(MS))).collect();
            driven.now += SECOND;
            driven.fire();
            let (sleeps, wakes): (Vec<_>, Vec<_>) =
                (0..SLEEPS).map(|_| begin(driven.after(SECOND))).unzip();
            for (mut sleep, _) in older {
                if is_polled {
                    let (waker, _) = CountingWaker::new();
                    assert!(
                        poll(&mut sleep, &waker),
                        "the sleep has fired but isn't ready"
                    );
                }
            }
            driven.now += 2 * SECOND;
            driven.fire();
            let wakes: Vec<_> =
                wakes.iter().map(|wakes| wakes.wakes()).collect();
            let fate = if is_polled {
                "polled and dropped"
            } else {
                "dropped"
            };
            assert!(
                wakes == [1; SLEEPS],
                "{SLEEPS} sleeps began after {SLEEPS} others had fired; when the older ones had \
                 been {fate} and the younger ones were due, the younger ones were woken {wakes:?} \
                 times"
            );
            drop(sleeps);
        }
    });
}

/// Clause 6: a number of eight or sixteen bits wraps soon.
#[test]
fn a_sleep_that_is_over_is_not_taken_for_the_65536th_after_it() {
    let lesson = Lesson {
        clause: "6. Nothing left behind",
        promise: "When a sleep that has fired is dropped after tens of thousands of others have \
                  come and gone, the sleep that is waiting then is still woken.",
        usual_cause: "What distinguishes a sleep from those that had its entry before is a `u8` or \
                      a `u16`, which wraps. Use a `u64`.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    const ROUND: u32 = 1 << 16;
    check(lesson, || {
        for count in [ROUND - 1, ROUND, ROUND + 1] {
            let mut driven = Driven::new();
            let (older, _wakes) = begin(driven.after(MS));
            driven.now += SECOND;
            driven.fire();
            for _ in 1..count {
                poll(&mut driven.after(SECOND), Waker::noop());
            }
            let (_younger, wakes) = begin(driven.after(SECOND));
            drop(older);
            driven.now += 2 * SECOND;
            driven.fire();
            let wakes = wakes.wakes();
            assert!(
                wakes == 1,
                "a sleep fired, {count} others began after it, it was dropped, and the last of the \
                 others was woken {wakes} times"
            );
        }
    });
}

/// Clause 6: a server has a timeout for each request, and runs for months.
#[test]
fn the_memory_of_sleeps_that_are_over_is_used_again() {
    let lesson = Lesson {
        clause: "6. Nothing left behind",
        promise: "When sleeps come and go by the thousand, the timers keep no more memory than \
                  they needed at first.",
        usual_cause: "An entry is emptied when its sleep is dropped or fires, but no other sleep \
                      gets it, because it isn't taken out, or isn't put where free entries are \
                      looked for.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    const SLEEPS: u32 = 5_000;
    const ROUNDS: u32 = 20;
    check(lesson, || {
        for are_dropped in [true, false] {
            let mut driven = Driven::new();
            let round = |driven: &mut Driven| {
                let begin = |index| {
                    let mut sleep = driven.after(MS * index + MS);
                    poll(&mut sleep, Waker::noop());
                    sleep
                };
                let sleeps: Vec<_> = (0..SLEEPS).map(begin).collect();
                if are_dropped {
                    drop(sleeps);
                }
                driven.now += MS * (SLEEPS + 1);
                driven.fire();
            };
            // Somewhere in the middle, and never dropped.
            let _long = begin(driven.after(YEAR));
            let empty = live_bytes();
            round(&mut driven);
            let first = live_bytes() - empty;
            for _ in 1..ROUNDS {
                round(&mut driven);
            }
            let all = live_bytes() - empty;
            let fate = if are_dropped { "were dropped" } else { "fired" };
            // A vector doubles when it grows, and some free entries aren't
            // found at once.
            assert!(
                all <= 3 * first.max(8 << 10),
                "after {SLEEPS} sleeps that {fate}, the timers had {first} bytes, and after \
                 {ROUNDS} times as many, {all} bytes"
            );
        }
    });
}

/// Clause 2: the entry that fills a dropped sleep's gap may belong elsewhere.
#[test]
fn sleeps_that_are_dropped_leave_the_others_in_time() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "When sleeps are dropped, in any order, `fire` wakes each of the others within a \
                  millisecond.",
        usual_cause: "A heap's last entry fills the gap, and is only moved down. However, it may \
                      be earlier than its new parent, and then it has to move up. Or taking an \
                      entry out changes what other sleeps find.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    const ROUNDS: usize = 100;
    const SLEEPS: usize = 64;
    check(lesson, || {
        let random = Cell::new(SEED);
        for _ in 0..ROUNDS {
            let mut driven = Driven::new();
            let begin = |_| {
                let micros = Duration::from_micros(draw(&random) % 1_000_000);
                let deadline = driven.now + 2 * MS + micros;
                (deadline, begin(driven.timers.sleep_until(deadline)))
            };
            let mut sleeps: Vec<_> = (0..SLEEPS).map(begin).collect();
            for count in (SLEEPS / 2 + 1..=SLEEPS).rev() {
                sleeps.swap_remove(draw(&random) as usize % count);
            }
            let end = driven.now + 2 * SECOND;
            driven.run_until(end, |now| {
                sleeps.retain(|(deadline, (_, wakes))| {
                    let is_woken = wakes.wakes() > 0;
                    let late = now.saturating_duration_since(*deadline);
                    assert!(
                        is_woken || late <= MS,
                        "half of {SLEEPS} sleeps were dropped, and one of the others still hadn't \
                         been woken {late:?} after its deadline"
                    );
                    !is_woken
                });
            });
            let forgotten = sleeps.len();
            assert!(
                forgotten == 0,
                "half of {SLEEPS} sleeps were dropped, and `fire` has forgotten {forgotten} of the \
                 others"
            );
        }
    });
}
