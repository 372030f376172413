//! The fenced blocks of a chapter, as they are written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{Finding, relative};
use crate::workshop::{Workshop, files_under};

/// A fenced block.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fence {
    /// The line of the fence, counted from 1.
    pub line: usize,
    /// What stands after the backticks.
    pub info: String,
    /// What stands in the block.
    pub text: String,
}

impl Fence {
    fn words(&self) -> impl Iterator<Item = &str> {
        let separates = |c: char| c == ',' || c.is_whitespace();
        self.info.split(separates).filter(|word| !word.is_empty())
    }

    /// Whether the fence has this word.
    pub fn has(&self, word: &str) -> bool {
        self.words().any(|one| one == word)
    }

    fn is_rust(&self) -> bool {
        self.words().next() == Some("rust")
    }

    /// Whether real files are all that it shows.
    fn is_included(&self) -> bool {
        let mut lines = self
            .text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let is_include =
            |line: &str| line.starts_with("{{#include ") || line.starts_with("{{#rustdoc_include ");
        !self.text.trim().is_empty() && lines.all(is_include)
    }

    fn snippet(&self) -> Option<&str> {
        self.words().find_map(|word| word.strip_prefix("snippet-"))
    }
}

/// Reads the fences of a chapter.
pub fn read(text: &str) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut current: Option<Fence> = None;
    for (event, place) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                current = Some(Fence {
                    line: text[..place.start].matches('\n').count() + 1,
                    info: info.into_string(),
                    text: String::new(),
                });
            }
            Event::Text(piece) => {
                if let Some(fence) = &mut current {
                    fence.text += &piece;
                }
            }
            Event::End(TagEnd::CodeBlock) => fences.extend(current.take()),
            _ => {}
        }
    }
    fences
}

/// The fence of the program of this name; `None` if no chapter shows it.
pub fn of_snippet(workshop: &Workshop, name: &str) -> Option<Fence> {
    let files = files_under(&workshop.root().join("src"));
    let chapters = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    let mut fences = chapters.flat_map(|text| read(&text));
    fences.find(|fence| fence.snippet() == Some(name))
}

/// Checks the fences of all chapters. Returns how many are Rust, too.
pub fn verify(workshop: &Workshop, chapters: &[PathBuf]) -> (Vec<Finding>, usize) {
    let tested = chapters_tested(workshop);
    let mut findings = Vec::new();
    let mut count = 0;
    for chapter in chapters {
        let text = fs::read_to_string(chapter).unwrap_or_default();
        let is_tested = chapter
            .canonicalize()
            .is_ok_and(|chapter| tested.contains(&chapter));
        for fence in read(&text) {
            count += usize::from(fence.is_rust());
            let examples = workshop.root().join("snippets/examples");
            if let Some((fault, remedy)) = fault_of(&fence, is_tested, &examples) {
                let place = format!("{}:{}", relative(workshop, chapter), fence.line);
                findings.push(Finding::new(place, fault, remedy));
            }
        }
        findings.extend(swallowed(&text).map(|line| {
            Finding::new(
                format!("{}:{line}", relative(workshop, chapter)),
                "a tag above it takes this fence for its own text",
                "leave a blank line between the two",
            )
        }));
    }
    (findings, count)
}

/// The lines of the fences that don't count as such: a block of HTML goes on to a blank line.
fn swallowed(text: &str) -> impl Iterator<Item = usize> {
    Parser::new(text)
        .into_offset_iter()
        .filter_map(|(event, place)| match event {
            Event::Html(html) if html.starts_with("```") => {
                Some(text[..place.start].matches('\n').count() + 1)
            }
            _ => None,
        })
}

/// What is wrong with a fence, and the remedy.
fn fault_of(fence: &Fence, is_tested: bool, examples: &Path) -> Option<(String, String)> {
    if fence.info.contains('=') {
        let fault = format!("the fence `{}` has a `=`", fence.info);
        return Some((
            fault,
            "rustdoc reads no such word as Rust: use a dash".into(),
        ));
    }
    if let Some(name) = fence.snippet() {
        let file = format!("snippets/examples/{name}.rs");
        if !examples.join(format!("{name}.rs")).is_file() {
            return Some((
                format!("there is no `{file}`"),
                "write it, or name another".into(),
            ));
        }
        if !fence.text.contains(&file) {
            let fault = format!("the block `snippet-{name}` does not show `{file}`");
            return Some((
                fault,
                format!("include that file: `{{{{#include …/{file}}}}}`"),
            ));
        }
    }
    let ignored = fence.words().any(|word| word == "ignore");
    if fence.is_rust() && !fence.is_included() && !ignored && !is_tested {
        let fault = "nothing compiles this block".to_owned();
        let remedy = "include a real file, or add the chapter to a crate's doctests by \
                      `#[doc = include_str!(…)]`, or mark the block `ignore`";
        return Some((fault, remedy.into()));
    }
    None
}

/// The chapters whose inline blocks are doctests of some crate.
fn chapters_tested(workshop: &Workshop) -> BTreeSet<PathBuf> {
    let folders = ["snippets", "tools", "solutions", "alternatives", "benches"];
    let files = folders
        .iter()
        .flat_map(|folder| files_under(&workshop.root().join(folder)));
    let sources = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    let mut chapters = BTreeSet::new();
    for file in sources {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for line in text
            .lines()
            .filter(|line| line.contains("#[doc") || line.contains("#![doc"))
        {
            let path = line
                .split_once("include_str!(\"")
                .and_then(|(_, rest)| rest.split_once('"'));
            let chapter = path.map(|(path, _)| file.with_file_name(path).canonicalize());
            chapters.extend(chapter.and_then(Result::ok));
        }
    }
    chapters
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Fence, fault_of, read};

    #[test]
    fn a_fence_right_below_a_tag_is_none() {
        let told = |text| super::swallowed(text).collect::<Vec<_>>();
        assert_eq!(told("<details>\n```rust\nx\n```\n</details>\n"), [2, 4]);
        assert!(told("<details>\n\n```rust\nx\n```\n\n</details>\n").is_empty());
    }

    #[test]
    fn fences_are_found_with_their_lines_also_in_quotes() {
        let text = "A\n\n```rust,editable\n{{#include a.rs}}\n```\n\n> ```text\n> b\n> ```\n";
        let fences = read(text);
        assert_eq!(
            (fences[0].line, fences[0].text.as_str()),
            (3, "{{#include a.rs}}\n")
        );
        assert_eq!((fences[1].line, fences[1].text.as_str()), (7, "b\n"));
    }

    fn fault(info: &str, text: &str) -> Option<String> {
        let fence = Fence {
            line: 1,
            info: info.into(),
            text: text.into(),
        };
        fault_of(&fence, false, Path::new("/no/examples")).map(|(fault, _)| fault)
    }

    #[test]
    fn rust_must_be_included_or_tested_or_ignored() {
        assert_eq!(fault("rust", "{{#include ../a.rs:b}}\n"), None);
        assert_eq!(fault("rust,ignore", "fn a() {}\n"), None);
        assert_eq!(fault("text", "fn a() {}\n"), None);
        for text in ["fn a() {}\n", "{{#include a.rs}}\nfn a() {}\n", ""] {
            let told = fault("rust", text);
            assert!(
                told.is_some_and(|fault| fault.contains("nothing compiles")),
                "{text}"
            );
        }
    }

    #[test]
    fn no_equals_sign_and_no_snippet_without_a_file() {
        assert!(fault("rust,snippet=a", "").is_some_and(|fault| fault.contains('=')));
        let told = fault("rust,snippet-a", "{{#include ../snippets/examples/a.rs}}");
        assert_eq!(
            told.as_deref(),
            Some("there is no `snippets/examples/a.rs`")
        );
    }
}
