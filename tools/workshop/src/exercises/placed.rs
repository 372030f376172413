//! What a wrong version has put into an exercise beside its root: its other files, and
//! what it needs in the manifest. A record of it lies in the exercise's folder, so that
//! a reset can tell it from what the reader has written.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::catalogue::Exercise;
use super::kept;
use crate::hash::Fnv;
use crate::problem::Problem;

/// The file at the root of a version.
pub const ROOT: &str = "lib.rs";

/// The record's name. Git ignores it.
const RECORD: &str = ".placed.json";

/// How the lines end that were added to the manifest.
const MARK: &str = " # for a wrong version, until `cargo workshop reset`";

/// A version that is to stand in the exercise.
#[derive(Debug)]
pub struct Version {
    /// Its files, by their paths below `src`. The root is among them.
    pub files: BTreeMap<PathBuf, String>,
    /// The lines that it needs among the manifest's dependencies.
    pub dependencies: Vec<String>,
}

impl Version {
    /// The text of its root.
    pub fn root(&self) -> &str {
        self.files.get(Path::new(ROOT)).map_or("", String::as_str)
    }

    /// Its other files.
    fn others(&self) -> impl Iterator<Item = (&PathBuf, &String)> {
        self.files
            .iter()
            .filter(|(path, _)| *path != Path::new(ROOT))
    }
}

/// The files that were put there, with the hashes of their texts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Placed(BTreeMap<PathBuf, String>);

impl Placed {
    /// Reads the record; nothing was put there if there is none.
    pub fn read(exercise: &Exercise) -> Self {
        let record = fs::read(exercise.folder.join(RECORD)).unwrap_or_default();
        serde_json::from_slice(&record).unwrap_or_default()
    }

    /// Whether nothing was put there.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the file is as it was put there.
    pub fn has(&self, path: &Path, text: &[u8]) -> bool {
        self.0.get(path).is_some_and(|hash| *hash == Fnv::of(text))
    }

    /// Records that this version is to come, beside what is there: a process that is
    /// killed on the way must leave nothing that a reset doesn't know.
    ///
    /// # Errors
    ///
    /// When the record can't be written.
    pub fn announce(&self, exercise: &Exercise, version: &Version) -> Result<Self, Problem> {
        let hash = |(path, text): (&PathBuf, &String)| (path.clone(), Fnv::of(text.as_bytes()));
        let new = Self(version.files.iter().map(hash).collect());
        let mut both = self.0.clone();
        both.extend(new.0.clone());
        Self(both).write(exercise)?;
        Ok(new)
    }

    /// Moves aside what the reader has where the version's other files are to be, and
    /// what of an earlier version the reader has changed. The rest of that version goes.
    /// Returns where the reader's files are.
    ///
    /// # Errors
    ///
    /// When a file can't be read or moved.
    pub fn make_room(&self, exercise: &Exercise, new: &Version) -> Result<Vec<PathBuf>, Problem> {
        let source = exercise.folder.join("src");
        let mut moved = Vec::new();
        let earlier = self.0.keys().filter(|path| *path != Path::new(ROOT));
        let mut paths: Vec<_> = earlier.cloned().collect();
        for (path, _) in new.others() {
            paths.extend([path.clone(), other_form(path)]);
        }
        paths.sort();
        paths.dedup();
        for path in paths {
            let file = source.join(&path);
            let text = match fs::read(&file) {
                Ok(text) => text,
                Err(error) if is_absent(&error) => continue,
                Err(error) => return Err(untouched(&file, &error)),
            };
            let wanted = new.files.get(&path);
            if wanted.is_some_and(|wanted| wanted.as_bytes() == text) {
                continue;
            }
            let done = match self.has(&path, &text) {
                true => fs::remove_file(&file),
                false => {
                    let kept = kept::keep_as(&exercise.folder, &flat(&path), &text)?;
                    moved.push(kept.clone());
                    // The file itself, also for programs that still write to it.
                    fs::rename(&file, kept)
                }
            };
            done.map_err(|error| untouched(&file, &error))?;
            remove_empty(file.parent(), &source);
        }
        Ok(moved)
    }

    /// Puts the version's other files there, and what it needs into the manifest.
    ///
    /// # Errors
    ///
    /// When something can't be written.
    pub fn place_others(&self, exercise: &Exercise, version: &Version) -> Result<(), Problem> {
        for (path, text) in version.others() {
            let file = exercise.folder.join("src").join(path);
            let folder = file.parent().unwrap_or(&exercise.folder);
            let written = fs::create_dir_all(folder).and_then(|()| fs::write(&file, text));
            written.map_err(|error| unwritten(&file, &error))?;
        }
        change_manifest(exercise, &version.dependencies)?;
        self.write(exercise)
    }

    /// Takes back what was put into the manifest, and forgets the rest.
    ///
    /// # Errors
    ///
    /// When something can't be written.
    pub fn remove(&self, exercise: &Exercise) -> Result<(), Problem> {
        if self.is_empty() {
            return Ok(());
        }
        change_manifest(exercise, &[])?;
        let record = exercise.folder.join(RECORD);
        fs::remove_file(&record).map_err(|error| unwritten(&record, &error))
    }

    fn write(&self, exercise: &Exercise) -> Result<(), Problem> {
        let record = exercise.folder.join(RECORD);
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        replace_file(&record, &text).map_err(|error| unwritten(&record, &error))
    }
}

/// Adds these dependencies to the manifest, in the place of those that were added
/// before.
fn change_manifest(exercise: &Exercise, lines: &[String]) -> Result<(), Problem> {
    const HEADING: &str = "[dependencies]";
    let file = exercise.folder.join("Cargo.toml");
    let old = fs::read_to_string(&file).map_err(|error| untouched(&file, &error))?;
    let mut kept: Vec<_> = old.lines().filter(|line| !line.ends_with(MARK)).collect();
    let added: Vec<_> = lines.iter().map(|line| format!("{line}{MARK}")).collect();
    let heading = format!("{HEADING}{MARK}");
    let at = kept.iter().position(|line| line.trim() == HEADING);
    let added = added.iter().map(String::as_str);
    match at {
        Some(at) => drop(kept.splice(at + 1..at + 1, added)),
        None if lines.is_empty() => {}
        None => {
            kept.push(&heading);
            kept.extend(added);
        }
    }
    let new = kept.join("\n") + "\n";
    match new == old {
        true => Ok(()),
        false => replace_file(&file, new.as_bytes()).map_err(|error| unwritten(&file, &error)),
    }
}

/// No program reads half of it, and a full disk leaves the old one whole.
fn replace_file(file: &Path, text: &[u8]) -> io::Result<()> {
    let new = file.with_extension("new");
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        let _left = fs::remove_file(new);
    }
    written
}

/// Where the compiler would look for the same module too: `ring/mod.rs` beside
/// `ring.rs`. With both it stops.
fn other_form(path: &Path) -> PathBuf {
    match path.file_name().is_some_and(|name| name == "mod.rs") {
        true => path.with_file_name("").with_extension("rs"),
        false => path.with_extension("").join("mod.rs"),
    }
}

/// The name for a file of a folder, `worker-search` for `worker/search.rs`.
fn flat(path: &Path) -> String {
    let path = path.with_extension("");
    let parts = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("-")
}

/// Removes the folders up to `top` that nothing is left in.
fn remove_empty(folder: Option<&Path>, top: &Path) {
    let folders = folder.into_iter().flat_map(Path::ancestors);
    for folder in folders.take_while(|folder| *folder != top) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn untouched(file: &Path, error: &io::Error) -> Problem {
    Problem::new(format!("`{}` cannot be moved: {error}", file.display()))
        .help("change its owner, or its folder's, and run the command again")
}

fn unwritten(file: &Path, error: &io::Error) -> Problem {
    Problem::new(format!("`{}` cannot be written: {error}", file.display()))
        .help("make room, or change the folder's owner, and run the command again")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Exercise, ROOT, Version, flat, other_form};
    use crate::exercises::reset::{Reset, replace_by, reset};

    const MANIFEST: &str = "[package]\nname = \"x\"\n\n[dependencies]\na = \"1\"\n";

    fn exercise() -> (tempfile::TempDir, Exercise) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("exercises/07-yield-now");
        fs::create_dir_all(folder.join("src")).unwrap();
        let exercise = Exercise {
            number: 7,
            topic: "yield-now".into(),
            folder,
        };
        fs::write(exercise.pristine(), "stub").unwrap();
        fs::write(exercise.stub(), "stub").unwrap();
        fs::write(exercise.folder.join("Cargo.toml"), MANIFEST).unwrap();
        (root, exercise)
    }

    fn version(files: &[(&str, &str)], dependencies: &[&str]) -> Version {
        let files = files.iter();
        Version {
            files: files
                .map(|(path, text)| (path.into(), (*text).into()))
                .collect(),
            dependencies: dependencies.iter().map(|&line| line.into()).collect(),
        }
    }

    /// All that is in the folder.
    fn texts(exercise: &Exercise) -> BTreeMap<PathBuf, String> {
        let files = crate::workshop::files_under(&exercise.folder).into_iter();
        let text = |file: PathBuf| {
            let path = file.strip_prefix(&exercise.folder).unwrap().to_path_buf();
            (path, fs::read_to_string(&file).unwrap())
        };
        files.map(text).collect()
    }

    #[test]
    fn a_reset_takes_away_all_that_a_wrong_version_has_put_there() {
        let (_root, exercise) = exercise();
        let before = texts(&exercise);
        let wrong = version(
            &[(ROOT, "wrong"), ("a.rs", "a"), ("deep/b.rs", "b")],
            &["b = \"2\""],
        );
        assert!(replace_by(&exercise, &wrong).unwrap().is_empty());
        let there = texts(&exercise);
        assert_eq!(there[Path::new("src/lib.rs")], "wrong");
        assert_eq!(there[Path::new("src/deep/b.rs")], "b");
        let manifest = &there[Path::new("Cargo.toml")];
        assert!(
            manifest.contains("[dependencies]\nb = \"2\" # for"),
            "{manifest}"
        );
        // Another one, in the place of the first.
        let other = version(&[(ROOT, "other"), ("a.rs", "another")], &[]);
        assert!(replace_by(&exercise, &other).unwrap().is_empty());
        let there = texts(&exercise);
        assert_eq!(there[Path::new("src/a.rs")], "another");
        assert!(!exercise.folder.join("src/deep").exists());
        assert_eq!(there[Path::new("Cargo.toml")], MANIFEST);

        assert_eq!(reset(&exercise).unwrap(), Reset::NothingKept);
        assert_eq!(texts(&exercise), before);
        assert_eq!(reset(&exercise).unwrap(), Reset::WasTheStub);
    }

    #[test]
    fn what_the_reader_has_in_the_way_is_kept() {
        let (_root, exercise) = exercise();
        let source = exercise.folder.join("src");
        fs::write(exercise.stub(), "mine").unwrap();
        fs::create_dir(source.join("a")).unwrap();
        fs::write(source.join("a/mod.rs"), "my a").unwrap();
        fs::write(source.join("c.rs"), "my c").unwrap();
        let wrong = version(&[(ROOT, "wrong"), ("a.rs", "a"), ("b.rs", "b")], &[]);
        let kept = replace_by(&exercise, &wrong).unwrap();
        let kept: Vec<_> = kept
            .iter()
            .map(|file| fs::read_to_string(file).unwrap())
            .collect();
        assert_eq!(kept, ["mine", "my a"]);
        // And what the reader then makes of it.
        fs::write(source.join("b.rs"), "b, changed").unwrap();
        let Reset::Kept(kept) = reset(&exercise).unwrap() else {
            panic!("one was changed");
        };
        assert_eq!(kept, [exercise.folder.join("b-1.kept.rs")]);
        let left: Vec<_> = texts(&exercise).into_keys().collect();
        let left: Vec<_> = left.iter().filter(|path| path.starts_with("src")).collect();
        assert_eq!(left, [Path::new("src/c.rs"), Path::new("src/lib.rs")]);
    }

    #[test]
    fn a_manifest_without_dependencies_gets_and_loses_them() {
        let (_root, exercise) = exercise();
        let manifest = exercise.folder.join("Cargo.toml");
        fs::write(&manifest, "[package]\nname = \"x\"\n").unwrap();
        replace_by(&exercise, &version(&[(ROOT, "wrong")], &["b = \"2\""])).unwrap();
        let with = fs::read_to_string(&manifest).unwrap();
        assert_eq!(with.matches(" # for a wrong version").count(), 2, "{with}");
        assert!(with.contains("\n[dependencies] #"), "{with}");
        reset(&exercise).unwrap();
        let without = fs::read_to_string(&manifest).unwrap();
        assert_eq!(without, "[package]\nname = \"x\"\n");
    }

    #[test]
    fn a_module_has_two_forms_and_one_name() {
        let path = Path::new;
        assert_eq!(other_form(path("a/b.rs")), path("a/b/mod.rs"));
        assert_eq!(other_form(path("a/b/mod.rs")), path("a/b.rs"));
        assert_eq!(flat(path("a/b.rs")), "a-b");
    }
}
