//! Runs an exercise's demonstration on the reader's code, and keeps its trace.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trace::Trace;
use trace::document::{self, Document};

use super::cargo::{self, Build, Target, Words};
use super::catalogue::{self, Exercise};
use super::colors_wanted;
use super::routine::Routine;
use crate::figures;
use crate::problem::Problem;
use crate::sandbox::{self, Cause, Limits, Order, Stream};
use crate::terminal::{columns, harmless, is_live};
use crate::workshop::{Scratch, Workshop};

/// The demonstrations' file in the folder of their exercise.
pub const DEMONSTRATION: &str = "examples/trace.rs";

/// Far more than a demonstration takes.
const LIMIT: Duration = Duration::from_secs(10);

/// The file with the trace that was made last. All servers of the workshop show
/// it, also those that run already.
pub fn latest(workshop: &Workshop) -> PathBuf {
    workshop.target().join("latest-trace.json")
}

/// Builds and runs the demonstration of an exercise, keeps the trace, and tells
/// it in a few sentences.
///
/// # Errors
///
/// When there is no demonstration, when the reader's code doesn't compile, does
/// not finish in time or isn't written yet, or when nothing was recorded.
pub async fn demonstrate(workshop: &Workshop, number: u32) -> Result<Trace, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    if !exercise.folder.join(DEMONSTRATION).is_file() {
        let others = catalogue::find_all(workshop).into_iter();
        let others = others.filter(|one| one.folder.join(DEMONSTRATION).is_file());
        let others: Vec<_> = others.map(|one| one.number.to_string()).collect();
        return Err(
            Problem::new(format!("exercise {number} has no demonstration"))
                .help(format!("those that have one: {}", others.join(", "))),
        );
    }
    if exercise.holds_a_todo() {
        return Err(unwritten(number));
    }
    let (package, example) = (exercise.package(), "trace".to_owned());
    let mut routine = Routine::default();
    let say = |words| match words {
        Words::Cargo(text) => eprint!("{}", routine.take(&text)),
        Words::Compiler(diagnostic) => eprint!("{}", diagnostic.rendered),
    };
    let (text, document) = record(workshop, &exercise, package, example, say).await?;
    eprint!("{}", routine.end());
    let latest = latest(workshop);
    fs::write(&latest, &text).map_err(|error| {
        Problem::new(format!("`{}` cannot be written: {error}", latest.display()))
            .help("make room on the disk, or change the folder's owner")
    })?;
    Ok((*document).into())
}

/// Builds and runs the demonstration on our solution.
///
/// # Errors
///
/// When nothing good comes of it, as in [`demonstrate`].
pub async fn demonstrate_solution(
    workshop: &Workshop,
    exercise: &Exercise,
) -> Result<Trace, Problem> {
    // Its examples are the demonstrations, with the solutions under the
    // exercises' names.
    let (package, example) = ("trace".to_owned(), exercise.package());
    let (_, document) = record(workshop, exercise, package, example, drop).await?;
    Ok((*document).into())
}

/// Returns what the demonstration has left, as text and as it is read.
async fn record(
    workshop: &Workshop,
    exercise: &Exercise,
    package: String,
    example: String,
    on_words: impl FnMut(Words),
) -> Result<(String, Box<document::Trace>), Problem> {
    let executable = build(workshop, exercise, package, example, on_words).await?;
    let text = run(workshop, exercise, &executable).await?;
    match Document::read(&text) {
        Ok(Document::Trace(document)) => Ok((text, document)),
        Ok(_) => Err(broken(exercise, "the demonstration saves no trace")),
        Err(fault) => Err(broken(exercise, &format!("the trace is broken: {fault}"))),
    }
}

async fn build(
    workshop: &Workshop,
    exercise: &Exercise,
    package: String,
    example: String,
    on_words: impl FnMut(Words),
) -> Result<PathBuf, Problem> {
    let build = Build {
        packages: vec![package.clone()],
        target: Target::Example(example),
        colors: colors_wanted(&std::io::stderr()),
        columns: is_live(&std::io::stderr()).then(columns),
        ..Build::default()
    };
    let built = cargo::build(workshop, &build, on_words, std::future::pending()).await?;
    let binary = built.binary(&package).filter(|_| built.success);
    let binary = binary.ok_or_else(|| {
        let number = exercise.number;
        Problem::new(format!("exercise {number} does not compile, as said above"))
            .help(format!("fix it, and see `cargo workshop check {number}`"))
    })?;
    Ok(binary.executable.clone())
}

/// Returns the document that the demonstration leaves.
async fn run(
    workshop: &Workshop,
    exercise: &Exercise,
    executable: &Path,
) -> Result<String, Problem> {
    let scratch = Scratch::claim(&workshop.target())?;
    let folder = scratch.runs().join("demonstration");
    fs::create_dir_all(&folder)
        .map_err(|error| Problem::new(format!("`{}` cannot be made: {error}", folder.display())))?;
    let mut errors = String::new();
    let on_output = |stream, text: String| match stream {
        Stream::Out => print!("{}", harmless(&text)),
        Stream::Err => errors += &text,
    };
    let order = order(executable, &folder);
    let ended = sandbox::run(&order, on_output, std::future::pending()).await;
    let ended = ended
        .map_err(|error| Problem::new(format!("the demonstration could not be run: {error}")))?;
    if ended.cause != Cause::Exited(0) {
        return Err(unfinished(exercise, ended.cause, &errors));
    }
    eprint!("{}", harmless(&errors));
    let (mut left, complaints) = figures::collect(&folder);
    // What is left there is of no further use.
    let _left = scratch.sweep();
    match (left.pop(), complaints.first()) {
        (Some(figure), _) => Ok(figures::format(&figure.document)),
        (None, Some(complaint)) => Err(broken(exercise, complaint)),
        (None, None) => Err(broken(exercise, "the demonstration saves nothing")),
    }
}

fn order(executable: &Path, folder: &Path) -> Order {
    let path = std::env::var("PATH").unwrap_or_default();
    let own = folder.display().to_string();
    Order {
        program: executable.to_path_buf(),
        arguments: Vec::new(),
        folder: folder.to_path_buf(),
        inherit_environment: false,
        variables: [("PATH", path), (figures::FOLDER, own)]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        limits: Limits::snippet(LIMIT),
    }
}

fn unfinished(exercise: &Exercise, cause: Cause, errors: &str) -> Problem {
    let number = exercise.number;
    let check = format!("`cargo workshop check {number}`");
    match cause {
        Cause::Exited(_) if errors.contains("not yet implemented") => unwritten(number),
        Cause::Timeout => {
            let seconds = LIMIT.as_secs();
            Problem::new(format!(
                "the demonstration of exercise {number} was ended after {seconds} seconds"
            ))
            .help(format!("{check} says where your code hangs"))
        }
        cause => {
            let words = match errors.trim() {
                "" => format!("it {cause}"),
                words => harmless(words),
            };
            Problem::new(format!(
                "the demonstration of exercise {number} failed: {words}"
            ))
            .help(format!("{check} says what is wrong with your code"))
        }
    }
}

/// There is nothing to show or to measure yet.
pub fn unwritten(number: u32) -> Problem {
    Problem::new(format!("exercise {number} holds a `todo!` still"))
        .help(format!("solve it first: `cargo workshop check {number}`"))
}

fn broken(exercise: &Exercise, fault: &str) -> Problem {
    let file = format!("exercises/{}/{DEMONSTRATION}", exercise.folder_name());
    Problem::new(fault).help(format!("fix `{file}`: it saves one trace"))
}

#[cfg(test)]
mod tests {
    use super::{Cause, Exercise, unfinished};

    #[test]
    fn a_stub_and_a_hang_get_a_sentence_and_a_remedy() {
        let exercise = Exercise {
            number: 1,
            topic: "block-on".into(),
            folder: "exercises/01-block-on".into(),
        };
        let told = |cause, errors| unfinished(&exercise, cause, errors).to_string();
        let stub = told(Cause::Exited(101), "not yet implemented: poll");
        assert!(
            stub.contains("holds a `todo!`") && stub.contains("check 1"),
            "{stub}"
        );
        let hang = told(Cause::Timeout, "");
        assert!(
            hang.contains("10 seconds") && hang.contains("hangs"),
            "{hang}"
        );
        let panic = told(Cause::Exited(101), "panicked at x");
        assert!(panic.contains("panicked at x"), "{panic}");
        assert!(told(Cause::Signal(6), "").contains("it was ended by SIGABRT ("));
        assert!(told(Cause::OutputLimit, "").contains("it printed too much"));
    }
}
