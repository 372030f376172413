//! The checks of exercise 13, one or more for each clause of the contract. The
//! checks that take several threads are in a file of their own.

mod histories;
mod threads;

use std::collections::BTreeSet;

use testkit::{Lesson, allocations, check};

use super::{Activity, Sleepers};

use Activity::{Busy, Searching};

/// This many workers, all of which are parked.
fn all_parked(count: usize) -> Sleepers {
    let sleepers = Sleepers::new(count);
    for worker in 0..count {
        let _ = sleepers.transition_to_parked(worker, Busy);
    }
    sleepers
}

/// Has each worker that is chosen find work, until none is chosen.
fn name_all(sleepers: &Sleepers) -> Vec<usize> {
    let mut named = Vec::new();
    while let Some(worker) = sleepers.notify() {
        named.push(worker);
        assert!(named.len() <= 1_000, "the same workers are chosen forever");
        let _ = sleepers.transition_from_searching();
    }
    named
}

#[track_caller]
fn assert_named_once(sleepers: &Sleepers, expected: &[usize]) {
    let named = name_all(sleepers);
    let different: BTreeSet<_> = named.iter().copied().collect();
    assert!(
        different.len() == named.len(),
        "workers that parked once have been chosen twice: {named:?}"
    );
    assert!(
        different.into_iter().eq(expected.iter().copied()),
        "{expected:?} were parked, and {named:?} were chosen"
    );
}

/// As many searchers as are allowed to search.
fn search(sleepers: &Sleepers, workers: usize) -> usize {
    (0..workers)
        .take_while(|_| sleepers.transition_to_searching())
        .count()
}

/// Clause 1: all but one are busy, and each is that one in turn.
#[test]
fn a_sleeper_is_named_when_work_comes() {
    let lesson = Lesson {
        clause: "1. No task waits",
        promise: "If one worker is parked and none searches, `notify` chooses that worker.",
        usual_cause: "The sleepers are counted in one place and listed in another, and `notify` \
                      looks at the one that isn't up to date.",
        read: "scheduler/sleepers.html#whether-to-unpark-and-which-worker",
    };
    check(lesson, || {
        for count in [1, 2, 3, 4, 40] {
            let sleepers = Sleepers::new(count);
            for worker in 0..count {
                let _ = sleepers.transition_to_parked(worker, Busy);
                let named = sleepers.notify();
                assert!(
                    named == Some(worker),
                    "of {count} workers {worker} is parked, and `notify` chooses {named:?}"
                );
                let _ = sleepers.transition_from_searching();
            }
        }
    });
}

/// Clause 2: no worker has parked yet.
#[test]
fn at_first_all_are_busy() {
    let lesson = Lesson {
        clause: "2. Whom to wake",
        promise: "In a new scheduler no worker is parked, so `notify` chooses none.",
        usual_cause: "The workers are listed as parked before they have reported it.",
        read: "scheduler/sleepers.html#busy-searching-parked",
    };
    check(lesson, || {
        for count in [1, 2, 4] {
            let named = Sleepers::new(count).notify();
            assert!(
                named.is_none(),
                "{count} are busy, and {named:?} is chosen"
            );
        }
    });
}

/// Clause 2: waking the same worker twice means waking one too few.
#[test]
fn each_sleeper_is_named_once() {
    let lesson = Lesson {
        clause: "2. Whom to wake",
        promise: "If several workers are parked, each is chosen once, and then none.",
        usual_cause: "The worker that is chosen stays on the list.",
        read: "scheduler/sleepers.html#whether-to-unpark-and-which-worker",
    };
    check(lesson, || {
        for count in [1, 2, 4] {
            let all: Vec<_> = (0..count).collect();
            assert_named_once(&all_parked(count), &all);
        }
    });
}

/// Clause 2: a worker parks many times a second.
#[test]
fn a_worker_that_sleeps_again_is_named_again() {
    let lesson = Lesson {
        clause: "2. Whom to wake",
        promise: "A worker that has been chosen and parks again can be chosen again, any number of \
                  times.",
        usual_cause: "State from the last time that it was parked is still there: a count, or a flag.",
        read: "scheduler/sleepers.html#whether-to-unpark-and-which-worker",
    };
    check(lesson, || {
        let sleepers = all_parked(3);
        for round in 0..1_000 {
            let Some(worker) = sleepers.notify() else {
                panic!("three are parked, and in round {round} none is chosen");
            };
            let _ = sleepers.transition_to_parked(worker, Searching);
        }
        assert_named_once(&sleepers, &[0, 1, 2]);
    });
}

/// Clause 2: so the worker has to report when its search ends.
#[test]
fn a_named_worker_counts_as_searching() {
    let lesson = Lesson {
        clause: "2. Whom to wake",
        promise: "The worker that was chosen searches from then on: its \
                  `transition_from_searching` is that of the last searcher.",
        usual_cause: "`notify` only checks whether one searches; the worker that it chooses isn't \
                      counted.",
        read: "scheduler/sleepers.html#one-is-enough",
    };
    check(lesson, || {
        let sleepers = all_parked(4);
        for named in 1..=4 {
            assert!(
                sleepers.notify().is_some(),
                "one is parked, none is chosen"
            );
            assert!(
                sleepers.transition_from_searching(),
                "chosen one by one, number {named} wasn't the last searcher"
            );
        }
    });
}

/// Clause 3: the throttle.
#[test]
fn no_worker_is_named_while_one_searches() {
    let lesson = Lesson {
        clause: "3. One is enough",
        promise: "`notify` chooses no worker while one searches, however it came to search.",
        usual_cause: "`notify` checks whether a worker is parked, but not whether one searches; or \
                      the worker that it has chosen searches only once it is awake.",
        read: "scheduler/sleepers.html#one-is-enough",
    };
    check(lesson, || {
        let sleepers = all_parked(3);
        let first = sleepers.notify();
        for _ in 0..10 {
            let second = sleepers.notify();
            assert!(
                second.is_none(),
                "{first:?} was chosen and searches, and {second:?} is chosen, too"
            );
        }
        let sleepers = Sleepers::new(2);
        assert!(
            sleepers.transition_to_searching(),
            "none searches, and none may"
        );
        let _ = sleepers.transition_to_parked(1, Busy);
        let named = sleepers.notify();
        assert!(named.is_none(), "one searches, and {named:?} is chosen");
    });
}

/// Clause 3: when a search ends, so does the throttle.
#[test]
fn after_the_search_the_next_is_named() {
    let lesson = Lesson {
        clause: "3. One is enough",
        promise: "When the searcher has found work, or has parked, `notify` chooses the next \
                  worker.",
        usual_cause: "A search is counted when it begins, but its end isn't counted in each of the \
                      ways in which it can end.",
        read: "scheduler/sleepers.html#one-is-enough",
    };
    check(lesson, || {
        let sleepers = all_parked(4);
        for _ in 0..10 {
            let first =
                sleepers.notify().expect("one is parked, none searches");
            let _ = sleepers.transition_to_parked(first, Searching);
            let next = sleepers.notify();
            assert!(
                next.is_some(),
                "the searcher is parked, and none is chosen"
            );
            let _ = sleepers.transition_from_searching();
            let next = next.expect("chosen above");
            let _ = sleepers.transition_to_parked(next, Busy);
        }
    });
}

/// Clause 4: a worker that searches keeps others from their work.
#[test]
fn at_most_half_search() {
    let lesson = Lesson {
        clause: "4. Half",
        promise: "Of n workers at most n / 2 may search at once, rounded up.",
        usual_cause: "The limit is compared before the new searcher is counted, or `<=` is used \
                      instead of `<`.",
        read: "scheduler/sleepers.html#half-may-search",
    };
    check(lesson, || {
        for count in (1..=9).chain([64]) {
            let searching = search(&Sleepers::new(count), count);
            assert!(
                searching <= count.div_ceil(2),
                "of {count} workers {searching} search at once"
            );
        }
    });
}

/// Clause 4: half of one is none, and then no worker ever steals.
#[test]
fn one_may_search_if_none_does() {
    let lesson = Lesson {
        clause: "4. Half",
        promise: "If none searches, `transition_to_searching` returns `true`, even if there is \
                  only one worker.",
        usual_cause: "Half of one is rounded down; or a search that has ended is still counted.",
        read: "scheduler/sleepers.html#half-may-search",
    };
    check(lesson, || {
        for count in 1..=5 {
            let sleepers = Sleepers::new(count);
            for round in 0..20 {
                let searching = search(&sleepers, count);
                assert!(
                    searching > 0,
                    "round {round}: of {count} none may search"
                );
                for _ in 0..searching {
                    let _ = sleepers.transition_from_searching();
                }
            }
        }
    });
}

/// Clause 4: a worker that was woken is going to search.
#[test]
fn the_one_that_was_named_is_of_the_half() {
    let lesson = Lesson {
        clause: "4. Half",
        promise: "A worker that was chosen takes one of the places of the workers that may search.",
        usual_cause: "The workers that were chosen and the workers that asked are counted in two \
                      places.",
        read: "scheduler/sleepers.html#half-may-search",
    };
    check(lesson, || {
        for count in [2, 4, 6] {
            let sleepers = Sleepers::new(count);
            let _ = sleepers.transition_to_parked(0, Busy);
            assert_eq!(sleepers.notify(), Some(0), "one is parked");
            let searching = 1 + search(&sleepers, count);
            assert!(
                searching <= count / 2,
                "of {count} workers {searching} search, and one of them was chosen"
            );
        }
    });
}

/// Clause 5: the last searcher is responsible for the rest.
#[test]
fn the_last_searcher_that_finds_work_must_notify() {
    let lesson = Lesson {
        clause: "5. One leads to the next",
        promise: "Of several searchers that find work, the last one must call `notify`.",
        usual_cause: "The count is looked at before the searcher is taken off it; or \
                      `transition_from_searching` also checks whether a worker is parked. One may \
                      park before the caller's `notify`.",
        read: "scheduler/sleepers.html#one-leads-to-the-next",
    };
    check(lesson, || {
        for count in [1, 2, 4, 8] {
            let sleepers = Sleepers::new(count);
            let searching = search(&sleepers, count);
            for left in (0..searching).rev() {
                let is_last = sleepers.transition_from_searching();
                assert!(
                    is_last == (left == 0),
                    "{left} go on searching, and `transition_from_searching` returned {is_last}"
                );
            }
        }
    });
}

/// Clause 5: the others have given up meanwhile.
#[test]
fn a_searcher_that_finds_work_after_the_others_sleep_must_notify() {
    let lesson = Lesson {
        clause: "5. One leads to the next",
        promise: "If the other searchers have parked, the one that finds work is the last.",
        usual_cause: "`transition_to_parked` doesn't take the searcher off the count of searchers.",
        read: "scheduler/sleepers.html#one-leads-to-the-next",
    };
    check(lesson, || {
        let sleepers = Sleepers::new(6);
        for worker in 1..search(&sleepers, 6) {
            let must_look = sleepers.transition_to_parked(worker, Searching);
            assert!(!must_look, "another one still searches");
        }
        assert!(
            sleepers.transition_from_searching(),
            "none searches, and `transition_from_searching` says `false`"
        );
    });
}

/// Clause 6: no other worker will look.
#[test]
fn the_last_searcher_that_sleeps_looks_again() {
    let lesson = Lesson {
        clause: "6. The last look",
        promise: "Of several searchers that find nothing, the last must look again before it \
                  parks.",
        usual_cause: "The count is looked at before the searcher is taken off it.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    check(lesson, || {
        for count in [1, 2, 4, 8] {
            let sleepers = Sleepers::new(count);
            let searching = search(&sleepers, count);
            for left in (0..searching).rev() {
                let must_look = sleepers.transition_to_parked(left, Searching);
                assert!(
                    must_look == (left == 0),
                    "{left} go on searching, and `transition_to_parked` returned {must_look}"
                );
            }
        }
    });
}

/// Clause 6: it wasn't allowed to search because others searched, and they are
/// done.
#[test]
fn a_worker_that_did_not_search_looks_if_none_does() {
    let lesson = Lesson {
        clause: "6. The last look",
        promise: "A worker that wasn't allowed to search looks again if none searches anymore.",
        usual_cause: "Only a searcher learns that it must look. But the searcher that kept this \
                      worker out may have found work since then, when there was no worker to wake.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    check(lesson, || {
        let sleepers = Sleepers::new(2);
        assert!(
            sleepers.transition_to_searching(),
            "none searches, and none may"
        );
        assert!(
            !sleepers.transition_to_parked(1, Busy),
            "one searches, and need not look"
        );
        assert!(
            sleepers.transition_from_parked(1) == Busy,
            "no `notify` has chosen it"
        );
        assert!(
            sleepers.transition_from_searching(),
            "no other worker searches"
        );
        let must_look = sleepers.transition_to_parked(1, Busy);
        assert!(must_look, "none searches, and none must look");
    });
}

/// Clause 7: it found work by itself, or a timer fired.
#[test]
fn a_worker_that_was_not_named_is_busy_when_unparked() {
    let lesson = Lesson {
        clause: "7. Unparking",
        promise: "A worker that is unparked without having been chosen doesn't search and isn't \
                  chosen.",
        usual_cause: "A worker that wakes up is counted as a searcher: no other is woken until it \
                      has searched, and it never will. Or its index stays in the set of sleepers, \
                      and `notify` chooses a worker that is awake.",
        read: "scheduler/sleepers.html#unparking",
    };
    check(lesson, || {
        let sleepers = all_parked(3);
        assert!(
            sleepers.transition_from_parked(1) == Busy,
            "no `notify` has chosen it, and `transition_from_parked` says `Searching`"
        );
        let named = name_all(&sleepers);
        assert!(
            named.len() == 2 && !named.contains(&1),
            "1 was unparked, 0 and 2 are parked, and these are chosen: {named:?}"
        );
    });
}

/// Clause 7: the notifier may come across a worker that is already awake.
#[test]
fn a_notify_that_names_none_leaves_no_searcher() {
    let lesson = Lesson {
        clause: "7. Unparking",
        promise: "If the only worker that was parked is unparked without having been chosen, a \
                  `notify` chooses none, and after it none searches.",
        usual_cause: "`notify` counts one more searcher, finds that the worker it was about to \
                      choose is awake, and leaves the count as it is. That searcher doesn't exist, \
                      so its search never ends.",
        read: "scheduler/sleepers.html#unparking",
    };
    check(lesson, || {
        let sleepers = Sleepers::new(1);
        let _ = sleepers.transition_to_parked(0, Busy);
        assert!(
            sleepers.transition_from_parked(0) == Busy,
            "no `notify` has chosen it"
        );
        let named = sleepers.notify();
        assert!(named.is_none(), "{named:?} is awake, and is chosen");
        let _ = sleepers.transition_to_parked(0, Busy);
        let named = sleepers.notify();
        assert!(
            named == Some(0),
            "one `notify` chose none, since 0 was awake; now 0 is parked, and another chooses \
             {named:?}"
        );
    });
}

/// Clause 7: and can park again.
#[test]
fn a_worker_that_was_unparked_can_sleep_again() {
    let lesson = Lesson {
        clause: "7. Unparking",
        promise: "A worker may park and wake up any number of times; it is listed once.",
        usual_cause: "It is added to the list each time it parks, and waking up doesn't take it off, \
                      or takes another off: when one leaves the middle of the list, another has \
                      moved, and so has its position.",
        read: "scheduler/sleepers.html#unparking",
    };
    check(lesson, || {
        let sleepers = all_parked(3);
        for round in 0..300 {
            let worker = round % 3;
            assert!(
                sleepers.transition_from_parked(worker) == Busy,
                "no `notify` has chosen it"
            );
            let _ = sleepers.transition_to_parked(worker, Busy);
        }
        assert_named_once(&sleepers, &[0, 1, 2]);
    });
}

/// Clause 7: an unparked thread doesn't know why.
#[test]
fn a_named_worker_searches_when_unparked() {
    let lesson = Lesson {
        clause: "7. Unparking",
        promise: "A worker that was chosen learns from `transition_from_parked` that it searches.",
        usual_cause: "`transition_from_parked` takes the worker off the list, and doesn't check \
                      whether it was on it.",
        read: "scheduler/sleepers.html#unparking",
    };
    check(lesson, || {
        let sleepers = all_parked(2);
        for _ in 0..10 {
            let worker =
                sleepers.notify().expect("two are parked, none searches");
            assert!(
                sleepers.transition_from_parked(worker) == Searching,
                "it was chosen, and `transition_from_parked` says `Busy`"
            );
            assert!(
                sleepers.transition_from_searching(),
                "it was the only searcher"
            );
            let _ = sleepers.transition_to_parked(worker, Busy);
        }
    });
}

/// Clause 7: a worker that was unparked by index knows that it was chosen.
#[test]
fn a_named_worker_need_not_ask() {
    let lesson = Lesson {
        clause: "7. Unparking",
        promise: "A worker that was chosen goes on without `transition_from_parked`, and parks \
                  again: it is then parked like any other, and may be unparked without being \
                  chosen.",
        usual_cause: "The flag that a worker was chosen is cleared only in \
                      `transition_from_parked`, or only in one of the two ways to park. Clear it \
                      in each place where the worker parks again.",
        read: "scheduler/sleepers.html#unparking",
    };
    check(lesson, || {
        for finds in [true, false] {
            let sleepers = all_parked(2);
            let worker =
                sleepers.notify().expect("two are parked, none searches");
            if finds {
                assert!(
                    sleepers.transition_from_searching(),
                    "it was the only searcher"
                );
            }
            let _ = sleepers.transition_to_parked(
                worker,
                if finds { Busy } else { Searching },
            );
            let how = if finds { "found work" } else { "found nothing" };
            assert!(
                sleepers.transition_from_parked(worker) == Busy,
                "a worker was chosen, {how} and parked again; after that no `notify` has chosen \
                 it, and `transition_from_parked` says `Searching`"
            );
            let named = name_all(&sleepers);
            assert!(
                named == [1 - worker],
                "{worker} is awake, {} is parked, and these are chosen: {named:?}",
                1 - worker
            );
        }
    });
}

/// Clause 8: machines with this many cores exist.
#[test]
fn two_hundred_and_fifty_six_can_sleep() {
    let lesson = Lesson {
        clause: "8. Any number",
        promise: "Up to 256 workers may be parked at once, and all of them are chosen.",
        usual_cause: "A count or a set has too few bits: 8 bits count to 255, and a word has room \
                      for 64 workers.",
        read: "scheduler/sleepers.html#how-many-workers",
    };
    check(lesson, || {
        for count in [1, 31, 32, 33, 63, 64, 65, 128, 200, 255, 256] {
            let all: Vec<_> = (0..count).collect();
            assert_named_once(&all_parked(count), &all);
        }
    });
}

/// Clause 8: half of 256 is 128, which doesn't fit into 7 bits.
#[test]
fn half_of_256_may_search_while_the_others_sleep() {
    let lesson = Lesson {
        clause: "8. Any number",
        promise: "Of 256 workers as many search as may, and the others are parked: \
                  `transition_from_searching` and `transition_to_parked` say which searcher was \
                  the last, and then each of those that were parked is chosen.",
        usual_cause: "The count of the searchers has too few bits: 7 bits count to 127, and half \
                      of 256 is one more. Or one of two counts in a word overflows into the other.",
        read: "scheduler/sleepers.html#how-many-workers",
    };
    check(lesson, || {
        for count in [2, 31, 64, 128, 255, 256] {
            for finds in [true, false] {
                let sleepers = Sleepers::new(count);
                let searching = search(&sleepers, count);
                assert!(
                    (1..=count.div_ceil(2)).contains(&searching),
                    "of {count} workers {searching} search at once"
                );
                for worker in searching..count {
                    let must_look = sleepers.transition_to_parked(worker, Busy);
                    assert!(
                        !must_look,
                        "{searching} search, and none must look"
                    );
                }
                for left in (0..searching).rev() {
                    let named = sleepers.notify();
                    assert!(
                        named.is_none(),
                        "{} search, and {named:?} is chosen",
                        left + 1
                    );
                    let was_last = if finds {
                        sleepers.transition_from_searching()
                    } else {
                        sleepers.transition_to_parked(left, Searching)
                    };
                    assert!(
                        was_last == (left == 0),
                        "of {count} workers {left} go on searching, and `{}` returned {was_last}",
                        if finds {
                            "transition_from_searching"
                        } else {
                            "transition_to_parked"
                        }
                    );
                }
                let first = if finds { searching } else { 0 };
                let parked: Vec<_> = (first..count).collect();
                assert_named_once(&sleepers, &parked);
            }
        }
    });
}

/// Clause 8: what works for worker 1 may go wrong for worker 200.
#[test]
fn any_of_256_gets_up_by_itself() {
    let lesson = Lesson {
        clause: "8. Any number",
        promise: "Any of 256 parked workers may be unparked without having been chosen; it isn't \
                  chosen after that, and all others are.",
        usual_cause: "A worker's place in the list has 8 bits: the 256th place becomes 0, which \
                      means that it isn't listed. Count in `usize` or `u16`. Or \
                      `transition_from_parked` looks only in the first word of a set, or the place \
                      of the worker that fills the gap isn't corrected.",
        read: "scheduler/sleepers.html#unparking",
    };
    check(lesson, || {
        for count in [2, 65, 256] {
            for step in [1, 3, 7] {
                let sleepers = all_parked(count);
                let is_up = |worker: &usize| worker % (step + 1) == step;
                for worker in (0..count).filter(is_up).rev() {
                    assert!(
                        sleepers.transition_from_parked(worker) == Busy,
                        "of {count} workers {worker} was unparked, no `notify` has chosen it, and \
                         `transition_from_parked` says `Searching`"
                    );
                }
                let parked: Vec<_> =
                    (0..count).filter(|it| !is_up(it)).collect();
                assert_named_once(&sleepers, &parked);
            }
        }
    });
}

/// Clause 9: a worker that parks shouldn't wait for the allocator.
#[test]
fn nothing_is_allocated_after_new() {
    let lesson = Lesson {
        clause: "9. Made once",
        promise: "Parking, being chosen and waking up allocate nothing.",
        usual_cause: "The list grows with the number of sleepers. Make room for all of them in \
                      `new`. Or a worker that is unparked without having been chosen leaves its \
                      entry in the list, which grows each time: take it out in \
                      `transition_from_parked`.",
        read: "scheduler/sleepers.html#how-many-workers",
    };
    const COUNT: usize = 64;
    check(lesson, || {
        let sleepers = Sleepers::new(COUNT);
        let ((), made) = allocations(|| {
            for _ in 0..3 {
                for worker in 0..COUNT {
                    let _ = sleepers.transition_to_parked(worker, Busy);
                }
                for worker in 0..COUNT / 2 {
                    let _ = sleepers.transition_from_parked(worker);
                }
                while sleepers.notify().is_some() {
                    let _ = sleepers.transition_from_searching();
                }
            }
        });
        assert!(
            made.count == 0,
            "{COUNT} workers: {} allocations",
            made.count
        );
    });
}
