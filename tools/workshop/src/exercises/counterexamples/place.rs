//! Puts a wrong version into the reader's exercise.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use super::{Counterexample, PACKAGE};
use crate::exercises::catalogue::Exercise;
use crate::exercises::placed::{ROOT, Version};
use crate::exercises::reset;
use crate::problem::Problem;
use crate::workshop::Workshop;

/// What begins a line that names a module's file.
const PATH: &str = "#[path = \"";

/// Puts the wrong version in place of the reader's, which is set aside as by a reset,
/// and says what to do next.
///
/// # Errors
///
/// When it can't stand alone, or a file can't be read or written.
pub fn into_exercise(
    workshop: &Workshop,
    exercise: &Exercise,
    wrong: &Counterexample,
) -> Result<String, Problem> {
    let (number, name) = (exercise.number, &wrong.name);
    let files = wrong.files(workshop)?;
    if let Some(what) = shared_with_others(workshop, exercise, &files) {
        let problem = format!("`{name}` cannot stand alone: it shares {what} with other versions");
        let help = format!("`cargo workshop wrong {number} {name}` shows what is wrong in it");
        return Err(Problem::new(problem).help(help));
    }
    let source = exercise.folder.join("src");
    let mut placed = BTreeMap::new();
    let mut elsewhere = Vec::new();
    for (path, text) in &files {
        let from = wrong.folder_of(workshop, path)?;
        let to = source.join(path);
        let to = to.parent().unwrap_or(&source);
        placed.insert(path.clone(), moved(text, &from, to, &files));
        let outside = text
            .lines()
            .filter_map(path_of)
            .filter(|path| path.starts_with(".."));
        let texts = outside.filter_map(|path| fs::read_to_string(from.join(path)).ok());
        elsewhere.extend(texts);
    }
    let all: Vec<_> = placed
        .values()
        .chain(&elsewhere)
        .map(String::as_str)
        .collect();
    let version = Version {
        dependencies: missing_dependencies(workshop, exercise, &all)?,
        files: placed,
    };
    let kept = reset::replace_by(exercise, &version)?;
    let mut text = format!("Exercise {number} is the wrong version `{name}` now. ");
    if !kept.is_empty() {
        text += &reset::where_kept(workshop, &kept, "that");
        text.push(' ');
    }
    text += &format!(
        "`cargo workshop check {number}` shows what catches it, and `cargo workshop reset \
         {number}` puts the stub back.\n"
    );
    Ok(text)
}

/// What the version takes from the module that it is in: a macro, or an item.
fn shared_with_others(
    workshop: &Workshop,
    exercise: &Exercise,
    files: &BTreeMap<PathBuf, String>,
) -> Option<String> {
    let module = format!("{PACKAGE}/src/exercise_{}.rs", exercise.number);
    let module = fs::read_to_string(workshop.root().join(module)).unwrap_or_default();
    let root = files.get(Path::new(ROOT)).map_or("", String::as_str);
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    let after_super = root.split("super::").skip(1);
    let mut names =
        after_super.filter_map(|rest| rest.trim_start_matches('{').split(is_end).next());
    let kinds = [
        "fn",
        "struct",
        "enum",
        "trait",
        "type",
        "static",
        "const",
        "macro_rules!",
    ];
    let shared = names.find(|name| {
        let has = |kind: &&str| module.contains(&format!("{kind} {name}"));
        !name.is_empty() && kinds.iter().any(has)
    });
    shared.map(|name| format!("`{name}`"))
}

/// The path in `#[path = "…"]`.
fn path_of(line: &str) -> Option<&str> {
    let (path, _) = line.trim_start().strip_prefix(PATH)?.split_once('"')?;
    Some(path)
}

/// The text with its modules' paths as they are from the folder `to` on. Those of the
/// version's own files stay, and where the compiler finds the file by itself there is
/// no path anymore.
fn moved(text: &str, from: &Path, to: &Path, own: &BTreeMap<PathBuf, String>) -> String {
    let mut lines = text.split_inclusive('\n').peekable();
    let mut moved = String::new();
    while let Some(line) = lines.next() {
        let path = line.trim_start().strip_prefix(PATH);
        let Some((path, rest)) = path.and_then(|rest| rest.split_once('"')) else {
            moved.push_str(line);
            continue;
        };
        let target = plain(&from.join(path));
        let is_own = own.len() > 1 && !path.starts_with("..");
        let by_name = lines
            .peek()
            .and_then(|next| module(next))
            .is_some_and(|name| {
                let name = Path::new(name);
                let places = [name.with_extension("rs"), name.join("mod.rs")];
                places.iter().any(|place| to.join(place) == target)
            });
        match (is_own, by_name) {
            (true, _) => moved.push_str(line),
            (false, true) => {}
            (false, false) => {
                let indent = &line[..line.len() - line.trim_start().len()];
                let path = relative(to, &target).display().to_string();
                moved += &format!("{indent}{PATH}{}\"{rest}", path.replace('\\', "/"));
            }
        }
    }
    moved
}

/// The name in `pub mod name;`.
fn module(line: &str) -> Option<&str> {
    let name = line.trim().strip_suffix(';')?;
    let (visibility, name) = name.split_once("mod ")?;
    (visibility.is_empty() || visibility.starts_with("pub")).then_some(name)
}

/// The path without `..`, as far as that can be done without looking.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The way from a folder to a file, both absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let mut ahead = from.components().peekable();
    let mut there = to.components().peekable();
    while ahead.peek().is_some() && ahead.peek() == there.peek() {
        ahead.next();
        there.next();
    }
    let up = ahead.map(|_| Component::ParentDir);
    up.chain(there).collect()
}

/// The lines for the crates that the version uses and the exercise doesn't have: its
/// own solution among them, for types that all versions share.
fn missing_dependencies(
    workshop: &Workshop,
    exercise: &Exercise,
    texts: &[&str],
) -> Result<Vec<String>, Problem> {
    let package = workshop.root().join(PACKAGE);
    let theirs = dependencies(&package.join("Cargo.toml"))?;
    let ours = dependencies(&exercise.folder.join("Cargo.toml"))?;
    let missing = theirs
        .into_iter()
        .filter(|(name, _)| !ours.contains_key(name));
    let needed = missing.filter(|(name, _)| uses(texts, &name.replace('-', "_")));
    let line = |(name, mut value): (String, Value)| {
        if let Some(path) = value.get_mut("path") {
            let to = plain(&package.join(path.as_str().unwrap_or_default()));
            let path_there = relative(&exercise.folder, &to).display().to_string();
            *path = Value::String(path_there.replace('\\', "/"));
        }
        format!("{name} = {value}")
    };
    Ok(needed.map(line).collect())
}

/// What a manifest says of the crates that its tests may use, by their names.
fn dependencies(manifest: &Path) -> Result<Table, Problem> {
    let text = fs::read_to_string(manifest).map_err(|error| super::unreadable(manifest, &error))?;
    let manifest_table: Table = toml::from_str(&text).map_err(|error| {
        let error = error.message().to_owned();
        Problem::new(format!("`{}` is no manifest: {error}", manifest.display()))
            .help("correct it, or `git restore` it")
    })?;
    let mut all = Table::new();
    for section in ["dev-dependencies", "dependencies"] {
        let section = manifest_table.get(section).and_then(Value::as_table);
        all.extend(section.cloned().unwrap_or_default());
    }
    Ok(all)
}

/// Whether a file names the crate. A module of that name hides it.
fn uses(texts: &[&str], name: &str) -> bool {
    let mut lines = texts
        .iter()
        .flat_map(|text| text.lines())
        .map(str::trim_start);
    let code = |line: &&str| !line.starts_with("//");
    if lines.clone().any(|line| module(line) == Some(name)) {
        return false;
    }
    let is_at_start = |line: &str, at: usize| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|it| !it.is_alphanumeric() && it != '_' && it != ':')
            // `::name::` has nothing before it but what separates words.
            || line[..at].ends_with("use ::")
    };
    let path = format!("{name}::");
    lines.by_ref().filter(code).any(|line| {
        let mut paths = line.match_indices(&path).filter(|(at, _)| {
            // `name::<T>(…)` calls a function.
            !line[at + path.len()..].starts_with('<')
        });
        paths.any(|(at, _)| is_at_start(line, at)) || line.starts_with(&format!("use {name};"))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::{moved, relative, uses};

    #[test]
    fn paths_are_those_from_the_exercise_on() {
        let text = "#[cfg(test)]\n#[path = \"../../../exercises/07-x/src/tests/mod.rs\"]\n\
                    mod tests;\n#[path = \"../../../solutions/07-x/src/part.rs\"]\nmod part;\n\
                    #[path = \"own.rs\"]\npub mod mine;\nfn f() {}\n";
        let from = Path::new("/w/counterexamples/src/exercise_7");
        let to = Path::new("/w/exercises/07-x/src");
        let one = BTreeMap::from([("lib.rs".into(), text.to_owned())]);
        let expected = "#[cfg(test)]\nmod tests;\n\
                        #[path = \"../../../solutions/07-x/src/part.rs\"]\nmod part;\n\
                        #[path = \"../../../counterexamples/src/exercise_7/own.rs\"]\n\
                        pub mod mine;\nfn f() {}\n";
        assert_eq!(moved(text, from, to, &one), expected);
        // What comes along stays where it is from here.
        let mut two = one.clone();
        two.insert("own.rs".into(), String::new());
        let with_own = moved(text, from, to, &two);
        assert!(
            with_own.contains("\n#[path = \"own.rs\"]\npub mod mine;"),
            "{with_own}"
        );
    }

    #[test]
    fn the_way_to_a_file_leaves_out_what_both_share() {
        let way = relative(Path::new("/w/a/b"), Path::new("/w/c/d.rs"));
        assert_eq!(way, Path::new("../../c/d.rs"));
    }

    #[test]
    fn a_crate_is_used_by_its_path() {
        let uses = |text: &str| uses(&[text], "task");
        for text in [
            "use task::Task;",
            "pub use task::Task;",
            "    task::spawn();",
            "use ::task::A;",
        ] {
            assert!(uses(text), "{text}");
        }
        for text in [
            "use std::task::Context;",
            "// task::spawn",
            "fn f() { task::<u8>() }",
            "mod task;\nuse task::Task;",
            "use my_task::Task;",
        ] {
            assert!(!uses(text), "{text}");
        }
    }
}
