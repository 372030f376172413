//! How the tests of an exercise stand, and why one failed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::events::{Event, Outcome};

/// A test, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The clause, `3. No lost wake-up`; only tests of the kit have one.
    pub clause: Option<String>,
    /// How it stands.
    pub outcome: Outcome,
    /// Why it failed, or what it printed.
    pub message: String,
    /// Why it failed, in parts.
    pub cause: Cause,
}

impl Verdict {
    /// The clause's number.
    pub fn number(&self) -> Option<u32> {
        let (number, _name) = self.clause.as_deref()?.split_once(". ")?;
        number.parse().ok()
    }

    /// The same for the page.
    pub fn into_event(self, name: String) -> Event {
        Event::Test {
            name,
            clause: self.number(),
            outcome: self.outcome,
            message: Some(self.message).filter(|message| !message.is_empty()),
        }
    }
}

/// The tests by their paths.
pub type Verdicts = BTreeMap<String, Verdict>;

/// What was seen, as the test kit sorts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A `todo!` was reached.
    Unwritten,
    /// The machine gave the check no chance.
    Busy,
    /// The code under test panicked.
    Panic,
    /// A thread waits for a lock of the code under test that is never released.
    Deadlock,
    /// A hang whose words say what hangs.
    HangExplained,
    /// Every thread sleeps.
    Hang,
    /// A loop makes no progress.
    Spins,
    /// The process ended by a signal.
    Died,
    /// A model can't judge what is never twice the same.
    Unrepeated,
    /// A model sees nothing of the code, or not what it waits in.
    Unseen,
    /// An assertion of the check failed, or a test that isn't the kit's.
    #[default]
    Assertion,
}

/// Why a check failed, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The sort of it.
    pub kind: Kind,
    /// What was seen.
    pub seen: String,
    /// What usually causes it; empty where nothing fits what was seen.
    pub usually: String,
    /// The execution of the model that failed, where the checker counts them.
    #[serde(default)]
    pub execution: Option<u64>,
}
