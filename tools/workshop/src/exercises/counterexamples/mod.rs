//! The wrong versions of the exercises: which there are, and what each one says.

mod place;
mod save;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use wrong::Wrong;

use super::catalogue::{self, Exercise, versions};
use super::diff::painted;
use super::header::Header;
use crate::problem::Problem;
use crate::workshop::Workshop;

pub use place::into_exercise;
pub use save::save;
pub use table::table;

/// The package with the wrong versions.
const PACKAGE: &str = "counterexamples";

/// A wrong version.
#[derive(Debug)]
pub struct Counterexample {
    /// The module's name.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// What it claims.
    pub header: Header,
}

/// The counterexamples of an exercise whose headers can be read.
pub fn of(workshop: &Workshop, exercise: &Exercise) -> Vec<Counterexample> {
    let files = versions(workshop, PACKAGE, exercise).into_iter();
    let read = files.filter_map(|file| {
        let header = Header::of(&file).ok()?;
        let name = file.file_stem()?.to_str()?.to_owned();
        Some(Counterexample { name, file, header })
    });
    read.collect()
}

/// Finds the one whose name this is, or the only one that has this in its name.
///
/// # Errors
///
/// When there is none, or there are several.
pub fn find(
    workshop: &Workshop,
    exercise: &Exercise,
    name: &str,
) -> Result<Counterexample, Problem> {
    let number = exercise.number;
    let mut found = of(workshop, exercise);
    found.retain(|one| one.name.contains(name));
    if let Some(at) = found.iter().position(|one| one.name == name) {
        return Ok(found.swap_remove(at));
    }
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => Err(Problem::new(format!(
            "exercise {number} has no wrong version with `{name}` in its name"
        ))
        .help(format!("`cargo workshop wrong {number}` lists them"))),
        count => {
            let names: Vec<_> = found.iter().map(|one| format!("`{}`", one.name)).collect();
            Err(Problem::new(format!(
                "`{name}` is in the names of {count} wrong versions of exercise {number}"
            ))
            .help(format!("say which: {}", names.join(", "))))
        }
    }
}

/// The table of all wrong versions of an exercise, or of all exercises.
///
/// # Errors
///
/// When there is no such exercise.
pub fn list(
    workshop: &Workshop,
    number: Option<u32>,
    columns: Option<usize>,
) -> Result<String, Problem> {
    let exercises = match number {
        Some(number) => vec![catalogue::find(workshop, number)?],
        None => catalogue::find_all(workshop),
    };
    let rows = exercises.iter().flat_map(|exercise| {
        let of = of(workshop, exercise).into_iter();
        of.map(|one| (exercise.number, one))
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return Ok("There are no wrong versions.\n".into());
    }
    Ok(table(&rows, columns))
}

impl Counterexample {
    /// Its text as it is written: its header, and the edit or the whole program.
    ///
    /// # Errors
    ///
    /// When its file can't be read.
    pub fn text(&self, colors: bool) -> Result<String, Problem> {
        let text = self.read()?;
        Ok(match self.is_edit() {
            true => painted(&text, colors),
            false => text,
        })
    }

    /// The whole program, each file below a line with its path if there are several.
    ///
    /// # Errors
    ///
    /// When its file can't be read, or its edit doesn't fit its base.
    pub fn whole(&self, workshop: &Workshop) -> Result<String, Problem> {
        let files = self.files(workshop)?;
        if let [text] = files.values().collect::<Vec<_>>()[..] {
            return Ok(text.clone());
        }
        let mut whole = String::new();
        for (path, text) in &files {
            let gap = if whole.is_empty() { "" } else { "\n" };
            // Writing to a `String` can't fail.
            let _written = write!(whole, "{gap}// {}\n\n{text}", path.display());
        }
        Ok(whole)
    }

    /// The files of the whole program, by their paths below a package's `src`.
    fn files(&self, workshop: &Workshop) -> Result<BTreeMap<PathBuf, String>, Problem> {
        let text = self.read()?;
        if !self.is_edit() {
            return Ok(BTreeMap::from([("lib.rs".into(), text)]));
        }
        let whole = Wrong::read(&text).and_then(|wrong| wrong.whole(workshop.root()));
        whole.map_err(|error| {
            let help =
                "edit the right version again, and save it by `cargo workshop wrong … --save`";
            Problem::new(format!("`{}`: {error}", shown(workshop, &self.file))).help(help)
        })
    }

    /// The folder that the paths in its file at `path` are relative to.
    fn folder_of(&self, workshop: &Workshop, path: &Path) -> Result<PathBuf, Problem> {
        let text = self.read()?;
        Ok(match Wrong::read(&text) {
            Ok(wrong) if self.is_edit() => wrong::folder_of(workshop.root(), wrong.base, path),
            _ => self.file.parent().unwrap_or(workshop.root()).to_path_buf(),
        })
    }

    fn is_edit(&self) -> bool {
        self.file.extension().is_some_and(|it| it == "diff")
    }

    fn read(&self) -> Result<String, Problem> {
        fs::read_to_string(&self.file).map_err(|error| unreadable(&self.file, &error))
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("`{}` cannot be read: {error}", file.display()))
        .help("`git status` shows what is missing, and `git restore` brings it back")
}

/// The file from the workshop's folder on.
fn shown(workshop: &Workshop, file: &Path) -> String {
    let file = file.strip_prefix(workshop.root()).unwrap_or(file);
    file.display().to_string()
}
