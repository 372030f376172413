//! The export keeps the rules of Chrome's trace events, and Perfetto's, which are
//! stricter: it drops what breaks them without a word.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;
use trace::Trace;
use trace::document::Document;
use trace::queue::{self, Queue};

/// All recorded traces of the book, as Chrome's events.
fn exported() -> &'static [(String, Vec<Value>)] {
    // One recording at a time: the tests share it.
    static ALL: LazyLock<Vec<(String, Vec<Value>)>> = LazyLock::new(export);
    &ALL
}

fn export() -> Vec<(String, Vec<Value>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/traces");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let traces = files.filter_map(|file| {
        let text = fs::read_to_string(&file).unwrap();
        match Document::read(&text).expect("`verify` reads them, too") {
            Document::Trace(document) => Some((file.display().to_string(), (*document).into())),
            Document::Sweep(_) | Document::Steps(_) => None,
        }
    });
    let mut all: Vec<(String, Trace)> = traces.collect();
    assert!(all.len() >= 5);
    all.push(("by hand".into(), with_everything()));
    all.into_iter()
        .map(|(name, trace)| {
            let chrome: Value = serde_json::from_str(&trace.to_chrome()).unwrap();
            assert_eq!(chrome["displayTimeUnit"], "ns");
            (name, chrome["traceEvents"].as_array().unwrap().clone())
        })
        .collect()
}

/// A trace with every kind of event, on a worker and elsewhere.
fn with_everything() -> Trace {
    let recording = trace::record("everything", "by hand", 2);
    let inside = || {
        trace::span("within", trace::yielded);
        trace::mark("here");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            queue::started(0);
            queue::searches();
            queue::stole(1, 3);
            queue::searched(true);
            queue::popped(Queue::Local);
            trace::span("A", inside);
            queue::took(2);
            queue::overflowed(3);
            queue::notified(1);
            trace::thread_park();
        });
    });
    trace::span("elsewhere", inside);
    queue::pushed(Queue::Global);
    recording.finish()
}

/// Nanoseconds, as Perfetto reads what is written in microseconds.
#[track_caller]
fn time(row: &Value, key: &str) -> i64 {
    let micros = row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}"));
    assert!(micros >= 0.0 && micros.is_finite(), "{row}");
    (micros * 1_000.0).round() as i64
}

#[track_caller]
fn lane(row: &Value) -> (u64, u64) {
    let number = |key: &str| row[key].as_u64().unwrap_or_else(|| panic!("{key}: {row}"));
    (number("pid"), number("tid"))
}

#[test]
fn every_event_has_what_its_phase_asks_for() {
    for (file, rows) in exported() {
        for row in rows {
            let has = |key: &str| !row[key].is_null();
            assert!(
                row["name"].is_string() && row["pid"].is_u64(),
                "{file}: {row}"
            );
            let phase = row["ph"].as_str().unwrap_or_default();
            let fits = match phase {
                "X" => time(row, "dur") >= 0 && has("tid") && has("cat"),
                "i" => row["s"] == "t" && has("tid"),
                "s" => has("id") && has("cat") && has("tid"),
                "f" => has("id") && has("cat") && has("tid") && row["bp"] == "e",
                "C" => row["args"]
                    .as_object()
                    .is_some_and(|args| !args.is_empty() && args.values().all(Value::is_number)),
                "M" => has("args"),
                _ => false,
            };
            assert!(fits, "{file}: {row}");
            assert!(phase == "M" || time(row, "ts") >= 0);
        }
    }
}

#[test]
fn slices_of_a_thread_lie_within_one_another_or_apart() {
    for (file, rows) in exported() {
        let mut lanes: BTreeMap<_, Vec<(i64, i64)>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row["ph"] == "X") {
            let start = time(row, "ts");
            lanes
                .entry(lane(row))
                .or_default()
                .push((start, start + time(row, "dur")));
        }
        for (lane, mut slices) in lanes {
            // As Perfetto sorts them: by their start, else as they stand in the file.
            slices.sort_by_key(|slice| slice.0);
            let mut open: Vec<(i64, i64)> = Vec::new();
            for slice in slices {
                open.retain(|around| around.1 > slice.0);
                let fits = open.iter().all(|around| slice.1 <= around.1);
                assert!(fits, "{file}: {slice:?} of {lane:?} overlaps with {open:?}");
                open.push(slice);
            }
        }
    }
}

#[test]
fn every_arrow_has_one_beginning_and_one_end_each_in_a_slice() {
    let mut arrows = 0;
    for (file, rows) in exported() {
        let slices: Vec<_> = rows.iter().filter(|row| row["ph"] == "X").collect();
        let mut ends: BTreeMap<_, Vec<&Value>> = BTreeMap::new();
        for row in rows
            .iter()
            .filter(|row| row["ph"] == "s" || row["ph"] == "f")
        {
            let within = |slice: &&Value| {
                let start = time(slice, "ts");
                let span = start..=start + time(slice, "dur");
                lane(slice) == lane(row) && span.contains(&time(row, "ts"))
            };
            assert!(slices.iter().any(within), "{file}: {row} lies in no slice");
            let key = ["cat", "name", "id"].map(|key| row[key].to_string());
            ends.entry(key).or_default().push(row);
        }
        for (key, ends) in &ends {
            let [start, end] = ends[..] else {
                panic!("{file}: {key:?} has {} ends", ends.len());
            };
            assert!(start["ph"] == "s" && end["ph"] == "f", "{file}: {key:?}");
            assert!(time(start, "ts") <= time(end, "ts"), "{file}: {key:?}");
        }
        arrows += ends.len();
    }
    assert!(arrows >= 5, "{arrows} arrows");
}

#[test]
fn every_thread_has_a_name_and_a_number_of_its_own() {
    for (file, rows) in exported() {
        let named = |row: &&Value| row["name"] == "thread_name";
        let named: Vec<_> = rows.iter().filter(named).map(lane).collect();
        let numbers: BTreeSet<_> = named.iter().map(|(_, tid)| tid).collect();
        assert_eq!(numbers.len(), named.len(), "{file}: a number stands twice");
        for row in rows.iter().filter(|row| !row["tid"].is_null()) {
            assert!(named.contains(&lane(row)), "{file}: no name for {row}");
        }
        for (pid, tid) in named {
            assert_ne!(pid, tid, "{file}: it would be its process's main thread");
        }
    }
}
