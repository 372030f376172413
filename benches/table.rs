//! Criterion's estimates of this run as one table.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where criterion keeps its estimates: `criterion` in the target directory,
/// in which this program lies too.
///
/// # Panics
///
/// When the program lies elsewhere than cargo puts it.
pub fn criterion_home() -> PathBuf {
    let program = std::env::current_exe().expect("a program knows where it lies");
    let target = program.ancestors().nth(3);
    target
        .expect("cargo puts benchmarks in `target/release/deps`")
        .join("criterion")
}

/// The estimates of one run of a group.
pub struct Estimates {
    group: PathBuf,
    started: SystemTime,
}

impl Estimates {
    /// Looks for the estimates of `group` that are written from now on.
    pub fn from_now_on(group: &str) -> Self {
        Self {
            group: criterion_home().join(group),
            started: SystemTime::now(),
        }
    }

    /// The median time of one call in nanoseconds. `None` if this run has not
    /// measured it.
    pub fn median_ns(&self, contender: &str, parameter: &str) -> Option<f64> {
        let file = ["new", "estimates.json"].iter().collect::<PathBuf>();
        let file = self.group.join(contender).join(parameter).join(file);
        read_median(&file, self.started)
    }
}

fn read_median(file: &Path, not_before: SystemTime) -> Option<f64> {
    let written = fs::metadata(file).ok()?.modified().ok()?;
    if written < not_before {
        return None;
    }
    let estimates: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}

/// One line of the table.
pub struct Row<'a> {
    /// Its directory among the estimates.
    pub contender: &'a str,
    /// What it gives that others do not, or lacks.
    pub notes: &'a str,
}

/// Renders the medians of `rows` for each of `parameters`, with ratios to
/// `base` and to `peer` for those in `compared`.
pub fn render(
    estimates: &Estimates,
    rows: &[Row<'_>],
    parameters: &[&str],
    compared: &[&str],
    (base, peer): (&str, &str),
) -> String {
    let mut table = format!("{:<13}", "ns per call");
    for parameter in parameters {
        let _ = write!(table, "{parameter:>9}");
    }
    for parameter in compared {
        let _ = write!(table, "{:>14}", format!("{parameter}/{base}"));
        let _ = write!(table, "{:>10}", format!("/{peer}"));
    }
    table.push_str("  notes\n");
    for row in rows {
        let _ = write!(table, "{:<13}", row.contender);
        for parameter in parameters {
            let median = estimates.median_ns(row.contender, parameter);
            table.push_str(&cell(9, median));
        }
        for parameter in compared {
            let own = estimates.median_ns(row.contender, parameter);
            let to = |other| Some(own? / estimates.median_ns(other, parameter)?);
            table.push_str(&cell(14, to(base)));
            table.push_str(&cell(10, to(peer)));
        }
        let _ = writeln!(table, "  {}", row.notes);
    }
    table
}

fn cell(width: usize, value: Option<f64>) -> String {
    match value {
        Some(value) => format!("{value:>width$.2}"),
        None => format!("{:>width$}", "–"),
    }
}
