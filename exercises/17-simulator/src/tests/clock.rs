//! Clauses 1 to 4: the clock.

use super::*;

/// A waker that says which one it is.
struct Numbered {
    number: u32,
    woken: Arc<Mutex<Vec<u32>>>,
}

impl Wake for Numbered {
    fn wake(self: Arc<Self>) {
        let mut woken = self.woken.lock().expect("no waker panics");
        woken.push(self.number);
    }
}

/// Makes wakers, and tells them apart.
#[derive(Default)]
struct Wakers {
    woken: Arc<Mutex<Vec<u32>>>,
}

impl Wakers {
    fn number(&self, number: u32) -> Waker {
        let woken = self.woken.clone();
        Waker::from(Arc::new(Numbered { number, woken }))
    }

    /// Returns the numbers of these wakers.
    fn of(&self, wakers: impl IntoIterator<Item = Waker>) -> Vec<u32> {
        wakers.into_iter().for_each(Waker::wake);
        let mut woken = self.woken.lock().expect("no waker panics");
        std::mem::take(&mut *woken)
    }
}

/// Clause 1: neither other calls nor real time move it.
#[test]
fn only_advance_to_moves_the_clock() {
    let lesson = Lesson {
        clause: "1. Stands still",
        promise: "The clock shows zero, and then the time that `advance_to` was last given.",
        usual_cause: "The clock reads a real clock, or `wake_at` moves it, or `advance_to` goes \
                      on to the next deadline, or adds its argument to the time.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        let mut clock = Clock::new();
        // If this takes longer than it should, nothing else is found.
        std::thread::sleep(2 * MS);
        let at_first = clock.now();
        assert!(
            at_first.is_zero(),
            "2 ms after `new`, the clock shows {at_first:?}"
        );
        clock.wake_at(5 * SECOND, Waker::noop().clone());
        let stored = clock.now();
        assert!(stored.is_zero(), "`wake_at` set the clock to {stored:?}");
        for time in [2 * SECOND, 3 * SECOND, 7 * SECOND] {
            clock.advance_to(time);
            let shown = clock.now();
            assert!(
                shown == time,
                "after `advance_to({time:?})`, the clock shows {shown:?}"
            );
        }
    });
}

/// Clause 1: a time in the past isn't an error.
#[test]
fn the_clock_never_goes_back() {
    let lesson = Lesson {
        clause: "1. Stands still",
        promise: "`advance_to` with an earlier time than the clock shows doesn't move it.",
        usual_cause: "`advance_to` assigns the time without comparing it to the present. A sleep \
                      that was ready would then be early.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        let mut clock = Clock::new();
        clock.advance_to(5 * SECOND);
        clock.advance_to(3 * SECOND);
        let shown = clock.now();
        assert!(
            shown == 5 * SECOND,
            "after `advance_to(5s)` and `advance_to(3s)`, the clock shows {shown:?}"
        );
    });
}

/// Clause 2: by their deadlines, not by the calls.
#[test]
fn due_wakers_come_in_the_order_of_their_deadlines() {
    let lesson = Lesson {
        clause: "2. Due",
        promise: "`advance_to` returns all wakers that are due, the earliest deadline first.",
        usual_cause: "The wakers are kept in the order of the calls or of a hash map, or only the \
                      first one that's due is taken out.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        let (mut clock, wakers) = (Clock::new(), Wakers::default());
        for deadline in [7, 3, 9, 1, 5, 8, 2] {
            clock.wake_at(deadline * SECOND, wakers.number(deadline));
        }
        for (time, expected) in [
            (0, vec![]),
            (2, vec![1, 2]),
            (2, vec![]),
            (8, vec![3, 5, 7, 8]),
            (20, vec![9]),
            (30, vec![]),
        ] {
            let due = wakers.of(clock.advance_to(time * SECOND));
            assert!(
                due == expected,
                "of the wakers that are due at 7, 3, 9, 1, 5, 8 and 2 s, `advance_to({time}s)` \
                 returned {due:?}, not {expected:?}"
            );
        }
    });
}

/// Clause 2: a nanosecond counts.
#[test]
fn no_waker_is_early_and_none_is_late() {
    let lesson = Lesson {
        clause: "2. Due",
        promise: "A waker isn't due a nanosecond before its deadline, and it's due at its deadline.",
        usual_cause: "The deadlines are rounded, or compared by `<` where it has to be `<=`. With \
                      `<`, the clock jumps to a deadline at which nothing is due, forever.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        let deadline = Duration::from_nanos(1_234_567_891);
        let (mut clock, wakers) = (Clock::new(), Wakers::default());
        clock.wake_at(deadline, wakers.number(1));
        let early =
            wakers.of(clock.advance_to(deadline - Duration::from_nanos(1)));
        assert!(early.is_empty(), "a waker is due before its deadline");
        let due = wakers.of(clock.advance_to(deadline));
        assert!(due == [1], "at its deadline, the waker isn't due");
    });
}

/// Clause 2: their order mustn't depend on anything else.
#[test]
fn equal_deadlines_keep_the_order_of_the_calls() {
    let lesson = Lesson {
        clause: "2. Due",
        promise: "Wakers with the same deadline are returned in the order in which they were \
                  stored, and none replaces another.",
        usual_cause: "A map's key is the deadline alone, so the second waker replaces the first, \
                      or a heap has no second key and returns equal ones in any order.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        let (mut clock, wakers) = (Clock::new(), Wakers::default());
        let count = 50;
        for number in 0..count {
            clock.wake_at(2 * SECOND, wakers.number(number));
            clock.wake_at(SECOND, wakers.number(count + number));
        }
        for (time, expected) in
            [(SECOND, count..2 * count), (2 * SECOND, 0..count)]
        {
            let due = wakers.of(clock.advance_to(time));
            assert!(
                due.iter().copied().eq(expected.clone()),
                "wakers {expected:?} were stored with one deadline, in this order, and came as \
                 {due:?}"
            );
        }
    });
}

/// Clause 2: a task may ask for a time that's over.
#[test]
fn a_deadline_in_the_past_is_due_at_once() {
    let lesson = Lesson {
        clause: "2. Due",
        promise: "A waker whose deadline is already over when it's stored is returned by the next \
                  `advance_to`, even if that doesn't move the clock.",
        usual_cause: "`advance_to` returns early if the time isn't later than the present, or \
                      `wake_at` drops a waker that's due already.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        let (mut clock, wakers) = (Clock::new(), Wakers::default());
        clock.advance_to(5 * SECOND);
        for (number, deadline) in [(1, 5 * SECOND), (2, SECOND)] {
            clock.wake_at(deadline, wakers.number(number));
            let due = wakers.of(clock.advance_to(5 * SECOND));
            assert!(
                due == [number],
                "the clock shows 5 s; a waker was stored for {deadline:?}, and `advance_to(5s)` \
                 returned {due:?}"
            );
        }
        clock.wake_at(SECOND, wakers.number(3));
        let due = wakers.of(clock.advance_to(2 * SECOND));
        assert!(
            due == [3],
            "the clock shows 5 s; a waker was stored for 1 s, and `advance_to(2s)` returned {due:?}"
        );
    });
}

/// Clause 3: a sleep that's dropped must not wake its task.
#[test]
fn a_cancelled_waker_is_never_due() {
    let lesson = Lesson {
        clause: "3. Cancelled",
        promise: "`cancel` returns the waker of its timer. The waker is then neither due nor \
                  waited for.",
        usual_cause: "`cancel` does nothing, or it marks the timer, and `next_deadline` still \
                      counts it: the clock would jump to a time at which nothing happens.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        let (mut clock, wakers) = (Clock::new(), Wakers::default());
        let first = clock.wake_at(SECOND, wakers.number(1));
        clock.wake_at(2 * SECOND, wakers.number(2));
        let cancelled = wakers.of(clock.cancel(first));
        assert!(
            cancelled == [1],
            "of two wakers, the first was cancelled, and `cancel` returned {cancelled:?}"
        );
        let next = clock.next_deadline();
        assert!(
            next == Some(2 * SECOND),
            "the waker for 1 s is cancelled, one for 2 s waits, and the next deadline is {next:?}"
        );
        let due = wakers.of(clock.advance_to(3 * SECOND));
        assert!(due == [2], "the first of two was cancelled; due: {due:?}");
    });
}

/// Clause 3: a timer isn't an index that another waker gets.
#[test]
fn a_timer_cancels_no_other_waker() {
    let lesson = Lesson {
        clause: "3. Cancelled",
        promise: "A timer whose waker was due, or was cancelled, cancels nothing, even if later \
                  wakers have the same deadline.",
        usual_cause: "A timer contains only the deadline or the index, and another waker has it \
                      now.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        let (mut clock, wakers) = (Clock::new(), Wakers::default());
        let due = clock.wake_at(SECOND, wakers.number(1));
        clock.advance_to(SECOND);
        let cancelled = clock.wake_at(2 * SECOND, wakers.number(2));
        clock.cancel(cancelled);
        clock.wake_at(SECOND, wakers.number(3));
        clock.wake_at(2 * SECOND, wakers.number(4));
        for (timer, how) in [(due, "was due"), (cancelled, "was cancelled")] {
            let taken = wakers.of(clock.cancel(timer));
            assert!(
                taken.is_empty(),
                "a waker {how}, and then `cancel` with its timer took out waker {taken:?}"
            );
        }
        let due = wakers.of(clock.advance_to(2 * SECOND));
        assert!(due == [3, 4], "two wakers should be due: {due:?}");
    });
}

/// Clause 4: that's where the clock jumps to.
#[test]
fn the_next_deadline_is_the_earliest_one() {
    let lesson = Lesson {
        clause: "4. The next one",
        promise: "`next_deadline` returns the earliest deadline of the wakers that are there, \
                  even if it's in the past.",
        usual_cause: "It returns the deadline that was stored first or last, or one that was due \
                      already, or it leaves out what's in the past.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        let mut clock = Clock::new();
        let next = |clock: &Clock| clock.next_deadline().map(|it| it.as_secs());
        let mut seen = vec![next(&clock)];
        for deadline in [4, 6, 2] {
            clock.wake_at(deadline * SECOND, Waker::noop().clone());
            seen.push(next(&clock));
        }
        for time in [1, 2, 5, 6] {
            clock.advance_to(time * SECOND);
            seen.push(next(&clock));
        }
        let expected = [
            None,
            Some(4),
            Some(4),
            Some(2),
            Some(2),
            Some(4),
            Some(6),
            None,
        ];
        assert!(
            seen == expected,
            "with no waker, after storing wakers for 4, 6 and 2 s, and at 1, 2, 5 and 6 s, the \
             next deadlines were {seen:?}, not {expected:?}"
        );
        clock.wake_at(3 * SECOND, Waker::noop().clone());
        let past = next(&clock);
        assert!(
            past == Some(3),
            "the clock shows 6 s, a waker was stored for 3 s, and the next deadline is {past:?}"
        );
    });
}

/// Clause 2: many calls, and a plain list that says what they return.
#[test]
fn many_calls_agree_with_a_plain_list() {
    let lesson = Lesson {
        clause: "2. Due",
        promise: "After any calls of `wake_at`, `cancel` and `advance_to`, the wakers that are due \
                  are returned in the order of their deadlines, and then of the calls.",
        usual_cause: "`cancel` changes the order of the others (`swap_remove`), or an unstable sort \
                      does, the number that distinguishes two timers is used a second time, or \
                      the type in which a deadline is kept is too small for it: \
                      `sleep(Duration::MAX)` is allowed. If only the next deadline is wrong: it \
                      may be that of a timer that was cancelled, which comes to the front when \
                      those before it are due.",
        read: "io/simulator.html#a-clock-that-jumps",
    };
    check(lesson, || {
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let (mut clock, wakers) = (Clock::new(), Wakers::default());
            let mut time = Duration::ZERO;
            let (mut list, mut timers) = (Vec::new(), Vec::new());
            for number in 0..700 {
                match random.below(16) {
                    0..10 => {
                        let deadline = match random.below(20) {
                            0 => Duration::MAX,
                            // More nanoseconds than fit into 64 bits.
                            1 => u32::MAX * (5 * SECOND) + time,
                            _ => random.below(20) as u32 * SECOND,
                        };
                        timers.push((
                            clock.wake_at(deadline, wakers.number(number)),
                            number,
                        ));
                        list.push((deadline, number));
                    }
                    10..15 if !timers.is_empty() => {
                        let index = random.below(timers.len() as u64);
                        let (timer, number) = timers[index as usize];
                        let place = list.iter().position(|it| it.1 == number);
                        let expected = place.map(|place| list.remove(place).1);
                        let taken = wakers.of(clock.cancel(timer));
                        assert!(
                            taken.iter().copied().eq(expected),
                            "seed {seed}: `cancel` with the timer of waker {number} returned \
                             {taken:?}, not {expected:?}"
                        );
                    }
                    _ => {
                        let to = random.below(20) as u32 * SECOND;
                        time = time.max(to);
                        // Stable: those with one deadline stay in their order.
                        list.sort_by_key(|it| it.0);
                        let count = list.partition_point(|it| it.0 <= time);
                        let expected: Vec<_> = list.drain(..count).collect();
                        let due = wakers.of(clock.advance_to(to));
                        let numbers = expected.iter().map(|it| it.1);
                        let same = due.iter().copied().zip(numbers.clone());
                        let same = same.take_while(|(a, b)| a == b).count();
                        assert!(
                            due.iter().copied().eq(numbers),
                            "seed {seed}: `advance_to({to:?})` should return {} wakers, and \
                             returned {}. The first that differs is {}, and should be {}",
                            expected.len(),
                            due.len(),
                            in_words(due.get(same).copied(), &expected),
                            in_words(
                                expected.get(same).map(|it| it.1),
                                &expected
                            )
                        );
                    }
                }
                let (shown, next) = (clock.now(), clock.next_deadline());
                let first = list.iter().map(|it| it.0).min();
                assert!(
                    shown == time && next == first,
                    "seed {seed}: the clock shows {shown:?} and not {time:?}, or the next \
                     deadline is {next:?} and not {first:?}"
                );
            }
            let kept = Arc::strong_count(&wakers.woken) - 1;
            assert!(
                kept == list.len(),
                "seed {seed}: {} wakers wait, and the clock keeps {kept}",
                list.len()
            );
        }
    });
}

/// A waker, with its deadline if it's due.
fn in_words(waker: Option<u32>, due: &[(Duration, u32)]) -> String {
    let Some(number) = waker else {
        return "none".to_owned();
    };
    match due.iter().find(|it| it.1 == number) {
        Some((deadline, _)) => format!("waker {number} (for {deadline:?})"),
        None => format!("waker {number}, which isn't due"),
    }
}
