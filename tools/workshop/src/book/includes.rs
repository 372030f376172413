//! Finds what the chapters include, to watch it and to check it. mdBook says
//! nothing about an anchor that doesn't exist: it leaves the block empty.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::workshop::{Workshop, files_under};

/// One include of a chapter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Include {
    /// The file that includes.
    pub chapter: PathBuf,
    /// The line in it, counted from 1.
    pub line: usize,
    /// The file that is included.
    pub file: PathBuf,
    /// The part of it, if that part is an anchor.
    pub anchor: Option<String>,
}

/// Finds the includes of all chapters, and of what they include.
pub fn includes(workshop: &Workshop) -> Vec<Include> {
    let is_chapter = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "md");
    let mut files = files_under(&workshop.root().join("src"));
    files.retain(is_chapter);
    files.sort();
    let mut seen: BTreeSet<_> = files.iter().cloned().collect();
    let mut found = Vec::new();
    while let Some(file) = files.pop() {
        // A file that isn't text includes nothing.
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        for include in includes_of(&file, &text) {
            if seen.insert(include.file.clone()) {
                files.push(include.file.clone());
            }
            found.push(include);
        }
    }
    found.sort();
    found
}

fn includes_of(chapter: &Path, text: &str) -> Vec<Include> {
    let folder = chapter.parent().unwrap_or(Path::new(""));
    let lines = text.lines().enumerate();
    let links = lines.flat_map(|(at, line)| links(line).map(move |link| (at + 1, link)));
    links
        .map(|(line, link)| {
            let (file, part) = link
                .split_once(':')
                .map_or((link, None), |(file, part)| (file, Some(part)));
            // `file.rs:3:7` asks for lines.
            let is_anchor = |part: &&str| !part.chars().all(|c| c.is_ascii_digit() || c == ':');
            Include {
                chapter: chapter.to_path_buf(),
                line,
                file: folder.join(file),
                anchor: part.filter(is_anchor).map(str::to_owned),
            }
        })
        .collect()
}

/// The arguments of the includes in a line; `\{{#include …}}` isn't one.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("{{#").filter_map(move |(at, opening)| {
        if line[..at].ends_with('\\') {
            return None;
        }
        let (link, _) = line[at + opening.len()..].split_once("}}")?;
        let (kind, argument) = link.trim().split_once(' ')?;
        let includes = ["include", "rustdoc_include", "playground"].contains(&kind);
        includes.then(|| argument.split_whitespace().next())?
    })
}

impl Include {
    /// Returns what is wrong with it.
    pub fn complaint(&self) -> Option<String> {
        let place = format!("{}:{}", self.chapter.display(), self.line);
        let Ok(text) = fs::read_to_string(&self.file) else {
            return Some(format!("{place}: `{}` cannot be read", self.file.display()));
        };
        let anchor = self.anchor.as_ref()?;
        if has_anchor(&text, anchor) {
            return None;
        }
        let file = self.file.display();
        Some(format!("{place}: `{file}` has no anchor `{anchor}`"))
    }
}

fn has_anchor(text: &str, anchor: &str) -> bool {
    let names = text.lines().filter_map(|line| line.split_once("ANCHOR:"));
    names.into_iter().any(|(_, name)| {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let name = name.trim_start();
        let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
        &name[..end] == anchor
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::includes_of;

    #[test]
    fn a_missing_file_and_a_missing_anchor_are_told_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("a.rs"),
            "// ANCHOR: part\nfn a() {}\n// ANCHOR_END: part\n",
        )
        .unwrap();
        let chapter = folder.path().join("chapter.md");
        let text = "{{#include a.rs}}\n{{#rustdoc_include a.rs:part}}\n{{#include a.rs:1:2}}\n\
                    \\{{#include not.rs}}\n{{#title x}}\n{{#rustdoc_include a.rs:par}}\n{{#include b.rs}}";
        let complaints: Vec<_> = includes_of(&chapter, text)
            .iter()
            .filter_map(super::Include::complaint)
            .map(|complaint| complaint.replace(&folder.path().display().to_string(), ""))
            .collect();
        assert_eq!(
            complaints,
            [
                "/chapter.md:6: `/a.rs` has no anchor `par`",
                "/chapter.md:7: `/b.rs` cannot be read"
            ]
        );
    }

    #[test]
    fn paths_start_at_the_chapter() {
        let includes = includes_of(Path::new("src/one/two.md"), "x {{#include ../../a.rs:b}} y");
        assert_eq!(includes[0].file, Path::new("src/one/../../a.rs"));
        assert_eq!(includes[0].anchor.as_deref(), Some("b"));
    }
}
