//! Criterion's estimates of this run as one table.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::summary::Summary;

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

    /// The median time of one call in nanoseconds. `None` if this run hasn't
    /// measured it.
    pub fn median_ns(&self, contender: &str, parameter: &str) -> Option<f64> {
        let estimates = self.read(contender, parameter, "estimates.json")?;
        estimates["median"]["point_estimate"].as_f64()
    }

    /// The times of one call in nanoseconds that a quarter of the samples are below
    /// and above. `None` if this run hasn't measured it.
    pub fn middle_half_ns(&self, contender: &str, parameter: &str) -> Option<[f64; 2]> {
        let sample = self.read(contender, parameter, "sample.json")?;
        let numbers = |name: &str| Some(sample[name].as_array()?.iter());
        let times = numbers("times")?.zip(numbers("iters")?);
        let times = times.map(|(time, calls)| Some(time.as_f64()? / calls.as_f64()?));
        let summary = Summary::of(times.collect::<Option<_>>()?)?;
        Some([summary.lower, summary.upper])
    }

    fn read(&self, contender: &str, parameter: &str, file: &str) -> Option<serde_json::Value> {
        let folder = self.group.join(contender).join(parameter).join("new");
        let file = folder.join(file);
        let written = fs::metadata(&file).ok()?.modified().ok()?;
        if written < self.started {
            return None;
        }
        serde_json::from_str(&fs::read_to_string(&file).ok()?).ok()
    }
}

/// One line of the table.
pub struct Row<'a> {
    /// Its directory among the estimates.
    pub contender: &'a str,
    /// What it gives that others don't, or lacks.
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
    let medians = parameters.iter().map(|parameter| column(parameter));
    let ratios = compared.iter().flat_map(|parameter| {
        [
            column(&format!("{parameter}/{base}")),
            column(&format!("/{peer}")),
        ]
    });
    let columns: Vec<_> = medians.chain(ratios).collect();
    let mut table = format!("{:<13}", "ns per call");
    table.extend(
        columns
            .iter()
            .map(|(title, width)| format!("{title:>width$}")),
    );
    table.push_str("  notes\n");
    for row in rows {
        let own = |parameter: &str| estimates.median_ns(row.contender, parameter);
        let medians = parameters.iter().map(|parameter| own(parameter));
        let ratios = compared.iter().flat_map(|parameter| {
            let to = |other| Some(own(parameter)? / estimates.median_ns(other, parameter)?);
            [to(base), to(peer)]
        });
        let _ = write!(table, "{:<13}", row.contender);
        for (value, (_, width)) in medians.chain(ratios).zip(&columns) {
            let _ = match value {
                Some(value) => write!(table, "{value:>width$.2}"),
                None => write!(table, "{:>width$}", "–"),
            };
        }
        let _ = writeln!(table, "  {}", row.notes);
    }
    table
}

/// A column's title, and a width that has room for it and for its numbers.
fn column(title: &str) -> (String, usize) {
    (title.to_owned(), (title.len() + 2).max(10))
}
