//! Makes the words agree with a number that turned out to be one.
//!
//! A check's message has one format string for all numbers: `{polls} polls`. Most of the numbers
//! that a reader sees there are large, or zero, but some are one.

use std::borrow::Cow;

/// What checks count, in the plural.
const COUNTED: [&str; 53] = [
    "allocations",
    "arrivals",
    "blocks",
    "branches",
    "bytes",
    "calls",
    "checkpoints",
    "children",
    "clones",
    "connections",
    "deadlines",
    "draws",
    "drops",
    "entries",
    "events",
    "executions",
    "futures",
    "guards",
    "handles",
    "instructions",
    "intervals",
    "items",
    "jobs",
    "messages",
    "nodes",
    "operations",
    "orders",
    "others",
    "packets",
    "panics",
    "parkers",
    "parks",
    "polls",
    "pops",
    "read-modify-writes",
    "readings",
    "rounds",
    "seeds",
    "sleepers",
    "sleeps",
    "steps",
    "targets",
    "tasks",
    "threads",
    "ticks",
    "tokens",
    "turns",
    "unparks",
    "wake-ups",
    "wakers",
    "wakes",
    "workers",
    "yields",
];

/// What stands between the number and what is counted.
const BETWEEN: [&str; 6] = ["atomic", "dropped", "further", "more", "needless", "other"];

/// What is numbered rather than counted: `tick 1 yields`.
const NUMBERED: [&str; 16] = [
    "=", "child", "event", "item", "job", "node", "number", "poll", "round", "runtime", "seed",
    "step", "task", "thread", "tick", "worker",
];

/// Returns the text with `1 polls were` as `1 poll was`, and `1 times` as `once`.
pub(crate) fn agreeing(text: &str) -> String {
    let mut words: Vec<Cow<'_, str>> = text.split(' ').map(Cow::Borrowed).collect();
    // From the end, so that a noun that has become singular isn't taken for a label.
    for at in (0..words.len()).rev() {
        let is_one = matches!(words[at].as_ref(), "1" | "(1");
        let is_numbered = at > 0 && NUMBERED.contains(&bare(&words[at - 1]));
        if is_one && !is_numbered {
            agree(&mut words, at);
        }
    }
    let words = words.iter().filter(|word| *word != GONE);
    words.map(AsRef::as_ref).collect::<Vec<&str>>().join(" ")
}

/// Stands for a word that has become a part of the one before.
const GONE: &str = "\u{1}";

/// Makes the words after the number one, which is at `at`, agree with it.
fn agree(words: &mut [Cow<'_, str>], at: usize) {
    let is_between = |word: &Cow<'_, str>| BETWEEN.contains(&word.as_ref());
    let mut next = at + 1;
    while words.get(next).is_some_and(is_between) {
        next += 1;
    }
    let Some(noun) = words.get(next).map(|word| bare(word).to_owned()) else {
        return;
    };
    match noun.as_str() {
        "times" if next == at + 1 => {
            words[at] = words[at].replace('1', "once").into();
            let rest = words[next].replacen("times", "", 1);
            words[at] = format!("{}{rest}", words[at]).into();
            words[next] = GONE.into();
        }
        "times" => words[next] = words[next].replacen("times", "time", 1).into(),
        noun if COUNTED.contains(&noun) => {
            words[next] = words[next].replacen(noun, &singular(noun), 1).into();
            agree_verb(words, next + 1);
        }
        _ => agree_verb(words, next),
    }
}

fn agree_verb(words: &mut [Cow<'_, str>], at: usize) {
    let verb = words.get(at).and_then(|word| match word.as_ref() {
        "are" => Some("is"),
        "aren't" => Some("isn't"),
        "have" => Some("has"),
        "haven't" => Some("hasn't"),
        "were" => Some("was"),
        "weren't" => Some("wasn't"),
        "wait" => Some("waits"),
        _ => None,
    });
    if let Some(verb) = verb {
        words[at] = verb.into();
    }
}

fn singular(noun: &str) -> String {
    match noun {
        "branches" => "branch".to_owned(),
        "children" => "child".to_owned(),
        "entries" => "entry".to_owned(),
        _ => noun.trim_end_matches('s').to_owned(),
    }
}

/// The word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '=')
}

#[cfg(test)]
mod tests {
    use super::agreeing;

    #[test]
    fn one_of_something_is_singular() {
        for (text, expected) in [
            ("after 1 ticks the task", "after 1 tick the task"),
            (
                "1 wake-ups caused 1 polls: it",
                "1 wake-up caused 1 poll: it",
            ),
            ("allocated 1 blocks", "allocated 1 block"),
            ("of 1 workers 1 were parked", "of 1 worker 1 was parked"),
            (
                "1 tasks were queued, 1 have ended",
                "1 task was queued, 1 has ended",
            ),
            (
                "1 more polls; 1 read-modify-writes",
                "1 more poll; 1 read-modify-write",
            ),
            ("it was dropped 1 more times", "it was dropped 1 more time"),
        ] {
            assert_eq!(agreeing(text), expected);
        }
    }

    #[test]
    fn one_time_is_once() {
        assert_eq!(agreeing("it was polled 1 times"), "it was polled once");
        assert_eq!(
            agreeing("polled 1 times, and woken (1 times)"),
            "polled once, and woken (once)"
        );
    }

    #[test]
    fn other_numbers_and_labels_stay() {
        for text in [
            "0 polls, 21 polls and 1.1 polls",
            "tick 1 yields, and worker 1 sleeps",
            "in round 1, polls were missed",
            "three wakers were woken [0, 1, 1] times",
            "with n = 1 ticks are pending",
            "of two wakers the first was called 2 times, the second 1",
        ] {
            assert_eq!(agreeing(text), text);
        }
    }
}
