//! A thread's stack as a reader sees it, and what the thread does.

/// The most frames that are shown of a thread.
const MAX_FRAMES: usize = 3;

/// What a thread waits in, or that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Lock,
    Condvar,
    Park,
    Join,
    Scope,
    Channel,
    Barrier,
    Once,
    Sleep,
    Runs,
    Unknown,
}

impl Activity {
    /// The words in a thread's line.
    pub fn words(self) -> &'static str {
        match self {
            Self::Lock => "in a lock",
            Self::Condvar => "in a condvar",
            Self::Park => "in a park",
            Self::Join => "in a join",
            Self::Scope => "at the end of a scope",
            Self::Channel => "in a channel",
            Self::Barrier => "in a barrier",
            Self::Once => "in a `Once`",
            Self::Sleep => "in a sleep",
            Self::Runs => "running",
            Self::Unknown => "sleeping",
        }
    }
}

/// Whose code a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The code under test, or that of an earlier exercise that it is built on.
    Subject,
    /// The check.
    Check,
}

/// One frame that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub origin: Origin,
    /// The function's name, without its path; empty for a closure.
    pub function: String,
    /// `lib.rs:17`; empty where the program has no line tables.
    pub place: String,
}

impl Frame {
    fn describe(&self) -> String {
        let name = match (self.origin, self.function.as_str()) {
            (Origin::Check, _) => "the check",
            (Origin::Subject, "") => "a closure",
            (Origin::Subject, function) => function,
        };
        [name, &self.place].join(" ").trim_end().to_owned()
    }

    /// For a sentence: `` `wake` (lib.rs:17) ``.
    pub fn in_words(&self) -> String {
        let function = match self.function.as_str() {
            "" => "a closure".to_owned(),
            function => format!("`{function}`"),
        };
        match self.place.as_str() {
            "" => function,
            place => format!("{function} ({place})"),
        }
    }
}

/// Where a thread is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadStack {
    pub thread: String,
    pub activity: Activity,
    /// From the innermost outward.
    pub frames: Vec<Frame>,
}

impl ThreadStack {
    /// The frames of the code under test, from the innermost outward.
    pub fn subject(&self) -> impl Iterator<Item = &Frame> {
        let frames = self.frames.iter();
        frames.filter(|frame| frame.origin == Origin::Subject)
    }

    /// The innermost frame, if it is of the code under test.
    pub fn innermost(&self) -> Option<&Frame> {
        let first = self.frames.first()?;
        (first.origin == Origin::Subject).then_some(first)
    }

    /// `check: in a join ← drop lib.rs:319`.
    pub fn describe(&self) -> Option<String> {
        let mut frames: Vec<_> = self.subject().map(Frame::describe).collect();
        frames.dedup();
        frames.truncate(MAX_FRAMES);
        if frames.is_empty() || self.innermost().is_none() {
            frames.insert(0, self.frames.first()?.describe());
        }
        let (thread, activity) = (&self.thread, self.activity.words());
        Some(format!("{thread}: {activity} ← {}", frames.join(" ← ")))
    }
}
