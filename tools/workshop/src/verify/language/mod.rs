//! The English that a reader sees: whether it keeps the book's voice, and whether
//! each term is defined before it is used.

mod patterns;
mod prose;
mod terms;

use std::path::PathBuf;
use std::process::ExitCode;

use patterns::{PATTERNS, Pattern};
use prose::Sentence;

use super::{Finding, Outcome, relative};
use crate::exercises::catalogue;
use crate::workshop::Workshop;

/// The page with the terms.
const GLOSSARY: &str = "glossary.md";

/// A page of the book.
struct Chapter {
    /// Its path below `src`, by which other pages link to it.
    path: String,
    text: String,
}

/// What is read as one text, and by which patterns.
struct Body {
    name: &'static str,
    sentences: Vec<Sentence>,
    patterns: Vec<&'static Pattern>,
}

impl Body {
    fn words(&self) -> usize {
        self.sentences.iter().map(Sentence::length).sum()
    }
}

/// Checks the chapters, and the hints, contracts and lessons beside them.
pub fn verify(workshop: &Workshop) -> Outcome {
    let chapters = chapters(workshop);
    let bodies = bodies(workshop, &chapters);
    let mut findings = Vec::new();
    for body in &bodies {
        for pattern in &body.patterns {
            findings.extend(pattern.findings(body.name, &body.sentences));
        }
    }
    findings.extend(terms::verify(&chapters));
    let words: usize = bodies.iter().map(Body::words).sum();
    Outcome {
        findings,
        notes: Vec::new(),
        summary: format!("{words} words of prose"),
    }
}

/// `cargo workshop verify --language`: prints how often each pattern occurs in
/// 1,000 words, beside what is left to an author.
pub fn language_command(workshop: &Workshop) -> ExitCode {
    let chapters = chapters(workshop);
    for body in bodies(workshop, &chapters) {
        println!("In 1,000 words of {} ({} words):", body.name, body.words());
        for pattern in &body.patterns {
            let rate = pattern.rate(&body.sentences);
            let (least, most) = (pattern.aim.start(), pattern.aim.end());
            let mark = if pattern.aim.contains(&rate) {
                ' '
            } else {
                '!'
            };
            println!("{mark} {rate:>6.2}  {least} to {most}  {}", pattern.name);
        }
    }
    ExitCode::SUCCESS
}

fn bodies(workshop: &Workshop, chapters: &[Chapter]) -> [Body; 2] {
    // The glossary's entries are no sentences.
    let pages = chapters.iter().filter(|one| one.path != GLOSSARY);
    let book = pages.flat_map(|chapter| {
        let place = format!("src/{}", chapter.path);
        prose::of_markdown(&place, &chapter.text)
    });
    let mut rest = Vec::new();
    for exercise in catalogue::find_all(workshop) {
        let sources = [exercise.tests(), exercise.models(), vec![exercise.stub()]].concat();
        for file in sources {
            let place = relative(workshop, &file);
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            rest.extend(prose::of_docs(&place, &text));
            rest.extend(prose::of_lessons(&place, &text));
        }
        let hints = exercise.folder.join("hints.md");
        let text = std::fs::read_to_string(&hints).unwrap_or_default();
        rest.extend(prose::of_markdown(&relative(workshop, &hints), &text));
    }
    [
        Body {
            name: "the chapters",
            sentences: book.collect(),
            patterns: PATTERNS.iter().collect(),
        },
        Body {
            name: "the contracts, hints and lessons",
            sentences: rest,
            patterns: PATTERNS.iter().filter(|one| !one.is_rhythm).collect(),
        },
    ]
}

/// The pages in the order in which they are read.
fn chapters(workshop: &Workshop) -> Vec<Chapter> {
    let folder: PathBuf = workshop.root().join("src");
    let summary = std::fs::read_to_string(folder.join("SUMMARY.md")).unwrap_or_default();
    let paths = prose::links(&summary);
    let chapter = |path: String| {
        let text = std::fs::read_to_string(folder.join(&path)).ok()?;
        Some(Chapter { path, text })
    };
    paths.into_iter().filter_map(chapter).collect()
}
