//! What a failing check teaches.

use std::fmt::Write;

/// One promise of an exercise's contract, and what to tell a reader whose
/// code breaks it.
#[derive(Clone, Copy, Debug)]
pub struct Lesson {
    /// Number and name of the clause, as the contract writes them:
    /// `3. No lost wake-up`.
    pub clause: &'static str,
    /// What the contract promises here, as one sentence.
    pub promise: &'static str,
    /// What most often breaks it.
    pub usual_cause: &'static str,
    /// The page of the book that explains it, with its anchor, relative to
    /// the book's root: `one-future/block-on.html#poll-first`.
    pub read: &'static str,
}

/// How a report begins to say what was seen where a `todo!` was reached.
pub(crate) const UNWRITTEN: &str = "this part is not written yet";

/// How a report begins to say what was seen where nothing moves any more.
pub(crate) const HANGS: &str = "it hangs";

/// How a report begins to say what was seen where the machine gave the check
/// no chance.
pub(crate) const BUSY: &str = "the machine is too busy to tell";

/// What such a failure does not say.
const HINT_AT_BUSY: &str = "Other programs keep the CPUs. It says nothing of your code: run it again \
                            when they have ended.";

/// One lost wake-up makes many checks hang, of most clauses.
const HINT_AT_HANGS: &str =
    "If other checks hang too, read those about wake-ups first. If only this one does:";

/// What usually breaks a promise is no news about code that is not there yet.
const HINT_AT_STUBS: &str = "Once it is written, this may break it:";

/// Columns for the text beside the labels.
const TEXT_WIDTH: usize = 66;

impl Lesson {
    /// Renders the message of a failed check. `place` is the test's
    /// `file:line`; `details` are extra lines, such as the threads' states.
    pub(crate) fn report(&self, seen: &str, place: &str, details: &[String]) -> String {
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
        let usual_cause = if seen.starts_with(HANGS) {
            format!("{HINT_AT_HANGS} {}", self.usual_cause)
        } else if seen.starts_with(UNWRITTEN) {
            format!("{HINT_AT_STUBS} {}", self.usual_cause)
        } else if seen.starts_with(BUSY) {
            HINT_AT_BUSY.to_owned()
        } else {
            self.usual_cause.to_owned()
        };
        row("usually", &usual_cause);
        row("read", self.read);
        row("check", place);
        if !details.is_empty() {
            row("threads", &details.join("\n"));
        }
        report
    }
}

/// Breaks `text` between words into lines of at most [`TEXT_WIDTH`] columns;
/// a longer word keeps a line of its own.
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
        let report = lesson.report("it slept", "tests.rs:7", &["test  asleep".into()]);
        for row in [
            "clause 3. No lost wake-up\n",
            "  promised   a wake-up that comes early still counts\n",
            "  seen       it slept\n",
            "  usually    the flag is cleared after the poll\n",
            "  read       one-future/block-on.html#early\n",
            "  check      tests.rs:7\n",
            "  threads    test  asleep\n",
        ] {
            assert!(report.contains(row), "`{row}` is missing in:\n{report}");
        }
    }

    #[test]
    fn long_text_is_wrapped_between_words() {
        let lines = wrap(&"word ".repeat(40));
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= TEXT_WIDTH));
    }
}
