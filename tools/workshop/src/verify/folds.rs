//! No page gives an exercise's answer away before it is asked for: up to the page
//! of the exercise, a part of its solution stands in a `<details>`, also if the part comes
//! from another file, such as one of the book's programs.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Component, Path};

use pulldown_cmark::{Event, Parser, Tag};

use super::{Finding, relative};
use crate::book;
use crate::workshop::{Workshop, files_under};

/// So many lines of code in a row that are also in a solution aren't there by chance.
const RUN: usize = 6;

/// Checks what the chapters include of solutions, in the order of `SUMMARY.md`.
pub fn verify(workshop: &Workshop) -> Vec<Finding> {
    let source = workshop.root().join("src");
    let summary = fs::read_to_string(source.join("SUMMARY.md")).unwrap_or_default();
    let mut pages = BTreeMap::new();
    let mut asked = BTreeMap::new();
    for (at, page) in links(&summary).enumerate() {
        let page = source.join(page);
        let text = fs::read_to_string(&page).unwrap_or_default();
        asked.extend(exercise_of(&text).map(|number| (number, at)));
        pages.insert(page, (at, text));
    }
    let solved = runs_of_solutions(workshop);
    let mut findings = Vec::new();
    for include in book::includes(workshop) {
        let Some((at, text)) = pages.get(&include.chapter) else {
            continue;
        };
        let is_early = |number: &u32| asked.get(number).is_none_or(|asked| at <= asked);
        let number = match solution_of(&include.file) {
            Some(number) => Some(number).filter(is_early),
            // The exercise itself is there to be shown.
            None if !include.file.components().any(is_snippets) => None,
            None => {
                let file = fs::read_to_string(&include.file).unwrap_or_default();
                let code = code(part_of(&file, include.anchor.as_deref()));
                let in_solutions = code.windows(RUN).filter_map(|run| solved.get(run));
                in_solutions.copied().find(is_early)
            }
        };
        if let Some(number) = number
            && !is_folded(text, include.line)
        {
            findings.push(Finding::new(
                format!("{}:{}", relative(workshop, &include.chapter), include.line),
                format!(
                    "this gives a part of exercise {number} away before the reader has solved it"
                ),
                "put it between `<details>` and `</details>`, each on a line of its own, and say \
                 above it in words what the exercise needs",
            ));
        }
    }
    findings
}

fn is_snippets(part: Component<'_>) -> bool {
    part == Component::Normal("snippets".as_ref())
}

/// The runs of lines in the solutions, each with the first exercise whose solution has it.
fn runs_of_solutions(workshop: &Workshop) -> HashMap<Vec<String>, u32> {
    let mut runs = HashMap::new();
    for file in files_under(&workshop.root().join("solutions")) {
        let Some(number) = solution_of(&file) else {
            continue;
        };
        let text = fs::read_to_string(&file).unwrap_or_default();
        for run in code(text.lines()).windows(RUN) {
            let first = runs.entry(run.to_vec()).or_insert(number);
            *first = number.min(*first);
        }
    }
    runs
}

/// The lines of code, without comments, indentation, and what is hardly a line.
fn code<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    const SHORT: usize = 3;
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default().trim());
    let lines = lines.filter(|line| line.len() > SHORT);
    lines.map(str::to_owned).collect()
}

/// The lines between the marks of an anchor, or all of them.
fn part_of<'a>(text: &'a str, anchor: Option<&str>) -> impl Iterator<Item = &'a str> {
    let mark = |kind: &str| anchor.map(|name| format!("// {kind}: {name}"));
    let [begin, end] = ["ANCHOR", "ANCHOR_END"].map(mark);
    let is =
        |line: &str, mark: &Option<String>| mark.as_ref().is_some_and(|mark| line.trim() == mark);
    let mut is_inside = anchor.is_none();
    text.lines().filter(move |line| {
        is_inside |= is(line, &begin);
        is_inside &= !is(line, &end);
        is_inside
    })
}

/// What `SUMMARY.md` links to, in its order.
fn links(summary: &str) -> impl Iterator<Item = String> {
    Parser::new(summary).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    })
}

/// The number of the exercise whose page this is.
fn exercise_of(page: &str) -> Option<u32> {
    let (_, rest) = page.split_once("data-exercise=\"")?;
    rest.split_once('"')?.0.parse().ok()
}

/// The number of the solution that the file belongs to: `…/solutions/NN-topic/…`.
fn solution_of(file: &Path) -> Option<u32> {
    let parts = file.components();
    let mut below = parts.skip_while(|part| *part != Component::Normal("solutions".as_ref()));
    let name = below.nth(1)?.as_os_str().to_str()?;
    name.split_once('-')?.0.parse().ok()
}

/// Whether the line, counted from 1, stands in a `<details>` that is closed at first.
pub fn is_folded(page: &str, line: usize) -> bool {
    let above = page.lines().take(line.saturating_sub(1)).map(str::trim);
    let marks = above.filter(|line| ["<details>", "</details>"].contains(line));
    marks.last() == Some("<details>")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::verify;
    use crate::workshop::Workshop;

    const SUMMARY: &str =
        "# Summary\n\n- [Idea](a/idea.md)\n  - [Exercise 7](a/task.md)\n- [Later](later.md)\n";
    const PART: &str = "```rust\n{{#include ../../solutions/07-part/src/lib.rs:x}}\n```\n";
    const TASK: &str = "<div class=\"exercise\" data-exercise=\"7\"></div>\n";

    /// The places that are told.
    fn told(idea: &str, task: &str, later: &str) -> Vec<String> {
        told_with(&[], idea, task, later)
    }

    /// The same, if these files are there, too.
    fn told_with(files: &[(&str, &str)], idea: &str, task: &str, later: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("src/a")).unwrap();
        for (file, text) in files {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        for (file, text) in [
            ("SUMMARY.md", SUMMARY),
            ("a/idea.md", idea),
            ("a/task.md", task),
            ("later.md", later),
        ] {
            fs::write(folder.path().join("src").join(file), text).unwrap();
        }
        let findings = verify(&Workshop::at(folder.path()));
        findings.into_iter().map(|one| one.place).collect()
    }

    #[test]
    fn a_solution_is_folded_until_its_exercise_is_over() {
        let folded = format!("<details>\n<summary>How</summary>\n\n{PART}\n</details>\n");
        let later = PART.replace("../../", "../");
        assert!(told(&folded, TASK, &later).is_empty());
        assert_eq!(told(PART, TASK, ""), ["src/a/idea.md:2"]);
        assert_eq!(told("", &format!("{TASK}{PART}"), ""), ["src/a/task.md:3"]);
    }

    #[test]
    fn a_program_that_has_a_part_of_a_solution_is_folded_too() {
        let lines: Vec<_> = (0..8)
            .map(|line| format!("    let x = step({line});"))
            .collect();
        let solution = format!("fn f() {{\n{}\n}}\n", lines.join("\n    // Why.\n\n"));
        let told = |first: &str, rest: &str| {
            let program =
                format!("fn g() {{\n{first}\n// ANCHOR: x\n{rest}\n// ANCHOR_END: x\n}}\n");
            let files = [
                ("solutions/07-part/src/lib.rs", solution.as_str()),
                ("snippets/examples/one.rs", &program),
            ];
            let part = "{{#rustdoc_include ../../snippets/examples/one.rs:x}}\n";
            told_with(&files, part, TASK, &part.replace("../../", "../"))
        };
        let (two, six) = (lines[..2].join("\n"), lines[2..].join("\n"));
        assert_eq!(told(&two, &six), ["src/a/idea.md:1"]);
        assert!(told(&six, &two).is_empty(), "what isn't shown is no answer");
    }

    #[test]
    fn a_fold_ends_where_it_says_and_is_closed_at_first() {
        let after = format!("<details>\n\nx\n\n</details>\n\n{PART}");
        assert_eq!(told(&after, TASK, ""), ["src/a/idea.md:8"]);
        let open = format!("<details open>\n\n{PART}\n</details>\n");
        assert_eq!(told(&open, TASK, ""), ["src/a/idea.md:4"]);
    }
}
