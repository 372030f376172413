//! Puts versions together that differ only in what functions do.
//!
//! Most faults are a few lines of one function. If each such version were a module of its
//! own, the compiler would read, check and translate the whole solution and all its tests
//! once for each of them. So they stand together, and a function that is different in
//! some versions asks which of them it's called in:
//!
//! ```text
//! fn take(&self) -> bool {
//! match testkit::version() {
//! 7 => { self.flag.load(Relaxed) }
//! _ => { self.flag.swap(false, Acquire) }
//! }
//! }
//! ```
//!
//! A version that changes anything else stands apart: a type, a signature, an `impl`, what
//! a name means.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use crate::pieces::{Function, Import, Pieces, without_comments};

/// The files of a version, by their paths below its `src`.
type Files = BTreeMap<PathBuf, String>;

/// A base, and the versions that stand together with it.
#[derive(Debug)]
pub struct Together {
    base: Files,
    pieces: BTreeMap<PathBuf, Pieces>,
    /// What functions of the base do in versions, by their places among those of the file.
    changed: BTreeMap<(PathBuf, usize), Vec<Variant>>,
    /// The functions that only versions have.
    added: BTreeMap<Key, Added>,
    names: Vec<String>,
}

/// The file, the container and the name of a function.
type Key = (PathBuf, String, String);

/// How a version differs from the base.
#[derive(Default)]
struct Changes {
    /// The functions of the base that have other bodies, with those.
    changed: Vec<((PathBuf, usize), String)>,
    /// The functions that the base doesn't have, with their heads and bodies.
    added: Vec<(Key, String, String)>,
}

/// What a function does in one version.
#[derive(Debug)]
struct Variant {
    version: usize,
    body: String,
}

/// A function that the base doesn't have.
#[derive(Debug)]
struct Added {
    head: String,
    variants: Vec<Variant>,
}

impl Together {
    /// Only the base, as yet.
    pub fn new(base: Files) -> Self {
        let pieces = base.iter();
        let pieces = pieces.map(|(path, text)| (path.clone(), Pieces::of(text)));
        Self {
            pieces: pieces.collect(),
            base,
            changed: BTreeMap::new(),
            added: BTreeMap::new(),
            names: Vec::new(),
        }
    }

    /// Takes a version in, and returns `true`, if it can stand together with the base and
    /// those that were taken in before.
    pub fn take_in(&mut self, name: &str, files: &Files) -> bool {
        let Some(changes) = self.changes(files) else {
            return false;
        };
        let version = self.names.len() + 1;
        for (key, body) in changes.changed {
            let variant = Variant { version, body };
            self.changed.entry(key).or_default().push(variant);
        }
        for (key, head, body) in changes.added {
            let variants = Vec::new();
            let one = self.added.entry(key).or_insert(Added { head, variants });
            one.variants.push(Variant { version, body });
        }
        self.names.push(name.to_owned());
        true
    }

    /// How a version differs from the base. Nothing if it isn't only in what functions do.
    fn changes(&self, files: &Files) -> Option<Changes> {
        if !files.keys().eq(self.base.keys()) {
            return None;
        }
        let mut changes = Changes::default();
        for (path, text) in files {
            let (old, new) = (&self.pieces[path], Pieces::of(text));
            let imports = imports_in_addition(old, &new)?;
            if old.rest != new.rest || has_lost_an_override(old, &new) {
                return None;
            }
            for one in &new.functions {
                let code = &text[one.body.clone()];
                let body = with_imports(code, &imports, one);
                let Some(place) = old.functions.iter().position(|it| it.is_as(one)) else {
                    let key = (path.clone(), one.container.clone(), one.name.clone());
                    if !self.may_add(&key, one, old) {
                        return None;
                    }
                    changes.added.push((key, one.head.clone(), body));
                    continue;
                };
                let before = &old.functions[place].body;
                let known = &self.base[path][before.clone()];
                if without_comments(known) == without_comments(code) {
                    continue;
                }
                if before.is_empty() || !one.may_choose() {
                    return None;
                }
                changes.changed.push(((path.clone(), place), body));
            }
        }
        Some(changes)
    }

    /// Whether a function that the base doesn't have can be put there.
    fn may_add(&self, key: &Key, one: &Function, old: &Pieces) -> bool {
        let is_same = |old: &Function| old.container == one.container && old.name == one.name;
        let is_taken = old.functions.iter().any(is_same);
        let fits = self
            .added
            .get(key)
            .is_none_or(|known| known.head == one.head);
        one.may_choose() && !one.is_override() && !is_taken && fits
    }

    /// The versions that were taken in. The first one has the number 1.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The files of the whole.
    pub fn files(&self) -> Files {
        let mut edits: BTreeMap<_, Vec<(Range<usize>, String)>> = BTreeMap::new();
        for ((path, place), variants) in &self.changed {
            let body = self.pieces[path].functions[*place].body.clone();
            let code = choice(variants, &self.base[path][body.clone()]);
            edits.entry(path).or_default().push((body, code));
        }
        for ((path, container, _), added) in &self.added {
            let end = self.pieces[path].ends[container];
            let choice = choice(&added.variants, "unreachable!()\n");
            let code = format!("{}\n{choice}}}\n", added.head);
            edits.entry(path).or_default().push((end..end, code));
        }
        let mut files = self.base.clone();
        for (path, mut edits) in edits {
            edits.sort_by_key(|(place, _)| place.start);
            for (place, code) in edits.into_iter().rev() {
                if let Some(text) = files.get_mut(path) {
                    text.replace_range(place, &code);
                }
            }
        }
        files
    }
}

/// What stands in a function that does something else in each of these versions.
fn choice(variants: &[Variant], otherwise: &str) -> String {
    let mut code = "match testkit::version() {\n".to_owned();
    for variant in variants {
        code += &format!("{} => {{\n{}}}\n", variant.version, variant.body);
    }
    code + &format!("_ => {{\n{otherwise}}}\n}}\n")
}

/// What a version imports beside the base's imports. Nothing if a name means something
/// else in the version: signatures and types may have that name in them.
fn imports_in_addition<'a>(old: &'a Pieces, new: &'a Pieces) -> Option<BTreeSet<&'a Import>> {
    let more: BTreeSet<_> = new.imports.difference(&old.imports).collect();
    let is_known = |one: &Import| {
        let is_same = |it: &Import| it.container == one.container && it.name == one.name;
        old.imports.iter().any(is_same)
    };
    let is_hidden = |one: &&Import| one.name == "*" || is_known(one);
    (!more.iter().any(is_hidden)).then_some(more)
}

/// The body, and before it what its version imports in addition.
fn with_imports(body: &str, imports: &BTreeSet<&Import>, function: &Function) -> String {
    let mut whole = String::new();
    for one in imports {
        if one.container == function.module {
            whole += &format!("#[allow(unused_imports)]\nuse {};\n", one.path);
        }
    }
    whole + body
}

/// Whether a version lacks a function whose absence has another one called.
fn has_lost_an_override(old: &Pieces, new: &Pieces) -> bool {
    let is_there = |one: &Function| new.functions.iter().any(|it| it.is_as(one));
    let lost = |one: &Function| one.is_override() && !is_there(one);
    old.functions.iter().any(lost)
}

#[cfg(test)]
mod tests {
    use super::{Files, Together};

    const BASE: &str = "\
use std::sync::Mutex;

pub struct Flag(Mutex<bool>);

impl Flag {
    /// Takes it.
    pub fn take(&self) -> bool {
        self.0.lock().unwrap().take()
    }

    pub const fn size() -> u32 {
        1
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        self.take();
    }
}
";

    fn files(text: &str) -> Files {
        Files::from([("lib.rs".into(), text.into())])
    }

    /// Whether the base with these replacements can stand together with it.
    fn fits(together: &mut Together, name: &str, edits: &[(&str, &str)]) -> bool {
        let edit = |text: String, (old, new): &(&str, &str)| {
            assert!(text.contains(old), "there is no `{old}`");
            text.replace(old, new)
        };
        let text = edits.iter().fold(BASE.to_owned(), edit);
        together.take_in(name, &files(&text))
    }

    const TAKE: &str = "self.0.lock().unwrap().take()\n";

    #[test]
    fn a_body_is_chosen_by_the_version() {
        let mut together = Together::new(files(BASE));
        assert!(fits(&mut together, "c01_never", &[(TAKE, "false\n")]));
        let imports = ("use std", "use std::mem;\nuse std");
        let more = (
            "    pub const",
            "    fn more(&self) {\n        loop {}\n    }\n\n    pub const",
        );
        let swapped = (TAKE, "mem::take(self.more())\n");
        assert!(fits(&mut together, "c02_more", &[imports, more, swapped]));
        assert_eq!(together.names(), ["c01_never", "c02_more"]);

        let whole = &together.files()[std::path::Path::new("lib.rs")];
        let take = "    pub fn take(&self) -> bool {\nmatch testkit::version() {\n\
                    1 => {\n        false\n}\n\
                    2 => {\n#[allow(unused_imports)]\nuse std::mem;\n        mem::take(self.more())\n}\n\
                    _ => {\n        self.0.lock().unwrap().take()\n}\n}\n    }\n";
        assert!(whole.contains(take), "{whole}");
        let more = "    fn more(&self) {\n\nmatch testkit::version() {\n\
                    2 => {\n#[allow(unused_imports)]\nuse std::mem;\n        loop {}\n}\n\
                    _ => {\nunreachable!()\n}\n}\n}\n}\n\nimpl Drop";
        assert!(whole.contains(more), "{whole}");
    }

    #[test]
    fn a_comment_is_no_difference() {
        let mut together = Together::new(files(BASE));
        let edits = [
            ("/// Takes it.", "/// Doesn't."),
            ("        1\n", "        // One.\n        1\n"),
        ];
        assert!(fits(&mut together, "c01_same", &edits));
        assert_eq!(together.files(), files(BASE));
    }

    #[test]
    fn what_changes_anything_else_stands_apart() {
        let apart: [&[(&str, &str)]; 8] = [
            &[("Mutex<bool>);", "Mutex<u8>);")],
            &[("take(&self)", "take(self)")],
            &[("        1\n", "        2\n")],
            &[("std::sync::Mutex", "parking_lot::Mutex")],
            &[("use std::sync::Mutex;", "use std::sync::*;")],
            &[(
                "    fn drop(&mut self) {\n        self.take();\n    }\n",
                "",
            )],
            &[("impl Drop", "impl Copy for Flag {}\n\nimpl Drop")],
            &[("pub struct", "const ONE: u32 = 1;\n\npub struct")],
        ];
        for edits in apart {
            let mut together = Together::new(files(BASE));
            assert!(!fits(&mut together, "c01_other", edits), "{edits:?}");
            assert_eq!((together.names().len(), together.files()), (0, files(BASE)));
        }
    }

    #[test]
    fn two_versions_may_add_the_same_function_only_with_one_signature() {
        let mut together = Together::new(files(BASE));
        let mut add = |name: &str, head: &str, body: &str| {
            let function =
                format!("\n    fn more({head}) {{\n        {body}\n    }}\n}}\n\nimpl Drop");
            fits(&mut together, name, &[("}\n\nimpl Drop", &function)])
        };
        assert!(add("c01_one", "", "one()"));
        assert!(add("c02_two", "", "two()"));
        assert!(!add("c03_three", "&self", "three()"));
    }
}
