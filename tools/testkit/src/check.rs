//! Runs a check, here and in its child process.

use std::any::type_name;
use std::panic::Location;

use crate::source::{exercise_folder, without_detours};
use crate::verdict::{Kind, Verdict};
use crate::watchdog::Limits;
use crate::{Lesson, child, events, grammar, model};

/// The body of a check. All bodies have one type, so everything below is compiled once instead of
/// once for each check of each version.
pub(crate) type Body = Box<dyn FnOnce() + Send>;

/// Runs `body` as the check of `lesson`, in a child process, and fails the test with what the
/// lesson teaches if the body panics, hangs, spins or crashes the process. A body reports what it
/// saw in the message of its `assert!`.
///
/// Must be called from a `#[test]` function itself: the child process finds the test by the name of
/// the function that contains the closure.
///
/// # Panics
///
/// If the check fails.
#[track_caller]
pub fn check<F: FnOnce() + Send + 'static>(lesson: Lesson, body: F) {
    run(lesson, Limits::of_check(), type_name::<F>(), Box::new(body));
}

/// Like [`check`], with the time that exploring a model takes.
///
/// # Panics
///
/// If the check fails.
#[track_caller]
pub fn check_model<F: FnOnce() + Send + 'static>(lesson: Lesson, body: F) {
    run(lesson, Limits::MODEL, type_name::<F>(), Box::new(body));
}

#[track_caller]
fn run(lesson: Lesson, limits: Limits, closure: &'static str, body: Body) {
    let place = Location::caller();
    let name = test_name(closure);
    if child::is_child() {
        child::run(limits, exercise_folder(place.file()), body);
    }
    if std::env::var_os("TESTKIT_INLINE").is_some() || cfg!(miri) {
        return body();
    }
    events::emit(name, &lesson, "running", "");
    let report = child::start(name, limits);
    let file = place.file();
    let place = format!("{}:{}", without_detours(file), place.line());
    let failure = match report.verdict {
        Verdict::Passed => None,
        Verdict::Failed(failed) => {
            let threads = failed.threads.iter().map(|line| shown(line));
            let seen = shown(&failed.seen);
            let seen = match Kind::of(&seen) {
                Kind::Assertion => grammar::agreeing(&seen),
                _ => seen,
            };
            let threads: Vec<_> = threads.collect();
            let foreign = (limits == Limits::MODEL)
                .then(|| model::foreign(file))
                .flatten();
            let report = lesson.report(&seen, foreign.as_deref(), &place, &threads);
            Some((report, seen, failed.execution))
        }
    };
    // `print!` instead of a write to standard output: libtest captures it.
    print!("{}", report.output);
    let Some((failure, seen, execution)) = failure else {
        events::emit(name, &lesson, "passed", &report.output);
        return;
    };
    events::emit_failure(name, &lesson, &failure, &seen, execution);
    eprint!("{failure}");
    // The report has said everything; a panic message and a backtrace hint would only bury it.
    std::panic::resume_unwind(Box::new("the check failed"));
}

/// The text with its control characters shown instead of sent: a terminal obeys some of them, and
/// any program can put them into a panic message.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            control if control.is_control() => shown.extend(control.escape_default()),
            other => shown.push(other),
        }
    }
    shown
}

/// The path of the test function that contains this closure, as libtest names it: without the
/// crate, and without the closure.
fn test_name(path: &'static str) -> &'static str {
    let path = path.split_once("::").map_or(path, |(_crate, rest)| rest);
    path.split("::{{closure}}").next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
