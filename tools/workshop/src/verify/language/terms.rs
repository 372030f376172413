//! The terms of the glossary: no page uses one before the page that introduces it.

use super::{Chapter, Finding, GLOSSARY, prose};

/// Pages that look ahead: the reader knows from them what is to come.
const OVERVIEWS: [&str; 2] = ["introduction.md", "how-to-use.md"];

/// Terms that are also words of everyday English, or of Rust, in which they don't
/// mean what the glossary says.
const EVERYDAY: [&str; 12] = [
    "abort",
    "head",
    "job",
    "model",
    "overflow",
    "position",
    "published",
    "release",
    "running",
    "tail",
    "timer",
    "yield",
];

/// A term of the glossary.
#[derive(Debug, PartialEq)]
struct Term {
    name: String,
    /// The page that introduces it.
    page: String,
}

/// Checks the pages, which are in the order in which they are read.
pub fn verify(chapters: &[Chapter]) -> Vec<Finding> {
    let glossary = chapters.iter().find(|one| one.path == GLOSSARY);
    let terms = terms(glossary.map_or("", |one| &one.text));
    let mut findings = Vec::new();
    for term in terms {
        let Some(introduced) = chapters.iter().position(|one| one.path == term.page) else {
            findings.push(Finding::new(
                "src/glossary.md",
                format!("“{}” names no page of the book first", term.name),
                "link to the page that introduces it",
            ));
            continue;
        };
        let before = chapters[..introduced].iter();
        for chapter in before.filter(|one| !OVERVIEWS.contains(&one.path.as_str())) {
            // The words of a link are no use: the link leads to the meaning.
            let paragraphs = prose::paragraphs(&chapter.text, true);
            let used = paragraphs.iter().find(|one| uses(&one.text, &term.name));
            findings.extend(used.map(|one| {
                Finding::new(
                    format!("src/{}:{}", chapter.path, one.line),
                    format!("“{}” is used, but {} introduces it", term.name, term.page),
                    "use another word, link to the page, or introduce the term here",
                )
            }));
        }
    }
    findings
}

/// The terms, each with the first page of the book that its text links to.
fn terms(glossary: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut name = "";
    let mut definition = String::new();
    for line in glossary.lines().chain(["end"]) {
        let goes_on = line.starts_with(": ") || line.starts_with("  ");
        if goes_on {
            definition += line;
            definition.push('\n');
        } else if !line.is_empty() {
            if !definition.is_empty() && !EVERYDAY.contains(&name.to_lowercase().as_str()) {
                let pages = prose::links(&definition);
                let page = pages.iter().find(|one| !one.contains("://"));
                let page = page.map_or("", |one| one.split('#').next().unwrap_or(one));
                // A field's other name for it stands in parentheses.
                let name = name.split(" (").next().unwrap_or(name);
                terms.push(Term {
                    name: name.trim_matches('`').to_owned(),
                    page: page.to_owned(),
                });
            }
            definition.clear();
            name = line;
        }
    }
    terms
}

/// Whether the words of the term stand in the text, in singular or plural.
fn uses(text: &str, term: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    // An abbreviation or a name is written as it is.
    let (text, term) = match term.chars().any(char::is_uppercase) {
        true => (text.to_owned(), term.to_owned()),
        false => (text.to_lowercase(), term.to_owned()),
    };
    text.match_indices(&term).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + term.len()..]
            .trim_start_matches('s')
            .chars()
            .next();
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Chapter;
    use super::{terms, uses, verify};

    fn chapter(path: &str, text: &str) -> Chapter {
        let (path, text) = (path.to_owned(), text.to_owned());
        Chapter { path, text }
    }

    #[test]
    fn a_term_that_comes_before_its_page_is_found() {
        let glossary = "# Glossary\n\nlost wake-up (or lost notification)\n: One that comes\n  \
                        too early. [Two](two.md#x); [W](https://w.example).\n";
        let pages = [
            chapter("introduction.md", "What a lost wake-up is.\n"),
            chapter(
                "one.md",
                "# One\n\nHere are lost wake-ups, and\n[a lost wake-up](two.md).\n",
            ),
            chapter("two.md", "A *lost wake-up* is this.\n"),
            chapter("glossary.md", glossary),
        ];
        let findings = verify(&pages);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].place, "src/one.md:3");
        let linked = chapter("one.md", "There is [a lost wake-up](two.md).\n");
        let [introduction, _, two, glossary] = pages;
        assert_eq!(verify(&[introduction, linked, two, glossary]), []);
    }

    #[test]
    fn a_term_without_a_page_is_found() {
        let pages = [chapter("glossary.md", "park\n: To wait.\n")];
        assert_eq!(verify(&pages).len(), 1);
        assert_eq!(terms("# Glossary\n\ntext\n"), []);
    }

    #[test]
    fn a_term_is_a_word_of_its_own() {
        assert!(uses("The rings are two.", "ring") && uses("ring", "ring"));
        assert!(!uses("A string, a ring-like one", "ring"));
        assert!(!uses("an acquired lock", "Acquire") && uses("an Acquire load", "Acquire"));
    }
}
