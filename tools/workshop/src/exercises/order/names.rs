//! Names for what a recording only numbers, read from the source.

use std::collections::BTreeMap;

use super::recording::{Place, Recording};
use super::sources::{Sources, without_detours};

/// A name for each object: of the field or the binding that it was made for, or
/// of what it's called where it is used. Of equal names, those in files that begin as
/// `own` says come first.
pub fn cells(recording: &Recording, sources: &Sources, own: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for (number, object) in recording.objects.iter().enumerate() {
        let is_derived = shares_its_place(recording, number)
            || sources.around(&object.place).1.starts_with("Default");
        let made = (!is_derived).then(|| made_as(sources.around(&object.place).0));
        let used = || used_as(recording, sources, number);
        let name = match made.flatten() {
            Some(Made::Field(name)) => Some(name),
            Some(Made::Part(name)) => used().or(Some(name)),
            None => used(),
        };
        names.push(name.unwrap_or_else(|| object.kind.to_lowercase()));
    }
    let objects = recording.objects.iter();
    let is_foreign = |file: &str| !own.iter().any(|own| file.contains(own.as_str()));
    let ranks = objects.map(|object| is_foreign(&without_detours(&object.place.file)));
    numbered(names, &ranks.collect::<Vec<_>>())
}

/// Whether objects of other kinds were made at the same place, as a derived
/// `Default` does; then the place has no name for any of them.
fn shares_its_place(recording: &Recording, number: usize) -> bool {
    let this = &recording.objects[number];
    let others = recording.objects.iter();
    let mut others = others.filter(|other| other.place == this.place);
    others.any(|other| other.kind != this.kind)
}

/// A name for each thread: the program's, or that of the handle's binding.
pub fn threads(recording: &Recording, sources: &Sources) -> Vec<String> {
    let threads = recording.threads.iter().enumerate();
    let name = |(number, thread): (usize, &super::recording::Thread)| {
        if number == 0 {
            return "main".to_owned();
        }
        let bound = || match made_as(sources.around(&thread.place).0)? {
            Made::Field(name) | Made::Part(name) => Some(name),
        };
        let given = thread.name.clone().filter(|name| !name.is_empty());
        given.or_else(bound).unwrap_or_else(|| "thread".to_owned())
    };
    let names: Vec<_> = threads.map(name).collect();
    let ranks = vec![false; names.len()];
    numbered(names, &ranks)
}

/// Tells equal names apart: `state`, `state 2`. The lower rank is counted first.
fn numbered(mut names: Vec<String>, ranks: &[bool]) -> Vec<String> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&at| ranks[at]);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for at in order {
        let count = counts.entry(names[at].clone()).or_default();
        *count += 1;
        if *count > 1 {
            names[at] += &format!(" {count}");
        }
    }
    names
}

/// What a value is made for.
#[derive(Debug, PartialEq, Eq)]
enum Made {
    /// The field or binding is the value, or only wraps it.
    Field(String),
    /// It is one of several in it.
    Part(String),
}

/// What the value is made for that stands after this text.
fn made_as(before: &str) -> Option<Made> {
    let mut rest = before.trim_end();
    loop {
        if let Some(inner) = rest.strip_suffix('(') {
            let callee = path_at_end(inner);
            rest = inner[..inner.len() - callee.len()].trim_end();
            let last = callee.rsplit("::").next().unwrap_or_default();
            if callee.is_empty() {
                return part_of(rest);
            }
            if last == "Self" {
                return enclosing_type(rest).map(Made::Field);
            }
            let wraps = ["new", "Some", "from", "pin", "spawn", "into"].contains(&last);
            if !wraps && !last.starts_with(char::is_uppercase) {
                return part_of(rest);
            }
        } else if rest.ends_with(':') && !rest.ends_with("::") {
            let name = path_at_end(rest[..rest.len() - 1].trim_end());
            return is_name(name).then(|| Made::Field(name.to_owned()));
        } else if let Some(left) = rest.strip_suffix('=') {
            return binding(left).map(Made::Field);
        } else {
            return part_of(rest);
        }
    }
}

/// The name at the beginning of the statement that this text ends in.
fn part_of(before: &str) -> Option<Made> {
    // A `;` within a line may be that of an array.
    let ends = [";\n", "{\n", "}\n"].map(|end| before.rfind(end));
    let start = ends.iter().flatten().max().map_or(0, |at| at + 1);
    let statement = before[start..].trim_start();
    let (left, _) = statement.split_once('=')?;
    binding(left).map(Made::Part)
}

/// `x` of `let mut x: T`.
fn binding(left: &str) -> Option<String> {
    let start = left.rfind("let ")? + "let ".len();
    let name = left[start..].split(':').next()?.trim();
    let name = name.strip_prefix("mut ").unwrap_or(name).trim();
    is_name(name).then(|| name.to_owned())
}

/// `State` in `impl … State {` is called `state`.
fn enclosing_type(before: &str) -> Option<String> {
    let line = before.lines().rev().find(|line| line.starts_with("impl"))?;
    let subject = match line.split_once(" for ") {
        Some((_, subject)) => subject,
        None => line
            .strip_prefix("impl")?
            .trim_start_matches(|it| it != ' '),
    };
    let subject = subject.trim().split(['<', ' ', '{']).next()?;
    let mut snake = String::new();
    for character in subject.chars() {
        if character.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    is_name(&snake).then_some(snake)
}

/// What the object is called most often where it is used.
fn used_as(recording: &Recording, sources: &Sources, object: usize) -> Option<String> {
    let steps = recording.steps.iter();
    let steps = steps.filter(|step| step.object == Some(object) && step.operation != "unlock");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in steps.filter_map(|step| receiver(sources, &step.place)) {
        *counts.entry(name).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(name, _)| name)
}

/// `state` of `self.shared.state.load(…)`, where the place is that of `load`, or of
/// `let mut state = self.lock()`.
fn receiver(sources: &Sources, place: &Place) -> Option<String> {
    let (before, _) = sources.around(place);
    let mut rest = before.trim_end().strip_suffix('.')?.trim_end();
    let mut index = String::new();
    loop {
        if rest.ends_with(')') || rest.ends_with(']') {
            rest = without_brackets(rest)?;
            continue;
        }
        let word = word_at_end(rest);
        rest = &rest[..rest.len() - word.len()];
        match word {
            // What a function of its own returns: `let state = self.lock()`.
            "self" => return binding(rest.trim_end().strip_suffix('=')?),
            "" => return None,
            word if word.chars().all(|it| it.is_ascii_digit()) => {
                index = format!(".{word}{index}");
                rest = rest.strip_suffix('.')?.trim_end();
            }
            word => return Some(format!("{word}{index}")),
        }
    }
}

/// The text before the bracket that the last one closes.
fn without_brackets(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices().rev() {
        match character {
            ')' | ']' => depth += 1,
            '(' | '[' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[..at]);
        }
    }
    None
}

fn word_at_end(text: &str) -> &str {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    &text[text.trim_end_matches(is_part).len()..]
}

/// `Arc::<T>::new` is taken for `::new`, which is enough.
fn path_at_end(text: &str) -> &str {
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    &text[text.trim_end_matches(is_part).len()..]
}

fn is_name(text: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    !text.is_empty() && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str) -> Option<Made> {
        Some(Made::Field(name.into()))
    }

    fn part(name: &str) -> Option<Made> {
        Some(Made::Part(name.into()))
    }

    #[test]
    fn a_value_is_named_by_what_it_is_made_for() {
        assert_eq!(made_as("Shared {\n    state: "), field("state"));
        assert_eq!(made_as("{ is_set: Arc::new("), field("is_set"));
        assert_eq!(made_as("  let mut flag = Arc::new("), field("flag"));
        assert_eq!(
            made_as("let cell: Arc<UnsafeCell<u8>> =\n    "),
            field("cell")
        );
        assert_eq!(made_as("f();\n    let pair = Arc::new(("), part("pair"));
        assert_eq!(
            made_as("let flags = [(); 2].map(|()| Arc::new("),
            part("flags")
        );
        let of_type = "impl Default for TaskState {\n    fn default() -> Self {\n        Self(";
        assert_eq!(made_as(of_type), field("task_state"));
        assert_eq!(made_as("fn f() {\n    work("), None);
    }

    #[test]
    fn a_value_is_named_by_its_use_where_nothing_else_is_known() {
        let receiver_of = |text: &str| {
            let sources = Sources::from(&[("a.rs", text)]);
            let column = text.lines().last().unwrap().len() as u32 + 1;
            let line = text.lines().count() as u32;
            let file = "a.rs".into();
            receiver(&sources, &Place { file, line, column })
        };
        assert_eq!(receiver_of("self.shared.state.").as_deref(), Some("state"));
        assert_eq!(receiver_of("shared.0.").as_deref(), Some("shared.0"));
        assert_eq!(receiver_of("slots[next(1)].").as_deref(), Some("slots"));
        assert_eq!(
            receiver_of("self\n    .count()\n    .").as_deref(),
            Some("count")
        );
        assert_eq!(receiver_of("self.0."), None);
        assert_eq!(
            receiver_of("f();\n    let mut state = self.").as_deref(),
            Some("state")
        );
        assert_eq!(receiver_of("f();\n    self."), None);
    }

    #[test]
    fn equal_names_are_told_apart() {
        let names = ["a", "b", "a"].map(String::from).to_vec();
        assert_eq!(numbered(names.clone(), &[false; 3]), ["a", "b", "a 2"]);
        let of_others = [true, false, false];
        assert_eq!(numbered(names, &of_others), ["a 2", "b", "a"]);
    }
}
