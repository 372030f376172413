//! What loom and shuttle say when they end a model, in the book's words.

use crate::source::without_detours;
use crate::verdict::UNREPEATED;

/// Where loom fails if an execution isn't the same as before.
const NOT_REPEATED: [&str; 3] = [
    "Is the model fully deterministic?",
    "expected to be able to acquire lock",
    "assertion failed: state.notified",
];

/// Goes on where [`UNREPEATED`] begins.
const UNREPEATED_BECAUSE: &str = "up to some step, and this one took another way: it hangs on \
                                  something that is never the same twice, such as an address, the \
                                  order of a `HashMap`, the time or chance. That isn't wrong, but \
                                  no model can judge it. Two locks are often taken in the order of \
                                  their addresses: give them numbers. And a `BTreeMap` has an \
                                  order";

/// Says in the book's words what loom or shuttle says in its own.
pub(super) fn in_words(message: &str) -> Option<String> {
    let unrepeated = format!("{UNREPEATED} {UNREPEATED_BECAUSE}");
    let meaning = if message.starts_with("deadlock") {
        "in one interleaving every thread sleeps and nothing is left to wake one"
    } else if message.contains("Causality violation") {
        return Some(race(message));
    } else if message.contains("leaked") {
        "something was never freed"
    } else if message.contains("exceeded maximum number of branches")
        || message.contains("exceeded max_steps bound")
    {
        "a loop went on forever"
    } else if NOT_REPEATED.iter().any(|it| message.contains(it)) {
        &unrepeated
    } else {
        return None;
    };
    let own = message.lines().find(|line| !line.is_empty());
    let own = own.unwrap_or(message);
    let is_shuttle = ["deadlock!", "exceeded max_steps"]
        .iter()
        .any(|it| own.starts_with(it));
    let whose = if is_shuttle { "shuttle" } else { "loom" };
    Some(format!("{meaning} ({whose}: {})", without_places(own)))
}

/// What loom or shuttle says where it finds something else in the memory of one of its primitives:
/// how the message begins, a part of the path of its own file, and whose it is.
const AFTER_FREE: [(&str, &str, &str); 2] = [
    ("index out of bounds", "/rt/object.rs", "loom"),
    ("RefCell already", "/shuttle-engine", "shuttle"),
];

/// Says so of a panic of the checker that only a primitive that's gone can cause.
pub(super) fn use_after_free(message: &str, place: &str) -> Option<String> {
    let said = |(beginning, file, _): &&(&str, &str, &str)| {
        message.starts_with(beginning) && place.contains(file)
    };
    let (_, _, whose) = AFTER_FREE.iter().find(said)?;
    Some(format!(
        "a lock, an atomic or a cell is used after it was freed ({whose}: {message})"
    ))
}

/// For each thread of a deadlock, loom says where in loom it is blocked, which is of no use:
/// `Blocked(Location(…))` becomes `Blocked`.
fn without_places(message: &str) -> String {
    let mut rest = message;
    let mut short = String::new();
    while let Some((before, after)) = rest.split_once("(Location(") {
        short += before;
        // Two parentheses were opened; what is inside may open and close others.
        let mut depth = 2_usize;
        let end = after.find(|character| {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        rest = end.map_or("", |end| &after[end + 1..]);
    }
    short + rest
}

/// Names the two accesses of a data race, as far as loom shows them: lines such as
/// `write: thread #1 @ exercises/02-parker/src/lib.rs:17:9`.
fn race(message: &str) -> String {
    let access = |line: &str| {
        let (kind, place) = line.split_once(": ")?;
        let (_thread, place) = place.split_once(" @ ")?;
        let kind = kind.trim().split(' ').next()?.to_owned();
        let place = place
            .rsplit_once(':')
            .map_or(place, |(place, _column)| place);
        Some(match place.starts_with("/rustc/") {
            true => format!("a {kind} in std (a value is moved or dropped)"),
            false => format!("a {kind} at {}", without_detours(place)),
        })
    };
    let accesses: Vec<_> = message.lines().filter_map(access).collect();
    let which = match accesses.as_slice() {
        [] => String::new(),
        accesses => format!(": {}", accesses.join(" and ")),
    };
    let own = message.lines().find(|line| !line.is_empty());
    format!(
        "a data race{which}. Two threads touched the same data, one of them writing, and nothing \
         ordered them (loom: {})",
        own.unwrap_or_default().trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_checker_finds_in_freed_memory_is_told_as_such() {
        let (borrowed, index) = ("RefCell already borrowed", "index out of bounds: 9 and 3");
        let (shuttle, loom) = (
            "/x/shuttle-engine-0.1.7/src/future/batch_semaphore.rs:595",
            "/x/loom-0.7.2/src/rt/object.rs:77",
        );
        let words = |message, place| use_after_free(message, place);
        assert!(words(borrowed, shuttle).is_some_and(|it| it.contains("(shuttle: RefCell")));
        assert!(words(index, loom).is_some_and(|it| it.contains("(loom: index")));
        let own = "exercises/14-work-stealing/src/lib.rs:3";
        assert_eq!((words(borrowed, own), words(index, own)), (None, None));
    }

    #[test]
    fn a_race_is_told_with_both_accesses() {
        let message = "\nCausality violation: Concurrent write accesses to `UnsafeCell`.\n    created: \
                       solutions/a/src/lib.rs:1:2\n  write one: thread #0 @ exercises/x/src/lib.rs:17:9\n  \
                       write two: thread #1 @ exercises/x/src/lib.rs:30:9\n";
        let words = in_words(message).unwrap();
        assert!(
            words.starts_with(
                "a data race: a write at exercises/x/src/lib.rs:17 and a write at exercises/x/src/lib.rs:30. "
            ),
            "{words}"
        );
        assert!(
            in_words("Causality violation: x")
                .unwrap()
                .starts_with("a data race. Two")
        );
    }

    #[test]
    fn an_execution_that_is_not_repeated_is_explained() {
        for message in NOT_REPEATED {
            let words = in_words(message).unwrap();
            assert!(words.contains("addresses"), "{words}");
        }
    }

    #[test]
    fn a_deadlock_is_told_without_the_places_in_loom() {
        let blocked =
            "Blocked(Location(Some(Location { file: \"a (b)/c.rs\", line: 50, column: 14 })))";
        let message = format!("deadlock; threads = [(Id(0), {blocked}), (Id(1), Terminated)]");
        assert!(
            in_words(&message)
                .unwrap()
                .ends_with("(loom: deadlock; threads = [(Id(0), Blocked), (Id(1), Terminated)])")
        );
    }
}
