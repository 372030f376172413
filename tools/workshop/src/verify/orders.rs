//! Records in which order each wrong version fails that a model catches, as a reader would
//! see it: the search for it must find one, and it must end as the version's header says.

use std::future::pending;
use std::process::ExitCode;
use std::time::Duration;

use crate::exercises::cargo::{self, Binary, Build, Target, Words};
use crate::exercises::catalogue::{self, Checker, Exercise};
use crate::exercises::header::Header;
use crate::exercises::order::document::{Document, EndKind};
use crate::exercises::order::{self, Failed};
use crate::problem::Problem;
use crate::terminal::{columns, harmless};
use crate::workshop::Workshop;

/// The longest that a recording may take here, where it must not fail because the machine
/// is busy.
const LIMIT: Duration = Duration::from_secs(600);

/// The package of the wrong versions.
const PACKAGE: &str = "counterexamples";

/// A wrong version that a model catches.
struct Caught {
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
    for exercise in catalogue::find_some(workshop, numbers)? {
        for checker in Checker::ALL {
            let caught = caught(workshop, &exercise, checker);
            if caught.is_empty() {
                continue;
            }
            let binary = build(workshop, &exercise, checker).await?;
            for one in &caught {
                count += 1;
                let ends = show(workshop, &exercise, &binary, one).await;
                faults.extend(fault(&exercise, one, ends));
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
    Ok(match faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// What is wrong with the header of a version whose order ends like this.
fn fault(exercise: &Exercise, caught: &Caught, ends: &str) -> Option<String> {
    let Caught { version, claim, .. } = caught;
    if claim.as_deref() == Some(ends) {
        return None;
    }
    let says = claim.as_ref().map_or_else(
        || "says nothing".to_owned(),
        |claim| format!("says `Order: {claim}`"),
    );
    let name = format!("exercise_{}::{version}", exercise.number);
    Some(format!("{name} {says}; it is `Order: {ends}`"))
}

fn caught(workshop: &Workshop, exercise: &Exercise, checker: Checker) -> Vec<Caught> {
    let models = super::claims::names(&exercise.models_for(checker));
    let caught = |file: std::path::PathBuf| {
        let header = Header::of(&file).ok()?;
        let model = header.caught_by.test.strip_prefix("models::")?.to_owned();
        Some(Caught {
            version: file.file_stem()?.to_str()?.to_owned(),
            model: Some(model).filter(|model| models.contains(model))?,
            claim: header.order,
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
    let is_it = |binary: &&Binary| {
        let file = binary.executable.file_name().unwrap_or_default();
        file.to_string_lossy().starts_with(&format!("{name}-"))
    };
    let binary = built.binaries_of(PACKAGE).find(is_it).cloned();
    binary.ok_or_else(|| {
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

/// Prints the order, and returns what a header is to say of it.
async fn show(
    workshop: &Workshop,
    exercise: &Exercise,
    binary: &Binary,
    caught: &Caught,
) -> &'static str {
    let Caught {
        version,
        model,
        claim,
    } = caught;
    let name = format!("exercise_{}::{version}", exercise.number);
    println!("\n{name}: {model}");
    let failed = Failed {
        binary,
        model: &path_of(exercise, &name, model),
        execution: None,
    };
    let kept = match claim.as_deref() {
        // Such a version may hang where the checker can't see it.
        Some("none") => order::record(workshop, exercise, failed, pending()).await,
        _ => order::record_within(LIMIT, workshop, exercise, failed, pending()).await,
    };
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
    println!("  ({folded} of {all} steps)");
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
