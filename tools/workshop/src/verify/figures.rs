//! What figures are drawn from: recorded, whole, and shown somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use trace::document::Document;
use trace::steps::Model;

use super::{Finding, Outcome, fences, relative};
use crate::book;
use crate::figures::{self, is_name};
use crate::record::{EXAMPLES, TRACES};
use crate::workshop::{Workshop, files_under};

/// The folder of the pictures for readers without JavaScript.
const PICTURES: &str = "src/figures";

/// Checks the recorded documents, the pictures, and the chapters that show them.
pub fn verify(workshop: &Workshop) -> Outcome {
    let shown: BTreeSet<_> = book::includes(workshop)
        .into_iter()
        .filter_map(|include| include.file.canonicalize().ok())
        .collect();
    let lock = fs::read_to_string(workshop.root().join("Cargo.lock")).unwrap_or_default();
    let mut findings = Vec::new();
    let mut counts = [0, 0];
    for (count, folder) in counts.iter_mut().zip([TRACES, PICTURES]) {
        let mut files = files_under(&workshop.root().join(folder));
        files.sort();
        *count = files.len();
        for file in files {
            let place = relative(workshop, &file);
            if !file.canonicalize().is_ok_and(|file| shown.contains(&file)) {
                let fault = "no page shows it";
                let remedy = "include it in a page, or remove it";
                findings.push(Finding::new(&place, fault, remedy));
            }
            let fault = match folder {
                TRACES => fault_of_document(workshop, &file, &lock),
                _ => fault_of_picture(&file),
            };
            findings.extend(fault.map(|(fault, remedy)| Finding::new(&place, fault, remedy)));
        }
    }
    for chapter in files_under(&workshop.root().join("src")) {
        if chapter
            .extension()
            .is_some_and(|extension| extension == "md")
        {
            let text = fs::read_to_string(&chapter).unwrap_or_default();
            let place = |line| format!("{}:{line}", relative(workshop, &chapter));
            let faults = faults_of_chapter(workshop, &text).into_iter();
            findings.extend(
                faults.map(|(line, fault, remedy)| Finding::new(place(line), fault, remedy)),
            );
        }
    }
    Outcome {
        findings,
        notes: Vec::new(),
        summary: format!("{} recorded documents, {} pictures", counts[0], counts[1]),
    }
}

type Fault = (String, String);

/// What is wrong with a recorded document, and the remedy.
fn fault_of_document(workshop: &Workshop, file: &Path, lock: &str) -> Option<Fault> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if !name.strip_suffix(".json").is_some_and(is_name) {
        let fault = "its name has other signs than `a` to `z`, digits and `-`";
        let remedy = format!("only `cargo workshop record` writes to {TRACES}");
        return Some((fault.into(), remedy));
    }
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return Some((error.to_string(), "remove it".into())),
    };
    let document = match Document::read(&text) {
        Ok(document) => document,
        Err(fault) => {
            let remedy = match text.contains("\"workshop.steps/") {
                true => "correct it: `tools/trace/src/steps.rs` defines its format",
                false => "record it again: `cargo workshop record`",
            };
            return Some((fault, remedy.into()));
        }
    };
    let value = serde_json::from_str(&text).unwrap_or_default();
    let is_as_kept = figures::format(&value) == text;
    let form = "it is not written as it is kept: one event a line, none of them blank";
    if let Document::Steps(steps) = &document {
        let fault = (!is_as_kept).then(|| (form.into(), "write it so".into()));
        return fault.or_else(|| match &steps.model {
            Some(model) => fault_of_model(workshop, model),
            // A recorded order has happened; what a page finds by itself may be wrong.
            None if steps.lines.is_empty() => None,
            None => {
                let fault = "no model agrees with it".into();
                let remedy = "name the test that tries every order of the real code";
                Some((fault, remedy.into()))
            }
        });
    }
    let source = document.source().unwrap_or_default();
    let program = source
        .strip_prefix(EXAMPLES)
        .and_then(|rest| rest.strip_prefix('/')?.strip_suffix(".rs"));
    let Some(program) = program.filter(|_| workshop.root().join(source).is_file()) else {
        let fault = format!("there is no program `{source}`");
        return Some((fault, "remove the document, or record it again".into()));
    };
    let again = format!("`cargo workshop record {program}`");
    if !is_as_kept {
        return Some((form.into(), again));
    }
    if let Document::Trace(trace) = &document
        && trace.meta.dropped > 0
    {
        let fault = format!("{} events were lost", trace.meta.dropped);
        return Some((fault, format!("let `{program}` record less, then {again}")));
    }
    let runtime = match &document {
        Document::Trace(trace) => &trace.meta.runtime,
        Document::Sweep(sweep) => &sweep.runtime,
        Document::Steps(_) => return None,
    };
    let other = other_version(runtime, lock)?;
    Some((
        format!("it names {other}, which is not the version in Cargo.lock"),
        format!("name the right one in `{source}`, then {again}"),
    ))
}

/// What is wrong with the test that tries every order of the real code, and with the
/// wrong version that it catches.
fn fault_of_model(workshop: &Workshop, model: &Model) -> Option<Fault> {
    let text = |file: &str| fs::read_to_string(workshop.root().join(file)).unwrap_or_default();
    let Model { file, test, wrong } = model;
    if !text(file).contains(&format!("fn {test}()")) {
        let fault = format!("`{file}` has no test `{test}`");
        let remedy = "name the test that tries every order of the real code";
        return Some((fault, remedy.into()));
    }
    // A test of its own may explore the wrong program itself.
    let wrong = wrong.as_deref().filter(|wrong| wrong != file)?;
    let fails = format!("::{test}");
    let is_caught = text(wrong).lines().any(|line| line.ends_with(&fails));
    (!is_caught).then(|| {
        let fault = format!("`{wrong}` doesn't fail `{test}`");
        (fault, "name the counterexample that this program is".into())
    })
}

/// The crate and the version in `tokio 1.54.1 multi_thread`, if they aren't those
/// of the lock file. What isn't a crate there, such as `by hand`, has no version.
fn other_version(runtime: &str, lock: &str) -> Option<String> {
    let words: Vec<_> = runtime.split_whitespace().collect();
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [name, version] if version.starts_with(|c: char| c.is_ascii_digit()) => {
            Some((*name, *version))
        }
        _ => None,
    });
    let is_other = |(name, version): &(&str, &str)| {
        let package = format!("name = \"{name}\"\n");
        lock.contains(&package) && !lock.contains(&format!("{package}version = \"{version}\"\n"))
    };
    let (name, version) = pairs.into_iter().find(is_other)?;
    Some(format!("{name} {version}"))
}

fn fault_of_picture(file: &Path) -> Option<Fault> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let remedy = || "make it again: `npm run fallbacks` in `web`".to_owned();
    if text.trim().is_empty() {
        return Some(("it shows nothing".into(), remedy()));
    }
    let blank = text.lines().any(|line| line.trim().is_empty());
    blank.then(|| {
        (
            "it has a blank line, which ends a block of HTML".into(),
            remedy(),
        )
    })
}

/// What is wrong with the figures of a chapter, with their lines.
fn faults_of_chapter(workshop: &Workshop, text: &str) -> Vec<(usize, String, String)> {
    let mut faults = Vec::new();
    let lines: Vec<_> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let is_figure = ["<ws-timeline", "<ws-sweep", "<ws-steps"]
            .iter()
            .any(|tag| line.contains(tag));
        let snippets = attribute(line, "data-snippet").filter(|_| is_figure);
        for name in snippets.unwrap_or_default().split_whitespace() {
            if fences::of_snippet(workshop, name).is_none() {
                let fault = format!("no page has the program `snippet-{name}`");
                let remedy = "name one that a page shows, or show it";
                faults.push((index + 1, fault, remedy.into()));
            }
        }
        let Some(name) = attribute(line, "data-name").filter(|_| line.contains("<script")) else {
            continue;
        };
        let next = lines.get(index + 1).copied().unwrap_or_default();
        if !next.contains(&format!("traces/{name}.json}}}}")) {
            let fault = format!("the data `{name}` is not included below it");
            let remedy = format!("the next line is `{{{{#include …/traces/{name}.json}}}}`");
            faults.push((index + 1, fault, remedy));
        }
    }
    faults
}

fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::{attribute, fault_of_picture, other_version, verify};
    use crate::workshop::Workshop;

    fn workshop(files: &[(&str, &str)]) -> (tempfile::TempDir, Workshop) {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let workshop = Workshop::at(folder.path());
        (folder, workshop)
    }

    fn document(source: &str, dropped: u64) -> String {
        let document = json!({
            "schema": "workshop.trace/1",
            "meta": {
                "title": "", "runtime": "tokio 1.2.3", "workers": 1, "unit": "ns", "clock": "Instant",
                "host": { "os": "", "cpu": "", "cores": 1 }, "recorded": "", "source": source,
                "event_cost_ns": 1, "dropped": dropped, "marks": [],
            },
            "names": { "1": "A" }, "cols": ["t", "k", "w", "task", "arg"],
            "events": [[1, "spawn", 0, 1, 0], [2, "poll+", 0, 1, 0]],
        });
        crate::figures::format(&document)
    }

    const PAGE: &str = "```rust,snippet-one-a\n{{#include ../snippets/examples/one-a.rs}}\n```\n\
        <ws-timeline data-snippet=\"one-a\">\n<script data-name=\"one-a\">\n\
        {{#include traces/one-a.json}}\n</script>\n</ws-timeline>\n";

    #[track_caller]
    fn told(name: &str, document: &str, page: &str) -> String {
        let (_folder, workshop) = workshop(&[
            ("src/page.md", page),
            (&format!("src/traces/{name}.json"), document),
            ("snippets/examples/one-a.rs", "fn main() {}"),
            ("src/caught.diff", "Caught by: models::main\n"),
            ("Cargo.lock", "name = \"tokio\"\nversion = \"1.2.3\"\n"),
        ]);
        let findings = verify(&workshop).findings;
        let told = findings
            .iter()
            .map(|one| format!("{}: {}\n", one.place, one.fault));
        told.collect()
    }

    #[test]
    fn a_document_that_is_recorded_and_shown_is_fine() {
        let good = document("snippets/examples/one-a.rs", 0);
        assert_eq!(told("one-a", &good, PAGE), "");
    }

    #[test]
    fn each_fault_is_told() {
        let source = "snippets/examples/one-a.rs";
        let good = document(source, 0);
        let blank = good.replace("\"events\"", "\n\"events\"");
        let unknown = good.replace("poll+", "dance");
        let old = good.replace("tokio 1.2.3", "tokio 1.2.2");
        let gone = document("snippets/examples/gone.rs", 0);
        for (document, fault) in [
            (blank.as_str(), "one event a line"),
            (&unknown, "unknown variant"),
            (&old, "tokio 1.2.2"),
            (&gone, "no program"),
            (&document(source, 7), "7 events were lost"),
            ("{", "EOF"),
        ] {
            let told = told("one-a", document, PAGE);
            assert!(
                told.starts_with("src/traces/one-a.json: "),
                "{fault}: {told}"
            );
            assert!(told.contains(fault), "{fault}: {told}");
        }
        assert!(told("one-a", &good, "").contains("no page shows it"));
        let other = PAGE.replace("one-a.json", "two.json");
        assert!(told("two", &good, &other).contains("page.md:5: the data `one-a` is not"));
        let other = PAGE.replace("data-snippet=\"one-a\"", "data-snippet=\"one-b\"");
        assert!(told("one-a", &good, &other).contains("page.md:4: no page has"));
    }

    #[test]
    fn an_order_that_a_page_shows_names_a_test_that_is_there() {
        let document = json!({
            "schema": "workshop.steps/1", "title": "", "description": "",
            "threads": [{ "name": "A" }], "cells": [{ "name": "x", "initial": 0 }],
            "lines": [{ "thread": 0, "code": "x = 1", "cases": [{ "set": { "x": 1 }, "says": "" }] }],
            "claim": { "orders": 1, "failing": 1 },
            "model": {
                "file": "snippets/examples/one-a.rs", "test": "main", "wrong": "src/caught.diff",
            },
        });
        let good = crate::figures::format(&document);
        assert_eq!(told("one-a", &good, PAGE), "");
        let other = good.replace("caught", "gone");
        assert!(told("one-a", &other, PAGE).contains("gone.diff` doesn't fail `main`"));
        let mut without = document;
        without.as_object_mut().unwrap().remove("model");
        let other = crate::figures::format(&without);
        assert!(told("one-a", &other, PAGE).contains("no model agrees with it"));
        let other = good.replace("\"main\"", "\"gone\"");
        assert!(told("one-a", &other, PAGE).contains("has no test `gone`"));
        let blank = good.replace("\"lines\"", "\n\"lines\"");
        assert!(told("one-a", &blank, PAGE).contains("one event a line"));
    }

    #[test]
    fn a_picture_has_no_blank_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fig-x.svg");
        for (text, is_good) in [
            ("<svg>\n</svg>\n", true),
            ("<svg>\n\n</svg>", false),
            ("", false),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(fault_of_picture(&file).is_none(), is_good, "{text:?}");
        }
    }

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock = "name = \"rayon\"\nversion = \"1.12.0\"\n";
        assert_eq!(other_version("rayon 1.12.0", lock), None);
        assert_eq!(other_version("by hand", lock), None);
        assert_eq!(other_version("mine 3 threads", lock), None);
        let other = other_version("tokio and rayon 1.11.0", lock);
        assert_eq!(other.as_deref(), Some("rayon 1.11.0"));
    }

    #[test]
    fn attributes_are_read() {
        let line = "<ws-timeline data-snippet=\"a b\" data-names=\"c\">";
        assert_eq!(attribute(line, "data-snippet"), Some("a b"));
        assert_eq!(attribute(line, "data-name"), None);
    }
}
