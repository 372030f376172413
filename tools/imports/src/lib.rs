//! Finds what a source file takes from std although `primitives` has it, too. The models explore
//! only what comes from `primitives`, and take the rest for something that no other thread can see.

/// A primitive that the models can't see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// The line, counted from 1.
    pub line: usize,
    /// `std::sync::Mutex`, for instance.
    pub path: String,
}

/// What `primitives` has as well, and by what threads wait for each other.
const PRIMITIVES: [&str; 15] = [
    "std::sync::Barrier",
    "std::sync::Condvar",
    "std::sync::Mutex",
    "std::sync::RwLock",
    "std::sync::atomic",
    "std::sync::atomic::self",
    "std::sync::mpsc",
    "std::thread",
    "std::thread::Builder",
    "std::thread::current",
    "std::thread::park",
    "std::thread::park_timeout",
    "std::thread::self",
    "std::thread::spawn",
    "std::thread::yield_now",
];

/// Finds the primitives of std in a file.
pub fn primitives(source: &str) -> Vec<Primitive> {
    let code = without_comments(source);
    let is_path = |at: usize| !code[..at].ends_with(|c: char| c == ':' || is_of_name(c));
    let starts = code.match_indices("std::").map(|(at, _)| at);
    let mut found = Vec::new();
    for at in starts.filter(|at| is_path(*at)) {
        let line = code[..at].matches('\n').count() + 1;
        let mut paths = Vec::new();
        expand(&code[at + 5..], "std", &mut paths);
        paths.retain(|path| is_primitive(path));
        found.extend(paths.into_iter().map(|path| Primitive { line, path }));
    }
    found
}

fn is_primitive(path: &str) -> bool {
    // `Ordering` is std's for all.
    let is_atomic = path.starts_with("std::sync::atomic::Atomic") || path.ends_with("::fence");
    is_atomic || path.starts_with("std::sync::mpsc::") || PRIMITIVES.contains(&path)
}

/// Returns `true` if a file takes something from `primitives`.
pub fn uses_primitives(source: &str) -> bool {
    let code = without_comments(source);
    let mut places = code.match_indices("primitives::").map(|(at, _)| at);
    places.any(|at| !code[..at].ends_with(|c: char| c == ':' || is_of_name(c)))
}

/// Adds the paths that begin with `prefix` and go on here, behind `::`: one, or
/// in braces some. Returns what stands behind them.
fn expand<'a>(code: &'a str, prefix: &str, paths: &mut Vec<String>) -> &'a str {
    let code = code.trim_start();
    if let Some(mut rest) = code.strip_prefix('{') {
        loop {
            rest = expand(rest, prefix, paths);
            // `as name` may stand there.
            let end = rest.find([',', '}', ';']).unwrap_or(rest.len());
            rest = &rest[end..];
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => return rest.strip_prefix('}').unwrap_or(rest),
            }
        }
    }
    let end = code.find(|c| !is_of_name(c)).unwrap_or(code.len());
    let (name, rest) = code.split_at(end);
    if name.is_empty() {
        return rest;
    }
    let path = format!("{prefix}::{name}");
    match rest.strip_prefix("::") {
        Some(more) if more.trim_start().starts_with(|c| c == '{' || is_of_name(c)) => {
            // `Mutex::new` says as much of `Mutex` as of `new`.
            if name.starts_with(char::is_uppercase) {
                paths.push(path.clone());
            }
            expand(more, &path, paths)
        }
        _ => {
            paths.push(path);
            rest
        }
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The source without what stands behind `//` in a line.
fn without_comments(source: &str) -> String {
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned() + "\n";
    source.lines().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::{primitives, uses_primitives};

    fn found_in(source: &str) -> Vec<(usize, String)> {
        let found = primitives(source).into_iter();
        found.map(|one| (one.line, one.path)).collect()
    }

    #[test]
    fn primitives_are_found_in_groups_and_in_the_code() {
        let source = "use std::sync::{Arc, Mutex as Lock, atomic::{AtomicBool, Ordering::Relaxed}};\n\
                      // std::sync::Condvar\n\
                      fn f() { let _ = std::sync::Condvar::new(); std::thread::park(); }\n";
        let expected = [
            (1, "std::sync::Mutex"),
            (1, "std::sync::atomic::AtomicBool"),
            (3, "std::sync::Condvar"),
            (3, "std::thread::park"),
        ];
        let found = found_in(source);
        let found: Vec<_> = found
            .iter()
            .map(|(line, path)| (*line, path.as_str()))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(
            found_in("use std::thread;\n"),
            [(1, "std::thread".to_owned())]
        );
    }

    #[test]
    fn what_the_models_need_not_see_is_not_told() {
        let source = "use std::sync::{Arc, PoisonError, atomic::Ordering};\n\
                      use primitives::{Mutex, atomic::AtomicBool};\n\
                      use std::task::Wake; // see std::sync::Mutex\n\
                      fn f() -> bool { std::thread::panicking() }\n";
        assert_eq!(found_in(source), []);
    }

    #[test]
    fn an_import_from_sync_is_told_from_one_of_std() {
        assert!(uses_primitives("use primitives::{Arc, thread};\n"));
        assert!(uses_primitives("fn f() { primitives::thread::park(); }\n"));
        assert!(!uses_primitives(
            "use std::sync::Mutex;\nuse tokio::sync::mpsc;\n// use primitives::Arc;\n"
        ));
    }
}
