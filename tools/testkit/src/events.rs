//! Writes one JSON line an event, for the program that started the tests and requested them.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use crate::Lesson;
use crate::verdict::Kind;

/// The environment variable with the path of the file to append to.
const FILE_VARIABLE: &str = "TESTKIT_EVENTS";

/// The environment variable with a folder in which the tests of each exercise get a file of their
/// own. Cargo sets it, which is why a plain `cargo test` shows up on the book's pages.
const FOLDER_VARIABLE: &str = "TESTKIT_CHECKS";

/// Appends `{"name", "clause", "outcome", "message", "binary"}` as one line to the file
/// that the environment names, if any. The outcome is `running`, `passed`, `failed`, where a
/// `todo!` was reached `unwritten`, or, where no model can judge the code, `unjudged`; the message
/// is what a passed check printed, or why it failed.
pub(crate) fn emit(name: &str, lesson: &Lesson, outcome: &str, message: &str) {
    append(name, lesson, outcome, message, &[]);
}

/// Appends the event of a failure, with what is needed to choose among several: `"kind"`, what was
/// `"seen"`, and what `"usually"` causes it; and the `"execution"` of a model that has failed.
pub(crate) fn emit_failure(
    name: &str,
    lesson: &Lesson,
    message: &str,
    seen: &str,
    execution: Option<u64>,
) {
    let advice = lesson.advice(seen).unwrap_or_default();
    let kind = Kind::of(seen);
    // A check that has reached a `todo!` says nothing about the code yet.
    let outcome = match kind {
        Kind::Unwritten => "unwritten",
        Kind::Unrepeated => "unjudged",
        _ => "failed",
    };
    let execution = execution.map(|number| number.to_string());
    let mut more = vec![("kind", kind.name()), ("seen", seen), ("usually", &advice)];
    more.extend(execution.as_deref().map(|number| ("execution", number)));
    append(name, lesson, outcome, message, &more);
}

fn append(name: &str, lesson: &Lesson, outcome: &str, message: &str, more: &[(&str, &str)]) {
    let file = std::env::var_os(FILE_VARIABLE).map(PathBuf::from);
    let Some(path) = file.or_else(file_of_exercise) else {
        return;
    };
    let binary = std::env::current_exe().unwrap_or_default();
    let mut line = String::from("{");
    let fields = [
        ("name", name),
        ("clause", lesson.clause),
        ("outcome", outcome),
        ("message", message),
        ("binary", &binary.to_string_lossy()),
    ];
    for (index, (key, value)) in fields.iter().chain(more).enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(line, "{comma}\"{key}\":\"{}\"", escape(value));
    }
    line.push_str("}\n");
    // One write of a short line in append mode, so that lines of parallel tests don't mix.
    let written = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        eprintln!(
            "testkit: cannot write the event to `{}`: {error}",
            path.display()
        );
    }
}

/// A file in the folder, if the folder is there: otherwise there is no reader.
fn file_of_exercise() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os(FOLDER_VARIABLE)?);
    let package = std::env::var("CARGO_PKG_NAME").ok()?;
    let is_wanted = package.starts_with("exercise-") && folder.is_dir();
    is_wanted.then(|| folder.join(format!("{package}.{}", std::process::id())))
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            control if control < ' ' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(control));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_as_json_wants_it() {
        assert_eq!(
            escape("a \"b\" \\ c\n\u{1}"),
            "a \\\"b\\\" \\\\ c\\n\\u0001"
        );
    }
}
