//! A sweep: throughput and waits over some number that the reader can vary.

use crate::host::{host, now, source};
use crate::json::{self, Text};

/// As many waits as a point keeps: enough to draw their distribution.
const SAMPLES_MOST: usize = 200;

/// Throughput and waits at several values of one number, with the schema
/// `workshop.sweep/1`.
///
/// ```
/// let mut sweep = trace::Sweep::new("N").title("yield every N numbers");
/// for n in [1, 16, 256] {
///     let items_per_s = [4.6e6, 4.4e6, 4.7e6, 4.6e6, 4.5e6]; // several repeats
///     let waits_ns = [300, 310, 290];
///     sweep = sweep.point(n, &items_per_s, &waits_ns);
/// }
/// sweep.save("yield-sweep");
/// ```
#[must_use = "a sweep does nothing unless it is saved"]
#[derive(Debug)]
pub struct Sweep {
    x: String,
    title: String,
    runtime: String,
    source: String,
    calibration_ns: Vec<u64>,
    points: Vec<Point>,
}

#[derive(Debug)]
struct Point {
    x: u64,
    items_per_s: Vec<f64>,
    waits_ns: Vec<u64>,
}

impl Sweep {
    /// Starts a sweep over the number of this name.
    #[track_caller]
    pub fn new(x: impl Into<String>) -> Self {
        Self {
            x: x.into(),
            title: String::new(),
            runtime: String::new(),
            source: source(),
            calibration_ns: Vec::new(),
            points: Vec::new(),
        }
    }

    /// Says what was measured: the name of the curve.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Names the runtime, with its version.
    pub fn runtime(mut self, runtime: impl Into<String>) -> Self {
        self.runtime = runtime.into();
        self
    }

    /// Adds the time that a constant piece of work took, measured between the points: how steady
    /// the machine was.
    pub fn calibration(mut self, time_ns: u64) -> Self {
        self.calibration_ns.push(time_ns);
        self
    }

    /// Adds what was measured at `x`: the throughput of each repeat, and the waits
    /// of all of them. A second call for the same `x` adds to the first, so that
    /// the repeats may come in any order.
    pub fn point(mut self, x: u64, items_per_s: &[f64], waits_ns: &[u64]) -> Self {
        let at = self.points.partition_point(|point| point.x < x);
        if self.points.get(at).is_none_or(|point| point.x != x) {
            let (items_per_s, waits_ns) = (Vec::new(), Vec::new());
            self.points.insert(
                at,
                Point {
                    x,
                    items_per_s,
                    waits_ns,
                },
            );
        }
        self.points[at].items_per_s.extend(items_per_s);
        self.points[at].waits_ns.extend(waits_ns);
        self
    }

    /// The document: one point a line, and no line is blank.
    pub fn to_json(&self) -> String {
        let points = self.points.iter().map(|point| point.to_json(&self.x));
        format!(
            "{{\"schema\":\"workshop.sweep/1\",\"title\":{},\"runtime\":{},\n\
             \"host\":{},\"recorded\":{},\"source\":{},\n\"calibration_ns\":{:?},\"x\":{},\n\"points\":{}}}\n",
            Text(&self.title),
            Text(&self.runtime),
            host(),
            Text(&now()),
            Text(&self.source),
            self.calibration_ns,
            Text(&self.x),
            json::lines(points)
        )
    }

    /// Hands the document to the program that asked for it, see [`Trace::save`].
    ///
    /// [`Trace::save`]: crate::Trace::save
    pub fn save(&self, name: &str) {
        json::save(name, &self.to_json());
    }
}

impl Point {
    fn to_json(&self, x: &str) -> String {
        let items: Vec<_> = self.items_per_s.iter().map(|rate| number(*rate)).collect();
        let mut waits = self.waits_ns.clone();
        waits.sort_unstable();
        let wake_ns = match waits.is_empty() {
            true => "null".to_owned(),
            false => format!(
                r#"{{"count":{},"p50":{},"p90":{},"p99":{},"samples":{:?}}}"#,
                waits.len(),
                quantile(&waits, 0.5),
                quantile(&waits, 0.9),
                quantile(&waits, 0.99),
                samples(&waits)
            ),
        };
        format!(
            r#"{{{}:{},"items_per_s":[{}],"wake_ns":{wake_ns}}}"#,
            Text(x),
            self.x,
            items.join(",")
        )
    }
}

/// A rate with the significant digits only.
fn number(rate: f64) -> String {
    match rate {
        rate if !rate.is_finite() => "null".to_owned(),
        rate if rate >= 1_000.0 => format!("{rate:.0}"),
        rate => format!("{rate:.3}"),
    }
}

/// The value below which this part of the sorted values lies; `q` is below 1.
fn quantile(sorted: &[u64], q: f64) -> u64 {
    sorted[(sorted.len() as f64 * q) as usize]
}

/// The values themselves, or as many quantiles of them, evenly spaced.
fn samples(sorted: &[u64]) -> Vec<u64> {
    if sorted.len() <= SAMPLES_MOST {
        return sorted.to_vec();
    }
    let last = sorted.len() - 1;
    let at = |index| sorted[index * last / (SAMPLES_MOST - 1)];
    (0..SAMPLES_MOST).map(at).collect()
}
