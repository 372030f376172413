//! The models of exercise 13: what no run on this machine can be relied on to show. loom tries
//! every interleaving of the threads, and every value that an atomic load may return.

#[path = "workers.rs"]
mod workers;

use parker::Parker;
use primitives::atomic::{Ordering::SeqCst, fence};
use primitives::{Arc, thread};
use testkit::{Lesson, check_model};

use super::Activity::{self, Busy, Searching};
use super::Sleepers;
use workers::{Queue, Scheduler, Workers};

/// Runs `other` on a thread of its own, and `own` on this one, both with the same subject.
fn beside<S, A, B>(
    shared: &Arc<S>,
    other: impl FnOnce(&S) -> A + Send + 'static,
    own: impl FnOnce(&S) -> B,
) -> (A, B)
where
    S: Send + Sync + 'static,
    A: Send + 'static,
{
    let theirs = shared.clone();
    let thread = thread::spawn(move || other(&theirs));
    let own = own(shared);
    (thread.join().expect("it doesn't panic"), own)
}

/// Sleepers, and a queue that one thread pushes to.
fn with_queue(workers: usize) -> (Sleepers, Queue) {
    (Sleepers::new(workers), Queue::default())
}

/// What a worker does that has work.
fn push((sleepers, queue): &(Sleepers, Queue)) -> Option<usize> {
    queue.push();
    sleepers.notify()
}

/// Clause 1: both write, and then both read.
#[test]
fn a_push_and_a_worker_that_sleeps_do_not_miss_each_other() {
    let lesson = Lesson {
        clause: "1. No task waits",
        promise: "A worker that parks as work is pushed sees the work, or is chosen.",
        usual_cause: "There is no fence between the push and the load of the counts, or none \
                      between the count and the look at the queues. A `SeqCst` load or store \
                      doesn't replace a fence. Or `notify` gives up where another thread has the \
                      lock. Or `notify` counts the searcher that it is about to choose before it \
                      checks whether any worker is parked: a worker that parks in between takes it \
                      for a real searcher, and doesn't look again.",
        read: "scheduler/sleepers.html#both-look-too-early",
    };
    check_model(lesson, || {
        // ANCHOR: both
        primitives::model(|| {
            let shared = Arc::new(with_queue(2));
            let (named, is_seen) =
                beside(&shared, push, |(sleepers, queue)| {
                    sleepers.transition_to_parked(0, Busy) && !queue.is_empty()
                });
            assert!(
                named == Some(0) || is_seen,
                "the worker didn't see the work, and wasn't chosen"
            );
        });
        // ANCHOR_END: both
    });
}

/// Clause 1: the same for a worker that may have left something behind.
#[test]
fn a_push_and_a_worker_that_sleeps_again_do_not_miss_each_other() {
    let lesson = Lesson {
        clause: "1. No task waits",
        promise: "A worker that was unparked without being chosen, and parks again as work is \
                  pushed, sees the work, or is chosen.",
        usual_cause: "A worker that wakes up stays in the list, marked as awake. If it parks \
                      again, only the mark is changed, and this path has no fence.",
        read: "scheduler/sleepers.html#both-look-too-early",
    };
    check_model(lesson, || {
        for was in [Busy, Searching] {
            primitives::model(move || {
                let shared = Arc::new(with_queue(2));
                let _ = shared.0.transition_to_parked(0, Busy);
                assert!(
                    shared.0.transition_from_parked(0) == Busy,
                    "no `notify` has chosen it"
                );
                assert!(
                    was == Busy || shared.0.transition_to_searching(),
                    "none searches"
                );
                let (named, is_seen) =
                    beside(&shared, push, |(sleepers, queue)| {
                        sleepers.transition_to_parked(0, was)
                            && !queue.is_empty()
                    });
                assert!(
                    named == Some(0) || is_seen,
                    "the worker didn't see the work, and wasn't chosen"
                );
            });
        }
    });
}

/// Clause 1: the same at the end of a search.
#[test]
fn a_push_and_the_last_searcher_do_not_miss_each_other() {
    let lesson = Lesson {
        clause: "1. No task waits",
        promise: "A searcher that parks as work is pushed sees the work, or is chosen.",
        usual_cause: "There is no fence between the push and the load of the counts, or none \
                      between the count and the look at the queues. A `SeqCst` load or store \
                      doesn't replace a fence. Or `notify` gives up where another thread has the \
                      lock.",
        read: "scheduler/sleepers.html#both-look-too-early",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(with_queue(2));
            assert!(shared.0.transition_to_searching(), "none searches");
            let (named, is_seen) =
                beside(&shared, push, |(sleepers, queue)| {
                    sleepers.transition_to_parked(0, Searching)
                        && !queue.is_empty()
                });
            assert!(
                named == Some(0) || is_seen,
                "the searcher didn't see the work, and wasn't chosen"
            );
        });
    });
}

/// Clause 5: the push wakes no worker, since one searches. The worker that is chosen in the end
/// looks, and looks again before it parks.
#[test]
fn work_that_comes_as_the_search_ends_wakes_the_next() {
    let lesson = Lesson {
        clause: "5. One leads to the next",
        promise: "If a searcher finds other work as work is pushed, one of the two chooses the \
                  parked worker, and that worker sees the work.",
        usual_cause: "The searcher leaves the count after it has looked at it, or `notify` loads \
                      the count without a fence before it.",
        read: "scheduler/sleepers.html#one-leads-to-the-next",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(with_queue(3));
            assert!(
                shared.0.transition_to_parked(1, Busy)
                    && shared.0.transition_to_searching()
            );
            let (named, is_seen) =
                beside(&shared, push, |(sleepers, queue)| {
                    sleepers.transition_from_searching()
                        && sleepers.notify() == Some(1)
                        && (!queue.is_empty()
                            || sleepers.transition_to_parked(1, Searching)
                                && !queue.is_empty())
                });
            assert!(
                named == Some(1) || is_seen,
                "one is parked, none searches, and the work waits"
            );
        });
    });
}

/// Clause 5: the searcher has ended its search, and calls `notify` only if it sees work.
#[test]
fn a_searcher_that_looks_as_the_search_ends_sees_what_comes() {
    let lesson = Lesson {
        clause: "5. One leads to the next",
        promise: "A searcher finds other work as work is pushed, ends the last search, makes a \
                  `SeqCst` fence, and looks. It sees the work, or the push chooses the parked \
                  worker.",
        usual_cause: "`transition_from_searching` looks at the count in one step and changes it in \
                      another, or leaves that to `notify`. Or `notify` loads the count without a \
                      fence before it: a lock replaces the fence only if \
                      `transition_from_searching` takes it, too.",
        read: "scheduler/sleepers.html#one-leads-to-the-next",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(with_queue(3));
            assert!(
                shared.0.transition_to_parked(1, Busy)
                    && shared.0.transition_to_searching()
            );
            let (named, is_seen) =
                beside(&shared, push, |(sleepers, queue)| {
                    let must_look = sleepers.transition_from_searching();
                    fence(SeqCst);
                    must_look && !queue.is_empty()
                });
            assert!(
                named == Some(1) || is_seen,
                "one is parked, none searches, and the work waits"
            );
        });
    });
}

/// Clause 3: two threads see at the same time that one is parked and none searches.
#[test]
fn of_two_that_notify_one_names() {
    let lesson = Lesson {
        clause: "3. One is enough",
        promise: "Two workers are parked, and two threads call `notify`: exactly one worker is \
                  chosen.",
        usual_cause: "`notify` looks at the counts and changes them in two steps.",
        read: "scheduler/sleepers.html#whether-to-unpark-and-which-worker",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(Sleepers::new(4));
            let _ = (
                shared.transition_to_parked(0, Busy),
                shared.transition_to_parked(1, Busy),
            );
            let named = beside(&shared, Sleepers::notify, Sleepers::notify);
            let ((Some(first), None) | (None, Some(first))) = named else {
                panic!("two are parked, and these are chosen: {named:?}");
            };
            assert!(
                shared.transition_from_searching(),
                "no other worker searches"
            );
            let next = shared.notify();
            assert!(
                next == Some(1 - first),
                "after {first}, the other one should be chosen, and {next:?} is"
            );
        });
    });
}

/// Clause 2: what one thread has seen of the list is there again, but it isn't the same list.
#[test]
fn a_notify_that_is_overtaken_names_one_that_sleeps() {
    let lesson = Lesson {
        clause: "2. Whom to wake",
        promise: "While a thread is in the middle of `notify`, two workers are chosen, and one of \
                  them parks again: each parked worker is then chosen once, and no other.",
        usual_cause: "The list has no lock, and only its head is compared. The head is what it \
                      was, and what comes after it isn't (ABA). Have each change of the head \
                      increment a number beside it.",
        read: "scheduler/sleepers.html#whether-to-unpark-and-which-worker",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(Sleepers::new(4));
            let _ = (
                shared.transition_to_parked(0, Busy),
                shared.transition_to_parked(1, Busy),
            );
            // The second worker that is chosen stays awake.
            let overtake = |sleepers: &Sleepers| {
                let one = sleepers.notify()?;
                let _ = sleepers.transition_from_searching();
                let other = sleepers.notify();
                if other.is_some() {
                    let _ = sleepers.transition_from_searching();
                }
                let _ = sleepers.transition_to_parked(one, Busy);
                Some(other)
            };
            let (named, overtaking) =
                beside(&shared, Sleepers::notify, overtake);
            let mut sleeps = [true; 2];
            for worker in [overtaking.flatten(), named].into_iter().flatten() {
                assert!(
                    sleeps[worker],
                    "{worker} was chosen, and wasn't parked"
                );
                sleeps[worker] = false;
            }
            if named.is_some() {
                let _ = shared.transition_from_searching();
            }
            for worker in (0..2).filter(|worker| !sleeps[*worker]) {
                let _ = shared.transition_to_parked(worker, Busy);
            }
            let mut left = [false; 2];
            while let Some(worker) = shared.notify() {
                assert!(
                    !left[worker],
                    "{worker} is chosen twice, and was parked once"
                );
                left[worker] = true;
                let _ = shared.transition_from_searching();
            }
            assert!(
                left == [true; 2],
                "both are parked, and {left:?} are chosen"
            );
        });
    });
}

/// Clause 2: the list changes at both ends of a step of `notify`.
#[test]
fn a_worker_that_falls_asleep_leaves_the_others_listed() {
    let lesson = Lesson {
        clause: "2. Whom to wake",
        promise: "A worker is parked, and another one parks during a `notify`: each of the two is \
                  chosen once.",
        usual_cause: "`notify` sees that the worker is listed, but not yet what the worker wrote \
                      before that, such as the link to the next one: it loads the list with \
                      `Relaxed`, where it needs `Acquire`. Or the list is changed in two steps.",
        read: "scheduler/sleepers.html#whether-to-unpark-and-which-worker",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(Sleepers::new(4));
            let _ = shared.transition_to_parked(2, Busy);
            let (first, _) = beside(&shared, Sleepers::notify, |it| {
                it.transition_to_parked(1, Busy)
            });
            assert!(
                first == Some(2) || first == Some(1),
                "2 is parked, 1 parks, and {first:?} is chosen"
            );
            assert!(
                shared.transition_from_searching(),
                "the chosen worker is the only searcher"
            );
            let next = shared.notify();
            assert!(
                next == first.map(|first| 3 - first),
                "1 and 2 are parked; {first:?} was chosen, and then {next:?}"
            );
            assert!(
                shared.transition_from_searching(),
                "the chosen worker is the only searcher"
            );
            let none = shared.notify();
            assert!(none.is_none(), "both are awake, and {none:?} is chosen");
        });
    });
}

/// Clause 7: a worker that wakes up while it is chosen.
#[test]
fn a_worker_that_gets_up_and_a_notify_agree_in_every_order() {
    let lesson = Lesson {
        clause: "7. Unparking",
        promise: "If a worker wakes up while `notify` chooses it, both agree on whether it was \
                  chosen.",
        usual_cause: "`transition_from_parked` checks whether the worker is listed, and takes it \
                      off the list in a second step, when it has already been chosen. Or `notify` \
                      gives up where another thread has the lock.",
        read: "scheduler/sleepers.html#unparking",
    };
    check_model(lesson, || {
        for one in [0, 1] {
            primitives::model(move || {
                let shared = Arc::new(Sleepers::new(4));
                let _ = (
                    shared.transition_to_parked(0, Busy),
                    shared.transition_to_parked(1, Busy),
                );
                let (named, now) = beside(&shared, Sleepers::notify, |it| {
                    it.transition_from_parked(one)
                });
                let Some(named) = named else {
                    panic!(
                        "{one} is awake, the other one is parked, and none is chosen"
                    );
                };
                assert!(
                    (now == Busy) == (named != one),
                    "{one} is awake, `transition_from_parked` says that it is {now:?}, and {named} \
                     was chosen"
                );
                assert!(
                    shared.transition_from_searching(),
                    "the chosen worker is the only searcher"
                );
                let left = shared.notify();
                let expected = (now == Searching).then_some(1 - one);
                assert!(
                    left == expected,
                    "{named} was chosen, and then {left:?}, where {expected:?} was parked"
                );
            });
        }
    });
}

/// Clause 7: it was awake, parks again and wakes up again, within one `notify`.
#[test]
fn a_worker_that_sleeps_for_a_moment_and_a_notify_agree() {
    let lesson = Lesson {
        clause: "7. Unparking",
        promise: "If a worker that was unparked without being chosen parks and wakes up again \
                  during a `notify`, both agree on whether it was chosen.",
        usual_cause: "`notify` looks at the worker's state and changes it in a second step, when \
                      the worker has parked or woken up again.",
        read: "scheduler/sleepers.html#unparking",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(Sleepers::new(4));
            let _ = shared.transition_to_parked(0, Busy);
            assert!(
                shared.transition_from_parked(0) == Busy,
                "no `notify` has chosen it"
            );
            // `notify` on this thread: stopping it twice takes one preemption less.
            let sleep_and_get_up = |it: &Sleepers| {
                let _ = it.transition_to_parked(0, Busy);
                it.transition_from_parked(0)
            };
            let (now, named) =
                beside(&shared, sleep_and_get_up, Sleepers::notify);
            assert!(
                (now == Busy) == named.is_none(),
                "0 is awake, `transition_from_parked` says that it is {now:?}, and {named:?} was \
                 chosen"
            );
            if named.is_some() {
                assert!(
                    shared.transition_from_searching(),
                    "the chosen worker is the only searcher"
                );
            }
            let left = shared.notify();
            assert!(left.is_none(), "all are awake, and {left:?} is chosen");
            assert!(shared.transition_to_parked(0, Busy), "none searches");
            let next = shared.notify();
            assert!(next == Some(0), "0 is parked, and {next:?} is chosen");
        });
    });
}

/// Clause 7: only two workers are listed: one that wakes up, and another that is just parking.
#[test]
fn a_worker_that_gets_up_leaves_one_that_falls_asleep_listed() {
    let lesson = Lesson {
        clause: "7. Unparking",
        promise: "One worker is chosen, one wakes up, one parks: in the end the right one is \
                  listed.",
        usual_cause: "The list and the count of the sleepers disagree after a worker was chosen in \
                      the middle of `transition_from_parked` or `transition_to_parked`. Or \
                      `notify` counts as a searcher, finds that those who were parked are gone, \
                      and gives that place back without a fence and another look.",
        read: "scheduler/sleepers.html#unparking",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(Sleepers::new(4));
            let _ = shared.transition_to_parked(0, Busy);
            let sleeping = {
                let shared = shared.clone();
                thread::spawn(move || shared.transition_to_parked(1, Busy))
            };
            let (named, now) = beside(&shared, Sleepers::notify, |it| {
                it.transition_from_parked(0)
            });
            let must_look = sleeping.join().expect("it doesn't panic");
            assert!(
                now == Busy || named == Some(0),
                "0 searches, and {named:?} was chosen"
            );
            assert!(
                named.is_some() || must_look,
                "1 is parked, and no `notify` sees it"
            );
            if named.is_some() {
                assert!(
                    shared.transition_from_searching(),
                    "the chosen worker is the only searcher"
                );
            }
            let left = shared.notify();
            let expected = (named != Some(1)).then_some(1);
            assert!(
                left == expected,
                "{named:?} was chosen, and then {left:?}, where {expected:?} was parked"
            );
        });
    });
}

/// Clause 5: they look at each other as they leave.
#[test]
fn of_two_that_find_work_one_is_the_last() {
    let lesson = Lesson {
        clause: "5. One leads to the next",
        promise: "If two searchers find work at the same time, one of them must call `notify`.",
        usual_cause: "The count is looked at and changed in two steps.",
        read: "scheduler/sleepers.html#one-leads-to-the-next",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(Sleepers::new(4));
            if !(shared.transition_to_searching()
                && shared.transition_to_searching())
            {
                return; // One at a time is fine, too.
            }
            let was_last = beside(
                &shared,
                Sleepers::transition_from_searching,
                Sleepers::transition_from_searching,
            );
            assert!(was_last.0 || was_last.1, "neither was the last");
        });
    });
}

/// Clause 6: one finds work meanwhile, or is about to park, too.
#[test]
fn of_two_searchers_that_leave_one_is_the_last() {
    let lesson = Lesson {
        clause: "6. The last look",
        promise: "If two searchers stop at the same time, one of them learns that it was the last.",
        usual_cause: "The count is looked at and changed in two steps.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    check_model(lesson, || {
        for leave in [Sleepers::transition_from_searching, |it: &Sleepers| {
            it.transition_to_parked(1, Searching)
        }] {
            primitives::model(move || {
                let shared = Arc::new(Sleepers::new(4));
                if !(shared.transition_to_searching()
                    && shared.transition_to_searching())
                {
                    return; // One at a time is fine, too.
                }
                let was_last = beside(&shared, leave, |it| {
                    it.transition_to_parked(0, Searching)
                });
                assert!(was_last.0 || was_last.1, "neither was the last");
            });
        }
    });
}

/// Clause 6: whether another worker searches, and that this one is parked, is one step.
#[test]
fn a_worker_that_sleeps_as_the_search_ends_sees_what_comes() {
    let lesson = Lesson {
        clause: "6. The last look",
        promise: "If a searcher finds other work as a busy worker parks and as work is pushed, the \
                  parked worker sees that work, or is chosen.",
        usual_cause: "`transition_to_parked` checks whether another worker searches, and counts \
                      this one as parked in a second step. In between, the searcher leaves, calls \
                      `notify`, and finds no worker to choose; so does the push.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(with_queue(2));
            assert!(shared.0.transition_to_searching(), "none searches");
            assert_no_work_waits_as_a_search_ends(&shared, Busy);
        });
    });
}

/// Clause 6: the counterpart. Leaving the search and parking is one step, too.
#[test]
fn a_searcher_that_sleeps_as_the_search_ends_sees_what_comes() {
    let lesson = Lesson {
        clause: "6. The last look",
        promise: "If a searcher finds other work as another one parks and as work is pushed, the \
                  parked worker sees that work, or is chosen.",
        usual_cause: "`transition_to_parked` takes the worker off the count of searchers, checks \
                      whether it was the last, and counts it as parked in a second step. In \
                      between, the other searcher leaves, calls `notify`, and finds no worker to \
                      choose; so does the push.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(with_queue(4));
            if !(shared.0.transition_to_searching()
                && shared.0.transition_to_searching())
            {
                return; // One at a time is fine, too.
            }
            assert_no_work_waits_as_a_search_ends(&shared, Searching);
        });
    });
}

/// One searcher has found other work, worker 1 parks, and a third thread
/// pushes.
fn assert_no_work_waits_as_a_search_ends(
    shared: &Arc<(Sleepers, Queue)>,
    was: Activity,
) {
    let finding = {
        let shared = shared.clone();
        thread::spawn(move || {
            shared.0.transition_from_searching() && shared.0.notify() == Some(1)
        })
    };
    let (named, is_seen) = beside(shared, push, |(sleepers, queue)| {
        sleepers.transition_to_parked(1, was) && !queue.is_empty()
    });
    let is_named = finding.join().expect("it doesn't panic");
    assert!(
        is_named || named == Some(1) || is_seen,
        "worker 1 is parked, none searches, and the work waits: neither \
         `transition_from_searching` and `notify` of the searcher nor the `notify` of the push \
         chose it, and it didn't see the work"
    );
}

/// Clause 6: a steal moves work, without a notification.
#[test]
fn the_last_look_sees_what_another_searcher_has_moved() {
    let lesson = Lesson {
        clause: "6. The last look",
        promise: "A searcher moves work into its own queue and calls `transition_from_searching`; the \
                  last searcher, which looks again, sees that work there.",
        usual_cause: "`transition_from_searching` changes the count with `Relaxed`. It needs \
                      `Release`, and the one that comes after it needs `Acquire`, or a fence \
                      behind it.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    check_model(lesson, || {
        primitives::model(|| {
            assert_the_last_sees_what_was_moved(|sleepers| {
                sleepers.transition_to_parked(0, Searching)
            });
        });
    });
}

/// Clause 6: the same for a searcher that has found work, and looks once its search has ended.
#[test]
fn a_look_at_the_end_of_the_search_sees_what_another_searcher_has_moved() {
    let lesson = Lesson {
        clause: "6. The last look",
        promise: "A searcher moves work into its own queue and calls `transition_from_searching`. \
                  Another one ends the last search, makes a `SeqCst` fence, and sees that work \
                  there.",
        usual_cause: "`transition_from_searching` changes the count with `Relaxed`. It needs \
                      `Release`.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    check_model(lesson, || {
        primitives::model(|| {
            assert_the_last_sees_what_was_moved(|sleepers| {
                let must_look = sleepers.transition_from_searching();
                fence(SeqCst);
                must_look
            });
        });
    });
}

/// One of two searchers moves work and leaves. The other one leaves by `leave`, and
/// looks if that returns `true`.
fn assert_the_last_sees_what_was_moved(leave: impl FnOnce(&Sleepers) -> bool) {
    let shared = Arc::new(with_queue(4));
    if !(shared.0.transition_to_searching()
        && shared.0.transition_to_searching())
    {
        return; // One at a time is fine, too.
    }
    let move_work = |(sleepers, queue): &(Sleepers, Queue)| {
        queue.push();
        sleepers.transition_from_searching()
    };
    let (was_last, is_lost) =
        beside(&shared, move_work, |(sleepers, queue)| {
            leave(sleepers) && queue.is_empty()
        });
    assert!(was_last || !is_lost, "the last look missed it");
}

/// Clause 4: both see the same free place.
#[test]
fn of_two_that_ask_one_may_search() {
    let lesson = Lesson {
        clause: "4. Half",
        promise: "If two workers ask at the same time, one is allowed to search, if half of all is \
                  one.",
        usual_cause: "The count is looked at and changed in two steps.",
        read: "scheduler/sleepers.html#half-may-search",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let shared = Arc::new(Sleepers::new(2));
            let may_search = beside(
                &shared,
                Sleepers::transition_to_searching,
                Sleepers::transition_to_searching,
            );
            assert!(
                may_search.0 != may_search.1,
                "these may search: {may_search:?}"
            );
        });
    });
}

/// Clause 5: a worker that has only asked doesn't search.
#[test]
fn a_worker_that_may_not_search_is_never_counted() {
    let lesson = Lesson {
        clause: "5. One leads to the next",
        promise: "A worker asks whether it may search as the only searcher leaves. If it may not, \
                  the one that left learns that it was the last, and may search again.",
        usual_cause: "`transition_to_searching` adds to the count, and subtracts again if that was \
                      too much. Meanwhile the last searcher leaves without learning that it was \
                      the last, since it sees two: no worker looks or notifies. Check and add with \
                      one CAS (`fetch_update`).",
        read: "scheduler/sleepers.html#half-may-search",
    };
    check_model(lesson, || {
        for leave in [Sleepers::transition_from_searching, |it: &Sleepers| {
            it.transition_to_parked(0, Searching)
        }] {
            primitives::model(move || {
                let shared = Arc::new(Sleepers::new(2));
                assert!(
                    shared.transition_to_searching(),
                    "none searches, and none may"
                );
                let (may_search, was_last) =
                    beside(&shared, Sleepers::transition_to_searching, leave);
                assert!(
                    may_search || was_last,
                    "of 2 workers the only searcher left and was told that another one searches; \
                     the other asked meanwhile, and may not search"
                );
            });
        }
        primitives::model(|| {
            let shared = Arc::new(Sleepers::new(2));
            assert!(
                shared.transition_to_searching(),
                "none searches, and none may"
            );
            let (may_search, again) =
                beside(&shared, Sleepers::transition_to_searching, |it| {
                    let _ = it.transition_from_searching();
                    it.transition_to_searching()
                });
            assert!(
                may_search || again,
                "of 2 workers none searches, both have asked, and neither may"
            );
        });
    });
}

/// Clause 1: all of it together.
#[test]
fn a_job_is_done_in_every_order() {
    let lesson = Lesson {
        clause: "1. No task waits",
        promise: "In every interleaving of a worker and the thread that pushes, a job is done.",
        usual_cause: "Any of the other clauses; see which of their models fails.",
        read: "scheduler/sleepers.html#both-look-too-early",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let done = Parker::new();
            let unparker = done.unparker();
            let job = move |_: &Scheduler, _| unparker.unpark();
            let workers = Workers::start(1, Box::new(job));
            workers.push(1);
            done.park();
            workers.end();
        });
    });
}
