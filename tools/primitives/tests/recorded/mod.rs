//! Runs a test of this file again, in a process of its own that records: after a failure the
//! checker may abort.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{env, fs, process};

use serde_json::Value;

/// Names the file for the recording, as the command does.
const FILE: &str = "PRIMITIVES_ORDER";
/// Says which execution has failed, as the command does.
const EXECUTION: &str = "PRIMITIVES_EXECUTION";
/// Tells a process that it is to explore the model.
const CHILD: &str = "PRIMITIVES_TESTS_CHILD";

pub fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// Explores the model of `test` in a process of its own. Returns what that printed, and what it
/// recorded.
pub fn explored(test: &str, records: bool) -> (String, Option<Value>) {
    explored_with(test, records, None)
}

/// The same, where the execution with this number is said to have failed.
fn explored_with(test: &str, records: bool, execution: Option<u64>) -> (String, Option<Value>) {
    // Several tests may explore the same one at the same time.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Relaxed);
    let file = env::temp_dir().join(format!("order-{test}-{}-{number}", process::id()));
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, "1").env_remove(FILE);
    if records {
        command.env(FILE, &file);
    }
    if let Some(number) = execution {
        command.env(EXECUTION, number.to_string());
    }
    let printed = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let text = fs::read_to_string(&file).ok();
    let recorded = text.map(|text| serde_json::from_str(&text).unwrap());
    let _absent = fs::remove_file(file);
    (printed, recorded)
}

pub fn recorded(test: &str) -> Value {
    let (printed, recorded) = explored(test, true);
    recorded.unwrap_or_else(|| panic!("nothing was recorded: {printed}"))
}

/// What is recorded from the execution with this number on.
#[cfg(feature = "loom")]
pub fn recorded_from(test: &str, execution: u64) -> Option<Value> {
    explored_with(test, true, Some(execution)).1
}

/// One line for each entry of the order, and one for each operation that was not done.
pub fn rows(recorded: &Value) -> Vec<String> {
    let list = |name: &str| recorded[name].as_array().unwrap();
    let row = |step: &Value, end: &str| {
        let kind = |number: &Value| &recorded["objects"][number.as_u64().unwrap() as usize]["kind"];
        let kind = step
            .get("object")
            .map_or("", |it| kind(it).as_str().unwrap());
        let (thread, operation) = (&step["thread"], step["operation"].as_str().unwrap());
        let values = ["read", "wrote", "newest"];
        let values = values.map(|key| step[key].as_str().map(|value| format!(" {key} {value}")));
        let wakes = step.get("wakes").map(|wakes| format!(" wakes {wakes}"));
        let values: String = values.into_iter().chain([wakes]).flatten().collect();
        format!("{thread} {kind}.{operation}{values}{end}")
    };
    let steps = list("steps");
    let mut rows = Vec::new();
    let mut done = Vec::new();
    for entry in list("order") {
        if let Some(number) = entry["done"].as_u64() {
            done.push(number as usize);
            rows.push(row(&steps[number as usize], ""));
        } else if let Some(number) = entry["sleeps"].as_u64() {
            rows.push(row(&steps[number as usize], ": sleeps"));
        } else if let Some(orders) = entry["lost"].as_u64() {
            rows.push(format!("each of {orders} orders fails after:"));
        } else {
            let message = entry["message"].as_str().unwrap();
            let first = message.split([';', '.']).next().unwrap();
            rows.push(format!("{} panics: {}", entry["panics"], first.trim()));
        }
    }
    let open = steps
        .iter()
        .enumerate()
        .filter(|(at, _)| !done.contains(at));
    rows.extend(open.map(|(_, step)| row(step, ": not done")));
    rows
}
