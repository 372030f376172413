//! Writing JSON, and handing documents to the program that asked for them.

use std::fmt::{self, Display, Write};
use std::path::PathBuf;
use std::{env, fs};

/// Names the folder for documents. The program that runs another sets it.
const FOLDER: &str = "WORKSHOP_FIGURES";

/// A string in JSON, which may also be inside a `<script>`.
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '<' => f.write_str("\\u003c")?,
                c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// Puts `items` between brackets, one a line.
pub(crate) fn lines(items: impl IntoIterator<Item = impl Display>) -> String {
    let mut text = String::from("[");
    for (index, item) in items.into_iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        write!(text, "{item}").expect("a `String` takes everything");
    }
    text.push(']');
    text
}

/// Writes a document into the folder that the environment names, if it does.
pub(crate) fn save(name: &str, document: &str) {
    let Some(folder) = env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else {
        return;
    };
    if !is_name(name) {
        eprintln!("the figure `{name}` isn't saved: a name has letters `a` to `z`, digits and `-`");
        return;
    }
    let file = PathBuf::from(folder).join(format!("{name}.json"));
    if let Err(error) = fs::write(&file, document) {
        eprintln!("the figure `{name}` isn't saved: {error}");
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=64).contains(&name.len()) && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::{Text, is_name, lines};

    #[test]
    fn a_text_can_neither_end_its_string_nor_its_script() {
        let text = Text("a\"b\\c</script>\nü\u{7f}").to_string();
        assert_eq!(text, r#""a\"b\\c\u003c/script>\u000aü\u007f""#);
    }

    #[test]
    fn no_line_is_blank() {
        assert_eq!(lines([1, 2]), "[\n1,\n2]");
        assert_eq!(lines([0; 0]), "[]");
    }

    #[test]
    fn a_name_is_no_path() {
        assert!(is_name("sleepers-join-2"));
        for name in ["", "../x", "a/b", "a.b", "A", "ä", &"a".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
