//! The source files that a recording names, as they were then.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::recording::{Entry, Place, Recording};

/// The files' texts by the names that the compiler gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources(BTreeMap<String, String>);

impl Sources {
    /// Reads all files that a recording names.
    pub fn of(recording: &Recording, root: &Path) -> Self {
        let threads = recording.threads.iter().map(|it| &it.place);
        let objects = recording.objects.iter().map(|it| &it.place);
        let steps = recording.steps.iter().map(|it| &it.place);
        let panics = recording.order.iter().filter_map(|entry| match entry {
            // What panics in another crate is told without a place.
            Entry::Panics { place, .. } if !place.file.contains("/registry/") => Some(place),
            _ => None,
        });
        let mut files = BTreeMap::new();
        for place in threads.chain(objects).chain(steps).chain(panics) {
            if !files.contains_key(&place.file)
                && let Ok(text) = fs::read_to_string(root.join(&place.file))
            {
                files.insert(place.file.clone(), text);
            }
        }
        Self(files)
    }

    /// A file's text; nothing if it couldn't be read.
    pub fn text(&self, file: &str) -> &str {
        self.0.get(file).map_or("", String::as_str)
    }

    /// The text of the line.
    pub fn line(&self, place: &Place) -> &str {
        let index = (place.line as usize).saturating_sub(1);
        self.text(&place.file).lines().nth(index).unwrap_or("")
    }

    /// The file's text up to the place, and the text from there on.
    pub fn around(&self, place: &Place) -> (&str, &str) {
        let text = self.text(&place.file);
        let lines = text.split_inclusive('\n');
        let before = (place.line as usize).saturating_sub(1);
        let start: usize = lines.take(before).map(str::len).sum();
        let line = text[start..].lines().next().unwrap_or("");
        let column = (place.column as usize).saturating_sub(1);
        let within: usize = line.chars().take(column).map(char::len_utf8).sum();
        text.split_at(start + within)
    }

    /// The name of the function that the place is in.
    pub fn function(&self, place: &Place) -> Option<&str> {
        let (before, _) = self.around(place);
        let declared = |line: &'_ str| -> Option<usize> {
            let at = line.find("fn ")?;
            let is_word = line[..at]
                .chars()
                .all(|it| it.is_alphanumeric() || " ()".contains(it));
            is_word.then_some(at + "fn ".len())
        };
        let indent = |line: &str| line.len() - line.trim_start().len();
        let own = indent(self.line(place));
        let mut lines = before.lines().rev();
        lines.find_map(|line| {
            let at = declared(line).filter(|_| indent(line) < own.max(1) || own == 0)?;
            let name = &line[at..];
            let end = name.find(|it: char| !it.is_alphanumeric() && it != '_')?;
            Some(&name[..end])
        })
    }
}

#[cfg(test)]
impl Sources {
    /// Files that a test makes up.
    pub fn from(files: &[(&str, &str)]) -> Self {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        Self(files.iter().map(owned).collect())
    }
}

/// A file's name without its detours: `a/src/../b.rs` is `a/b.rs`.
pub fn without_detours(file: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in file.split('/') {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
