//! What is remembered between two commands: the last result of each exercise,
//! and how many hints were given.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::milestones::Stands;
use crate::workshop::Workshop;

/// The memory, a file under the target folder: losing it costs a check.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    exercises: BTreeMap<u32, Memory>,
}

/// What is remembered of an exercise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// How its last check ended.
    pub last: Option<LastCheck>,
    /// How many levels of its hints were given.
    #[serde(default)]
    pub hints: usize,
    /// Whether a check was red since the last hint: the next one is earned then.
    #[serde(default)]
    pub hint_earned: bool,
}

impl Memory {
    /// Remembers a check.
    pub fn hear(&mut self, check: LastCheck) {
        self.hint_earned |= !check.passed || check.models == Some(false);
        self.last = Some(check);
    }
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCheck {
    /// The sources that were checked.
    pub fingerprint: String,
    /// Whether they compiled.
    pub compiles: bool,
    /// Whether every test passed.
    pub passed: bool,
    /// The clauses, and whether each held.
    pub clauses: BTreeMap<u32, bool>,
    /// Those of which a test reached a `todo!`, and none failed.
    #[serde(default)]
    pub unwritten: BTreeSet<u32>,
    /// Whether the models passed, if they were explored.
    pub models: Option<bool>,
}

impl LastCheck {
    /// How a check ended whose clauses stand so.
    pub fn new(fingerprint: String, passed: bool, clauses: &BTreeMap<u32, Stands>) -> Self {
        let is = |wanted| move |(_, stands): &(&u32, &Stands)| **stands == wanted;
        let unwritten = clauses.iter().filter(is(Stands::Unwritten));
        Self {
            fingerprint,
            compiles: true,
            passed,
            clauses: clauses
                .iter()
                .map(|(clause, stands)| (*clause, *stands == Stands::Held))
                .collect(),
            unwritten: unwritten.map(|(clause, _)| *clause).collect(),
            models: None,
        }
    }

    /// Whether this clause held.
    pub fn holds(&self, clause: u32) -> bool {
        self.clauses.get(&clause) == Some(&true)
    }

    /// How many clauses held.
    pub fn held(&self) -> usize {
        self.clauses.values().filter(|held| **held).count()
    }
}

impl Progress {
    /// Reads the memory. Where there is none, or it can't be read, nothing
    /// is remembered.
    pub fn load(workshop: &Workshop) -> Self {
        Self::read(&file(workshop))
    }

    fn read(file: &Path) -> Self {
        let text = fs::read(file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// What is remembered of this exercise.
    pub fn of(&self, number: u32) -> Memory {
        self.exercises.get(&number).cloned().unwrap_or_default()
    }

    /// Changes what is remembered of an exercise, and writes it down.
    ///
    /// # Errors
    ///
    /// When the file can't be written.
    pub fn change(
        workshop: &Workshop,
        number: u32,
        change: impl FnOnce(&mut Memory),
    ) -> io::Result<()> {
        fs::create_dir_all(workshop.target())?;
        Self::change_in(&file(workshop), number, change)
    }

    fn change_in(file: &Path, number: u32, change: impl FnOnce(&mut Memory)) -> io::Result<()> {
        // Another command, or another page, may want to write at this moment.
        let lock = File::create(file.with_extension("lock"))?;
        lock.lock()?;
        let mut progress = Self::read(file);
        change(progress.exercises.entry(number).or_default());
        let written = file.with_extension("tmp");
        let text = serde_json::to_vec_pretty(&progress)?;
        let kept = fs::write(&written, text).and_then(|()| fs::rename(&written, file));
        kept.inspect_err(|_| {
            // Half of a memory is as good as none.
            let _left = fs::remove_file(&written);
        })
    }
}

/// The file that the memory is in.
pub fn file(workshop: &Workshop) -> PathBuf {
    workshop.target().join("progress.json")
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::Progress;

    #[test]
    fn nothing_is_lost_when_many_remember_at_once() {
        let root = tempfile::tempdir().unwrap();
        // Not a workshop's own file: where that is, the environment may say.
        let file = root.path().join("progress.json");
        thread::scope(|scope| {
            for number in 0..4 {
                let file = &file;
                scope.spawn(move || {
                    for _ in 0..50 {
                        Progress::change_in(file, number, |memory| memory.hints += 1).unwrap();
                    }
                });
            }
        });
        let progress = Progress::read(&file);
        let hints = (0..4).map(|number| progress.of(number).hints);
        assert_eq!(hints.collect::<Vec<_>>(), [50; 4]);
    }
}
