//! The documents that programs leave for figures: traces, sweeps and orders.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The variable that tells a program where to leave them.
pub const FOLDER: &str = "WORKSHOP_FIGURES";

/// As many as one run may leave.
const DOCUMENTS_MOST: usize = 8;

/// As large as one may be.
const BYTES_MOST: u64 = 4 << 20;

/// The lists that have a line for each of their items.
const LONG_LISTS: [&str; 5] = ["events", "points", "cells", "steps", "lines"];

/// A document that a program has left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its name, which is unique in the book.
    pub name: String,
    /// The document, with the field `schema`.
    pub document: Value,
}

/// Reads what a program has left in `folder`, in the order of names. The second
/// list says in a sentence each what is left out, and why.
pub fn collect(folder: &Path) -> (Vec<Figure>, Vec<String>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let (mut figures, mut complaints) = (Vec::new(), Vec::new());
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let read = match figures.len() {
            DOCUMENTS_MOST => Err(format!("a run may leave {DOCUMENTS_MOST}")),
            _ => read(&file, &name),
        };
        match read {
            Ok(figure) => figures.push(figure),
            Err(why) => complaints.push(format!("the figure `{name}` is left out: {why}")),
        }
        // However many files there are, a few sentences will do.
        if complaints.len() == DOCUMENTS_MOST {
            break;
        }
    }
    (figures, complaints)
}

fn read(file: &Path, name: &str) -> Result<Figure, String> {
    let name = name.strip_suffix(".json").filter(|name| is_name(name));
    let name = name.ok_or("its name has other signs than `a` to `z`, digits and `-`")?;
    // A link or a pipe isn't a document, no matter where it leads.
    let metadata = fs::symlink_metadata(file).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no file".into());
    }
    if metadata.len() > BYTES_MOST {
        return Err(format!("it has more than {} MiB", BYTES_MOST >> 20));
    }
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    let document: Value =
        serde_json::from_slice(&bytes).map_err(|error| format!("it is no JSON: {error}"))?;
    let schema = document.get("schema").and_then(Value::as_str);
    match schema.is_some_and(|schema| schema.starts_with("workshop.")) {
        true => Ok(Figure {
            name: name.to_owned(),
            document,
        }),
        false => Err("it names no schema of the workshop".into()),
    }
}

/// Whether this may be the name of a document.
pub fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=64).contains(&name.len()) && name.chars().all(is_part)
}

/// Writes a document as it is kept in the book: a line for each field, and for each
/// item of a long list, none of them blank, and nothing that ends a `<script>`.
pub fn format(document: &Value) -> String {
    let compact = |value: &Value| value.to_string().replace('<', "\\u003c");
    let Value::Object(fields) = document else {
        return compact(document) + "\n";
    };
    let field = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::Array(items) if LONG_LISTS.contains(&name.as_str()) && !items.is_empty() => {
                let items: Vec<_> = items.iter().map(compact).collect();
                format!("[\n{}\n]", items.join(",\n"))
            }
            value => compact(value),
        };
        format!("{}:{value}", compact(&Value::from(name.as_str())))
    };
    let fields: Vec<_> = fields.iter().map(field).collect();
    format!("{{{}}}\n", fields.join(",\n"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::{DOCUMENTS_MOST, collect, format};

    #[test]
    fn a_good_document_is_taken_and_a_bad_one_told() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let good = r#"{"schema":"workshop.trace/1","events":[]}"#;
        write("good-1.json", good);
        write("broken.json", "{");
        write("other.json", r#"{"schema":"x"}"#);
        write("Upper.json", good);
        write("text.txt", good);
        fs::create_dir(folder.path().join("folder.json")).unwrap();
        let large = fs::File::create(folder.path().join("large.json")).unwrap();
        large.set_len(super::BYTES_MOST + 1).unwrap();

        let (figures, complaints) = collect(folder.path());
        assert_eq!(figures.len(), 1, "{complaints:?}");
        assert_eq!(figures[0].name, "good-1");
        assert_eq!(figures[0].document["schema"], "workshop.trace/1");
        let complaints = complaints.join("\n");
        for (name, why) in [
            ("broken", "no JSON"),
            ("other", "no schema"),
            ("Upper", "its name"),
            ("text.txt", "its name"),
            ("folder", "no file"),
            ("large", "4 MiB"),
        ] {
            let told = complaints
                .lines()
                .any(|line| line.contains(name) && line.contains(why));
            assert!(told, "{name}: {complaints}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::write(&target, r#"{"schema":"workshop.trace/1"}"#).unwrap();
        let figures = folder.path().join("figures");
        fs::create_dir(&figures).unwrap();
        std::os::unix::fs::symlink(&target, figures.join("link.json")).unwrap();
        let (figures, complaints) = collect(&figures);
        assert!(
            figures.is_empty() && complaints.len() == 1,
            "{complaints:?}"
        );
    }

    #[test]
    fn a_flood_of_documents_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..100 {
            let file = folder.path().join(format!("a-{number}.json"));
            fs::write(file, r#"{"schema":"workshop.trace/1"}"#).unwrap();
        }
        let (figures, complaints) = collect(folder.path());
        assert_eq!(figures.len(), DOCUMENTS_MOST);
        assert_eq!(complaints.len(), DOCUMENTS_MOST);
    }

    #[test]
    fn events_have_a_line_each_and_fields_keep_their_order() {
        let document = json!({
            "schema": "workshop.trace/1", "names": { "1": "</script>" }, "events": [[1, "a"], [2]],
        });
        let text = format(&document);
        assert_eq!(
            text,
            "{\"schema\":\"workshop.trace/1\",\n\"names\":{\"1\":\"\\u003c/script>\"},\n\
             \"events\":[\n[1,\"a\"],\n[2]\n]}\n"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            document
        );
    }
}
