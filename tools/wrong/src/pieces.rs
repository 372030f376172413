//! Takes a source file apart into its functions and the rest.
//!
//! The sources are formatted by rustfmt, so the layout tells where an item ends: at the
//! first line with the item's own indent that begins with a closing brace, or ends with
//! a semicolon.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How far what stands in braces is indented.
const STEP: usize = 4;

/// A file, taken apart.
#[derive(Debug, Default)]
pub struct Pieces {
    /// The functions that have bodies.
    pub functions: Vec<Function>,
    /// All other code, in no order.
    pub rest: BTreeSet<String>,
    /// What's imported, but for what is exported again.
    pub imports: BTreeSet<Import>,
    /// Where the modules and `impl`s end, before their last braces.
    pub ends: BTreeMap<String, usize>,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// The modules of the file that it stands in.
    pub module: String,
    /// These, and the head of its `impl`.
    pub container: String,
    /// Its name.
    pub name: String,
    /// Its attributes and its signature, with the brace that opens its body.
    pub head: String,
    /// Where its body stands, without its braces.
    pub body: Range<usize>,
}

/// A name that a module imports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The modules of the file that it's imported in.
    pub container: String,
    /// The name, or `*`.
    pub name: String,
    /// What it's the name of, as after `use`.
    pub path: String,
}

/// An item's lines.
struct Lines<'a> {
    /// With their line feeds, and with where each of them begins.
    lines: &'a [(usize, &'a str)],
    indent: usize,
}

impl Pieces {
    /// Takes a file apart.
    pub fn of(text: &str) -> Self {
        let mut at = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            at += line.len();
            (at - line.len(), line)
        });
        let lines: Vec<_> = lines.collect();
        let mut pieces = Self::default();
        pieces.ends.insert(String::new(), text.len());
        pieces.read(&lines, 0, "", "");
        pieces
    }

    fn read<'a>(
        &mut self,
        mut lines: &'a [(usize, &'a str)],
        indent: usize,
        module: &str,
        container: &str,
    ) {
        while let Some((item, next)) = Lines::first(lines, indent) {
            lines = next;
            self.read_item(&item, module, container);
        }
    }

    fn read_item(&mut self, item: &Lines<'_>, module: &str, container: &str) {
        let code = item.without_comments();
        let words = item.words();
        if let Some(tree) = code.trim_start().strip_prefix("use ") {
            let tree = tree.trim_end().trim_end_matches(';');
            return self.import(module, "", &tree.replace('\n', " "));
        }
        let Some((head, body)) = item.parts() else {
            self.rest.insert(format!("{container} {code}"));
            return;
        };
        if let Some(name) = words.strip_prefix("fn ") {
            let end = name.find(['(', '<']).unwrap_or(name.len());
            self.functions.push(Function {
                module: module.to_owned(),
                container: container.to_owned(),
                name: name[..end].to_owned(),
                head,
                body: range(body),
            });
            return;
        }
        let is_module = words.starts_with("mod ");
        if !is_module && !words.starts_with("impl ") && !words.starts_with("impl<") {
            self.rest.insert(format!("{container} {code}"));
            return;
        }
        let inner = format!("{container}{head}");
        self.rest.insert(inner.clone());
        self.ends.insert(inner.clone(), range(body).end);
        let module = if is_module { &inner } else { module };
        self.read(body, item.indent + STEP, module, &inner);
    }

    /// Reads what `use` declares after `before`.
    fn import(&mut self, container: &str, before: &str, tree: &str) {
        let tree = tree.trim();
        if let Some((path, group)) = tree.split_once('{') {
            let group = group.trim_end().strip_suffix('}').unwrap_or(group);
            for one in split_outside(group) {
                self.import(container, &format!("{before}{path}"), one);
            }
            return;
        }
        if tree.is_empty() {
            return;
        }
        let mut path = format!("{before}{tree}");
        if let Some(module) = path.strip_suffix("::self") {
            path = module.to_owned();
        }
        let last = path.rsplit("::").next().unwrap_or(&path);
        let name = match last.split_once(" as ") {
            // Each of those is another one.
            Some((_, "_")) => last,
            Some((_, name)) => name,
            None => last,
        };
        self.imports.insert(Import {
            container: container.to_owned(),
            name: name.to_owned(),
            path,
        });
    }
}

impl Function {
    /// Whether the other one is the same function, whatever it does.
    pub fn is_as(&self, other: &Self) -> bool {
        self.container == other.container && self.head == other.head
    }

    /// Whether it can have several bodies, of which it chooses one when it's called.
    pub fn may_choose(&self) -> bool {
        !self.head.contains("const fn ") && !self.head.contains("-> impl ")
    }

    /// Whether another function would be called if this one weren't there.
    pub fn is_override(&self) -> bool {
        self.container.contains(" for ")
    }
}

impl<'a> Lines<'a> {
    /// The first item of these lines, and those after it.
    fn first(
        lines: &'a [(usize, &'a str)],
        indent: usize,
    ) -> Option<(Self, &'a [(usize, &'a str)])> {
        let is_code = |line: &str| !is_blank_or_comment(line);
        let start = lines.iter().position(|(_, line)| is_code(line))?;
        let lines = &lines[start..];
        let (mut is_attribute, mut is_open) = (false, false);
        for (count, (_, line)) in lines.iter().enumerate() {
            let code = line.trim();
            if is_blank_or_comment(line) {
                continue;
            }
            if indent_of(line) > indent && !(is_open && code.ends_with(';')) {
                continue;
            }
            is_open = code.ends_with('=');
            is_attribute |= code.starts_with("#[");
            if is_attribute {
                is_attribute = !code.ends_with(']');
                continue;
            }
            if code.starts_with('}')
                || code.ends_with(';')
                || code.ends_with("{}")
                || code.starts_with("#![")
            {
                let (item, next) = lines.split_at(count + 1);
                return Some((
                    Self {
                        lines: item,
                        indent,
                    },
                    next,
                ));
            }
        }
        Some((Self { lines, indent }, &[]))
    }

    fn without_comments(&self) -> String {
        let lines = self.lines.iter().map(|(_, line)| *line);
        lines.filter(|line| !is_blank_or_comment(line)).collect()
    }

    /// The item from its keyword on.
    fn words(&self) -> String {
        let code = self.without_comments();
        let lines = code.lines().skip_while(|line| {
            let code = line.trim();
            code.starts_with("#[") || code.starts_with(')') || indent_of(line) > self.indent
        });
        let code = lines.collect::<Vec<_>>().join("\n");
        let mut words = code.trim();
        loop {
            let before = words;
            if let Some(rest) = words.strip_prefix("pub(") {
                words = rest.split_once(") ").map_or(rest, |(_, rest)| rest);
            }
            for word in ["pub ", "async ", "const ", "unsafe ", "extern \"C\" "] {
                words = words.strip_prefix(word).unwrap_or(words);
            }
            if words == before {
                return words.to_owned();
            }
        }
    }

    /// What stands before the item's braces, without comments, and the lines in them.
    /// Nothing if it has no braces.
    fn parts(&self) -> Option<(String, &'a [(usize, &'a str)])> {
        let code = self.without_comments();
        if let Some(head) = code.strip_suffix("{}\n") {
            return Some((format!("{head}{{\n"), &[]));
        }
        let opens = |(_, line): &(usize, &str)| {
            indent_of(line) == self.indent && line.trim_end().ends_with('{')
        };
        let open = self.lines.iter().position(opens)?;
        let (_, last) = self.lines.last()?;
        let closes = last.trim() == "}" && open + 1 < self.lines.len();
        let head = self.lines[..=open].iter().map(|(_, line)| *line);
        let head = head.filter(|line| !is_blank_or_comment(line)).collect();
        closes.then(|| (head, &self.lines[open + 1..self.lines.len() - 1]))
    }
}

/// The code without comments that have lines to themselves.
pub fn without_comments(code: &str) -> String {
    let lines = code.split_inclusive('\n');
    lines.filter(|line| !is_blank_or_comment(line)).collect()
}

fn is_blank_or_comment(line: &str) -> bool {
    let code = line.trim_start();
    code.is_empty() || code.starts_with("//")
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Where these lines stand.
fn range(lines: &[(usize, &str)]) -> Range<usize> {
    match (lines.first(), lines.last()) {
        (Some((start, _)), Some((last, line))) => *start..last + line.len(),
        _ => 0..0,
    }
}

/// The parts between the commas that stand in no braces.
fn split_outside(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::Pieces;

    const TEXT: &str = r#"//! A file.

#![allow(dead_code)]

use std::{fmt, sync::{Arc, Mutex as Lock}};
pub use fmt::Debug;

/// A constant.
const LONG: &str =
    "};";

#[derive(Debug)]
struct Pair(u8, u8);

impl<T> Trait<T> for Pair
where
    T: Debug,
{
    type Item = T;

    // An attribute of several lines.
    #[expect(
        dead_code,
        reason = "it's here"
    )]
    pub(crate) async unsafe fn long(
        &self,
        one: T,
    ) -> T {
        match one {
            other => other,
        }
    }

    fn empty(&self) {}
}

mod inner {
    use super::Pair;

    fn last() {
        1 + 1;
    }
}
"#;

    #[test]
    fn a_file_is_taken_apart() {
        let pieces = Pieces::of(TEXT);
        let found = pieces.functions.iter().map(|one| {
            let module = one.module.trim();
            (module, one.name.as_str(), &TEXT[one.body.clone()])
        });
        let found: Vec<_> = found.collect();
        let long = "        match one {\n            other => other,\n        }\n";
        let last = ("mod inner {", "last", "        1 + 1;\n");
        assert_eq!(found, [("", "long", long), ("", "empty", ""), last]);
        assert!(pieces.functions[0].is_override() && !pieces.functions[2].is_override());

        let names = pieces.imports.iter().map(|one| (&*one.name, &*one.path));
        let expected = [
            ("Arc", "std::sync::Arc"),
            ("Lock", "std::sync::Mutex as Lock"),
            ("fmt", "std::fmt"),
            ("Pair", "super::Pair"),
        ];
        assert_eq!(names.collect::<Vec<_>>(), expected);

        let rest: Vec<_> = pieces.rest.iter().map(|one| one.trim()).collect();
        for code in [
            "#![allow(dead_code)]",
            "pub use fmt::Debug;",
            "struct Pair(u8, u8);",
            "type Item = T;",
        ] {
            assert!(
                rest.iter().any(|one| one.contains(code)),
                "{code}: {rest:#?}"
            );
        }
        assert!(
            rest.contains(&"const LONG: &str =\n    \"};\";"),
            "{rest:#?}"
        );
    }
}
