//! Records in which order each wrong version fails that a model catches, as a reader would
//! see it: the search for it must find one, and it must end as the version's header says.

use std::cell::RefCell;
use std::future::pending;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::{Finding, Outcome, relative};
use crate::exercises::cargo::{self, Binary, Build, Built, Target, Words};
use crate::exercises::catalogue::{self, Checker, Exercise};
use crate::exercises::header::Header;
use crate::exercises::order::document::{Document, EndKind};
use crate::exercises::order::{self, Failed, Kept};
use crate::problem::Problem;
use crate::terminal::{columns, harmless};
use crate::workshop::Workshop;

/// The longest that a recording may take here, where it must not fail because the machine
/// is busy.
const LIMIT: Duration = Duration::from_secs(600);

/// The same for a version that has no order: most hang where the checker can't see it.
const LIMIT_WITHOUT_ORDER: Duration = Duration::from_secs(10);

/// The package of the wrong versions.
const PACKAGE: &str = "counterexamples";

/// A wrong version that a model catches.
struct Caught {
    file: PathBuf,
    version: String,
    /// The model's name, without its modules.
    model: String,
    /// How the order ends, by its header.
    claim: Option<String>,
}

/// `cargo workshop verify --orders`: prints the order of each wrong version of these
/// exercises, or of all if `numbers` is empty. The status is a success only if each ends as
/// its header says.
///
/// # Errors
///
/// When there is no such exercise, or the versions can't be built.
pub async fn orders_command(workshop: &Workshop, numbers: &[u32]) -> Result<ExitCode, Problem> {
    let mut faults = Vec::new();
    let mut count = 0;
    let mut slowest = None;
    for exercise in catalogue::find_some(workshop, numbers)? {
        for checker in Checker::ALL {
            let caught = caught(workshop, &exercise, checker);
            if caught.is_empty() {
                continue;
            }
            let binary = build(workshop, &exercise, checker).await?;
            for one in &caught {
                count += 1;
                let start = Instant::now();
                let kept = record(workshop, &exercise, &binary, one).await;
                let time = start.elapsed();
                if kept.is_some() && slowest.as_ref().is_none_or(|(most, _)| *most < time) {
                    slowest = Some((time, name(&exercise, one)));
                }
                let ends = show(&exercise, one, kept, time);
                let fault = fault(one, ends);
                faults.extend(fault.map(|fault| format!("{}: {fault}", name(&exercise, one))));
            }
        }
    }
    println!(
        "{} of {count} wrong versions fail in an order as their header says.",
        count - faults.len()
    );
    for fault in &faults {
        println!("  {fault}");
    }
    if let Some((time, name)) = slowest {
        let seconds = time.as_secs_f64();
        println!(
            "The slowest recording took {seconds:.1} s ({name}). A reader's knows in which \
             execution the model failed, and takes less."
        );
    }
    Ok(match faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Records the order of each wrong version of the exercises that a model catches, from binaries
/// that hold the models, and compares how it ends with the version's header.
pub async fn verify(
    workshop: &Workshop,
    exercises: &[Exercise],
    models: &[(Checker, Built)],
    on_progress: impl Fn(&str),
) -> Outcome {
    let mut all = Vec::new();
    for exercise in exercises {
        for (checker, built) in models {
            // Where there is none, the build was found to have failed.
            let Some(binary) = binary_of(built, exercise) else {
                continue;
            };
            let caught = caught(workshop, exercise, *checker);
            all.extend(caught.into_iter().map(|one| (exercise, binary, one)));
        }
    }
    let left = RefCell::new(all.iter());
    let findings = RefCell::new(Vec::new());
    // A recording takes one processor.
    let recorder = async || {
        loop {
            let next = left.borrow_mut().next();
            let Some((exercise, binary, one)) = next else {
                return;
            };
            on_progress(&format!("{}, {} left", one.version, left.borrow().len()));
            let kept = record(workshop, exercise, binary, one).await;
            let ends = kept.map_or("none", |kept| ends(&kept.folded()));
            if let Some(fault) = fault(one, ends) {
                let place = relative(workshop, &one.file);
                let remedy = format!(
                    "`cargo workshop verify --orders {}` shows the order",
                    exercise.number
                );
                let finding = Finding::new(place, format!("the header {fault}"), remedy);
                findings.borrow_mut().push(finding);
            }
        }
    };
    tokio::join!(recorder(), recorder());
    Outcome {
        findings: findings.take(),
        summary: format!("{} orders recorded", all.len()),
        ..Outcome::default()
    }
}

/// What is wrong with the header of a version whose order ends like this.
fn fault(caught: &Caught, ends: &str) -> Option<String> {
    let claim = caught.claim.as_deref();
    if claim == Some(ends) {
        return None;
    }
    let says = claim.map_or_else(
        || "says nothing".to_owned(),
        |claim| format!("says `Order: {claim}`"),
    );
    Some(format!("{says}; it is `Order: {ends}`"))
}

fn name(exercise: &Exercise, caught: &Caught) -> String {
    format!("exercise_{}::{}", exercise.number, caught.version)
}

fn caught(workshop: &Workshop, exercise: &Exercise, checker: Checker) -> Vec<Caught> {
    let models = super::claims::names(&exercise.models_for(checker));
    let caught = |file: PathBuf| {
        let header = Header::of(&file).ok()?;
        let model = header.caught_by.test.strip_prefix("models::")?.to_owned();
        Some(Caught {
            version: file.file_stem()?.to_str()?.to_owned(),
            model: Some(model).filter(|model| models.contains(model))?,
            claim: header.order,
            file,
        })
    };
    let versions = catalogue::versions(workshop, PACKAGE, exercise);
    versions.into_iter().filter_map(caught).collect()
}

async fn build(
    workshop: &Workshop,
    exercise: &Exercise,
    checker: Checker,
) -> Result<Binary, Problem> {
    let name = format!("exercise_{}", exercise.number);
    let build = Build {
        packages: vec![PACKAGE.to_owned()],
        features: vec![format!("{PACKAGE}/{}", checker.feature())],
        target: Target::TestsAnd(vec![name.clone()]),
        ..Build::default()
    };
    let on_words = |words| {
        if let Words::Cargo(text) = words {
            eprint!("{text}");
        }
    };
    let built = cargo::build(workshop, &build, on_words, pending()).await?;
    binary_of(&built, exercise).cloned().ok_or_else(|| {
        Problem::new(format!(
            "the wrong versions of exercise {} cannot be built",
            exercise.number
        ))
        .help(format!(
            "`cargo workshop verify {}` says why",
            exercise.number
        ))
    })
}

/// The program that holds the wrong versions of the exercise.
fn binary_of<'b>(built: &'b Built, exercise: &Exercise) -> Option<&'b Binary> {
    let name = format!("exercise_{}-", exercise.number);
    built.binaries_of(PACKAGE).find(|binary| {
        let file = binary.executable.file_name().unwrap_or_default();
        file.to_string_lossy().starts_with(&name)
    })
}

async fn record(
    workshop: &Workshop,
    exercise: &Exercise,
    binary: &Binary,
    caught: &Caught,
) -> Option<Kept> {
    let failed = Failed {
        binary,
        model: &path_of(exercise, &name(exercise, caught), &caught.model),
        execution: None,
    };
    let limit = match caught.claim.as_deref() {
        Some("none") => LIMIT_WITHOUT_ORDER,
        _ => LIMIT,
    };
    order::record_within(limit, workshop, exercise, failed, pending()).await
}

/// Prints the order, and returns what a header is to say of it.
fn show(exercise: &Exercise, caught: &Caught, kept: Option<Kept>, time: Duration) -> &'static str {
    println!("\n{}: {}", name(exercise, caught), caught.model);
    let Some(kept) = kept else {
        println!("  no order was recorded");
        return "none";
    };
    let document = kept.folded();
    let (all, folded) = (kept.whole().steps.len(), document.steps.len());
    print!(
        "{}",
        harmless(&order::text(&document, usize::from(columns()), None))
    );
    let seconds = time.as_secs_f64();
    println!("  ({folded} of {all} steps, recorded in {seconds:.1} s)");
    ends(&document)
}

/// What a header says of such an order. A race needs no old value.
fn ends(document: &Document) -> &'static str {
    let is_old = document.steps.iter().any(|step| step.stale.is_some());
    match (document.end.kind, is_old) {
        (EndKind::Race, _) => "a data race",
        (EndKind::Deadlock, false) => "a deadlock",
        (EndKind::Deadlock, true) => "a deadlock after an old value",
        (EndKind::Failure, false) => "a failure",
        (EndKind::Failure, true) => "a failure after an old value",
    }
}

/// The model's whole path: models may have files of their own.
fn path_of(exercise: &Exercise, version: &str, model: &str) -> String {
    let files = exercise.models();
    let of_file = files.iter().find(|file| {
        super::claims::names(&[(*file).clone()])
            .iter()
            .any(|name| name == model)
    });
    let stem = of_file.and_then(|file| file.file_stem()?.to_str());
    match stem {
        Some(stem) if stem != "models" && stem != "mod" => {
            format!("{version}::models::{stem}::{model}")
        }
        _ => format!("{version}::models::{model}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::exercises::header::ORDERS;

    #[test]
    fn each_way_to_end_is_one_that_a_header_may_say() {
        let document = |kind: &str, stale: Option<&str>| -> Document {
            let step = json!({ "thread": 0, "text": "x.load = 0", "stale": stale });
            let document = json!({
                "schema": "", "title": "", "description": "", "threads": [], "cells": [],
                "steps": [step], "end": { "kind": kind, "text": "", "threads": [] },
            });
            serde_json::from_value(document).expect("a document")
        };
        let kinds = ["deadlock", "failure", "race"];
        let said = [None, Some("1")].map(|stale| kinds.map(|kind| ends(&document(kind, stale))));
        assert_eq!(said[0], ["a deadlock", "a failure", "a data race"]);
        assert_eq!(said[1][..2], ORDERS[3..5]);
        assert_eq!(said[1][2], said[0][2]);
    }
}
