//! Every n-th tick.

use super::*;

fn every_nth(n: u32) -> EveryNth {
    EveryNth::new(NonZeroU32::new(n).expect("no check counts to zero"))
}

/// Ticks once, to the end, and returns `true` if the tick yielded.
fn tick_yields(counter: &mut EveryNth) -> bool {
    let mut tick = pin!(counter.tick());
    let yields = !is_ready(&mut tick, Waker::noop());
    let is_over = !yields || is_ready(&mut tick, Waker::noop());
    assert!(is_over, "a tick was pending twice");
    yields
}

/// Says which of the first `5 * n` ticks yielded, and what that looks like.
fn which_yielded(n: u32, yielded: &[u32]) -> String {
    let Some(&first) = yielded.first() else {
        return format!("none of the first {} ticks yields", 5 * n);
    };
    let last = 5 * n;
    let are_every = |first: u32, period: u32| {
        let ticks = (first..=last).step_by(period as usize);
        yielded.iter().copied().eq(ticks)
    };
    let list: Vec<_> = yielded.iter().take(5).map(u32::to_string).collect();
    let ticks = format!("the ticks that yield are {}", list.join(", "));
    let period = yielded.get(1).map_or(first, |second| second - first);
    if are_every(n, 1) {
        format!("{ticks}: once the count has reached n, every tick yields")
    } else if are_every(first, n) {
        let lag = first.abs_diff(n);
        let late = if first > n { "late" } else { "early" };
        format!("{ticks}: one in {n}, but the first comes {lag} ticks {late}")
    } else if are_every(period, period) && period.abs_diff(n) == 1 {
        format!("{ticks}: one in {period}, so the period is off by one")
    } else if are_every(first, period) && period.abs_diff(n) == 1 {
        format!("{ticks}: after the first, the period is {period}, off by one")
    } else {
        ticks
    }
}

/// Clause 7: an off-by-one error here affects every period.
#[test]
fn every_nth_tick_yields_and_no_other() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "Of the ticks of one counter, the n-th, the 2n-th and so on yield, and no others.",
        usual_cause: "The count is off by one: it's compared with n before this tick is counted, or \
                      it's reset to 1 instead of 0, or not at all. Count the tick first, and yield \
                      when the count has reached n. Or polls are counted instead of ticks, or \
                      the count isn't kept in the counter. If none yields: one poll of the tick \
                      polls the yield until it's ready.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        for n in [3, 2, 7, 1] {
            let mut counter = every_nth(n);
            let ticks = 1..=5 * n;
            let yielded: Vec<u32> =
                ticks.filter(|_| tick_yields(&mut counter)).collect();
            let expected: Vec<u32> =
                (1..=5).map(|multiple| multiple * n).collect();
            assert!(
                yielded == expected,
                "with n = {n}, {}",
                which_yielded(n, &yielded)
            );
        }
    });
}

/// Clause 7: a tick that yields is a yield.
#[test]
fn a_tick_that_is_over_stays_over() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "Polled after it was ready, a tick is ready again, or panics. It isn't pending, \
                  and isn't counted again.",
        usual_cause: "A tick that is over looks like one that wasn't polled yet, and is counted \
                      again, whether it has yielded or not. Distinguish three states: new, \
                      pending, over; or count in `tick`.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        for n in [1, 2, 3] {
            let mut counter = every_nth(n);
            let yields = (0..n).map(|_| {
                let mut tick = pin!(counter.tick());
                let yields = !is_ready(&mut tick, Waker::noop());
                let is_over = !yields || is_ready(&mut tick, Waker::noop());
                assert!(is_over, "with n = {n} a tick was pending twice");
                let what = format!("with n = {n} a tick");
                assert_stays_over(&mut tick, Waker::noop(), &what);
                yields
            });
            assert!(yields.last() == Some(true), "tick {n} does not yield");
            let next = (1..=n).find(|_| tick_yields(&mut counter));
            assert!(
                next == Some(n),
                "with n = {n}, each tick was polled more often after it was over; after the \
                 tick that yielded, the next to yield was {next:?} ticks later"
            );
        }
    });
}

/// Clause 7: "practically never" is a period too.
#[test]
fn the_longest_period_counts_as_any_other() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "With the largest n, the first thousand ticks are ready at once.",
        usual_cause: "`n + 1`, or a sum of counts, doesn't fit into the integer type.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let mut counter = every_nth(u32::MAX);
        for number in 1..=1_000 {
            let yields = tick_yields(&mut counter);
            assert!(!yields, "with n = {}, tick {number} yields", u32::MAX);
        }
    });
}

/// Clause 7: a period that fits the counter's type in most programs.
#[test]
fn a_period_of_tens_of_thousands_comes_round() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "With n = 65,540, the 65,540th tick yields, and none before it.",
        usual_cause: "The count is a `u16`, and wraps before it reaches n. Count in a `u32`, as \
                      wide as n.",
        read: "yielding/yield-now.html#every-n-th",
    };
    const N: u32 = if cfg!(miri) { 300 } else { 65_540 };
    check(lesson, || {
        let mut counter = every_nth(N);
        let first = (1..=N).find(|_| tick_yields(&mut counter));
        assert!(
            first == Some(N),
            "with n = {N}, the first of {N} ticks to yield was {first:?}"
        );
    });
}

/// Clause 7: the tick yields as a yield does, so clauses 4 and 5 apply to it.
#[test]
fn a_tick_that_yields_is_a_yield() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "A tick that yields calls its waker once and keeps no clone of it. Another thread may \
                  poll it next, with another waker.",
        usual_cause: "The tick has a yield of its own, which forgets to call the waker, keeps it, or \
                      insists on the same waker at the next poll. Store a `YieldNow` in the tick.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        let (other_waker, other_counts) = CountingWaker::new();
        let mut counter = every_nth(1);
        let mut tick = Box::pin(counter.tick());
        assert!(
            !is_ready(&mut tick.as_mut(), &waker),
            "the tick with n = 1 was ready at once"
        );
        let kept = counts.clones() - counts.drops();
        assert!(
            kept == 0,
            "after the pending poll {kept} clones of the waker were left"
        );
        let is_over = thread::scope(|scope| {
            let poll = || is_ready(&mut tick.as_mut(), &other_waker);
            scope.spawn(poll).join().expect("a tick does not panic")
        });
        assert!(
            is_over,
            "on another thread, with another waker, the tick was pending again"
        );
        let wakes = (counts.wakes(), other_counts.wakes());
        assert!(
            wakes == (1, 0),
            "the tick was pending, and its waker was called {} times; then another thread polled it \
             with another waker, which was called {} times",
            wakes.0,
            wakes.1
        );
    });
}

/// Clause 7: a yield costs one poll and one wake-up.
#[test]
fn a_task_pays_one_poll_for_each_nth_tick() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "A task that ticks a thousand times with n = 10 is woken a hundred times and \
                  polled a hundred and one times.",
        usual_cause: "A tick waits inside its poll until the yield is over, or wakes more than once. \
                      At a hang: a tick returns `Pending` without having called the waker, so \
                      nothing wakes its task.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let mut tasks = RoundRobin::new();
        tasks.spawn('A', async {
            let mut counter = every_nth(10);
            for _ in 0..1_000 {
                counter.tick().await;
            }
        });
        tasks.run();
        let (wakes, polls) = (tasks.wakes('A'), tasks.polls('A'));
        assert!(
            (wakes, polls) == (100, 101),
            "the task was woken {wakes} times and polled {polls} times"
        );
    });
}

/// Clause 8: this is what makes a large n cheap.
#[test]
fn a_tick_in_between_touches_no_waker() {
    let lesson = Lesson {
        clause: "8. Free in between",
        promise: "A tick that doesn't yield neither calls the waker nor clones it.",
        usual_cause: "The waker is cloned or called before the count is checked.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        for n in [1_000, 3, 2] {
            let mut counter = every_nth(n);
            for number in 1..=12 {
                let (waker, counts) = CountingWaker::new();
                let mut tick = pin!(counter.tick());
                if !is_ready(&mut tick, &waker) {
                    let _ready = is_ready(&mut tick, Waker::noop());
                    continue;
                }
                let (wakes, clones) = (counts.wakes(), counts.clones());
                assert!(
                    (wakes, clones) == (0, 0),
                    "with n = {n}, tick {number}, which doesn't yield, called the waker {wakes} \
                     times and cloned it {clones} times"
                );
            }
        }
    });
}

/// Clause 8: an allocation costs more than many steps.
#[test]
fn ticks_in_between_allocate_nothing() {
    let lesson = Lesson {
        clause: "8. Free in between",
        promise: "A tick that doesn't yield allocates nothing.",
        usual_cause: "Each tick is boxed. Return a struct that borrows the counter.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        for n in [1_000, 3] {
            let mut counter = every_nth(n);
            for number in 1..=100 {
                let (is_over, counted) = allocations(|| {
                    is_ready(&mut pin!(counter.tick()), Waker::noop())
                });
                let count = counted.count;
                assert!(
                    !is_over || count == 0,
                    "with n = {n}, tick {number}, which doesn't yield, allocated {count} times"
                );
            }
        }
    });
}

/// Clause 9: the tasks of one thread don't share a count.
#[test]
fn each_counter_counts_for_itself() {
    let lesson = Lesson {
        clause: "9. Its own count",
        promise: "Two counters that tick alternately each yield at their own n-th tick.",
        usual_cause: "The count is in a `static` or a thread-local, so that the tasks of a thread \
                      share it.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let mut counters = [every_nth(4), every_nth(4)];
        for number in 1..=12 {
            let yields = counters.each_mut().map(tick_yields);
            assert!(
                yields == [number % 4 == 0; 2],
                "of two counters with n = 4, tick {number} yields: {yields:?}"
            );
        }
    });
}

/// Clause 9: a task may go on on a different worker.
#[test]
fn a_counter_goes_on_counting_on_another_thread() {
    let lesson = Lesson {
        clause: "9. Its own count",
        promise: "A counter that moves to another thread continues from its count.",
        usual_cause: "The count is in a thread-local. Keep it in the counter.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let mut counter = every_nth(5);
        let here: Vec<bool> =
            (1..=3).map(|_| tick_yields(&mut counter)).collect();
        let elsewhere = thread::spawn(move || {
            let ticks = (4..=10).map(|_| tick_yields(&mut counter));
            ticks.collect::<Vec<_>>()
        });
        let elsewhere = elsewhere.join().expect("a tick does not panic");
        let yields = [here, elsewhere].concat();
        let expected: Vec<bool> =
            (1..=10).map(|number| number % 5 == 0).collect();
        assert!(
            yields == expected,
            "with n = 5, three ticks on one thread and seven on another yield: {yields:?}"
        );
    });
}

/// Clause 7: a tick counts by being polled, not by being dropped.
#[test]
fn a_tick_that_is_never_dropped_counts() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "Ticks that were polled to their end and never dropped count like any others.",
        usual_cause: "The destructor of the tick counts it, or resets the count. Safe code may \
                      forget a future instead of dropping it.",
        read: "yielding/yield-now.html#every-n-th",
    };
    const N: u32 = 3;
    check(lesson, || {
        let (waker, _counts) = CountingWaker::new();
        let mut counter = every_nth(N);
        let yielded = (1..=4 * N).filter(|_| {
            let mut tick = Box::pin(counter.tick());
            let yields = !is_ready(&mut tick.as_mut(), &waker);
            let is_over = !yields || is_ready(&mut tick.as_mut(), &waker);
            assert!(is_over, "a tick was pending twice");
            std::mem::forget(tick);
            yields
        });
        let yielded: Vec<u32> = yielded.collect();
        assert!(
            yielded == [N, 2 * N, 3 * N, 4 * N],
            "with n = {N}, ticks that were never dropped yielded: {yielded:?}"
        );
    });
}

/// Clause 10: a task may stop waiting for another reason.
#[test]
fn a_tick_dropped_halfway_does_not_stop_the_count() {
    let lesson = Lesson {
        clause: "10. Dropped ticks",
        promise: "After a tick that was dropped halfway, one of the next n ticks yields.",
        usual_cause: "The count is reset when the yield is over. If the yield is dropped, the \
                      count runs past n, and `==` never matches again: reset it when the yield \
                      begins. Or the counter, instead of the tick, remembers that a tick has \
                      yielded: the next tick is taken for that tick, so it's ready and isn't \
                      counted. Or a tick that has yielded, and has already reset the count, is \
                      subtracted again when it's dropped.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        for n in 1..=4 {
            let mut counter = every_nth(n);
            for round in 0..3 {
                let halfway = (0..n).find(|_| {
                    let mut tick = pin!(counter.tick());
                    !is_ready(&mut tick, Waker::noop())
                });
                assert!(
                    halfway.is_some(),
                    "after {round} ticks that were dropped halfway, {n} ticks in a row did not yield"
                );
            }
        }
    });
}

/// Clause 10: a waker may panic, and then the tick is dropped.
#[test]
fn a_waker_that_panics_does_not_stop_the_count() {
    let lesson = Lesson {
        clause: "10. Dropped ticks",
        promise: "After a tick that was dropped because its waker had panicked, one of the next n \
                  ticks yields.",
        usual_cause: "The count is reset after the call of the waker. If the waker panics, the \
                      count runs past n, and `==` never matches again: reset it before.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        for n in 1..=4 {
            let mut counter = every_nth(n);
            for round in 0..3 {
                let stopped = (0..n).find(|_| {
                    let mut tick = pin!(counter.tick());
                    let waker = HostileWaker::panicking();
                    let poll = || is_ready(&mut tick, &waker);
                    catch_unwind(AssertUnwindSafe(poll)).is_err()
                });
                assert!(
                    stopped.is_some(),
                    "after {round} ticks whose waker had panicked, {n} ticks in a row didn't yield"
                );
            }
            let yields = (0..n).filter(|_| tick_yields(&mut counter)).count();
            assert!(
                yields == 1,
                "after ticks whose waker had panicked, {yields} of {n} ticks in a row yielded"
            );
        }
    });
}
