//! Changes the solutions line by line, as cargo-mutants does, to see whether the
//! checks notice: tests that a reader's wrong program would meet, judged by an
//! instrument that knows nothing of how they were written.
//!
//! The solutions' own tests, which a reader's program never meets, judge nothing: what
//! only they catch is a wrong program that a reader could hand in.
//!
//! A mutant that survives is either a hole in the checks or an equivalent program.
//! Equivalent ones are listed in `.cargo/mutants.toml`, each with its reason.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use serde::Deserialize;

use super::Finding;
use crate::exercises::catalogue::{self, Checker, Exercise};
use crate::problem::Problem;
use crate::workshop::Workshop;

/// The list of equivalent mutants, which cargo-mutants reads itself.
const LIST: &str = ".cargo/mutants.toml";

/// An expression that fits no mutant's name.
const FITS_NOTHING: &str = "^$";

/// What libtest is told so that it runs the exercise's checks only. The other modules with
/// tests are the solution's own; those with models are reached as `models` by every other
/// version, too.
const CHECKS: [&str; 6] = [
    "tests::",
    "models::",
    "--skip",
    "_tests::",
    "--skip",
    "_models::",
];

/// What cargo-mutants exits with when some mutants weren't caught, and when the
/// checks of some didn't end in time. It has then done all its work.
const SOME_MISSED: i32 = 2;
const SOME_TIMED_OUT: i32 = 3;

/// `cargo workshop verify --mutants`: of these exercises, or of all if `numbers` is
/// empty. The status is a success only if no mutant survives and no line of the list
/// is out of date.
///
/// # Errors
///
/// When there is no such exercise, or cargo-mutants can't be run or finds that the
/// solutions fail their own checks.
pub fn mutants_command(workshop: &Workshop, numbers: &[u32]) -> Result<ExitCode, Problem> {
    let exercises = catalogue::find_some(workshop, numbers)?;
    let mut findings = stale_lines(workshop)?;
    for exercise in &exercises {
        println!("Exercise {}", exercise.number);
        let survivors = survivors_of(workshop, exercise)?;
        let finding = |mutant: String| {
            let (place, fault) = mutant.split_once(": ").unwrap_or(("", &mutant));
            let remedy = format!(
                "write a check that fails on it, or list it in `{LIST}` with the reason why \
                 it is right"
            );
            Finding::new(place, format!("no check notices: {fault}"), remedy)
        };
        findings.extend(survivors.into_iter().map(finding));
    }
    for finding in &findings {
        println!("{}: {}", finding.place, finding.fault);
        println!("  help: {}", finding.remedy);
    }
    match findings.len() {
        0 => println!("No mutant survives."),
        count => println!("{count} findings."),
    }
    Ok(ExitCode::from(u8::from(!findings.is_empty())))
}

/// The mutants of a solution that neither its tests nor its models notice.
fn survivors_of(workshop: &Workshop, exercise: &Exercise) -> Result<Vec<String>, Problem> {
    let folder = workshop
        .target()
        .join("mutants")
        .join(exercise.folder_name());
    // What was caught in an earlier run may not be by today's checks.
    let _absent = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| {
        Problem::new(format!("`{}` cannot be made: {error}", folder.display()))
            .help("make room on the disk, and try again")
    })?;
    let modeled = Checker::ALL
        .into_iter()
        .filter(|checker| !exercise.models_for(*checker).is_empty());
    let mut survivors = Vec::new();
    for checker in [None].into_iter().chain(modeled.map(Some)) {
        run(workshop, exercise, checker, &folder)?;
        survivors = lines(&folder.join("mutants.out/missed.txt"));
        if survivors.is_empty() {
            break;
        }
    }
    Ok(survivors)
}

/// Has cargo-mutants try the tests, or the models, on those mutants that no earlier
/// run on the same folder has caught.
fn run(
    workshop: &Workshop,
    exercise: &Exercise,
    checker: Option<Checker>,
    folder: &Path,
) -> Result<(), Problem> {
    let mut command = mutants(workshop);
    command.arg(format!("--package=solution-{}", exercise.number));
    command.arg("--output").arg(folder);
    // The examples of the documentation decide nothing, and need the primitives of std.
    for argument in ["--lib", "--"].iter().chain(&CHECKS) {
        command.arg("--cargo-test-arg").arg(argument);
    }
    // A program is built for each mutant, and is never debugged.
    command.env("CARGO_PROFILE_DEV_DEBUG", "false");
    if let Some(checker) = checker {
        command.args(["--iterate", "--features", checker.feature()]);
    }
    let status = command.status().map_err(unusable)?;
    match status.code() {
        Some(0 | SOME_MISSED | SOME_TIMED_OUT) => Ok(()),
        _ => Err(
            Problem::new(format!("cargo-mutants gave up ({status})")).help(
                "read what it says above; `cargo workshop verify` must hold before mutants \
             say anything",
            ),
        ),
    }
}

/// The lines of the list that no mutant answers to anymore.
fn stale_lines(workshop: &Workshop) -> Result<Vec<Finding>, Problem> {
    #[derive(Deserialize)]
    struct List {
        examine_globs: Vec<String>,
        exclude_globs: Vec<String>,
        exclude_re: Vec<String>,
    }
    let text = fs::read_to_string(workshop.root().join(LIST)).unwrap_or_default();
    let list: List = toml::from_str(&text).map_err(|error| {
        Problem::new(format!("`{LIST}` cannot be read: {error}")).help("correct that line")
    })?;
    let named = |expression: &str| -> Result<Vec<u8>, Problem> {
        let mut command = mutants(workshop);
        command.args(["--no-config", "--workspace", "--list", "--re", expression]);
        for glob in &list.examine_globs {
            command.args(["--file", glob]);
        }
        for glob in &list.exclude_globs {
            command.args(["--exclude", glob]);
        }
        let listed = command.output().map_err(unusable)?;
        if !listed.status.success() {
            let words = String::from_utf8_lossy(&listed.stderr);
            return Err(
                Problem::new(format!("cargo-mutants cannot be run: {words}"))
                    .help("install it: `cargo install --locked cargo-mutants`"),
            );
        }
        Ok(listed.stdout)
    };
    // cargo-mutants 27 lists some mutants (those that delete a field) for every expression.
    let always = named(FITS_NOTHING)?;
    let mut findings = Vec::new();
    for expression in &list.exclude_re {
        if named(expression)? == always {
            let fault = format!("no mutant is called `{expression}`");
            findings.push(Finding::new(LIST, fault, "take the line out"));
        }
    }
    Ok(findings)
}

fn mutants(workshop: &Workshop) -> Command {
    let mut command = Command::new("cargo");
    command.arg("mutants").current_dir(workshop.root());
    command
}

fn unusable(error: std::io::Error) -> Problem {
    Problem::new(format!("`cargo` cannot be run: {error}"))
        .help("install Rust as https://rustup.rs says, and open a new terminal")
}

fn lines(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
