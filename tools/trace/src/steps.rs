//! Orders: which thread did what to which cell, one step after another. They are
//! recorded, as one order, or written by hand, as a program for each thread.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An order of steps, or the programs from which a reader makes one.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "workshop.steps/1"))]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// Which kind of document it is.
    pub schema: StepsSchema,
    /// What it shows.
    pub title: String,
    /// Its point, in one sentence.
    pub description: String,
    /// The threads, one a column.
    pub threads: Vec<Thread>,
    /// What they share, and what each keeps for itself.
    pub cells: Vec<Cell>,
    /// One order, as it happened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// How that order ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// The lines of each thread's program, in its order. There are `steps`, or `lines`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// The order of a program that is shown at first, as threads; otherwise the shortest that
    /// fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub show: Vec<usize>,
    /// What trying every order of a program has to find.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The test that says the same of real code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
}

/// The first version of an order.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StepsSchema {
    /// Its name.
    #[serde(rename = "workshop.steps/1")]
    Steps1,
}

/// A thread, or another actor that takes one step at a time.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// Its name.
    pub name: String,
}

/// A value that steps read and change.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Its name, unique among the cells.
    pub name: String,
    /// Its value before the first step.
    pub initial: Value,
    /// The flags of a word that has several fields. Its value names those that are set:
    /// `RUNNING|NOTIFIED|3*REFERENCE`, or `0`. In a program, `state.RUNNING` is one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bits: Vec<String>,
    /// The counts of such a word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<String>,
    /// Whether its value is a list, `10 ms, 1 min, 30 s`, that is drawn as a heap: a binary tree
    /// with the first entry at the top.
    #[serde(default, skip_serializing_if = "is_false")]
    pub heap: bool,
}

impl Cell {
    /// The cell itself, or a field of it.
    fn has(&self, name: &str) -> bool {
        let mut fields = self.bits.iter().chain(&self.counts);
        let field = name
            .strip_prefix(&self.name)
            .and_then(|rest| rest.strip_prefix('.'));
        name == self.name || field.is_some_and(|field| fields.any(|other| other == field))
    }
}

/// The value of a cell. A text may be empty, which is shown as a dash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// Anything else.
    Text(String),
}

/// One step of a recorded order.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Which thread takes it.
    pub thread: usize,
    /// What it does: `state.swap: EMPTY → PARKED`.
    pub text: String,
    /// The memory ordering of an atomic operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordering: Option<String>,
    /// The line that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// What it changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Whether the thread sleeps, or waits, from here on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blocks: bool,
    /// The threads that it wakes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wakes: Vec<usize>,
    /// The newest value, where a load read an older one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<Value>,
    /// What is worth knowing besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A line of a file.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The line itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A cell gets a value.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Which cell.
    pub cell: usize,
    /// Its value from here on.
    pub value: Value,
}

/// How an order ended.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct End {
    /// In which way.
    pub kind: EndKind,
    /// In one sentence.
    pub text: String,
    /// The threads that it's about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<usize>,
}

/// The ways in which an order ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EndKind {
    /// All is well.
    Done,
    /// A thread sleeps, and none is left to wake it.
    Deadlock,
    /// An assertion failed.
    Failure,
    /// Two accesses to the same memory clash.
    Race,
}

/// A line of a program: one atomic step.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Whose program it belongs to.
    pub thread: usize,
    /// The line as it's shown.
    pub code: String,
    /// Its name, for jumps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it may do: the first case whose cells have these values happens. If there is none,
    /// the thread waits.
    pub cases: Vec<Case>,
    /// Why a thread waits at this line: "sleeps in `wait`".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// The values of cells with which the thread may wait here at the end, without a hang.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rests: Option<BTreeMap<String, Value>>,
}

/// What a line does if cells have certain values.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The values of cells with which it happens; by default with any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub when: BTreeMap<String, Value>,
    /// The values that cells get.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Update>,
    /// The line that follows, or `end`; by default the next one, and `end` after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What happens: "finds EMPTY".
    pub says: String,
    /// The sentence that is shown if this is a failure, which ends the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
}

/// The new value of a cell.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Update {
    /// This one.
    Value(Value),
    /// The old number and this one.
    Add {
        /// What is added.
        add: i64,
    },
    /// What another cell held before the step.
    Of {
        /// Which cell.
        of: String,
    },
}

/// What trying every order has to find.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// How many orders there are.
    pub orders: u64,
    /// How many of them fail.
    pub failing: u64,
}

/// A test of the repository that tries every order of real code.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its file.
    pub file: String,
    /// Its function.
    pub test: String,
    /// The counterexample that it fails, where orders of the program fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
}

impl Steps {
    /// What no schema says, in one sentence without a period.
    pub(crate) fn fault(&self) -> Option<String> {
        let is_thread = |thread: &usize| *thread < self.threads.len();
        let names: Vec<_> = self.cells.iter().map(|cell| cell.name.as_str()).collect();
        if self.steps.is_empty() == self.lines.is_empty() {
            return Some("it has neither steps nor lines, or both".into());
        }
        if self.steps.is_empty() == self.end.is_some() {
            return Some("steps need an end, and lines find their own".into());
        }
        let is_wrong = self.model.as_ref().map(|model| model.wrong.is_some());
        let fails = self.claim.as_ref().map(|claim| claim.failing > 0);
        if is_wrong.is_some() && is_wrong != fails {
            return Some("its model doesn't say the same as its claim".into());
        }
        if (1..names.len()).any(|index| names[..index].contains(&names[index])) {
            return Some("two cells have the same name".into());
        }
        for (index, step) in self.steps.iter().enumerate() {
            let named = [&step.thread].into_iter().chain(&step.wakes);
            if !named.into_iter().all(is_thread) {
                return Some(format!("step {} is of an unknown thread", index + 1));
            }
            if step.changes.iter().any(|change| change.cell >= names.len()) {
                return Some(format!("step {} changes an unknown cell", index + 1));
            }
        }
        let named = self.end.iter().flat_map(|end| &end.threads);
        if !named.chain(&self.show).all(is_thread) {
            return Some("the end, or what is shown, is of an unknown thread".into());
        }
        self.lines.iter().find_map(|line| self.fault_of(line))
    }

    fn fault_of(&self, line: &Line) -> Option<String> {
        let fault = |what: &str| Some(format!("`{}` {what}", line.code));
        if line.thread >= self.threads.len() {
            return fault("is of an unknown thread");
        }
        let is_label = |to: &String| {
            let mut own = self
                .lines
                .iter()
                .filter(|other| other.thread == line.thread);
            to == "end" || own.any(|other| other.label.as_ref() == Some(to))
        };
        if !line
            .cases
            .iter()
            .filter_map(|case| case.to.as_ref())
            .all(is_label)
        {
            return fault("leads to an unknown line");
        }
        let sources = line.cases.iter().flat_map(|case| case.set.values());
        let sources = sources.filter_map(|update| match update {
            Update::Of { of } => Some(of),
            _ => None,
        });
        let cells = line
            .cases
            .iter()
            .flat_map(|case| case.when.keys().chain(case.set.keys()));
        let rests = line.rests.iter().flat_map(BTreeMap::keys);
        if !cells
            .chain(sources)
            .chain(rests)
            .all(|name| self.cells.iter().any(|cell| cell.has(name)))
        {
            return fault("names an unknown cell");
        }
        let may_wait = line.cases.iter().all(|case| !case.when.is_empty());
        (may_wait && line.waits.is_none())
            .then(|| format!("`{}` may wait, but says not why", line.code))
    }
}
