//! The built book: nothing in it is missing, and nothing is left over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::html::{Block, Page};
use super::{Finding, Outcome, fences, folds, relative, steps, suspects};
use crate::book::{self, Purpose};
use crate::exercises::{catalogue, source};
use crate::problem::Problem;
use crate::workshop::{Workshop, files_under};

/// The widest line of code.
const COLUMNS: usize = 80;

/// What stands in no chapter.
const NOWHERE: &str = "\0";

/// Pages that mdBook makes by itself, of the others or for itself.
const MADE: [&str; 3] = ["print.html", "toc.html", "404.html"];

/// The built book.
pub struct Book {
    folder: PathBuf,
    /// The pages by their paths, such as `one-future/block-on.html`.
    pub pages: BTreeMap<String, Page>,
}

/// Builds the book into `folder` and checks it.
///
/// # Errors
///
/// When it can't be built.
pub fn verify(workshop: &Workshop, folder: &Path) -> Result<(Book, Outcome), Problem> {
    let complaints = book::build(workshop, folder, Purpose::Publish(None))?;
    let mut checks = Checks {
        workshop,
        findings: Vec::new(),
    };
    let book = checks.read(folder);
    checks.complaints(complaints);
    checks.links(&book);
    checks.blocks(&book);
    checks.lessons(&book);
    checks.panels(&book);
    checks.milestones(&book);
    let chapters = chapters(workshop);
    checks.summary(&book, &chapters);
    checks.examples();
    let (findings, blocks) = fences::verify(workshop, &chapters);
    checks.findings.extend(findings);
    checks.findings.extend(folds::verify(workshop));
    checks.findings.extend(suspects::verify(workshop));

    let links: usize = book.pages.values().map(|page| page.links.len()).sum();
    let summary = format!(
        "{} pages, {links} links, {blocks} blocks of Rust",
        book.pages.len()
    );
    let outcome = Outcome {
        findings: checks.findings,
        notes: Vec::new(),
        summary,
    };
    Ok((book, outcome))
}

fn chapters(workshop: &Workshop) -> Vec<PathBuf> {
    let mut files = files_under(&workshop.root().join("src"));
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.retain(|file| file.file_name().is_some_and(|name| name != "SUMMARY.md"));
    files.sort();
    files
}

/// The chapter that a page is made of.
pub fn chapter_of(page: &str) -> String {
    format!("src/{}.md", page.trim_end_matches(".html"))
}

struct Checks<'a> {
    workshop: &'a Workshop,
    findings: Vec<Finding>,
}

impl Checks<'_> {
    fn read(&mut self, folder: &Path) -> Book {
        let mut book = Book {
            folder: folder.to_path_buf(),
            pages: BTreeMap::new(),
        };
        for file in files_under(folder) {
            let name = file.strip_prefix(folder).unwrap_or(&file);
            let name = name.to_string_lossy().replace('\\', "/");
            if !name.ends_with(".html") || MADE.contains(&name.as_str()) {
                continue;
            }
            let html = fs::read_to_string(&file).unwrap_or_default();
            if html.contains("{{#") {
                self.find_in(
                    &name,
                    "{{#",
                    "an include is left unexpanded".into(),
                    "name a file and an anchor that exist",
                );
            }
            book.pages.insert(name, Page::read(&html));
        }
        book
    }

    /// Reports what is wrong on a page, at the line of its chapter with `text`.
    fn find_in(&mut self, page: &str, text: &str, fault: String, remedy: &str) {
        let chapter = chapter_of(page);
        let lines = fs::read_to_string(self.workshop.root().join(&chapter)).unwrap_or_default();
        let line = lines.lines().position(|line| line.contains(text));
        let place = line.map_or(chapter.clone(), |at| format!("{chapter}:{}", at + 1));
        self.findings.push(Finding::new(place, fault, remedy));
    }

    fn complaints(&mut self, complaints: Vec<String>) {
        let root = format!("{}/", self.workshop.root().display());
        for complaint in complaints {
            let complaint = complaint.replace(&root, "");
            let (place, fault) = complaint.split_once(": ").unwrap_or(("src", &complaint));
            let remedy = "name a file and an anchor that exist: `// ANCHOR: name`";
            self.findings.push(Finding::new(place, fault, remedy));
        }
    }

    fn links(&mut self, book: &Book) {
        for (name, page) in &book.pages {
            for link in &page.links {
                if let Some(fault) = book.fault_of(name, link) {
                    let target = link
                        .rsplit('/')
                        .next()
                        .unwrap_or(link)
                        .replace(".html", ".md");
                    self.find_in(name, &target, fault, "fix the link, or what it leads to");
                }
            }
        }
    }

    fn blocks(&mut self, book: &Book) {
        for (name, page) in &book.pages {
            for block in &page.blocks {
                // A block that isn't a snippet can't be told from others in the chapter.
                let class = block
                    .classes
                    .iter()
                    .find(|class| class.starts_with("snippet-"));
                let text = class.map_or(NOWHERE, String::as_str);
                if block.has("language-rust") && block.visible.trim().is_empty() {
                    let fault = "a block shows nothing".into();
                    let remedy = "name an anchor that exists and has lines in it";
                    self.find_in(name, text, fault, remedy);
                }
                if let Some(line) = anchor_shown(block) {
                    let fault = format!("a block shows the mark of an anchor: `{line}`");
                    let remedy = "include an anchor around all of the file: mdBook leaves out the \
                                  marks within it";
                    self.find_in(name, text, fault, remedy);
                }
                if let Some(line) = too_wide(block) {
                    let fault = format!(
                        "a line of code is wider than {COLUMNS} columns: `{}`",
                        line.trim()
                    );
                    self.find_in(
                        name,
                        line.trim(),
                        fault,
                        "break it, in the file that it comes from",
                    );
                }
            }
        }
    }

    /// Checks where the tests send the reader.
    fn lessons(&mut self, book: &Book) {
        for exercise in catalogue::find_all(self.workshop) {
            for file in exercise.tests().into_iter().chain(exercise.models()) {
                let text = fs::read_to_string(&file).unwrap_or_default();
                for (line, read) in source::reading(&text) {
                    let Some(fault) = book.fault_of("index.html", &read) else {
                        continue;
                    };
                    let place = format!("{}:{line}", relative(self.workshop, &file));
                    let remedy = "give the chapter a section of that name, or name another";
                    self.findings.push(Finding::new(place, fault, remedy));
                }
            }
        }
    }

    fn panels(&mut self, book: &Book) {
        let exercises = catalogue::find_all(self.workshop);
        let numbers: BTreeSet<_> = exercises.iter().map(|one| one.number.to_string()).collect();
        for (name, page) in &book.pages {
            for panel in page.panels.iter().filter(|panel| !numbers.contains(*panel)) {
                let text = format!("data-exercise=\"{panel}\"");
                let fault = format!("there is no exercise `{panel}`");
                self.find_in(name, &text, fault, "name one that exists");
            }
        }
    }

    /// Checks that an exercise's page has the milestones of its stub in a table.
    fn milestones(&mut self, book: &Book) {
        for exercise in catalogue::find_all(self.workshop) {
            let number = exercise.number.to_string();
            let pages = &mut book.pages.iter();
            let Some((name, _)) = pages.find(|(_, page)| page.panels.contains(&number)) else {
                continue;
            };
            let text = fs::read_to_string(self.workshop.root().join(chapter_of(name)));
            let text = text.unwrap_or_default();
            for milestone in exercise.milestones() {
                if !steps::has_row(&text, &milestone) {
                    let of = format!("{}. {}", milestone.number, milestone.name);
                    let fault = format!("no row of a table has the clauses of milestone {of}");
                    let clauses: Vec<_> = milestone.clauses.iter().map(u32::to_string).collect();
                    let remedy = format!("write `| {of} | {} | … |`", clauses.join(", "));
                    self.find_in(name, &format!("| {of} |"), fault, &remedy);
                }
            }
        }
    }

    fn summary(&mut self, book: &Book, chapters: &[PathBuf]) {
        let source = self.workshop.root().join("src");
        for chapter in chapters {
            let name = chapter
                .strip_prefix(&source)
                .unwrap_or(chapter)
                .with_extension("html");
            let name = name.to_string_lossy().replace("README.html", "index.html");
            if !book.folder.join(&name).is_file() {
                let place = relative(self.workshop, chapter);
                let fault = "the book does not have this page";
                self.findings.push(Finding::new(
                    place,
                    fault,
                    "list it in src/SUMMARY.md, or remove it",
                ));
            }
        }
    }

    /// Checks that each program is shown somewhere.
    fn examples(&mut self) {
        let included: BTreeSet<_> = book::includes(self.workshop)
            .into_iter()
            .filter_map(|include| include.file.canonicalize().ok())
            .collect();
        for file in files_under(&self.workshop.root().join("snippets/examples")) {
            if file
                .canonicalize()
                .is_ok_and(|file| !included.contains(&file))
            {
                let place = relative(self.workshop, &file);
                let fault = "no page shows this program";
                self.findings.push(Finding::new(
                    place,
                    fault,
                    "include it in a page, or remove it",
                ));
            }
        }
    }
}

/// The block's first line that isn't code, but the mark of an anchor. mdBook keeps
/// these marks where it includes a whole file.
fn anchor_shown(block: &Block) -> Option<&str> {
    let mut lines = block.text.lines().map(str::trim);
    lines.find(|line| line.starts_with("// ANCHOR"))
}

/// The first line of the block that is too wide. What a program printed is as
/// wide as it is.
fn too_wide(block: &Block) -> Option<&str> {
    let mut lines = block.visible.lines();
    let wide = |line: &&str| line.chars().count() > COLUMNS;
    lines.find(wide).filter(|_| !block.has("recorded"))
}

impl Book {
    /// What is wrong with a link on a page.
    fn fault_of(&self, page: &str, link: &str) -> Option<String> {
        let leaves = |link: &str| {
            link.contains("://") || link.starts_with("data:") || link.starts_with("mailto:")
        };
        if leaves(link) || link.is_empty() {
            return None;
        }
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = path.split('?').next().unwrap_or(path);
        let target = resolve(page, path);
        if !self.folder.join(&target).is_file() {
            return Some(format!("the link `{link}` leads to no page or file"));
        }
        let ids = self.pages.get(&target).map(|page| &page.ids)?;
        // A figure's link says after its id what it is to show.
        let (anchor, _) = anchor.split_once("?s=").unwrap_or((anchor, ""));
        if anchor.is_empty() || ids.contains(anchor) {
            return None;
        }
        Some(format!("the link `{link}` leads to no section of its page"))
    }
}

/// The path that a link on a page means.
fn resolve(page: &str, path: &str) -> String {
    if path.is_empty() {
        return page.to_owned();
    }
    let mut parts: Vec<_> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Block, Book, Page, anchor_shown, resolve, too_wide};

    #[test]
    fn links_are_resolved_from_their_page() {
        assert_eq!(resolve("one/a.html", "../b.html"), "b.html");
        assert_eq!(resolve("one/a.html", "./c.html"), "one/c.html");
        assert_eq!(resolve("one/a.html", ""), "one/a.html");
    }

    #[test]
    fn a_link_must_lead_to_a_file_and_a_section() {
        let folder = tempfile::tempdir().unwrap();
        let html = "<h2 id=\"here\">x</h2>";
        for name in ["a.html", "b.html"] {
            fs::write(folder.path().join(name), html).unwrap();
        }
        let pages = ["a.html", "b.html"].map(|name| (name.to_owned(), Page::read(html)));
        let book = Book {
            folder: folder.path().into(),
            pages: pages.into(),
        };
        for good in [
            "b.html",
            "b.html#here",
            "#here",
            "https://x.org/#y",
            "b.html?highlight=x#here",
            "b.html#here?s=at:1",
        ] {
            assert_eq!(book.fault_of("a.html", good), None, "{good}");
        }
        for bad in ["c.html", "#there", "b.html#there", "b.md", "#there?s=x"] {
            assert!(book.fault_of("a.html", bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_block_shows_no_mark_of_an_anchor() {
        let mut block = Block {
            text: "fn a() {\n    // ANCHOR: part\n}\n".into(),
            ..Block::default()
        };
        assert_eq!(anchor_shown(&block), Some("// ANCHOR: part"));
        block.text = "// An anchor holds a ship.\n".into();
        assert_eq!(anchor_shown(&block), None);
    }

    #[test]
    fn code_has_eighty_columns_and_output_as_many_as_it_has() {
        let mut block = Block {
            visible: format!("{}\n{}\n", "é".repeat(80), "x".repeat(81)),
            ..Block::default()
        };
        assert_eq!(too_wide(&block), Some("x".repeat(81).as_str()));
        block.classes = vec!["recorded".into()];
        assert_eq!(too_wide(&block), None);
    }
}
