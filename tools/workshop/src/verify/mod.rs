//! For authors: whether the workshop keeps its own rules.
//!
//! | module | what it holds together |
//! |---|---|
//! | [`triads`] | contracts, tests and counterexamples, as they are written |
//! | [`strays`] | files that no module declares |
//! | [`dependencies`] | which package may depend on which |
//! | [`book`] | pages, links, anchors and code blocks |
//! | [`folds`] | solutions, on the pages before their exercise |
//! | [`suspects`] | the lines at fault, on the pages on which a bug is to be found |
//! | [`language`] | the English of what a reader sees, and terms before their use |
//! | [`figures`] | what figures are drawn from |
//! | [`snippets`] | programs of the book, and what they really do |
//! | [`demonstrations`] | the exercises' demonstrations, on our solutions |
//! | [`orders`] | the order in which each wrong version fails that a model catches |
//! | [`mutants`] | the solutions, changed line by line, and whether their checks notice |
//! | [`steps`] | versions that have come to a milestone, and whether what they have is green |
//! | [`held`] | what held the last time, and hasn't changed since |
//! | [`subjects`], [`judge`], [`wrong`] | stubs, solutions and all other versions, and how they fare |

mod book;
mod claims;
mod demonstrations;
mod dependencies;
pub mod fences;
mod figures;
mod folds;
mod held;
mod html;
mod judge;
mod language;
mod mutants;
mod orders;
mod shown;
mod snippets;
mod steps;
mod strays;
mod subjects;
mod suspects;
mod triads;
mod wrong;

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use held::Held;

use crate::exercises::{catalogue, colors_wanted};
use crate::problem::Problem;
use crate::workshop::{Scratch, Workshop};

pub use language::language_command;
pub use mutants::mutants_command;
pub use orders::orders_command;

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// The file, and the line where there is one.
    pub place: String,
    /// What is wrong.
    pub fault: String,
    /// What to do about it.
    pub remedy: String,
}

impl Finding {
    /// Creates a finding.
    pub fn new(
        place: impl Into<String>,
        fault: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            place: place.into(),
            fault: fault.into(),
            remedy: remedy.into(),
        }
    }
}

/// What a step has found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The rules that are broken.
    pub findings: Vec<Finding>,
    /// What an author may want to know.
    pub notes: Vec<String>,
    /// What was looked at, in a few words.
    pub summary: String,
}

/// `cargo workshop verify`: of these exercises, or of the whole workshop if
/// `numbers` is empty. Versions that held the last time and haven't changed aren't
/// run again, unless all is to be `fresh`, or this is CI. The status is a success only if every rule holds.
///
/// # Errors
///
/// When there is no such exercise, or something can't even be looked at: the
/// book can't be built, or cargo can't be run.
pub async fn verify_command(
    workshop: &Workshop,
    numbers: &[u32],
    fresh: bool,
) -> Result<ExitCode, Problem> {
    let started = Instant::now();
    let exercises = catalogue::find_some(workshop, numbers)?;
    let scratch = Scratch::claim(&workshop.target())?;
    let mut steps = Steps::new();

    steps.begin("triads");
    let mut triads = triads::verify(workshop, &exercises);
    triads.findings.extend(strays::verify(workshop, &exercises));
    steps.end(triads);
    if numbers.is_empty() {
        verify_book(workshop, &scratch, &mut steps).await?;
    }
    steps.begin("demonstrations");
    steps.end(demonstrations::verify(workshop, &exercises, |done| steps.progress(done)).await);

    steps.begin("build");
    let (built, outcome) =
        subjects::build(workshop, exercises, |done| steps.progress(done)).await?;
    steps.end(outcome);
    let held = Held::open(workshop, fresh);
    for subject in subjects::Subject::ALL {
        steps.begin(subject.name());
        let outcome = built
            .verify(workshop, subject, &held, |done| steps.progress(done))
            .await?;
        steps.end(outcome);
    }
    steps.begin("orders");
    steps.end(
        built
            .verify_orders(workshop, |done| steps.progress(done))
            .await,
    );
    // The books are of no further use.
    let _left = scratch.sweep();
    Ok(steps.conclude(started.elapsed()))
}

/// Checks what belongs to no single exercise.
async fn verify_book(
    workshop: &Workshop,
    scratch: &Scratch,
    steps: &mut Steps,
) -> Result<(), Problem> {
    steps.begin("dependencies");
    steps.end(dependencies::verify(workshop).await?);
    steps.begin("book");
    let (book, outcome) = book::verify(workshop, &scratch.book(1))?;
    steps.end(outcome);
    steps.begin("language");
    steps.end(language::verify(workshop));
    steps.begin("figures");
    steps.end(figures::verify(workshop));
    steps.begin("snippets");
    steps.end(snippets::verify(workshop, scratch, &book, |done| steps.progress(done)).await);
    Ok(())
}

/// Prints a line for each step.
struct Steps {
    name: &'static str,
    started: Instant,
    colors: bool,
    live: bool,
    findings: Vec<Finding>,
}

impl Steps {
    fn new() -> Self {
        Self {
            name: "",
            started: Instant::now(),
            colors: colors_wanted(&io::stdout()),
            live: io::stdout().is_terminal(),
            findings: Vec::new(),
        }
    }

    fn begin(&mut self, name: &'static str) {
        self.name = name;
        self.started = Instant::now();
        self.progress("");
    }

    /// Says on a terminal how far the step is.
    fn progress(&self, done: &str) {
        if self.live {
            print!("\r\x1b[K  … {:<15} {done}", self.name);
            // Progress that can't be shown is no reason to stop.
            let _unseen = io::stdout().flush();
        }
    }

    fn end(&mut self, mut outcome: Outcome) {
        let mut told = HashSet::new();
        outcome
            .findings
            .retain(|finding| told.insert(finding.clone()));
        let (mark, color) = match outcome.findings.is_empty() {
            true => ("✓", "\x1b[32m"),
            false => ("✗", "\x1b[31m"),
        };
        let mark = match self.colors {
            true => format!("{color}{mark}\x1b[0m"),
            false => mark.to_owned(),
        };
        if self.live {
            print!("\r\x1b[K");
        }
        let seconds = self.started.elapsed().as_secs_f64();
        println!(
            "  {mark} {:<15} {seconds:>6.1} s  {}",
            self.name, outcome.summary
        );
        print_findings(&outcome.findings);
        for note in &outcome.notes {
            println!("      note: {note}");
        }
        self.findings.append(&mut outcome.findings);
    }

    /// Prints the verdict, and again what is broken: a log is read from its end.
    fn conclude(&self, time: Duration) -> ExitCode {
        let seconds = time.as_secs_f64();
        print_findings(&self.findings);
        match self.findings.len() {
            0 => {
                println!("Every rule holds. ({seconds:.0} s)");
                ExitCode::SUCCESS
            }
            1 => {
                println!("One rule is broken. ({seconds:.0} s)");
                ExitCode::FAILURE
            }
            many => {
                println!("{many} rules are broken. ({seconds:.0} s)");
                ExitCode::FAILURE
            }
        }
    }
}

fn print_findings(findings: &[Finding]) {
    for finding in findings {
        println!("      {}: {}", finding.place, finding.fault);
        println!("        help: {}", finding.remedy);
    }
}

/// The path as authors know it: from the workshop's folder on.
fn relative(workshop: &Workshop, path: &Path) -> String {
    let path = path.strip_prefix(workshop.root()).unwrap_or(path);
    path.display().to_string()
}
