//! For authors: writes what was changed in a right version as a wrong one.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use similar::TextDiff;
use wrong::Wrong;

use super::{PACKAGE, shown};
use crate::exercises::catalogue::Exercise;
use crate::exercises::source;
use crate::problem::Problem;
use crate::workshop::{Workshop, files_under};

/// Lines around each change. With more of them, more edits would stop fitting when
/// the right version changes.
const CONTEXT: usize = 1;

/// A file of the base, as git has it and as it is.
struct Change {
    /// As git knows it, from the workshop's folder on.
    file: PathBuf,
    /// As the edit knows it.
    path: PathBuf,
    old: Option<String>,
    new: Option<String>,
}

/// Writes the edit of the base in the working tree as the wrong version of this name,
/// below the header that it has, or below a form to fill in. The base is then as git
/// has it. Returns what to tell the author.
///
/// # Errors
///
/// When the name names no clause, the base has no change, or a file can't be read or
/// written. The changes are still in the base then.
pub fn save(
    workshop: &Workshop,
    exercise: &Exercise,
    name: &str,
    base: Option<&Path>,
) -> Result<String, Problem> {
    let number = exercise.number;
    let clause = clause_of(name)?;
    let folder = workshop
        .root()
        .join(format!("{PACKAGE}/src/exercise_{number}"));
    let file = folder.join(name).with_extension("diff");
    if folder.join(name).with_extension("rs").exists() {
        return Err(
            Problem::new(format!("`{name}` is a whole program, and no edit"))
                .help("change its file by hand, or choose another name"),
        );
    }
    let existing = fs::read_to_string(&file).ok();
    let existing = existing.as_deref();
    let base = match (base, existing.and_then(|text| Wrong::read(text).ok())) {
        (Some(base), _) => given(workshop, base)?,
        (None, Some(wrong)) => wrong.base.into(),
        (None, None) => Path::new("solutions").join(exercise.folder_name()),
    };
    let changes = changes(workshop, &base)?;
    if changes.is_empty() {
        return Err(
            Problem::new(format!("nothing is changed in `{}`", base.display()))
                .help("make it wrong there, or name what you have changed by `--base PATH`"),
        );
    }
    let above = match existing {
        Some(text) => header_with(text, &base),
        None => form(exercise, clause, &base)?,
    };
    let edit: String = changes.iter().map(Change::edit).collect();
    let text = format!("{above}\n{edit}");
    write(&file, &text)?;
    let fits = restore(workshop, &changes).and_then(|()| {
        let whole = Wrong::read(&text).and_then(|wrong| wrong.whole(workshop.root()));
        whole.map_err(|error| Problem::new(format!("the edit cannot be applied: {error}")))
    });
    if let Err(problem) = fits {
        // The author's work is worth more than a tidy tree.
        for change in &changes {
            change.put_back(workshop)?;
        }
        return Err(problem.help("the changes are still in the base: save them by hand"));
    }
    let shown = shown(workshop, &file);
    let next = match existing {
        Some(_) => "",
        None => " Say in its header what catches it, and why a reader would write it.",
    };
    Ok(format!(
        "The edit is in `{shown}`, and `{}` is as git has it.{next}\n\
         `WRONG={name} cargo test -p {PACKAGE} --test exercise_{number}` tries it.\n",
        base.display()
    ))
}

/// The number in a name such as `c03_what_is_wrong`.
fn clause_of(name: &str) -> Result<u32, Problem> {
    let is_name = |rest: &str| {
        !rest.is_empty()
            && rest
                .chars()
                .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
    };
    let parts = name.strip_prefix('c').and_then(|rest| rest.split_once('_'));
    let clause = parts.filter(|(digits, rest)| digits.len() == 2 && is_name(rest));
    let clause = clause.and_then(|(digits, _)| digits.parse().ok());
    clause.ok_or_else(|| {
        Problem::new(format!(
            "the name `{name}` doesn't begin with the clause that it breaks"
        ))
        .help("name it after the clause and the fault: `c03_what_is_wrong`")
    })
}

/// The base that the author names, from the workshop's folder on.
fn given(workshop: &Workshop, base: &Path) -> Result<PathBuf, Problem> {
    let root = workshop.root();
    let absolute = root.join(base);
    let absolute = match absolute.ends_with("src") && absolute.join("lib.rs").is_file() {
        true => absolute.parent().unwrap_or(root).to_path_buf(),
        false => absolute,
    };
    let is_package = absolute.join("src/lib.rs").is_file();
    let is_file = absolute.is_file() && absolute.extension() == Some(OsStr::new("rs"));
    match absolute.strip_prefix(root) {
        Ok(base) if is_package || is_file => Ok(base.to_path_buf()),
        _ => Err(
            Problem::new(format!("`{}` is no right version", base.display())).help(
                "name a solution's folder or an alternative's file, from the workshop's folder on",
            ),
        ),
    }
}

/// What differs from what git has, by the rules of `Base:`.
fn changes(workshop: &Workshop, base: &Path) -> Result<Vec<Change>, Problem> {
    let root = workshop.root();
    let is_file = root.join(base).is_file();
    let top = match is_file {
        true => base.parent().unwrap_or(base).to_path_buf(),
        false => base.join("src"),
    };
    let place = if is_file { base } else { &top };
    let listed = git(workshop, &["ls-files", "-z", "--"], Some(place))?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let mut files: BTreeSet<PathBuf> = listed.split_terminator('\0').map(PathBuf::from).collect();
    if !is_file {
        let there = files_under(&root.join(place)).into_iter();
        files.extend(there.filter_map(|file| Some(file.strip_prefix(root).ok()?.to_path_buf())));
    }
    files.retain(|file| file.extension() == Some(OsStr::new("rs")));
    let mut changes = Vec::new();
    for file in files {
        let is_known = listed.split('\0').any(|one| Path::new(one) == file);
        let old = match is_known {
            true => {
                let object = format!(":./{}", file.display()).replace('\\', "/");
                Some(git(workshop, &["show", &object], None)?)
            }
            false => None,
        };
        let old = old.map(|text| String::from_utf8_lossy(&text).into_owned());
        let new = fs::read_to_string(root.join(&file)).ok();
        if old != new {
            let path = file.strip_prefix(&top).unwrap_or(&file).to_path_buf();
            changes.push(Change {
                file,
                path,
                old,
                new,
            });
        }
    }
    Ok(changes)
}

impl Change {
    /// The edit as a unified diff.
    fn edit(&self) -> String {
        let path = self.path.display().to_string().replace('\\', "/");
        let name = |text: &Option<String>| match text {
            Some(_) => path.clone(),
            None => "/dev/null".into(),
        };
        let old = self.old.as_deref().unwrap_or_default();
        let new = self.new.as_deref().unwrap_or_default();
        let diff = TextDiff::from_lines(old, new);
        let mut diff = diff.unified_diff();
        diff.context_radius(CONTEXT);
        diff.header(&name(&self.old), &name(&self.new)).to_string()
    }

    fn put_back(&self, workshop: &Workshop) -> Result<(), Problem> {
        match &self.new {
            Some(text) => write(&workshop.root().join(&self.file), text),
            None => Ok(()),
        }
    }
}

/// Brings the base back to what git has.
fn restore(workshop: &Workshop, changes: &[Change]) -> Result<(), Problem> {
    for change in changes {
        let file = workshop.root().join(&change.file);
        match &change.old {
            Some(text) => write(&file, text)?,
            None => fs::remove_file(&file).map_err(|error| {
                Problem::new(format!("`{}` cannot be removed: {error}", file.display()))
            })?,
        }
    }
    Ok(())
}

/// What stands above the edit in the text, with this base.
fn header_with(text: &str, base: &Path) -> String {
    const BASE: &str = "Base: ";
    let end = text.find("\n--- ").unwrap_or(text.len());
    let line = |line: &str| match line.starts_with(BASE) {
        true => format!("{BASE}{}\n", base.display()),
        false => format!("{line}\n"),
    };
    let above: String = text[..end].trim_end().lines().map(line).collect();
    match above.contains(BASE) {
        true => above,
        false => format!("{BASE}{}\n{above}", base.display()),
    }
}

/// A header to fill in.
fn form(exercise: &Exercise, clause: u32, base: &Path) -> Result<String, Problem> {
    let stub = fs::read_to_string(exercise.pristine()).unwrap_or_default();
    let clauses = source::contract(&stub).clauses;
    let number = exercise.number;
    let broken = clauses
        .iter()
        .find(|one| one.number == clause)
        .ok_or_else(|| {
            let last = clauses.last().map_or(0, |one| one.number);
            Problem::new(format!("exercise {number} has no clause {clause}")).help(format!(
                "its clauses are 1 to {last}; begin the name with one of them"
            ))
        })?;
    Ok(format!(
        "Breaks clause {clause}: {}.\nCaught by: name_of_the_test\nBase: {}\n\n\
         What is wrong, and why a reader would write it.\n",
        broken.name,
        base.display()
    ))
}

fn write(file: &Path, text: &str) -> Result<(), Problem> {
    fs::write(file, text).map_err(|error| {
        Problem::new(format!("`{}` cannot be written: {error}", file.display()))
            .help("make room, or change its owner")
    })
}

fn git(workshop: &Workshop, arguments: &[&str], path: Option<&Path>) -> Result<Vec<u8>, Problem> {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .args(path)
        .current_dir(workshop.root());
    let output = command.output().map_err(|error| {
        Problem::new(format!("`git` cannot be run: {error}"))
            .help("install git: it knows the version that was changed")
    })?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            let words = String::from_utf8_lossy(&output.stderr);
            let words = words.lines().next().unwrap_or("it says nothing").to_owned();
            Err(
                Problem::new(format!("`git {}` failed: {words}", arguments.join(" ")))
                    .help("work in a clone of the repository, and commit the right version first"),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{clause_of, header_with};

    #[test]
    fn a_name_begins_with_the_clause_in_two_digits() {
        assert_eq!(clause_of("c03_what_is_wrong").unwrap(), 3);
        assert_eq!(clause_of("c12_9_lives").unwrap(), 12);
        for name in [
            "what_is_wrong",
            "c3_x",
            "c03",
            "c03_",
            "c03_../x",
            "cxx_a",
            "c03_A",
        ] {
            assert!(clause_of(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_header_stays_but_for_its_base() {
        let text =
            "Breaks clause 1: A.\nCaught by: a\nBase: old\n\nWhy.\n\n--- lib.rs\n+++ lib.rs\n";
        let expected = "Breaks clause 1: A.\nCaught by: a\nBase: new\n\nWhy.\n";
        assert_eq!(header_with(text, Path::new("new")), expected);
    }
}
