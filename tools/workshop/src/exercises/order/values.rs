//! Names for values: the constants of the file that works with them.

use std::collections::{BTreeMap, BTreeSet};

use super::recording::{Object, Place, Recording};
use super::sources::Sources;

/// How the values of one object are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// As they are.
    Plain,
    /// These values have names.
    Named(BTreeMap<u128, String>),
    /// Units of fields, the largest first: flags, counts.
    Fields(Vec<(u128, String)>),
    /// A number that may wrap around beyond this one.
    Counter(u128),
    /// Two halves of a word.
    Halves,
    /// Addresses, in the order of their appearance.
    Pointers(Vec<String>),
}

/// How the values of each object are written.
pub fn of_objects(recording: &Recording, sources: &Sources) -> Vec<Values> {
    let objects = recording.objects.iter().enumerate();
    objects
        .map(|(number, object)| of_object(recording, sources, number, object))
        .collect()
}

fn of_object(recording: &Recording, sources: &Sources, number: usize, object: &Object) -> Values {
    let seen = seen(recording, number);
    if object.kind == "AtomicPtr" {
        return Values::Pointers(seen);
    }
    let Some(integer) = object.kind.strip_prefix("Atomic").map(str::to_lowercase) else {
        return Values::Plain;
    };
    let (constants, all) = constants_of(recording, sources, number, &integer);
    let is_unit = |(_, value): &&Constant| value.is_power_of_two();
    // Where one flag is missing, its bit would be taken for several of the next lower one.
    let units = match constants.iter().filter(is_unit).count() {
        0 | 1 => &constants,
        _ => &all,
    };
    let mut units: Vec<_> = units
        .iter()
        .filter(|(_, value)| value.is_power_of_two())
        .map(|(name, value)| (*value, name.clone()))
        .collect();
    units.sort();
    units.dedup_by_key(|(value, _)| *value);
    units.reverse();
    let named: BTreeMap<_, _> = constants
        .iter()
        .map(|(name, value)| (*value, name.clone()))
        .collect();
    let numbers = || seen.iter().filter_map(|value| value.parse::<u128>().ok());
    match (named.is_empty(), units.len()) {
        // A word of which a part was set aside is more than any of its constants.
        (false, 2..) if numbers().any(|value| !named.contains_key(&value)) => Values::Fields(units),
        (false, _) => Values::Named(named),
        _ if integer == "u64" && numbers().any(|value| value > u128::from(u32::MAX)) => {
            Values::Halves
        }
        _ => match integer.as_str() {
            "u32" => Values::Counter(u32::MAX.into()),
            "u64" => Values::Counter(u64::MAX.into()),
            "usize" => Values::Counter(usize::MAX as u128),
            _ => Values::Plain,
        },
    }
}

/// How far below the largest number is said how far.
const NEAR: u128 = 64;

/// The number, or how far it is from wrapping around: `MAX-1`.
fn counted(number: u128, most: u128) -> String {
    match most.checked_sub(number) {
        Some(0) => "MAX".to_owned(),
        Some(below) if below < NEAR => format!("MAX-{below}"),
        _ => number.to_string(),
    }
}

/// The values of an object, in the order of their appearance.
fn seen(recording: &Recording, number: usize) -> Vec<String> {
    let steps = recording.steps.iter();
    let steps = steps.filter(|step| step.object == Some(number));
    let values = steps.flat_map(|step| [&step.read, &step.wrote, &step.newest]);
    let initial = &recording.objects[number].initial;
    let values = [initial].into_iter().chain(values.flatten());
    let mut seen: Vec<String> = Vec::new();
    for value in values.filter(|value| !value.is_empty()) {
        if !seen.contains(value) {
            seen.push(value.clone());
        }
    }
    seen
}

impl Values {
    /// A value as it is shown.
    pub fn shown(&self, value: &str) -> String {
        let number = value.parse::<u128>().ok();
        match (self, number) {
            (Self::Named(names), Some(number)) => names
                .get(&number)
                .cloned()
                .unwrap_or_else(|| value.to_owned()),
            (Self::Fields(units), Some(number)) => in_fields(units, number),
            (Self::Counter(most), Some(number)) => counted(number, *most),
            (Self::Halves, Some(number)) => {
                let halves = [number >> 32, number & u128::from(u32::MAX)];
                let [high, low] = halves.map(|half| counted(half, u32::MAX.into()));
                format!("({high}, {low})")
            }
            (Self::Pointers(_), Some(0)) => "null".to_owned(),
            (Self::Pointers(seen), _) => {
                let others = seen.iter().filter(|value| *value != "0");
                let place = others.take_while(|other| *other != value).count();
                format!("pointer {}", place + 1)
            }
            _ => value.to_owned(),
        }
    }
}

impl Values {
    /// What has become of a value: of several fields, only those that aren't as before.
    pub fn changed(&self, from: &str, to: &str) -> String {
        let changes = match (self, from.parse(), to.parse()) {
            (Self::Fields(units), Ok(from), Ok(to)) => changes(units, from, to),
            _ => None,
        };
        changes.unwrap_or_else(|| self.shown(to))
    }
}

impl Values {
    /// The flags and the counts in these values of one object, as they are shown, if it
    /// has several fields.
    pub fn fields_in<'a>(
        &self,
        texts: impl Iterator<Item = &'a str>,
    ) -> (Vec<String>, Vec<String>) {
        let Self::Fields(units) = self else {
            return Default::default();
        };
        let parts: BTreeSet<_> = texts
            .flat_map(|text| text.split('|'))
            .filter(|part| *part != "0")
            .map(|part| {
                part.split_once('*')
                    .map_or((part, false), |(_, name)| (name, true))
            })
            .collect();
        // A number that no field explains would be missing from the picture.
        if parts.iter().any(|(part, _)| part.parse::<u128>().is_ok()) {
            return Default::default();
        }
        let names = units.iter().rev().map(|(_, name)| name);
        let is_count = |name: &String| parts.contains(&(name.as_str(), true));
        let shown = names.filter(|name| is_count(name) || parts.contains(&(name.as_str(), false)));
        let (counts, bits): (Vec<_>, Vec<_>) = shown.cloned().partition(is_count);
        match bits.len() + counts.len() {
            0 | 1 => Default::default(),
            _ => (bits, counts),
        }
    }
}

/// `+NOTIFIED, −RUNNING, 3*REFERENCE`, unless it's easier to read the new value: if no
/// field is as before, or there was only one.
fn changes(units: &[(u128, String)], mut from: u128, mut to: u128) -> Option<String> {
    let (mut parts, mut count, mut kept) = (Vec::new(), 0, 0);
    for (unit, name) in units {
        let (before, after) = (from / unit, to / unit);
        (from, to) = (from % unit, to % unit);
        count += u32::from(before > 0);
        match (before, after) {
            _ if before == after => kept += u32::from(before > 0),
            (0, 1) => parts.push(format!("+{name}")),
            (1, 0) => parts.push(format!("−{name}")),
            _ => parts.push(format!("{after}*{name}")),
        }
    }
    parts.reverse();
    let is_shorter = from == to && kept > 0 && count > 1 && !parts.is_empty();
    is_shorter.then(|| parts.join(", "))
}

/// `ACTIVE|3*REFERENCE`.
fn in_fields(units: &[(u128, String)], mut number: u128) -> String {
    if number == 0 {
        return "0".to_owned();
    }
    let mut parts = Vec::new();
    for (unit, name) in units {
        match number / unit {
            0 => {}
            1 => parts.push(name.clone()),
            count => parts.push(format!("{count}*{name}")),
        }
        number %= unit;
    }
    if number > 0 {
        parts.push(number.to_string());
    }
    parts.reverse();
    parts.join("|")
}

/// A constant's name and value.
type Constant = (String, u128);

/// The constants that some operation on an object is given, in the files that work with
/// it; and all of its type there, some of which may be about something else.
fn constants_of(
    recording: &Recording,
    sources: &Sources,
    number: usize,
    integer: &str,
) -> (Vec<Constant>, Vec<Constant>) {
    let steps = recording.steps.iter();
    let steps = steps.filter(|step| step.object == Some(number));
    let used: BTreeSet<&Place> = steps.map(|step| &step.place).collect();
    let made = &recording.objects[number].place;
    let mut given: BTreeSet<&str> = given(sources.around(made).1).into_iter().collect();
    let mut files = BTreeSet::from([made.file.as_str()]);
    for place in used {
        let (before, after) = sources.around(place);
        given.extend(self::given(after));
        files.insert(place.file.as_str());
        if let Some(receiver) = receiver(before) {
            given.extend(given_to(sources.text(&place.file), receiver));
        }
    }
    let all: Vec<_> = files
        .into_iter()
        .flat_map(|file| constants(sources.text(file)))
        .filter(|(_, kind, _)| *kind == integer)
        .map(|(name, _, value)| (name.to_owned(), value))
        .collect();
    let named = all.iter().filter(|(name, _)| given.contains(name.as_str()));
    let named: Vec<_> = named.cloned().collect();
    // Two names for one value say nothing.
    let is_unique =
        |(_, value): &&(String, u128)| named.iter().filter(|(_, it)| it == value).count() == 1;
    (named.iter().filter(is_unique).cloned().collect(), all)
}

/// How operations begin that are given values.
const OPERATIONS: [&str; 6] = [
    ".store(",
    ".swap(",
    ".compare_exchange",
    ".fetch_",
    ".update(",
    ".try_update(",
];

/// `state` of `self.shared.state.`, `self.0` of `self.0.`.
fn receiver(before: &str) -> Option<&str> {
    let path = before.trim_end().strip_suffix('.')?.trim_end();
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let mut start = path.trim_end_matches(is_part).len();
    if path[start..].chars().all(|it| it.is_ascii_digit()) {
        let outer = path[..start].strip_suffix('.')?;
        start = outer.trim_end_matches(is_part).len();
    }
    Some(&path[start..]).filter(|path| !path.is_empty())
}

/// The names that operations on what is called so are given, anywhere in a file.
fn given_to<'a>(text: &'a str, called: &str) -> Vec<&'a str> {
    let places = OPERATIONS
        .iter()
        .flat_map(|operation| text.match_indices(operation));
    let of_it = places.filter(|(at, _)| receiver(&text[..at + 1]) == Some(called));
    of_it.flat_map(|(at, _)| given(&text[at..])).collect()
}

/// The names that the operation is given that this text begins with, but not those it
/// calculates with: a position plus a capacity isn't a capacity.
fn given(after: &str) -> Vec<&str> {
    let Some(open) = after.find('(') else {
        return Vec::new();
    };
    let mut depth = 0_usize;
    let close = after[open..].find(|it| {
        match it {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let arguments = &after[open + 1..close.map_or(after.len(), |close| open + close)];
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(start) = arguments[at..].find(is_part).map(|start| at + start) {
        let end = arguments[start..].find(|it| !is_part(it));
        let end = end.map_or(arguments.len(), |end| start + end);
        let before = arguments[..start].trim_end().chars().next_back();
        let after = arguments[end..].trim_start().chars().next();
        let is_operator = |it: Option<char>| it.is_some_and(|it| "+-/%<>".contains(it));
        if !is_operator(before) && !is_operator(after) {
            names.push(&arguments[start..end]);
        }
        at = end;
    }
    names
}

/// The constants that a file defines, with their types, as far as their values can be
/// told.
fn constants(text: &str) -> Vec<(&str, &str, u128)> {
    let mut found: Vec<(&str, &str, u128)> = Vec::new();
    for line in text.lines() {
        let Some((_, rest)) = line.split_once("const ") else {
            continue;
        };
        let Some((name, rest)) = rest.split_once(": ") else {
            continue;
        };
        let Some((kind, rest)) = rest.split_once(" = ") else {
            continue;
        };
        let Some((formula, _)) = rest.split_once(';') else {
            continue;
        };
        let value = value_of(formula, &found);
        found.extend(value.map(|value| (name, kind, value)));
    }
    found
}

/// `A | B`, `1 << 3`, `2 * A`, `7`: each part of one word or two.
fn value_of(formula: &str, known: &[(&str, &str, u128)]) -> Option<u128> {
    let mut sum = 0;
    for part in formula.split('|') {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        let word = |word: &str| {
            let word = word.trim();
            let constant = known.iter().find(|(name, _, _)| *name == word);
            let digits = word.replace('_', "");
            let number = match digits.strip_prefix("0x") {
                Some(digits) => u128::from_str_radix(digits, 16).ok(),
                None => digits.parse().ok(),
            };
            constant.map(|(_, _, value)| *value).or(number)
        };
        sum |= if let Some((left, right)) = part.split_once("<<") {
            word(left)?.checked_shl(word(right)?.try_into().ok()?)?
        } else if let Some((left, right)) = part.split_once('*') {
            word(left)?.checked_mul(word(right)?)?
        } else {
            word(part)?
        };
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read_with_their_values() {
        let text = "const A: u8 = 1;\npub const B: usize = 1 << 6;\n    const C: usize = B | (2 * B);\n\
                    const D: usize = usize::MAX / 2;\nconst E: u64 = 0xff_00;\n";
        let expected = [
            ("A", "u8", 1),
            ("B", "usize", 64),
            ("C", "usize", 192),
            ("E", "u64", 0xff00),
        ];
        assert_eq!(constants(text), expected);
    }

    #[test]
    fn a_word_of_fields_is_taken_apart() {
        let units = [(64, "REFERENCE"), (2, "NOTIFIED"), (1, "RUNNING")];
        let units: Vec<_> = units.map(|(unit, name)| (unit, name.to_owned())).to_vec();
        assert_eq!(in_fields(&units, 0), "0");
        assert_eq!(in_fields(&units, 1), "RUNNING");
        assert_eq!(
            in_fields(&units, 3 + 3 * 64),
            "RUNNING|NOTIFIED|3*REFERENCE"
        );
    }

    #[test]
    fn of_a_word_of_fields_the_changes_are_shown() {
        let units = [
            (64, "REFERENCE"),
            (4, "JOINED"),
            (2, "NOTIFIED"),
            (1, "RUNNING"),
        ];
        let units: Vec<_> = units.map(|(unit, name)| (unit, name.to_owned())).to_vec();
        let changes = |from, to| changes(&units, from, to);
        assert_eq!(changes(7 + 192, 6 + 192).unwrap(), "−RUNNING");
        assert_eq!(changes(5 + 256, 7 + 192).unwrap(), "+NOTIFIED, 3*REFERENCE");
        assert_eq!(changes(5 + 64, 4).unwrap(), "−RUNNING, −REFERENCE");
        assert_eq!(changes(4, 6), None, "there was only one");
        assert_eq!(changes(5, 2), None, "no field is as before");
        assert_eq!(changes(5, 5), None, "nothing has changed");
        let values = Values::Fields(units);
        assert_eq!(values.changed("4", "6"), "NOTIFIED|JOINED");
        let fields = |texts: &[&str]| {
            let (bits, counts) = values.fields_in(texts.iter().copied());
            format!("{} {}", bits.join("|"), counts.join("|"))
        };
        let both = ["JOINED|3*REFERENCE", "RUNNING|REFERENCE", "0"];
        assert_eq!(fields(&both), "RUNNING|JOINED REFERENCE");
        assert_eq!(fields(&["RUNNING", "0"]), " ", "it's only one");
        assert_eq!(fields(&["RUNNING|JOINED", "JOINED|8"]), " ", "8 is in none");
        let named = Values::Named(BTreeMap::new());
        let none = named.fields_in(["A|B"].into_iter());
        assert_eq!(none, <(Vec<_>, Vec<_>)>::default());
    }

    #[test]
    fn what_an_operation_calculates_with_is_not_given_to_it() {
        assert_eq!(given("swap(head + CAPACITY, Acquire)"), ["Acquire"]);
        assert_eq!(
            given("swap(PARKED | A, Release)\n"),
            ["PARKED", "A", "Release"]
        );
    }

    #[test]
    fn a_constant_belongs_to_what_is_called_as_where_it_is_given() {
        let text = "self.state.swap(PARKED, Release);\nself.word\n    .fetch_add(ONE, Relaxed);\n\
                    self.0.store(NEW, Relaxed)";
        assert_eq!(given_to(text, "state"), ["PARKED", "Release"]);
        assert_eq!(given_to(text, "word"), ["ONE", "Relaxed"]);
        assert_eq!(given_to(text, "self.0"), ["NEW", "Relaxed"]);
    }

    #[test]
    fn halves_and_pointers_are_short() {
        assert_eq!(Values::Halves.shown("8589934593"), "(2, 1)");
        let counter = Values::Counter(u32::MAX.into());
        assert_eq!(counter.shown("4294967294"), "MAX-1");
        assert_eq!(counter.shown("7"), "7");
        let pointers = Values::Pointers(vec!["0".into(), "4096".into(), "8192".into()]);
        assert_eq!(pointers.shown("0"), "null");
        assert_eq!(pointers.shown("8192"), "pointer 2");
    }
}
