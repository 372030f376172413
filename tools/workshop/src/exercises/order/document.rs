//! The document of steps, which the page and the terminal show alike.

use serde::{Deserialize, Serialize};

/// What `schema` says.
pub const SCHEMA: &str = "workshop.steps/1";

/// One order, as it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The format and its version.
    pub schema: String,
    /// The model's name.
    pub title: String,
    /// The point of it, in one sentence.
    pub description: String,
    /// The columns.
    pub threads: Vec<Thread>,
    /// What the threads share and change: atomics.
    pub cells: Vec<Cell>,
    /// The rows.
    pub steps: Vec<Step>,
    /// How it ended.
    pub end: End,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its name.
    pub name: String,
}

/// Something that threads share, with a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Its name, as the source has it.
    pub name: String,
    /// The first value.
    pub initial: String,
    /// The flags of a word that has several fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bits: Vec<String>,
    /// The counts of such a word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<String>,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Whose step it is.
    pub thread: usize,
    /// What it does.
    pub text: String,
    /// With which ordering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordering: Option<String>,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// What it changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Whether the thread sleeps here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocks: bool,
    /// The threads that it wakes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wakes: Vec<usize>,
    /// The newest value, if it reads an older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file, from the workshop's folder on.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The line's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// What becomes of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which one.
    pub cell: usize,
    /// Its new value.
    pub value: String,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// What sort of end it is.
    pub kind: EndKind,
    /// The same in words.
    pub text: String,
    /// The threads that it is about.
    pub threads: Vec<usize>,
}

/// What sort of end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndKind {
    /// Every thread waits.
    Deadlock,
    /// An assertion fails, or a loop goes on forever.
    Failure,
    /// Nothing orders two accesses.
    Race,
}
