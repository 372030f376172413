//! What criterion has measured, as bars.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// How many of the others stand beside the reader's version and ours.
const PEERS: usize = 2;

/// The longest bar.
const COLUMNS: usize = 32;

/// The estimates of one contender at one parameter, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// What was varied.
    pub parameter: String,
    /// Who was measured.
    pub contender: String,
    /// The median.
    pub median: f64,
    /// The ends of its confidence interval.
    pub range: [f64; 2],
}

/// Reads what was estimated since `started` in a group's folder.
pub fn estimates(group: &Path, started: SystemTime) -> Vec<Estimate> {
    let mut estimates = Vec::new();
    for contender in names(group) {
        for parameter in names(&group.join(&contender)) {
            let file = group.join(&contender).join(&parameter);
            let file = file.join("new/estimates.json");
            let written = fs::metadata(&file).and_then(|file| file.modified());
            if written.is_ok_and(|written| written >= started) {
                estimates.extend(read(&file, &contender, &parameter));
            }
        }
    }
    estimates
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn read(file: &Path, contender: &str, parameter: &str) -> Option<Estimate> {
    let text = fs::read_to_string(file).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
    let median = &estimates["median"];
    let bound = |name: &str| median["confidence_interval"][name].as_f64();
    Some(Estimate {
        parameter: parameter.to_owned(),
        contender: contender.to_owned(),
        median: median["point_estimate"].as_f64()?,
        range: [bound("lower_bound")?, bound("upper_bound")?],
    })
}

/// Draws the exercise's bars, the solution's and those of the fastest others, for
/// each parameter at which the exercise was measured.
pub fn bars(estimates: &[Estimate], number: u32) -> String {
    let mut text = String::new();
    let [mine, ours] = ["exercise", "solution"].map(|kind| format!("{kind}-{number}"));
    let yours = estimates.iter().filter(|one| one.contender == mine);
    for yours in yours {
        let beside = estimates
            .iter()
            .filter(|one| one.parameter == yours.parameter);
        let mut beside: Vec<_> = beside.collect();
        beside.sort_by(|a, b| a.median.total_cmp(&b.median));
        let is_named = |one: &&&Estimate| one.contender == mine || one.contender == ours;
        let peers = beside.iter().filter(|one| !is_named(one)).take(PEERS);
        let mut shown: Vec<_> = beside.iter().filter(is_named).chain(peers).collect();
        shown.sort_by(|a, b| a.median.total_cmp(&b.median));
        let longest = shown.iter().map(|one| one.median).fold(0.0, f64::max);
        let width = shown.iter().map(|one| one.contender.len()).max();
        writeln!(text, "\n{}", yours.parameter).expect("a string takes all");
        for one in shown {
            let name = match one.contender == mine {
                true => "yours",
                false => &one.contender,
            };
            let length = (one.median / longest * COLUMNS as f64).round() as usize;
            let bar = "█".repeat(length.max(1));
            let overlaps = one.range[0] <= yours.range[1] && yours.range[0] <= one.range[1];
            let note = match one.contender != mine && overlaps {
                true => "  no clear difference",
                false => "",
            };
            let (width, time) = (width.unwrap_or(0), time(one.median));
            writeln!(text, "  {name:width$} {time:>9} {bar}{note}").expect("a string takes all");
        }
    }
    text
}

/// A time with three digits: `12.3 µs`.
fn time(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let (size, unit) = units
        .into_iter()
        .find(|(size, _)| nanoseconds >= *size)
        .unwrap_or((1.0, "ns"));
    let value = nanoseconds / size;
    let digits = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::{bars, estimates, time};

    fn write(folder: &std::path::Path, contender: &str, median: f64, spread: f64) {
        let folder = folder.join(contender).join("10/new");
        fs::create_dir_all(&folder).unwrap();
        let (lower, upper) = (median - spread, median + spread);
        let text = format!(
            r#"{{"median":{{"point_estimate":{median},
                "confidence_interval":{{"lower_bound":{lower},"upper_bound":{upper}}}}}}}"#
        );
        fs::write(folder.join("estimates.json"), text).unwrap();
    }

    #[test]
    fn yours_stands_beside_ours_and_the_two_fastest_others() {
        let folder = tempfile::tempdir().unwrap();
        let started = SystemTime::now() - Duration::from_secs(60);
        for (contender, median) in [
            ("exercise-4", 200.0),
            ("solution-4", 195.0),
            ("fast", 100.0),
            ("slow", 900.0),
            ("middling", 150.0),
        ] {
            write(folder.path(), contender, median, 6.0);
        }
        let text = bars(&estimates(folder.path(), started), 4);
        let lines: Vec<_> = text.trim().lines().map(str::trim_end).collect();
        assert_eq!(lines[0], "10");
        let starts = ["  fast", "  middling", "  solution-4", "  yours"];
        for (line, start) in lines[1..].iter().zip(starts) {
            assert!(line.starts_with(start), "{text}");
        }
        assert_eq!(lines.len(), 5, "{text}");
        assert!(lines[3].ends_with("no clear difference"), "{text}");
        assert!(!lines[1].contains("difference") && !lines[4].contains("difference"));
        let length = |line: &str| line.chars().filter(|c| *c == '█').count();
        assert_eq!((length(lines[1]), length(lines[4])), (16, 32), "{text}");
        // What an earlier run has left isn't shown as if it were of this one.
        let later = SystemTime::now() + Duration::from_secs(60);
        assert_eq!(bars(&estimates(folder.path(), later), 4), "");
    }

    #[test]
    fn a_time_has_three_digits() {
        let times = [1.0, 12.34, 999.9, 1234.0, 5.6e6, 2e9].map(time);
        let expected = [
            "1.00 ns", "12.3 ns", "1000 ns", "1.23 µs", "5.60 ms", "2.00 s",
        ];
        assert_eq!(times, expected);
    }
}
