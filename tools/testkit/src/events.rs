//! One JSON line an event, for whoever started the tests and asked for them.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use crate::Lesson;

/// The environment variable with the path of the file to append to.
const PATH_VARIABLE: &str = "TESTKIT_EVENTS";

/// Appends `{"name", "clause", "read", "outcome", "message"}` as one line to
/// the file named by `TESTKIT_EVENTS`, if it is set. The outcome is
/// `running`, `passed` or `failed`; the message is what a passed check
/// printed, or why it failed.
pub(crate) fn emit(name: &str, lesson: &Lesson, outcome: &str, message: &str) {
    let Some(path) = std::env::var_os(PATH_VARIABLE) else {
        return;
    };
    let mut line = String::from("{");
    let fields = [
        ("name", name),
        ("clause", lesson.clause),
        ("read", lesson.read),
        ("outcome", outcome),
        ("message", message),
    ];
    for (index, (key, value)) in fields.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(line, "{comma}\"{key}\":\"{}\"", escape(value));
    }
    line.push_str("}\n");
    // One write of a short line in append mode, so that lines of parallel tests do not mix.
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
