//! The hints of an exercise, from its `hints.md`.

use std::fs;

use serde::Serialize;

use super::catalogue::Exercise;
use super::progress::Progress;
use crate::problem::Problem;
use crate::workshop::Workshop;

/// A level of the hints: its heading, and what stands below it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Level {
    /// `Concept`, `Strategy` or `Code`.
    pub heading: String,
    /// The text.
    pub text: String,
}

/// What a page knows of an exercise's hints.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Hints {
    /// Those that were given.
    pub given: Vec<Level>,
    /// The headings of those still to come.
    pub to_come: Vec<String>,
    /// Whether a check was red since the last one was given.
    pub earned: bool,
}

/// Returns the hints that were given.
pub fn given(workshop: &Workshop, exercise: &Exercise) -> Hints {
    let memory = Progress::load(workshop).of(exercise.number);
    let mut given = levels_of(exercise);
    let rest = given.split_off(memory.hints.min(given.len()));
    Hints {
        given,
        to_come: rest.into_iter().map(|level| level.heading).collect(),
        earned: memory.hint_earned,
    }
}

/// Returns the hint to show, and remembers that it was given. After the last
/// level the last one comes again.
///
/// # Errors
///
/// When the exercise has no hints.
pub fn next(workshop: &Workshop, exercise: &Exercise) -> Result<String, Problem> {
    let levels = levels_of(exercise);
    if levels.is_empty() {
        let number = exercise.number;
        return Err(Problem::new(format!("exercise {number} has no hints yet"))
            .help("read its chapter: `cargo workshop` opens the book"));
    }
    let given = Progress::load(workshop).of(exercise.number).hints;
    let at = given.min(levels.len() - 1);
    Progress::change(workshop, exercise.number, |memory| {
        memory.hints = at + 1;
        memory.hint_earned = false;
    })
    .map_err(|error| {
        Problem::new(format!("the hint cannot be remembered: {error}"))
            .help("make room on the disk, or look into the exercise's `hints.md`")
    })?;
    Ok(shown(exercise, &levels, at))
}

fn levels_of(exercise: &Exercise) -> Vec<Level> {
    let file = exercise.folder.join("hints.md");
    levels(&fs::read_to_string(&file).unwrap_or_default())
}

fn shown(exercise: &Exercise, levels: &[Level], at: usize) -> String {
    let Level { heading, text } = &levels[at];
    let (number, level, of) = (exercise.number, at + 1, levels.len());
    let more = if level < of {
        format!(
            "`cargo workshop hint {number}` again goes on to the next: {}.",
            levels[level].heading.to_lowercase()
        )
    } else {
        let folder = exercise.folder_name();
        format!(
            "That was the last. All of them are in `exercises/{folder}/hints.md`, and the solution in `solutions/{folder}`."
        )
    };
    format!("Exercise {number}, hint {level} of {of}: {heading}\n\n{text}\n\n{more}")
}

/// Splits the file at its headings of the first level.
pub fn levels(text: &str) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.starts_with("```");
        match line.strip_prefix("# ") {
            // A line of code may begin like a heading.
            Some(heading) if !in_code => levels.push(Level {
                heading: heading.trim().to_owned(),
                text: String::new(),
            }),
            _ => {
                if let Some(level) = levels.last_mut() {
                    level.text.push_str(line);
                    level.text.push('\n');
                }
            }
        }
    }
    for level in &mut levels {
        level.text = level.text.trim().to_owned();
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::levels;

    #[test]
    fn headings_split_the_hints_but_not_inside_code() {
        let text = "# Concept\n\nThink.\n\n# Code\n\n```rust\n# hidden\n```\n";
        let levels = levels(text);
        let headings: Vec<_> = levels.iter().map(|level| level.heading.as_str()).collect();
        assert_eq!(headings, ["Concept", "Code"]);
        assert_eq!(levels[0].text, "Think.");
        assert_eq!(levels[1].text, "```rust\n# hidden\n```");
    }
}
