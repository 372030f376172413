//! What held the last time, and need not run again as long as nothing has changed.
//!
//! A run is known by the content of its test binary. Everything that a test is made of
//! is in there, no matter how it got in: the version, its tests or models, the kit, the
//! primitives, all other crates, the features, the profile, the toolchain. What else the
//! run depends on is noted beside it. There is therefore no list of inputs here that
//! could miss one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::exercises::harness::{Run, Verdicts};
use crate::workshop::Workshop;

/// How the names of environment variables begin that a test may depend on.
const VARIABLES: [&str; 5] = ["CARGO", "LOOM", "RUST", "SHUTTLE", "TESTKIT"];

/// Of these, what changes from one run to the next and decides nothing.
const DECIDES_NOTHING: [&str; 2] = ["CARGO_TERM_", "TESTKIT_CHECKS"];

/// The runs that are known.
#[derive(Debug)]
pub struct Held {
    /// Where they are kept; nowhere in CI.
    folder: Option<PathBuf>,
    /// Whether they are asked for.
    asked: bool,
    /// What every run depends on, beside its binary.
    surroundings: String,
    /// What the binaries hold that have been read.
    contents: RefCell<BTreeMap<PathBuf, Content>>,
}

/// The length of a file, and two hashes of its content.
type Content = (u64, u64, u64);

/// A run, and what is known or was found out about it.
#[derive(Debug)]
pub struct Entry {
    file: PathBuf,
    /// The exercise, if the binary is of one only.
    number: Option<u32>,
    /// Whether it held an earlier time.
    is_known: bool,
    record: Record,
}

/// A run, and what became of it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    run: Key,
    verdicts: Verdicts,
}

/// What decides how a run ends.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    binary: Content,
    filters: Vec<String>,
    threads: Option<usize>,
    /// The version, if several stand together in the binary.
    version: Option<u32>,
    surroundings: String,
}

impl Held {
    /// Opens what is kept in the target folder. With `fresh` everything runs again, and
    /// is kept for the next time. In CI nothing is kept.
    pub fn open(workshop: &Workshop, fresh: bool) -> Self {
        let is_ci = env::var_os("CI").is_some();
        Self {
            folder: (!is_ci).then(|| workshop.target().join("held")),
            asked: !fresh,
            surroundings: surroundings(),
            contents: RefCell::default(),
        }
    }

    /// Looks whether this very run has held; nothing if nothing is kept.
    pub fn look_up(&self, run: &Run<'_>) -> Option<Entry> {
        let folder = self.folder.as_ref()?;
        let key = Key {
            // What can't be read can't be known.
            binary: self.content_of(&run.binary.executable).ok()?,
            filters: run.filters.clone(),
            threads: run.threads,
            version: run.version.as_ref().map(|version| version.number),
            surroundings: self.surroundings.clone(),
        };
        let name = run.binary.executable.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        // One file for each binary and choice of tests: an older run goes.
        let mut hasher = DefaultHasher::new();
        for filter in &run.filters {
            feed(&mut hasher, filter.as_bytes());
        }
        if let Some(version) = &run.version {
            feed(&mut hasher, version.path.as_bytes());
        }
        let file = folder.join(format!("{name}-{:016x}.json", hasher.finish()));
        let known = self.asked.then(|| read(&file)).flatten();
        let known = known.filter(|known| known.run == key);
        Some(Entry {
            number: number_in(&name.replace('-', "_")),
            file,
            is_known: known.is_some(),
            record: known.unwrap_or(Record {
                run: key,
                verdicts: Verdicts::new(),
            }),
        })
    }

    /// The content of a binary, which is read once.
    fn content_of(&self, file: &Path) -> io::Result<Content> {
        if let Some(known) = self.contents.borrow().get(file) {
            return Ok(*known);
        }
        let content = content_of(file)?;
        self.contents.borrow_mut().insert(file.into(), content);
        Ok(content)
    }

    /// Keeps those of the runs that were judged without a finding. What is known of an
    /// exercise with one is forgotten: it is to run again even if only luck was bad.
    pub fn keep(entries: Vec<Entry>, findings: &[Finding]) {
        let at_fault: BTreeSet<_> = findings
            .iter()
            .map(|finding| number_in(&finding.place.replace(['-', '/'], "_")))
            .collect();
        let is_at_fault = |number: Option<u32>| match number {
            // A finding that belongs to no exercise may belong to any.
            Some(_) => at_fault.contains(&number) || at_fault.contains(&None),
            None => !at_fault.is_empty(),
        };
        for entry in entries {
            // Whether that works or not, the next run is right.
            let _kept = match is_at_fault(entry.number) {
                true => fs::remove_file(&entry.file),
                false if entry.is_known => Ok(()),
                false => write(&entry),
            };
        }
    }
}

impl Entry {
    /// How the tests stood if the run has held.
    pub fn known(&self) -> Option<&Verdicts> {
        self.is_known.then_some(&self.record.verdicts)
    }

    /// The same, run again with these verdicts.
    pub fn with(mut self, verdicts: Verdicts) -> Self {
        self.is_known = false;
        self.record.verdicts = verdicts;
        self
    }
}

fn read(file: &Path) -> Option<Record> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Writes the record so that no process ever reads half of it.
fn write(run: &Entry) -> io::Result<()> {
    let folder = run.file.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    let new = run
        .file
        .with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, serde_json::to_vec(&run.record)?)?;
    fs::rename(new, &run.file)
}

fn content_of(file: &Path) -> io::Result<Content> {
    let mut file = File::open(file)?;
    let (mut first, mut second) = (DefaultHasher::new(), DefaultHasher::new());
    // Otherwise both would say the same.
    second.write_u8(1);
    let mut length = 0;
    let mut piece = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Ok((length, first.finish(), second.finish()));
        }
        first.write(&piece[..count]);
        second.write(&piece[..count]);
        length += count as u64;
    }
}

/// What every run depends on, beside its binary: this program, which runs it and reads
/// what it says, the machine, and the environment.
fn surroundings() -> String {
    let program = env::current_exe().and_then(|program| content_of(&program));
    let system = fs::read_to_string("/proc/version").unwrap_or_default();
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let mut variables: Vec<_> = env::vars_os()
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            let starts = |prefixes: &[&str]| prefixes.iter().any(|one| name.starts_with(one));
            starts(&VARIABLES) && !starts(&DECIDES_NOTHING)
        })
        .collect();
    variables.sort();
    // Where the program can't be read, no run is ever the same.
    let program = program.map_err(|_| std::process::id());
    format!("{program:?} {system} {cores} {variables:?}")
}

/// The exercise's number in a name such as `exercise_7_0123abcd`, `solution_7` or
/// `solutions_07_yield_now_src_lib.rs`.
fn number_in(name: &str) -> Option<u32> {
    const WORDS: [&str; 4] = ["exercises_", "exercise_", "solutions_", "solution_"];
    let starts = WORDS
        .iter()
        .filter_map(|word| Some(name.find(word)? + word.len()));
    let digits = starts.filter_map(|at| {
        let digits = name[at..].split(|it: char| !it.is_ascii_digit()).next()?;
        digits.parse().ok()
    });
    digits.into_iter().next()
}

fn feed(hasher: &mut DefaultHasher, bytes: &[u8]) {
    hasher.write_usize(bytes.len());
    hasher.write(bytes);
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;
    use std::time::Duration;

    use super::{Entry, Finding, Held, Run, Verdicts, number_in};
    use crate::events::Outcome;
    use crate::exercises::cargo::Binary;
    use crate::exercises::harness::Verdict;
    use crate::exercises::shown_first::Cause;

    fn verdicts() -> Verdicts {
        let verdict = Verdict {
            clause: Some("1. Right".into()),
            outcome: Outcome::Passed,
            message: "a\nb".into(),
            cause: Cause::default(),
        };
        Verdicts::from([("tests::it_is_right".into(), verdict)])
    }

    struct Desk {
        folder: tempfile::TempDir,
        binary: Binary,
    }

    impl Desk {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let binary = Binary {
                package: "counterexamples".into(),
                executable: folder.path().join("exercise_3-0123456789abcdef"),
                folder: folder.path().into(),
            };
            fs::write(&binary.executable, "the program").unwrap();
            Self { folder, binary }
        }

        fn held(&self, asked: bool, surroundings: &str) -> Held {
            Held {
                folder: Some(self.folder.path().join("held")),
                asked,
                surroundings: surroundings.into(),
                contents: RefCell::default(),
            }
        }

        fn run(&self, filter: &str) -> Run<'_> {
            Run {
                binary: &self.binary,
                filters: vec![filter.into()],
                threads: None,
                limit: Duration::ZERO,
                patience: None,
                skip: None,
                version: None,
            }
        }

        fn look_up(&self, held: &Held, filter: &str) -> Entry {
            held.look_up(&self.run(filter)).expect("it is kept")
        }

        /// Runs the tests, and keeps how they stood as these findings allow.
        fn run_once(&self, findings: &[Finding]) {
            let entry = self.look_up(&self.held(true, "here"), "tests::");
            Held::keep(vec![entry.with(verdicts())], findings);
        }

        fn knows(&self, asked: bool, surroundings: &str, filter: &str) -> bool {
            let entry = self.look_up(&self.held(asked, surroundings), filter);
            let known = entry.known();
            assert!(known.is_none_or(|known| *known == verdicts()));
            known.is_some()
        }
    }

    #[test]
    fn what_held_is_known_until_something_changes() {
        let desk = Desk::new();
        desk.run_once(&[]);
        assert!(desk.knows(true, "here", "tests::"));
        assert!(!desk.knows(true, "here", "models::"));
        assert!(!desk.knows(true, "elsewhere", "tests::"));
        assert!(!desk.knows(false, "here", "tests::"));
        // Of the same length, and then as it was.
        fs::write(&desk.binary.executable, "The program").unwrap();
        assert!(!desk.knows(true, "here", "tests::"));
        fs::write(&desk.binary.executable, "the program").unwrap();
        assert!(desk.knows(true, "here", "tests::"));
        fs::remove_file(&desk.binary.executable).unwrap();
        let held = desk.held(true, "here");
        assert!(held.look_up(&desk.run("tests::")).is_none());
    }

    #[test]
    fn what_did_not_hold_runs_again() {
        let finding = |place: &str| Finding::new(place, "it is wrong", "fix it");
        let of_another = finding("counterexamples/src/exercise_4/c01_x.diff:2");
        let own = finding("exercises/03-raw-waker/src/lib.rs");
        for (findings, is_known) in [
            (vec![], true),
            (vec![of_another.clone()], true),
            (vec![of_another, own.clone()], false),
            (vec![finding("Cargo.toml")], false),
        ] {
            let desk = Desk::new();
            desk.run_once(&findings);
            assert_eq!(
                desk.knows(true, "here", "tests::"),
                is_known,
                "{findings:?}"
            );
        }
        // Also if it has held before, and only another judgment is passed on it.
        let desk = Desk::new();
        desk.run_once(&[]);
        let entry = desk.look_up(&desk.held(true, "here"), "tests::");
        Held::keep(vec![entry], &[own]);
        assert!(!desk.knows(true, "here", "tests::"));
    }

    #[test]
    fn a_broken_record_is_none() {
        let desk = Desk::new();
        desk.run_once(&[]);
        for entry in fs::read_dir(desk.folder.path().join("held")).unwrap() {
            fs::write(entry.unwrap().path(), "{").unwrap();
        }
        assert!(!desk.knows(true, "here", "tests::"));
    }

    #[test]
    fn binaries_and_places_belong_to_an_exercise_or_to_all() {
        assert_eq!(number_in("exercise_12_0123abcd"), Some(12));
        assert_eq!(number_in("solution_7_0123abcd"), Some(7));
        assert_eq!(number_in("solutions_07_yield_now_src_lib.rs"), Some(7));
        assert_eq!(
            number_in("counterexamples_src_exercise_3_c01_x.diff:2"),
            Some(3)
        );
        assert_eq!(number_in("alternatives_0123abcd"), None);
        assert_eq!(number_in("Cargo.toml"), None);
    }
}
