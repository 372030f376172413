//! Describes a hang, from where the threads are.

use crate::stacks::{self, Activity, Frame, Origin, ThreadStack};
use crate::threads::Sample;
use crate::verdict::{BUSY, DEADLOCK, Failure, HANGS, SPINS};

/// Adds where the sampled threads are to a failure that has a line for each of
/// them. `folder` is the exercise's.
pub(crate) fn locate(failure: &mut Failure, samples: &[Sample], folder: &str) {
    if failure.seen.starts_with(BUSY) {
        return;
    }
    let stacks = stacks::capture_all(samples, folder);
    for (line, stack) in failure.threads.iter_mut().zip(&stacks) {
        if let Some(place) = stack.as_ref().and_then(ThreadStack::describe) {
            *line = place;
        }
    }
    let known: Vec<_> = stacks.into_iter().flatten().collect();
    if failure.seen.starts_with(HANGS) {
        failure.seen = in_words(&known).unwrap_or_else(|| failure.seen.clone());
    } else if failure.seen.starts_with(SPINS)
        && let Some(place) = busy_loop(&known)
    {
        failure.seen += &format!(", in {place}");
    }
}

/// Says what hangs, as far as the threads' places show. Returns `None` if
/// nothing is known of them.
fn in_words(stacks: &[ThreadStack]) -> Option<String> {
    if stacks.is_empty() {
        return None;
    }
    let deadlock = deadlock(stacks);
    let known = deadlock
        .or_else(|| in_drop(stacks))
        .or_else(|| of_check(stacks));
    Some(known.unwrap_or_else(|| asleep(stacks)))
}

/// A thread waits for a lock in the code under test, and all others sleep:
/// the holder of the lock never releases it.
fn deadlock(stacks: &[ThreadStack]) -> Option<String> {
    let is_stuck =
        |stack: &&ThreadStack| stack.activity == Activity::Lock && stack.innermost().is_some();
    let stuck: Vec<_> = stacks.iter().filter(is_stuck).collect();
    let stack = stuck.iter().max_by_key(|stack| stack.subject().count())?;
    let inner = stack.innermost()?;
    let callers = stack
        .subject()
        .filter(|frame| *frame != inner && !frame.function.is_empty());
    let mut callers: Vec<_> = callers.map(Frame::in_words).collect();
    callers.dedup();
    let nested = reentered_caller(stack, inner);
    let (thread, place) = (&stack.thread, inner.in_words());
    let mut words =
        format!("{DEADLOCK}: thread `{thread}` waits in {place} for a lock that is never released");
    if let Some(caller) = nested {
        words += &format!(
            ". {caller} called it, and runs twice, one call inside the other: if the outer call still \
             holds the lock, the thread waits for itself",
            caller = caller.in_words()
        );
    } else if let [nearest, between @ .., farthest] = &callers[..] {
        let between = between.first().map(|one| format!(", from {one}"));
        words += &format!(
            ". It was called from {nearest}{}, from {farthest}: if one of these still holds the \
             lock, the thread waits for itself",
            between.unwrap_or_default()
        );
    } else if let [caller] = &callers[..] {
        words += &format!(
            ". {caller} called it: if that still holds the lock, the thread waits for itself"
        );
    }
    let others = stacks.iter().filter(|other| other != stack);
    let others: Vec<_> = others.filter_map(whereabouts).take(2).collect();
    if callers.is_empty() && calls_itself(stack, inner) {
        words += &format!(
            ". It runs twice, one call inside the other: if the outer {inner} still holds the lock, \
             the thread waits for itself",
            inner = inner.in_words()
        );
    } else if callers.is_empty() && others.is_empty() {
        words += ". No other thread is in the code: what held it has ended, or the lock lies in memory \
                  that was freed";
    }
    let what = match others.len() {
        1 if stuck.len() == 2 => {
            "if each of the two holds the lock that the other waits for, \
                                  neither gets it"
        }
        1 => "if it holds the lock, it never gets to release it",
        _ => "if one of them holds the lock, it never gets to release it",
    };
    if !others.is_empty() {
        words += &format!(". Meanwhile {}: {what}", others.join(", and "));
    }
    Some(words)
}

/// A function of the code under test is entered again from within itself,
/// through a destructor for instance, whose frames aren't kept.
fn calls_itself(stack: &ThreadStack, inner: &Frame) -> bool {
    stack.subject().filter(|frame| *frame == inner).count() > 1
}

/// The function that called the innermost one, if it is entered again from
/// within itself, through the check's code for instance.
fn reentered_caller<'a>(stack: &'a ThreadStack, inner: &Frame) -> Option<&'a Frame> {
    let frames = &stack.frames;
    let is_caller = |frame: &Frame| {
        frame.origin == Origin::Subject && frame != inner && !frame.function.is_empty()
    };
    let nearest = frames.iter().position(is_caller)?;
    let caller = &frames[nearest];
    // The same frame twice in a row is one call, through a closure.
    let between = frames[nearest..].iter().position(|frame| frame != caller)?;
    let is_entered_twice = frames[nearest + between..].contains(caller);
    is_entered_twice.then_some(caller)
}

/// A destructor of the code under test waits.
fn in_drop(stacks: &[ThreadStack]) -> Option<String> {
    let of_drop = |stack: &ThreadStack| {
        let frame = stack.subject().find(|frame| frame.function == "drop");
        frame
            .map(Frame::in_words)
            .map(|place| (place, stack.clone()))
    };
    let (place, stack) = stacks.iter().find_map(of_drop)?;
    let waits = stack.activity.words();
    let mut words = format!("{HANGS} in a destructor: {place} waits {waits}");
    let others = stacks.iter().filter(|other| **other != stack);
    let others: Vec<_> = others.filter_map(whereabouts).take(2).collect();
    if !others.is_empty() {
        words += &format!(", while thread {}", others.join(", and "));
    }
    Some(words)
}

/// Only a broken program makes a lock of the check itself hang.
fn of_check(stacks: &[ThreadStack]) -> Option<String> {
    let is_stuck = |stack: &ThreadStack| {
        let innermost = stack.frames.first();
        stack.activity == Activity::Lock
            && innermost.is_some_and(|frame| frame.origin == Origin::Check)
    };
    stacks.iter().any(is_stuck).then(|| {
        format!(
            "{HANGS} in a lock of the check's own, which nothing holds: the memory that the lock is \
             in was freed, as after a double drop or with a reference count that is too low"
        )
    })
}

/// All that is known is which thread sleeps where.
fn asleep(stacks: &[ThreadStack]) -> String {
    let places: Vec<_> = stacks.iter().filter_map(whereabouts).take(2).collect();
    let places = match places.is_empty() {
        true => String::new(),
        false => format!(": thread {}", places.join(", and ")),
    };
    let by_the_clock =
        |stack: &ThreadStack| stack.activity == Activity::Sleep && stack.subject().next().is_some();
    if stacks.iter().any(by_the_clock) {
        return format!(
            "{HANGS}: every thread sleeps, one of them in `thread::sleep`, which no wake-up ends{places}"
        );
    }
    format!(
        "{HANGS}: every thread sleeps, and nothing is left to wake one. A wake-up was lost, or never \
         sent{places}"
    )
}

/// `` `check` waits in a park in `block_on` (lib.rs:29) ``.
fn whereabouts(stack: &ThreadStack) -> Option<String> {
    let (thread, activity) = (&stack.thread, stack.activity.words());
    let place = stack.subject().next()?.in_words();
    let verb = match stack.activity {
        Activity::Runs | Activity::Unknown => "is",
        _ => "waits",
    };
    Some(format!("`{thread}` {verb} {activity} in {place}"))
}

/// Says where a loop that makes no progress is.
fn busy_loop(stacks: &[ThreadStack]) -> Option<String> {
    let runs = |stack: &&ThreadStack| stack.activity == Activity::Runs;
    let place = |stack: &ThreadStack| Some(stack.subject().next()?.in_words());
    stacks.iter().filter(runs).find_map(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(origin: Origin, function: &str, line: u32) -> Frame {
        Frame {
            origin,
            function: function.into(),
            place: format!("lib.rs:{line}"),
        }
    }

    fn stack(thread: &str, activity: Activity, frames: &[(Origin, &str, u32)]) -> ThreadStack {
        let frames = frames.iter();
        ThreadStack {
            thread: thread.into(),
            activity,
            frames: frames
                .map(|(origin, function, line)| frame(*origin, function, *line))
                .collect(),
        }
    }

    use Origin::{Check, Subject};

    #[test]
    fn a_lock_of_the_code_under_test_is_a_deadlock() {
        let stacks = [
            stack(
                "check",
                Activity::Lock,
                &[
                    (Subject, "wake", 17),
                    (Check, "", 3),
                    (Subject, "block_on", 29),
                ],
            ),
            stack("worker", Activity::Park, &[(Subject, "run", 40)]),
        ];
        let words = in_words(&stacks).unwrap();
        assert!(
            words.starts_with("a deadlock: thread `check` waits in `wake` (lib.rs:17)"),
            "{words}"
        );
        assert!(
            words.contains("`block_on` (lib.rs:29) called it"),
            "{words}"
        );
        assert!(
            words.ends_with(
                "`worker` waits in a park in `run` (lib.rs:40): if it holds the lock, it never gets to \
                 release it"
            ),
            "{words}"
        );
    }

    #[test]
    fn each_of_two_may_hold_what_the_other_waits_for() {
        let steals = [(Subject, "lock", 113), (Subject, "steal_into", 233)];
        let threads = ["check", "check (2)"];
        let stacks = threads.map(|name| stack(name, Activity::Lock, &steals));
        let words = in_words(&stacks).unwrap();
        assert!(
            words.ends_with(
                "in a lock in `lock` (lib.rs:113): if each of the two holds the lock that the other \
                 waits for, neither gets it"
            ),
            "{words}"
        );
    }

    #[test]
    fn the_outermost_caller_may_hold_the_lock() {
        let frames = [
            (Subject, "lock", 231),
            (Subject, "drop", 200),
            (Check, "", 3),
            (Subject, "poll", 168),
        ];
        let words = in_words(&[stack("check", Activity::Lock, &frames)]).unwrap();
        assert!(
            words.contains("called from `drop` (lib.rs:200), from `poll` (lib.rs:168): if one"),
            "{words}"
        );
    }

    #[test]
    fn a_lock_that_no_thread_can_hold_may_be_freed_memory() {
        let stacks = [stack("check", Activity::Lock, &[(Subject, "unpark", 17)])];
        let words = in_words(&stacks).unwrap();
        assert!(
            words.ends_with("the lock lies in memory that was freed"),
            "{words}"
        );
    }

    #[test]
    fn a_lock_may_be_held_further_out_by_the_same_line() {
        let frames = [
            (Subject, "drop", 149),
            (Check, "", 3),
            (Subject, "drop", 149),
        ];
        let words = in_words(&[stack("check", Activity::Lock, &frames)]).unwrap();
        assert!(
            words.ends_with(
                "if the outer `drop` (lib.rs:149) still holds the lock, the thread waits for itself"
            ),
            "{words}"
        );
    }

    #[test]
    fn a_caller_that_runs_within_itself_is_said_to() {
        let frames = [
            (Subject, "state", 94),
            (Subject, "drop", 238),
            (Check, "", 3),
            (Subject, "drop", 238),
        ];
        let words = in_words(&[stack("check", Activity::Lock, &frames)]).unwrap();
        assert!(
            words.ends_with(
                "`drop` (lib.rs:238) called it, and runs twice, one call inside the other: if the outer \
                 call still holds the lock, the thread waits for itself"
            ),
            "{words}"
        );
    }

    #[test]
    fn a_caller_is_named_once() {
        let frames = [
            (Subject, "sleep", 93),
            (Subject, "sleep_until", 89),
            (Check, "", 3),
            (Subject, "fire", 106),
            (Subject, "fire", 106),
        ];
        let words = in_words(&[stack("check", Activity::Lock, &frames)]).unwrap();
        assert_eq!(words.matches("`fire`").count(), 1, "{words}");
    }

    #[test]
    fn a_sleep_by_the_clock_is_no_lost_wake_up() {
        let stacks = [stack("check", Activity::Sleep, &[(Subject, "poll", 134)])];
        let words = in_words(&stacks).unwrap();
        assert_eq!(
            words,
            "it hangs: every thread sleeps, one of them in `thread::sleep`, which no wake-up ends: \
             thread `check` waits in a sleep in `poll` (lib.rs:134)"
        );
    }

    #[test]
    fn a_join_in_a_destructor_is_said_to_hang_there() {
        let stacks = [
            stack(
                "check",
                Activity::Join,
                &[(Subject, "drop", 319), (Check, "", 3)],
            ),
            stack("blocking", Activity::Condvar, &[(Subject, "work", 240)]),
        ];
        let words = in_words(&stacks).unwrap();
        assert_eq!(
            words,
            "it hangs in a destructor: `drop` (lib.rs:319) waits in a join, while thread `blocking` \
             waits in a condvar in `work` (lib.rs:240)"
        );
    }

    #[test]
    fn a_lock_of_the_checks_own_is_no_deadlock_of_the_code() {
        let stacks = [stack(
            "check",
            Activity::Lock,
            &[(Check, "", 3), (Subject, "run", 7)],
        )];
        let words = in_words(&stacks).unwrap();
        assert!(
            words.starts_with("it hangs in a lock of the check's own"),
            "{words}"
        );
    }

    #[test]
    fn anything_else_that_sleeps_is_reported_with_its_place() {
        let stacks = [stack("check", Activity::Park, &[(Subject, "block_on", 29)])];
        let words = in_words(&stacks).unwrap();
        assert!(
            words.ends_with(": thread `check` waits in a park in `block_on` (lib.rs:29)"),
            "{words}"
        );
        assert_eq!(in_words(&[]), None);
    }
}
