//! How a check ends: what its child process sends to the process that started
//! it, and the words by which both know what was seen.

/// Precedes a verdict and separates its parts; no text of a program contains it
/// by chance.
pub(crate) const MARK: &str = "\u{1}testkit-verdict\u{1}";

/// The text of the verdict on a check that passed.
const PASSED: &str = "passed";

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed(Failure),
}

/// Why a check was ended, and what its threads were doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What was seen, as a sentence.
    pub seen: String,
    /// A line for each thread that is worth one.
    pub threads: Vec<String>,
    /// The model's execution that failed, where the checker counts them.
    pub execution: Option<u64>,
}

impl Failure {
    /// A failure that says nothing about the threads.
    pub fn new(seen: impl Into<String>) -> Self {
        Self {
            seen: seen.into(),
            threads: Vec::new(),
            execution: None,
        }
    }
}

impl Verdict {
    /// The verdict as the child writes it, after everything else.
    pub fn encode(&self) -> String {
        match self {
            Self::Passed => format!("{MARK}{PASSED}"),
            Self::Failed(failure) => {
                let threads = failure.threads.join("\n");
                let execution = failure.execution.unwrap_or_default();
                format!("{MARK}{}{MARK}{threads}{MARK}{execution}", failure.seen)
            }
        }
    }

    /// Splits what a child wrote into its own text and its verdict. `None` if
    /// the child ended without a verdict.
    pub fn decode(written: &str) -> (&str, Option<Self>) {
        let Some((text, verdict)) = written.split_once(MARK) else {
            return (written, None);
        };
        let parts: Vec<_> = verdict.split(MARK).collect();
        let verdict = match parts[..] {
            [PASSED] => Self::Passed,
            [seen, threads, execution] => Self::Failed(Failure {
                threads: threads.lines().map(str::to_owned).collect(),
                execution: execution.parse().ok().filter(|&number| number > 0),
                ..Failure::new(seen)
            }),
            _ => Self::Failed(Failure::new(verdict)),
        };
        (text, Some(verdict))
    }
}

/// How a report begins if a `todo!` was reached.
pub(crate) const UNWRITTEN: &str = "this part is not written yet";

/// How a report begins if nothing moves anymore.
pub(crate) const HANGS: &str = "it hangs";

/// How a report begins if the machine gave the check no chance.
pub(crate) const BUSY: &str = "the machine is too busy to tell";

/// How a report begins if the time was used up.
pub(crate) const SPINS: &str = "it never ends";

/// How a report begins if the threads' places show a lock that is never
/// released.
pub(crate) const DEADLOCK: &str = "a deadlock";

/// How a report begins if the code under test panicked.
pub(crate) const PANIC: &str = "a panic";

/// How a report begins if the process has died.
pub(crate) const DIED: &str = "the test process died";

/// How a report begins if loom didn't see what it had seen before, which says
/// nothing about the promise.
pub(crate) const UNREPEATED: &str = "loom tries an execution again";

/// What a model throws if a thread of it has no room left on its stack, and how the report begins.
pub const STACK_OVERFLOW: &str = "the stack of a thread overflows. In a model it has 32 KiB, and \
                                  an `UnsafeCell` is much larger there than elsewhere: make a \
                                  queue with few slots, for example with `if cfg!(any(feature = \
                                  \"loom\", feature = \"shuttle\")) { 4 } else { 256 }` as its \
                                  capacity. If there is no such array, look for a function that \
                                  calls itself without end";

/// How a report begins if a model checker can't see what the code does.
pub(crate) const UNSEEN: &str = "the model can't see the code";

/// What stands between a thread's name and what ended it.
pub(crate) const ENDED_EARLY: &str = "` ended early: ";

/// What kind of thing was seen, judging by how the report begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unwritten,
    Busy,
    Panic,
    Deadlock,
    /// In a destructor, or in a lock of the check's own: its words are enough.
    HangExplained,
    Hang,
    Spins,
    Died,
    /// No model can judge it.
    Unrepeated,
    /// No model sees what it does.
    Unseen,
    /// An assertion of the check, which the lesson is about.
    Assertion,
}

impl Kind {
    pub fn of(seen: &str) -> Self {
        const SIGNS: [(&str, Kind); 13] = [
            (UNWRITTEN, Kind::Unwritten),
            (BUSY, Kind::Busy),
            // The code that called std isn't known.
            ("a panic at /rustc/", Kind::Assertion),
            ("a panic at ", Kind::Panic),
            ("a panic in ", Kind::Panic),
            (DEADLOCK, Kind::Deadlock),
            ("it hangs in ", Kind::HangExplained),
            (HANGS, Kind::Hang),
            (SPINS, Kind::Spins),
            (DIED, Kind::Died),
            (UNREPEATED, Kind::Unrepeated),
            // Its words are enough, as a panic's are.
            (STACK_OVERFLOW, Kind::Panic),
            (UNSEEN, Kind::Unseen),
        ];
        let seen = match seen.split_once(ENDED_EARLY) {
            Some((thread, cause)) if thread.starts_with("thread `") => cause,
            _ => seen,
        };
        let found = SIGNS.iter().find(|(sign, _)| seen.starts_with(sign));
        found.map_or(Self::Assertion, |(_, kind)| *kind)
    }

    /// Its name in the kit's events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unwritten => "unwritten",
            Self::Busy => "busy",
            Self::Panic => "panic",
            Self::Deadlock => "deadlock",
            Self::HangExplained => "hang-explained",
            Self::Hang => "hang",
            Self::Spins => "spins",
            Self::Died => "died",
            Self::Unrepeated => "unrepeated",
            Self::Unseen => "unseen",
            Self::Assertion => "assertion",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_another_thread_has_a_kind() {
        let seen = "thread `b` ended early: a panic in what `remove` (lib.rs:59) calls";
        assert_eq!(Kind::of(seen), Kind::Panic);
        assert_eq!(
            Kind::of("thread `b` ended early: the teller fails"),
            Kind::Assertion
        );
    }

    #[test]
    fn a_verdict_is_read_as_it_was_written() {
        let failure = Failure {
            seen: "two\nlines".into(),
            threads: vec!["check: sleeping".into(), "worker: running".into()],
            execution: Some(12),
        };
        for verdict in [
            Verdict::Passed,
            Verdict::Failed(Failure::new("1, not 2")),
            Verdict::Failed(Failure::new(PASSED)),
            Verdict::Failed(failure),
        ] {
            let written = format!("its own text{}", verdict.encode());
            assert_eq!(Verdict::decode(&written), ("its own text", Some(verdict)));
        }
        assert_eq!(Verdict::decode("its own text"), ("its own text", None));
    }
}
