//! What a failing check teaches.

use std::fmt::Write;

use crate::verdict::Kind;

/// One promise of an exercise's contract, and what to tell a reader whose
/// code breaks it.
#[derive(Clone, Copy, Debug)]
pub struct Lesson {
    /// Number and name of the clause, as in the contract: `3. No lost wake-up`.
    pub clause: &'static str,
    /// What the contract promises here, in one sentence.
    pub promise: &'static str,
    /// What most often breaks it.
    pub usual_cause: &'static str,
    /// The page of the book that explains it, with its anchor, relative to
    /// the book's root: `one-future/block-on.html#poll-first`. If the advice for
    /// a hang is about another section of the page, its anchor stands at the
    /// end: `one-future/block-on.html#poll-first, at a hang #pin-it-first`.
    pub read: &'static str,
}

/// What such a failure doesn't show.
const HINT_AT_BUSY: &str = "Other programs are using the CPUs. It says nothing about your code: \
                            run it again when they have ended.";

/// One lost wake-up makes many checks hang, for most clauses.
const HINT_AT_HANGS: &str = "If other checks hang too, one lost wake-up may be behind all of \
                             them: `cargo workshop check` picks the one to read first. If only \
                             this one does:";

/// For lessons whose own advice is about an assertion that was never reached.
const ADVICE_AT_HANGS: &str = "A wake-up is lost or never sent. Read the checks about wake-ups \
                               first: `cargo workshop check` picks the one that tells most.";

const ADVICE_AT_DEADLOCKS: &str = "A lock is held during a call that takes it, too: of a waker, a \
                                   destructor, a job. Release it first. A guard \
                                   that is a temporary lives until the end of its statement. Or \
                                   two threads each hold the lock that the other waits for: take \
                                   one at a time, or both in the same order everywhere.";

/// How a primitive of std may have caused a model's failure.
const HINT_AT_FOREIGN: &str = "it doesn't come from `primitives`, so the model can't see it, and \
                               that alone may be the cause of the failure. Import it from \
                               `primitives` first.";

const ADVICE_AT_UNSEEN: &str = "The code imports from `std::sync` or `std::thread`. Import the same \
                                names from `primitives`, whose types are std's in the tests and the \
                                model checker's in the models.";

/// Says how the models see the code.
const READ_AT_UNSEEN: &str = "one-future/parker.html#every-interleaving-by-machine";

/// Precedes the part of a lesson's advice that is for hangs; the part before it
/// is for the assertions.
const AT_A_HANG: &str = "At a hang: ";

/// The same in a lesson's `read`.
const READ_AT_A_HANG: &str = ", at a hang ";

/// Advice with one of these is about waiting, and fits a hang; other advice is
/// about what an assertion found.
const WORDS_OF_WAITING: [&str; 17] = [
    "wake", "woke", "unpark", "park", "notif", "token", "lock", "hang", "lost", "forever",
    "condvar", "sleep", "deadlock", "waits", "join", "stop", "never",
];

/// Advice with one of these is about memory, and fits a crash.
const WORDS_OF_MEMORY: [&str; 12] = [
    "freed", "free", "memory", "count", "pointer", "vtable", "layout", "moved", "moves", "dangl",
    "dropped", "alive",
];

/// Advice with one of these is about a call under a lock, and fits a deadlock.
const WORDS_OF_LOCKING: [&str; 3] = ["under the lock", "under a lock", "lock is held"];

/// What usually breaks a promise isn't news about code that isn't there yet.
const HINT_AT_STUBS: &str = "Once it is written, this may break it:";

/// Columns for the text beside the labels.
const TEXT_WIDTH: usize = 66;

impl Lesson {
    /// Renders the message of a failed check. `foreign` is what a model can't
    /// see; `place` is the test's `file:line`; `details` are extra lines, such
    /// as the threads' states.
    pub(crate) fn report(
        &self,
        seen: &str,
        foreign: Option<&str>,
        place: &str,
        details: &[String],
    ) -> String {
        let mut report = format!("clause {}\n\n", self.clause);
        let mut row = |label: &str, text: &str| {
            let mut label = label;
            for line in text.lines().flat_map(wrap) {
                let _ = writeln!(report, "  {label:<9}  {line}");
                label = "";
            }
        };
        row("promised", self.promise);
        row("seen", seen);
        if let Some(foreign) = foreign.filter(|_| Kind::of(seen) != Kind::Unwritten) {
            row("unseen", &format!("{foreign}: {HINT_AT_FOREIGN}"));
        }
        if let Some(advice) = self.advice_among_others(seen) {
            row("usually", &advice);
        }
        row("read", &self.page(seen));
        row("check", place);
        if !details.is_empty() {
            row("threads", &details.join("\n"));
        }
        report
    }

    /// What usually causes what was seen, or nothing if the message already
    /// says so.
    pub(crate) fn advice(&self, seen: &str) -> Option<String> {
        let (usual, at_hang) = match self.usual_cause.split_once(AT_A_HANG) {
            Some((usual, at_hang)) => (usual.trim_end(), Some(at_hang)),
            None => (self.usual_cause, None),
        };
        let has = |words: &[&str]| words.iter().any(|word| usual.contains(word));
        let advice = match Kind::of(seen) {
            Kind::Panic | Kind::Busy | Kind::Unrepeated => return None,
            Kind::Deadlock if !has(&WORDS_OF_LOCKING) => ADVICE_AT_DEADLOCKS,
            Kind::Unseen => ADVICE_AT_UNSEEN,
            Kind::HangExplained => return at_hang.map(capitalized),
            Kind::Hang | Kind::Spins if at_hang.is_some() => return at_hang.map(capitalized),
            Kind::Hang if !has(&WORDS_OF_WAITING) => return None,
            Kind::Died if !has(&WORDS_OF_MEMORY) => return None,
            _ => usual,
        };
        Some(advice.to_owned())
    }

    /// The page to read about what was seen, with its anchor.
    fn page(&self, seen: &str) -> String {
        if Kind::of(seen) == Kind::Unseen {
            return READ_AT_UNSEEN.to_owned();
        }
        let Some((page, at_hang)) = self.read.split_once(READ_AT_A_HANG) else {
            return self.read.to_owned();
        };
        match Kind::of(seen) {
            Kind::Hang | Kind::HangExplained | Kind::Spins => {
                let file = page.split('#').next().unwrap_or(page);
                format!("{file}{at_hang}")
            }
            _ => page.to_owned(),
        }
    }

    /// [`advice`](Self::advice) for a report that stands alone: one of several, perhaps.
    fn advice_among_others(&self, seen: &str) -> Option<String> {
        let advice = self.advice(seen);
        match (Kind::of(seen), advice) {
            (Kind::Unwritten, Some(advice)) => Some(format!("{HINT_AT_STUBS} {advice}")),
            (Kind::Hang, Some(advice)) => Some(format!("{HINT_AT_HANGS} {advice}")),
            (Kind::Hang, None) => Some(ADVICE_AT_HANGS.to_owned()),
            (Kind::Busy, _) => Some(HINT_AT_BUSY.to_owned()),
            (_, advice) => advice,
        }
    }
}

/// A sentence from the middle of a text, as a text of its own.
fn capitalized(advice: &str) -> String {
    let mut rest = advice.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    first.chain(rest).collect()
}

/// Breaks `text` between words into lines of at most [`TEXT_WIDTH`] columns; a
/// longer word gets a line of its own.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("starts with one line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= TEXT_WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_a_row_for_each_part() {
        let lesson = Lesson {
            clause: "3. No lost wake-up",
            promise: "a wake-up that comes early still counts",
            usual_cause: "the flag is cleared after the poll",
            read: "one-future/block-on.html#early",
        };
        let report = lesson.report("it slept", None, "tests.rs:7", &["test  sleeping".into()]);
        for row in [
            "clause 3. No lost wake-up\n",
            "  promised   a wake-up that comes early still counts\n",
            "  seen       it slept\n",
            "  usually    the flag is cleared after the poll\n",
            "  read       one-future/block-on.html#early\n",
            "  check      tests.rs:7\n",
            "  threads    test  sleeping\n",
        ] {
            assert!(report.contains(row), "`{row}` is missing in:\n{report}");
        }
    }

    fn lesson(usual_cause: &'static str) -> Lesson {
        Lesson {
            clause: "1. One",
            promise: "it holds",
            usual_cause,
            read: "x.html",
        }
    }

    #[test]
    fn advice_about_an_assertion_is_not_given_at_a_hang() {
        let seen = "it hangs: every thread sleeps";
        let of_assertion = lesson("The order is reversed.");
        assert_eq!(of_assertion.advice(seen), None);
        let report = of_assertion.report(seen, None, "tests.rs:7", &[]);
        assert!(
            !report.contains("reversed") && report.contains("usually"),
            "{report}"
        );
        let of_waiting = lesson("A wake-up comes too late.").advice(seen);
        assert_eq!(of_waiting.as_deref(), Some("A wake-up comes too late."));
        let both = lesson("The order is reversed. At a hang: the last is forgotten.");
        assert_eq!(both.advice(seen).unwrap(), "The last is forgotten.");
        assert_eq!(both.advice("2, 1").unwrap(), "The order is reversed.");
    }

    #[test]
    fn advice_about_a_lock_stands_at_a_deadlock() {
        let seen = format!("{}: thread `check` waits", crate::verdict::DEADLOCK);
        let own = "A waker is dropped under the lock.";
        assert_eq!(lesson(own).advice(&seen).unwrap(), own);
        let other = lesson("A wake-up comes too late.").advice(&seen);
        assert_eq!(other.unwrap(), ADVICE_AT_DEADLOCKS);
    }

    #[test]
    fn a_hang_may_be_explained_in_another_section() {
        let mut lesson = lesson("It is early.");
        assert_eq!(lesson.page("it hangs: x"), "x.html");
        lesson.read = "a/x.html#early, at a hang #lost";
        assert_eq!(lesson.page("it hangs: x"), "a/x.html#lost");
        assert_eq!(lesson.page("1 poll"), "a/x.html#early");
    }

    #[test]
    fn what_a_model_cannot_see_is_said_before_the_advice() {
        let of_model = lesson("The token is `Relaxed`.");
        let foreign = Some("`std::sync::Mutex` (src/lib.rs:7)");
        let report = of_model.report("it is gone", foreign, "models.rs:7", &[]);
        let [unseen, usually] = ["  unseen     `std::sync::Mutex`", "  usually  "];
        let [unseen, usually] = [unseen, usually].map(|row| report.find(row).expect(row));
        assert!(unseen < usually, "{report}");
        let unwritten = format!("{}: `todo!`", crate::verdict::UNWRITTEN);
        let report = of_model.report(&unwritten, foreign, "models.rs:7", &[]);
        assert!(!report.contains("unseen"), "{report}");
    }

    #[test]
    fn what_needs_no_advice_gets_none() {
        let lesson = lesson("The order is reversed.");
        for seen in [
            "a panic at exercises/01-x/src/lib.rs:3: index out of bounds",
            "it hangs in a destructor: `drop` waits in a join",
            "the test process died of SIGILL",
            "loom tries an execution again up to some step",
        ] {
            assert_eq!(lesson.advice(seen), None, "{seen}");
            assert!(
                !lesson.report(seen, None, "x", &[]).contains("usually"),
                "{seen}"
            );
        }
    }

    #[test]
    fn long_text_is_wrapped_between_words() {
        let lines = wrap(&"word ".repeat(40));
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= TEXT_WIDTH));
    }
}
