//! Which package may depend on which.

use serde::Deserialize;
use tokio::process::Command;

use super::{Finding, Outcome, relative};
use crate::problem::Problem;
use crate::workshop::Workshop;

/// What only the command may know of.
const WEB: [&str; 6] = [
    "axum",
    "tower-http",
    "mdbook-driver",
    "tower",
    "warp",
    "pulldown-cmark",
];

/// The package that compiles solutions on the stubs of earlier exercises.
const PARTS: &str = "parts";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: std::path::PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    optional: bool,
}

/// Checks the manifests of all packages.
///
/// # Errors
///
/// When cargo can't read them.
pub async fn verify(workshop: &Workshop) -> Result<Outcome, Problem> {
    let metadata = read(workshop).await?;
    let mut outcome = Outcome::default();
    let parts = workshop.root().join(PARTS).join("src/lib.rs");
    let parts = std::fs::read_to_string(&parts).unwrap_or_default();
    for package in &metadata.packages {
        let others = package.dependencies.iter().filter(|it| it.kind.is_none());
        if is_missing(&parts, &package.name, others.map(|it| it.name.as_str())) {
            let place = relative(workshop, &package.manifest_path);
            let fault = format!("`{}` isn't in `{PARTS}`", package.name);
            let remedy = "add it there, so that it's compiled on the stubs of what it's built from";
            outcome.findings.push(Finding::new(place, fault, remedy));
        }
        for dependency in &package.dependencies {
            let Some((fault, remedy)) = fault_of(&package.name, dependency) else {
                continue;
            };
            let place = relative(workshop, &package.manifest_path);
            outcome.findings.push(Finding::new(place, fault, remedy));
        }
    }
    outcome.summary = format!("{} packages", metadata.packages.len());
    Ok(outcome)
}

async fn read(workshop: &Workshop) -> Result<Metadata, Problem> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version=1"])
        .current_dir(workshop.root())
        .output()
        .await
        .map_err(|error| {
            Problem::new(format!("`cargo` cannot be run: {error}"))
                .help("install Rust as https://rustup.rs says, and open a new terminal")
        })?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Problem::new(format!("cargo cannot read the manifests: {words}"))
            .help("fix the manifest that is named there")
    })
}

/// Whether a package is a solution that depends on others, and the source of the
/// package `parts` doesn't have it.
fn is_missing<'a>(
    parts: &str,
    package: &str,
    mut dependencies: impl Iterator<Item = &'a str>,
) -> bool {
    let Some(number) = package.strip_prefix("solution-") else {
        return false;
    };
    let is_built_from_others = dependencies.any(|on| on.starts_with("solution-"));
    is_built_from_others && !parts.contains(&format!("mod solution_{number};"))
}

/// What is wrong with a dependency, and the remedy.
fn fault_of(package: &str, dependency: &Dependency) -> Option<(String, &'static str)> {
    let on = &dependency.name;
    let numbered = |prefix: &str, name: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
    let own = numbered("exercise-", package).or_else(|| numbered("solution-", package));
    // The benches measure the reader's versions, by a feature, and the parts are compiled
    // on stubs.
    if numbered("exercise-", on).is_some() && !["benches", PARTS].contains(&package) {
        let fault = format!("`{package}` depends on `{on}`");
        return Some((
            fault,
            "depend on the solution instead: a skipped exercise must block no later one",
        ));
    }
    if let (Some(own), Some(other)) = (own, numbered("solution-", on))
        && other >= own
    {
        let fault = format!("`{package}` depends on `{on}`");
        return Some((fault, "depend on earlier solutions only"));
    }
    if package != "workshop" && (WEB.contains(&on.as_str()) || on == "workshop") {
        let fault = format!("`{package}` depends on `{on}`");
        return Some((fault, "leave the web to `tools/workshop`"));
    }
    // What they depend on among themselves needs std alone, too.
    const SMALL: [&str; 3] = ["imports", "testkit", "trace"];
    let needs_more = SMALL.contains(&package) && on != "imports";
    if needs_more && dependency.kind.is_none() && !dependency.optional {
        let fault = format!("`{package}` depends on `{on}`");
        return Some((
            fault,
            "use the standard library alone: the first check must take seconds",
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Dependency, fault_of, is_missing};

    fn allowed(package: &str, on: &str) -> bool {
        let dependency = Dependency {
            name: on.into(),
            kind: None,
            optional: false,
        };
        fault_of(package, &dependency).is_none()
    }

    #[test]
    fn solutions_and_exercises_depend_on_earlier_solutions_only() {
        assert!(allowed("solution-4", "solution-2") && allowed("exercise-4", "solution-2"));
        assert!(!allowed("solution-2", "solution-2") && !allowed("exercise-2", "solution-3"));
        assert!(!allowed("solution-4", "exercise-2") && !allowed("exercise-4", "exercise-2"));
        assert!(!allowed("counterexamples", "exercise-1") && allowed("benches", "exercise-1"));
        assert!(allowed("parts", "exercise-1"));
    }

    #[test]
    fn what_is_built_from_other_solutions_is_compiled_on_stubs() {
        let parts = "pub mod solution_4;\n";
        assert!(!is_missing(
            parts,
            "solution-4",
            ["primitives", "solution-2"].into_iter()
        ));
        assert!(is_missing(parts, "solution-14", ["solution-4"].into_iter()));
        assert!(!is_missing(
            parts,
            "solution-13",
            ["primitives"].into_iter()
        ));
        assert!(!is_missing(parts, "benches", ["solution-4"].into_iter()));
    }

    #[test]
    fn the_web_stays_in_the_command_and_the_kit_needs_std_alone() {
        assert!(allowed("workshop", "axum") && !allowed("benches", "axum"));
        assert!(!allowed("snippets", "workshop"));
        assert!(!allowed("testkit", "libc") && !allowed("trace", "serde"));
        assert!(allowed("testkit", "imports") && !allowed("imports", "regex"));
        assert!(allowed("primitives", "loom"));
    }
}
