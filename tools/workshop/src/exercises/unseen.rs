//! Which primitives of std a file uses: the models explore only what comes from
//! `sync`, and take the rest for something that no other thread can see.

/// A primitive that the models can't see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The line, counted from 1.
    pub line: usize,
    /// `std::sync::Mutex`, for instance.
    pub path: String,
}

/// What `sync` has as well, and by what threads wait for each other.
const PRIMITIVES: [&str; 11] = [
    "std::sync::Barrier",
    "std::sync::Condvar",
    "std::sync::Mutex",
    "std::sync::RwLock",
    "std::sync::atomic",
    "std::sync::mpsc",
    "std::thread::Builder",
    "std::thread::current",
    "std::thread::park",
    "std::thread::spawn",
    "std::thread::yield_now",
];

/// Finds the primitives of std in a file, in the order of its lines.
pub fn primitives(source: &str) -> Vec<Unseen> {
    let mut found = Vec::new();
    for (at, path) in paths(&code(source)) {
        let is_one = |primitive: &&str| path.starts_with(**primitive);
        // The orderings are std's for all.
        let is_ordering = path.starts_with("std::sync::atomic::Ordering") || path.ends_with("::self");
        if PRIMITIVES.iter().any(|primitive| is_one(&primitive)) && !is_ordering {
            let line = source[..at].lines().count().max(1);
            found.push(Unseen { line, path });
        }
    }
    found
}

/// Whether a file takes something from `sync`.
pub fn uses_sync(source: &str) -> bool {
    let code = code(source);
    let places = code.match_indices("sync::").map(|(at, _)| at);
    let mut before = places.map(|at| &code[..at]);
    before.any(|text| !text.ends_with("::") && !text.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The source, with blanks in the place of its comments.
fn code(source: &str) -> String {
    let line = |line: &str| {
        let end = line.find("//").unwrap_or(line.len());
        let blanks = line[end..].chars().map(|c| match c {
            '\n' => '\n',
            _ => ' ',
        });
        line[..end].chars().chain(blanks).collect::<String>()
    };
    source.split_inclusive('\n').map(line).collect()
}
