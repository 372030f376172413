//! What `primitives` has written down of a failing execution: numbers, files and lines.

use serde::{Deserialize, Serialize};

/// The format that is read here.
const FORMAT: &str = "primitives.order/1";

/// One execution, up to its failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    format: String,
    /// `loom` or `shuttle`.
    pub checker: String,
    /// Which values loads returned: `newest` or, as the checker chose, `plain`.
    pub values: String,
    /// Whether no order has failed in which every load returns the newest value.
    pub newest_passed: bool,
    /// How many executions it took to find this one.
    pub execution: u64,
    /// What it failed with.
    pub message: String,
    /// The threads; the first is the model's own.
    pub threads: Vec<Thread>,
    /// What they share.
    pub objects: Vec<Object>,
    /// The operations, in the order in which they were begun.
    pub steps: Vec<Step>,
    /// What happened, in its order.
    pub order: Vec<Entry>,
}

impl Recording {
    /// Reads one.
    pub fn read(text: &str) -> Option<Self> {
        let recording: Self = serde_json::from_str(text).ok()?;
        (recording.format == FORMAT).then_some(recording)
    }
}

/// A place in a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file, as the compiler names it.
    #[serde(default)]
    pub file: String,
    /// The line, from 1.
    #[serde(default)]
    pub line: u32,
    /// The column, from 1.
    #[serde(default)]
    pub column: u32,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// The name that the program gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it was started.
    #[serde(flatten)]
    pub place: Place,
}

/// Something that threads share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Its type.
    pub kind: String,
    /// The first value, of an atomic.
    #[serde(default)]
    pub initial: String,
    /// Where it was made.
    #[serde(flatten)]
    pub place: Place,
}

/// An operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Which thread did it.
    pub thread: usize,
    /// What it did.
    pub operation: String,
    /// To what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<usize>,
    /// The thread that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<usize>,
    /// Its orderings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orderings: Vec<String>,
    /// The value that it found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// The value that it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrote: Option<String>,
    /// The newest value, if it found an older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<String>,
    /// Whether it changed nothing: a compare-exchange that found another value.
    #[serde(default)]
    pub failed: bool,
    /// The threads that it woke.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wakes: Vec<usize>,
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// An operation took effect.
    Done {
        /// Which one.
        done: usize,
    },
    /// A thread fell asleep in an operation.
    Sleeps {
        /// Which one.
        sleeps: usize,
    },
    /// Before the step that comes next, an order was found that doesn't fail; after it, none.
    Lost {
        /// How many were tried.
        lost: usize,
    },
    /// A thread panicked.
    Panics {
        /// Which one.
        panics: usize,
        /// With what.
        message: String,
        /// Where.
        #[serde(flatten)]
        place: Place,
    },
}
