//! Whether a model sees the code that it is about.
//!
//! A model checker controls the primitives that come from `primitives`. Code that uses std's
//! instead runs as if nothing could come between two of its steps, and what the checker then finds
//! says nothing about that code.

use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::source::is_of_check;
use crate::verdict::{Failure, HANGS, Kind, UNSEEN};

/// What is known so far.
static STATE: AtomicU8 = AtomicU8::new(NO_MODEL);

/// No checker has announced that it will report what it sees.
// --> BLIND (`model_begins`)
const NO_MODEL: u8 = 0;
/// A model has begun, and it hasn't yet seen a primitive of the code under test.
// --> SEES (`model_sees`)
const BLIND: u8 = 1;
/// It has.
const SEES: u8 = 2;

/// The execution that a checker tries, counted from 1; 0 if it doesn't count them.
static EXECUTION: AtomicU64 = AtomicU64::new(0);

/// Code whose primitives don't count, although the checker sees them.
const ELSEWHERE: [&str; 4] = ["/rustc/", "/.cargo/", "tools/testkit/", "tools/primitives/"];

/// Says that a checker begins to explore a model in this process, and will call
/// [`model_sees`].
pub fn model_begins() {
    // Relaxed, here and below: the state is all that is read.
    let _ = STATE.compare_exchange(NO_MODEL, BLIND, Relaxed, Relaxed);
}

/// Says that the checker sees a primitive, which the code at `place` makes or uses.
pub fn model_sees(place: &Location<'_>) {
    if STATE.load(Relaxed) == BLIND && is_of_subject(place.file()) {
        STATE.store(SEES, Relaxed);
    }
}

/// Says that the checker begins its execution with this number, counted from 1. Another process
/// that explores the same model comes to the same execution by this number.
pub fn model_execution(number: u64) {
    EXECUTION.store(number, Relaxed);
}

/// The execution that the checker has begun last.
pub(crate) fn execution() -> Option<u64> {
    Some(EXECUTION.load(Relaxed)).filter(|&number| number > 0)
}

/// A part of an earlier exercise counts, too: a program may be made of nothing else.
fn is_of_subject(file: &str) -> bool {
    !is_of_check(file) && !ELSEWHERE.iter().any(|folder| file.contains(folder))
}

/// Says of a model's failure that the model can't see the code, if that is the case.
pub(crate) fn judge(failure: Failure) -> Failure {
    let sees = STATE.load(Relaxed) != BLIND;
    match unseen(sees, &failure.seen) {
        Some(seen) => Failure { seen, ..failure },
        None => failure,
    }
}

fn unseen(sees: bool, seen: &str) -> Option<String> {
    match Kind::of(seen) {
        Kind::Unwritten | Kind::Panic | Kind::Busy | Kind::Died => None,
        kind if !sees => {
            // The rest of its words is about the threads.
            let found = match kind {
                Kind::Hang => HANGS,
                _ => seen,
            };
            Some(format!(
                "{UNSEEN}, which takes no lock, atomic or thread from `primitives`: what the \
                 model found says nothing about the promise ({found})"
            ))
        }
        // All threads of a model run on one thread of the system, and the checker ends a model in
        // which they all wait for each other.
        Kind::Hang => Some(format!(
            "{UNSEEN}: some of its locks, condition variables or threads don't come from \
             `primitives`, and the code waits in one of those, where the model can't run another \
             thread"
        )),
        _ => None,
    }
}

/// Names the first primitive of std in the reader's own files, if there is one. `place` is the
/// model's file.
pub(crate) fn foreign(place: &str) -> Option<String> {
    // The models of all other versions are reached through `..`.
    let is_readers = place.contains("exercises/") && !place.contains("..");
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    foreign_in(&package.filter(|_| is_readers)?)
}

fn foreign_in(package: &Path) -> Option<String> {
    let files = fs::read_dir(package.join("src")).ok()?.flatten();
    let mut names: Vec<_> = files
        .filter_map(|it| it.file_name().into_string().ok())
        .collect();
    names.retain(|name| name.ends_with(".rs") && !is_of_check(&format!("src/{name}")));
    names.sort();
    names.iter().find_map(|name| {
        let source = fs::read_to_string(package.join("src").join(name)).ok()?;
        let first = imports::primitives(&source).into_iter().next()?;
        Some(format!("`{}` (src/{name}:{})", first.path, first.line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_under_test_counts() {
        for (file, counts) in [
            ("exercises/02-parker/src/lib.rs", true),
            (
                "/target/build/counterexamples-1/out/exercise_2/c01_x/lib.rs",
                true,
            ),
            ("solutions/02-parker/src/lib.rs", true),
            ("exercises/02-parker/src/models.rs", false),
            (
                "solutions/02/src/../../../exercises/02/src/models/shuttle.rs",
                false,
            ),
            ("tools/testkit/src/gate.rs", false),
        ] {
            assert_eq!(is_of_subject(file), counts, "{file}");
        }
    }

    #[test]
    fn a_failure_of_code_that_is_not_seen_is_reported_as_such() {
        let found = "the value was never written";
        let seen = unseen(false, found).expect("nothing was seen");
        assert_eq!(Kind::of(&seen), Kind::Unseen);
        assert!(seen.ends_with("(the value was never written)"), "{seen}");
        assert_eq!(unseen(true, found), None, "the code was seen");
    }

    #[test]
    fn what_comes_from_std_is_named_with_its_place() {
        let package = std::env::temp_dir().join(format!("foreign-{}", std::process::id()));
        let sources = package.join("src");
        fs::create_dir_all(&sources).expect("a folder of its own");
        let write = |name, text| fs::write(sources.join(name), text).expect("it can be written");
        write(
            "lib.rs",
            "use primitives::Mutex;\n\nuse std::sync::{Arc, Condvar};\n",
        );
        write("models.rs", "use std::thread;\n");
        let found = foreign_in(&package);
        write("lib.rs", "use primitives::{Condvar, Mutex};\n");
        let nothing = foreign_in(&package);
        let _ = fs::remove_dir_all(&package);
        assert_eq!(
            found.as_deref(),
            Some("`std::sync::Condvar` (src/lib.rs:3)")
        );
        assert_eq!(nothing, None, "the model's own file doesn't count");
    }

    #[test]
    fn a_hang_in_a_model_is_in_what_it_does_not_see() {
        let seen = unseen(true, HANGS).expect("no checker waits");
        assert_eq!(Kind::of(&seen), Kind::Unseen);
    }

    #[test]
    fn a_panic_of_the_code_is_what_it_is() {
        assert_eq!(unseen(false, "a panic at src/lib.rs:3: overflow"), None);
        let unwritten = "this part is not written yet: `todo!` was reached at src/lib.rs:3";
        assert_eq!(unseen(false, unwritten), None);
    }
}
