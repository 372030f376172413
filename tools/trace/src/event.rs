//! What is recorded.

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "document", derive(serde::Deserialize))]
#[cfg_attr(feature = "document", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    not(feature = "record"),
    allow(dead_code, reason = "nothing is recorded")
)]
#[repr(u8)]
pub enum Kind {
    /// A task was made. The argument is the task that made it, or 0.
    Spawn,
    /// A job was made: work that runs once, on any thread. Otherwise like `spawn`.
    Job,
    /// A poll begins, or a job. It may be within the poll of another task.
    #[cfg_attr(feature = "document", serde(rename = "poll+"))]
    PollBegin,
    /// A poll ends, or a job. The argument is 1 if the task is ready.
    #[cfg_attr(feature = "document", serde(rename = "poll-"))]
    PollEnd,
    /// A task was woken. The argument is the task that did it, or 0.
    Wake,
    /// The task is about to yield.
    Yield,
    /// The worker parks for lack of work.
    Park,
    /// The worker is awake again.
    Unpark,
    /// A remark. The argument is its index in `meta.marks`.
    Mark,
    /// A task entered a queue. The argument says which: 0 the worker's own, 1 its
    /// next-task slot, 2 the global one.
    Push,
    /// A task left a queue in order to be polled. The argument is as in `push`.
    Pop,
    /// The worker's own queue was full: as many tasks as the count says left it for the global one.
    /// The task of the event is the one that didn't fit, and it is counted, too.
    Overflow,
    /// The worker took as many tasks as the count says from the queue of another,
    /// which the argument names, into its own.
    Steal,
    /// The worker took as many tasks as the count says from the global queue into
    /// its own.
    Take,
    /// The worker has nothing to do, and looks for tasks of others.
    #[cfg_attr(feature = "document", serde(rename = "search+"))]
    SearchBegin,
    /// The worker searches no longer. The argument is 1 if it has found something.
    #[cfg_attr(feature = "document", serde(rename = "search-"))]
    SearchEnd,
    /// The worker that the argument names was chosen to be woken.
    Notify,
}

impl Kind {
    const ALL: [Self; 17] = [
        Self::Spawn,
        Self::Job,
        Self::PollBegin,
        Self::PollEnd,
        Self::Wake,
        Self::Yield,
        Self::Park,
        Self::Unpark,
        Self::Mark,
        Self::Push,
        Self::Pop,
        Self::Overflow,
        Self::Steal,
        Self::Take,
        Self::SearchBegin,
        Self::SearchEnd,
        Self::Notify,
    ];

    /// The kind with this number.
    #[cfg_attr(
        not(feature = "record"),
        allow(dead_code, reason = "nothing is recorded")
    )]
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&kind| kind as u8 == number)
    }

    /// Its name in the document.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Spawn => "spawn",
            Self::Job => "job",
            Self::PollBegin => "poll+",
            Self::PollEnd => "poll-",
            Self::Wake => "wake",
            Self::Yield => "yield",
            Self::Park => "park",
            Self::Unpark => "unpark",
            Self::Mark => "mark",
            Self::Push => "push",
            Self::Pop => "pop",
            Self::Overflow => "overflow",
            Self::Steal => "steal",
            Self::Take => "take",
            Self::SearchBegin => "search+",
            Self::SearchEnd => "search-",
            Self::Notify => "notify",
        }
    }
}

/// One event of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// When, in nanoseconds from the start of the recording.
    pub time_ns: u64,
    /// What.
    pub kind: Kind,
    /// On which worker; -1 is a thread that isn't one.
    pub worker: i32,
    /// Which task it is about; 0 for none.
    pub task: u32,
    /// What the kind makes of it.
    pub arg: u32,
    /// How many tasks moved, if the kind doesn't determine it; otherwise 0.
    pub count: u32,
}
