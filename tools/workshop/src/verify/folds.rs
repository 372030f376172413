//! No page gives an exercise's answer away before it is asked for: up to the page
//! of the exercise, a part of its solution stands in a `<details>`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use pulldown_cmark::{Event, Parser, Tag};

use super::{Finding, relative};
use crate::book;
use crate::workshop::Workshop;

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
    let mut findings = Vec::new();
    for include in book::includes(workshop) {
        let (Some(number), Some((at, text))) =
            (solution_of(&include.file), pages.get(&include.chapter))
        else {
            continue;
        };
        let is_early = asked.get(&number).is_none_or(|asked| at <= asked);
        if is_early && !is_folded(text, include.line) {
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
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("src/a")).unwrap();
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
    fn a_fold_ends_where_it_says_and_is_closed_at_first() {
        let after = format!("<details>\n\nx\n\n</details>\n\n{PART}");
        assert_eq!(told(&after, TASK, ""), ["src/a/idea.md:8"]);
        let open = format!("<details open>\n\n{PART}\n</details>\n");
        assert_eq!(told(&open, TASK, ""), ["src/a/idea.md:4"]);
    }
}
