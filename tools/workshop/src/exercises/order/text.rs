//! Shows the steps in a terminal: one line a step, one column a thread.

use std::collections::BTreeSet;

use super::document::{Document, Source, Step};
use super::ending::DECIDES;
use super::picture::file_name;

/// The widest column of a thread.
const WIDEST: usize = 56;
/// Narrower than this, words are cut in the middle.
const NARROWEST: usize = 24;

/// The document as text, for a terminal of so many columns. With `most`, only the last
/// rows are shown, and it's said how many others there are.
pub fn text(document: &Document, columns: usize, most: Option<usize>) -> String {
    let busy: Vec<usize> = (0..document.threads.len())
        .filter(|&thread| document.steps.iter().any(|step| step.thread == thread))
        .collect();
    let ambiguous = ambiguous(document);
    let width = width(document, &busy, columns, &ambiguous);
    let mut text = format!("  {}\n\n", document.description);
    let names = busy
        .iter()
        .map(|&thread| pad(&document.threads[thread].name, width));
    text += &format!("       | {} |\n", names.collect::<Vec<_>>().join(" | "));
    let count = document.steps.len();
    let first = most.map_or(0, |most| first_shown(document, most));
    if first > 0 {
        let s = if first == 1 { "" } else { "s" };
        text += &format!("     … | {first} earlier step{s}\n");
    }
    for number in first..count {
        text += &row(document, number, &busy, width, &ambiguous);
    }
    text + &format!("    => | {}\n", document.end.text)
}

/// The first of the last rows; the step that decides is among them.
fn first_shown(document: &Document, most: usize) -> usize {
    let last = document.steps.len().saturating_sub(most);
    let decides = |step: &Step| {
        let note = step.note.as_ref();
        note.is_some_and(|note| note.starts_with(DECIDES))
    };
    let decisive = document.steps.iter().position(decides);
    decisive.map_or(last, |at| last.min(at.saturating_sub(most / 2)))
}

/// What is said of a step in its column.
fn words(document: &Document, number: usize) -> String {
    let step = &document.steps[number];
    let mut words = step.text.clone();
    if let Some(newest) = &step.stale {
        words += &match write_before(document, number) {
            Some(write) => format!(", OLD: step {} left {newest}", write + 1),
            None => format!(", OLD: it is {newest}"),
        };
    }
    if let Some(ordering) = &step.ordering {
        words += &format!(" {ordering}");
    }
    if step.note.is_some() {
        words += " (!)";
    }
    words
}

/// The step that has written last to the cell that this one reads.
fn write_before(document: &Document, number: usize) -> Option<usize> {
    let (cell, _) = document.steps[number].text.split_once('.')?;
    let cell = document.cells.iter().position(|it| it.name == cell)?;
    let writes = |step: &Step| step.changes.iter().any(|change| change.cell == cell);
    document.steps[..number].iter().rposition(writes)
}

fn width(document: &Document, busy: &[usize], columns: usize, ambiguous: &BTreeSet<&str>) -> usize {
    let steps = (0..document.steps.len()).map(|at| words(document, at).chars().count());
    let names = document
        .threads
        .iter()
        .map(|thread| thread.name.chars().count());
    let widest = steps.chain(names).max().unwrap_or(0);
    let places = document
        .steps
        .iter()
        .map(|step| place(step, ambiguous).chars().count());
    let margins = 7 + places.max().unwrap_or(0);
    let room = columns.saturating_sub(margins) / busy.len().max(1);
    let room = room.saturating_sub(3).clamp(NARROWEST, WIDEST);
    widest.min(room)
}

/// Where a step stands: ` models.rs:123`, or ` 02-parker/lib.rs:123` where steps stand in
/// several files of that name.
fn place(step: &Step, ambiguous: &BTreeSet<&str>) -> String {
    let Some(Source { file, line, .. }) = &step.source else {
        return String::new();
    };
    let name = file_name(file);
    let parts = file.split(['/', '\\']);
    let folder = parts.rev().skip(1).find(|part| *part != "src");
    match folder.filter(|_| ambiguous.contains(name)) {
        Some(folder) => format!(" {folder}/{name}:{line}"),
        None => format!(" {name}:{line}"),
    }
}

/// The names that several files have.
fn ambiguous(document: &Document) -> BTreeSet<&str> {
    let sources = document
        .steps
        .iter()
        .filter_map(|step| step.source.as_ref());
    let files: BTreeSet<&str> = sources.map(|source| source.file.as_str()).collect();
    let mut names = BTreeSet::new();
    let twice = files.into_iter().map(file_name);
    twice.filter(|name| !names.insert(*name)).collect()
}

fn row(
    document: &Document,
    number: usize,
    busy: &[usize],
    width: usize,
    ambiguous: &BTreeSet<&str>,
) -> String {
    let step = &document.steps[number];
    let place = place(step, ambiguous);
    let lines = wrapped(&words(document, number), width);
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let cells = busy.iter().map(|&thread| match thread == step.thread {
            true => pad(line, width),
            false => " ".repeat(width),
        });
        let cells = cells.collect::<Vec<_>>().join(" | ");
        let (number, place) = match at {
            0 => ((number + 1).to_string(), place.as_str()),
            _ => (String::new(), ""),
        };
        text += format!("  {number:>4} | {cells} |{place}").trim_end();
        text.push('\n');
    }
    text
}

/// Breaks the text between words into lines of this width; what is longer than a line is
/// cut, behind a `|` if there is one. Later lines are indented.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().expect("there is one");
            let used = line.chars().count();
            let space = usize::from(!line.trim().is_empty());
            if used + space + word.len() <= width {
                line.push_str(&" "[..space]);
                line.extend(word);
                break;
            }
            let is_long = 2 + word.len() > width;
            let room = width.saturating_sub(used + space);
            let bar = word.iter().take(room).rposition(|&it| it == '|');
            if is_long && room > 0 && (bar.is_some() || !word.contains(&'|') || space == 0) {
                line.push_str(&" "[..space]);
                line.extend(word.drain(..bar.map_or(room, |bar| bar + 1)));
            }
            lines.push("  ".to_owned());
        }
    }
    lines
}

fn pad(text: &str, width: usize) -> String {
    let cut: String = text.chars().take(width).collect();
    let missing = width - cut.chars().count();
    cut + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::super::document::{End, EndKind, SCHEMA, Thread};
    use super::*;

    fn document(texts: &[(usize, &str)]) -> Document {
        let step = |&(thread, text): &(usize, &str)| Step {
            thread,
            text: text.into(),
            source: Some(Source {
                file: "a/lib.rs".into(),
                line: 7,
                code: None,
            }),
            ..Step::default()
        };
        let name = |name: &str| Thread { name: name.into() };
        Document {
            schema: SCHEMA.into(),
            title: "m".into(),
            description: "It fails.".into(),
            threads: vec![name("main"), name("idle"), name("other")],
            cells: Vec::new(),
            steps: texts.iter().map(step).collect(),
            end: End {
                kind: EndKind::Deadlock,
                text: "a deadlock".into(),
                threads: vec![0],
            },
        }
    }

    #[test]
    fn each_step_stands_in_the_column_of_its_thread() {
        let shown = text(
            &document(&[(0, "lock.lock"), (2, "state.load = 1")]),
            100,
            None,
        );
        let expected = "  It fails.\n\n       | main           | other          |\n     1 | lock.lock      \
                        |                | lib.rs:7\n     2 |                | state.load = 1 | lib.rs:7\n    \
                        => | a deadlock\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn files_of_one_name_are_told_apart_by_their_folders() {
        let mut document = document(&[(0, "lock.lock"), (0, "state.load = 1"), (0, "end")]);
        let files = [
            "exercises/05-x/src/lib.rs",
            "solutions/02-y/src/lib.rs",
            "a/models.rs",
        ];
        for (step, file) in document.steps.iter_mut().zip(files) {
            step.source.as_mut().expect("each has one").file = file.into();
        }
        let shown = text(&document, 100, None);
        for place in ["| 05-x/lib.rs:7\n", "| 02-y/lib.rs:7\n", "| models.rs:7\n"] {
            assert!(shown.contains(place), "{shown}");
        }
    }

    #[test]
    fn of_many_steps_the_last_are_shown() {
        let steps: Vec<_> = (0..5).map(|_| (0, "step")).collect();
        let shown = text(&document(&steps), 100, Some(3));
        assert!(
            shown.contains("… | 2 earlier steps\n     3 | step"),
            "{shown}"
        );
    }

    #[test]
    fn a_narrow_terminal_breaks_lines_between_words() {
        assert_eq!(
            wrapped("state.swap: EMPTY → PARKED", 16),
            ["state.swap:", "  EMPTY → PARKED"]
        );
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "  ef", "  gh", "  ij"]);
        assert_eq!(
            wrapped("load = A|BCD|EFGHIJ", 11),
            ["load = A|", "  BCD|", "  EFGHIJ"]
        );
        assert_eq!(
            wrapped("a: ABCDEFG|HIJ", 9),
            ["a:", "  ABCDEFG", "  |HIJ"],
            "a flag that doesn't fit is cut, on a line of its own"
        );
    }
}
