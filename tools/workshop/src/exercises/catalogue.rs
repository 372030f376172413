//! Which exercises there are. The folders say it; nothing is listed twice.

use std::fs;
use std::path::{Path, PathBuf};

use super::milestones::Milestone;
use super::source;
use super::trace::DEMONSTRATION;
use crate::hash::Fnv;
use crate::problem::Problem;
use crate::terminal::harmless;
use crate::workshop::{Workshop, files_under};

/// One exercise: the folder `exercises/NN-topic` with the package `exercise-N`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exercise {
    /// Its number, from 1.
    pub number: u32,
    /// The folder's name without the number.
    pub topic: String,
    /// The folder.
    pub folder: PathBuf,
}

/// What explores models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    /// Tries every order of steps, within bounds.
    Loom,
    /// Tries a thousand, some of them at random.
    Shuttle,
}

impl Checker {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Loom, Self::Shuttle];

    /// What explores the models in a file: loom, unless its name says shuttle.
    fn of(file: &Path) -> Self {
        match file.file_stem().is_some_and(|name| name == "shuttle") {
            true => Self::Shuttle,
            false => Self::Loom,
        }
    }

    /// What explores the test of this path, if it's a model.
    pub fn of_test(path: &str) -> Option<Self> {
        let file = path.strip_prefix("models::")?;
        match file.starts_with("shuttle::") {
            true => Some(Self::Shuttle),
            false => Some(Self::Loom),
        }
    }

    /// The feature that puts a package over its primitives.
    pub fn feature(self) -> &'static str {
        match self {
            Self::Loom => "loom",
            Self::Shuttle => "shuttle",
        }
    }
}

/// Finds all exercises, in their order.
pub fn find_all(workshop: &Workshop) -> Vec<Exercise> {
    let entries = fs::read_dir(workshop.root().join("exercises"));
    let folders = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|one| one.path());
    let mut exercises: Vec<_> = folders.filter_map(Exercise::in_folder).collect();
    exercises.sort_by_key(|exercise| exercise.number);
    exercises
}

/// Finds the exercise with this number.
///
/// # Errors
///
/// When there is none.
pub fn find(workshop: &Workshop, number: u32) -> Result<Exercise, Problem> {
    let exercises = find_all(workshop);
    let last = exercises.last().map_or(0, |exercise| exercise.number);
    let found = exercises.into_iter().find(|one| one.number == number);
    found.ok_or_else(|| {
        Problem::new(format!("there is no exercise `{number}`")).help(format!(
            "they are numbered 1 to {last}; `cargo workshop list` names them"
        ))
    })
}

/// Finds the exercises with these numbers; all of them if there are none.
///
/// # Errors
///
/// When one of them doesn't exist.
pub fn find_some(workshop: &Workshop, numbers: &[u32]) -> Result<Vec<Exercise>, Problem> {
    match numbers {
        [] => Ok(find_all(workshop)),
        some => some.iter().map(|number| find(workshop, *number)).collect(),
    }
}

/// The files of one package with versions of an exercise: sources, and edits of
/// right versions.
pub fn versions(workshop: &Workshop, package: &str, exercise: &Exercise) -> Vec<PathBuf> {
    let folder = format!("{package}/src/exercise_{}", exercise.number);
    let entries = fs::read_dir(workshop.root().join(folder));
    let entries = entries.into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "rs" || extension == "diff")
    });
    files.sort();
    files
}

impl Exercise {
    fn in_folder(folder: PathBuf) -> Option<Self> {
        let (number, topic) = folder.file_name()?.to_str()?.split_once('-')?;
        let exercise = Self {
            number: number.parse().ok()?,
            topic: topic.to_owned(),
            folder: folder.clone(),
        };
        folder.join("Cargo.toml").is_file().then_some(exercise)
    }

    /// The package's name.
    pub fn package(&self) -> String {
        format!("exercise-{}", self.number)
    }

    /// The folder's name, which the solution's folder shares.
    pub fn folder_name(&self) -> String {
        format!("{:02}-{}", self.number, self.topic)
    }

    /// The file that the reader works in.
    pub fn stub(&self) -> PathBuf {
        self.folder.join("src/lib.rs")
    }

    /// The stub as it was before the reader touched it: what [`Self::stub`] is
    /// reset to. `cargo workshop verify` compares the two.
    pub fn pristine(&self) -> PathBuf {
        self.folder.join("stub.rs")
    }

    /// The files with the tests; none as long as none are written.
    pub fn tests(&self) -> Vec<PathBuf> {
        self.files_of("tests")
    }

    /// The files with the models; most exercises have one or none.
    pub fn models(&self) -> Vec<PathBuf> {
        self.files_of("models")
    }

    /// Those that this checker explores.
    pub fn models_for(&self, checker: Checker) -> Vec<PathBuf> {
        let mut files = self.models();
        files.retain(|file| Checker::of(file) == checker);
        files
    }

    fn files_of(&self, module: &str) -> Vec<PathBuf> {
        let source = self.folder.join("src");
        let single = source.join(format!("{module}.rs"));
        let mut files = files_under(&source.join(module));
        files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
        files.extend(single.is_file().then_some(single));
        files.sort();
        files
    }

    /// What the reader builds, from the first sentence of the stub as it was before
    /// the reader touched it.
    pub fn title(&self) -> String {
        let title = title_of(&self.as_it_was());
        let title = title.unwrap_or_else(|| self.topic.replace('-', " "));
        // Without a pristine stub the file is the reader's, and the title is shown
        // in terminals.
        harmless(&title)
    }

    /// Whether `cargo workshop trace` can show it at work.
    pub fn has_trace(&self) -> bool {
        self.folder.join(DEMONSTRATION).is_file()
    }

    /// Whether something is still to be written in the reader's file: a line that
    /// isn't a comment has a `todo!`.
    pub fn holds_a_todo(&self) -> bool {
        let source = fs::read_to_string(self.stub()).unwrap_or_default();
        let mut lines = source.lines().map(str::trim_start);
        lines.any(|line| !line.starts_with("//") && line.contains("todo!("))
    }

    /// Its milestones, by the contract as it was before the reader touched it.
    pub fn milestones(&self) -> Vec<Milestone> {
        source::milestones(&self.as_it_was())
    }

    /// The clauses of its contract, from before the reader touched it.
    pub fn clauses(&self) -> Vec<source::FullClause> {
        source::full_clauses(&self.as_it_was())
    }

    /// Its tests in the order of their files, each with the text of its file.
    pub fn checks(&self) -> impl Iterator<Item = (String, source::Test)> {
        tests_in(self.tests())
    }

    /// Its models, likewise.
    pub fn model_checks(&self) -> impl Iterator<Item = (String, source::Test)> {
        tests_in(self.models())
    }

    /// The stub's text before the reader touched it.
    fn as_it_was(&self) -> String {
        let source = fs::read_to_string(self.pristine());
        let source = source.or_else(|_none| fs::read_to_string(self.stub()));
        source.unwrap_or_default()
    }

    /// Tells versions of the reader's file apart; nothing if there is no file to
    /// be read.
    pub fn file_hash(&self) -> Option<String> {
        let bytes = fs::read(self.stub()).ok()?;
        Some(Fnv::of(&bytes))
    }

    /// Changes when a source of the exercise does: its result is then out of date.
    pub fn fingerprint(&self) -> String {
        let mut hash = Fnv::new();
        for file in self.sources() {
            let name = file.strip_prefix(&self.folder).unwrap_or(Path::new(""));
            hash.add(name.to_string_lossy().as_bytes());
            hash.add(&fs::read(&file).unwrap_or_default());
        }
        hash.shown()
    }

    /// What the exercise is built from.
    pub fn sources(&self) -> Vec<PathBuf> {
        let mut files = files_under(&self.folder.join("src"));
        files.push(self.folder.join("Cargo.toml"));
        files.sort();
        files
    }
}

/// The tests in these files, each with the text of its file.
fn tests_in(files: Vec<PathBuf>) -> impl Iterator<Item = (String, source::Test)> {
    let texts = files
        .into_iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    texts.flat_map(|text| {
        let tests = source::tests(&text);
        tests.into_iter().map(move |test| (text.clone(), test))
    })
}

/// Reads `//! Exercise 1: run one future to its end.`, which may go over
/// several lines.
fn title_of(source: &str) -> Option<String> {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph = lines.map(str::trim).take_while(|line| !line.is_empty());
    let paragraph = paragraph.collect::<Vec<_>>().join(" ");
    let (_, title) = paragraph.split_once(": ")?;
    let sentence = title.split(". ").next().unwrap_or(title);
    Some(sentence.trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Checker, Exercise, title_of};

    #[test]
    fn the_title_is_the_stubs_first_sentence() {
        let source =
            "//! Exercise 1: run one future to its end\n//! on this thread. More.\n//!\n//! x: y\n";
        let title = title_of(source);
        assert_eq!(
            title.as_deref(),
            Some("run one future to its end on this thread")
        );
        assert_eq!(title_of("//! A parker.\n"), None);
    }

    #[test]
    fn the_title_stays_when_the_reader_deletes_the_header() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("07-yield-now");
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("Cargo.toml"), "").unwrap();
        let exercise = Exercise::in_folder(folder).unwrap();
        fs::write(exercise.stub(), "//! Exercise 7: mine.\n").unwrap();
        assert_eq!(exercise.title(), "mine");
        fs::write(exercise.pristine(), "//! Exercise 7: yield.\n").unwrap();
        for version in ["//! A note: not a title.\n", "fn yield_now() {}\n"] {
            fs::write(exercise.stub(), version).unwrap();
            assert_eq!(exercise.title(), "yield", "{version}");
        }
    }

    #[test]
    fn a_file_of_models_is_for_one_checker() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("07-yield-now");
        fs::create_dir_all(folder.join("src/models")).unwrap();
        fs::write(folder.join("Cargo.toml"), "").unwrap();
        let exercise = Exercise::in_folder(folder).unwrap();
        let files = |checker| exercise.models_for(checker).len();
        assert_eq!([files(Checker::Loom), files(Checker::Shuttle)], [0, 0]);
        for name in ["models.rs", "models/loom.rs", "models/shuttle.rs"] {
            fs::write(exercise.folder.join("src").join(name), "").unwrap();
        }
        assert_eq!([files(Checker::Loom), files(Checker::Shuttle)], [2, 1]);
    }

    #[test]
    fn the_path_of_a_model_says_what_explores_it() {
        for (path, checker) in [
            ("models::a_token", Some(Checker::Loom)),
            ("models::loom::a_token", Some(Checker::Loom)),
            ("models::shuttle::a_token", Some(Checker::Shuttle)),
            ("tests::models_of_a_token", None),
        ] {
            assert_eq!(Checker::of_test(path), checker, "{path}");
        }
    }

    #[test]
    fn a_folder_without_a_number_or_a_package_is_no_exercise() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("07-yield-now");
        fs::create_dir_all(folder.join("src")).unwrap();
        assert_eq!(Exercise::in_folder(folder.clone()), None);
        fs::write(folder.join("Cargo.toml"), "").unwrap();
        let exercise = Exercise::in_folder(folder).unwrap();
        assert_eq!((exercise.number, exercise.topic.as_str()), (7, "yield-now"));
        assert_eq!(Exercise::in_folder(root.path().join("notes-7")), None);
    }

    #[test]
    fn the_fingerprint_follows_the_sources() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("07-yield-now");
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("Cargo.toml"), "").unwrap();
        let exercise = Exercise::in_folder(folder).unwrap();
        fs::write(exercise.stub(), "fn a() {}").unwrap();
        let before = exercise.fingerprint();
        assert_eq!(exercise.fingerprint(), before);
        fs::write(exercise.folder.join("src/tests.rs"), "").unwrap();
        let with_tests = exercise.fingerprint();
        assert_ne!(with_tests, before);
        fs::write(exercise.stub(), "fn b() {}").unwrap();
        assert_ne!(exercise.fingerprint(), with_tests);
    }
}
