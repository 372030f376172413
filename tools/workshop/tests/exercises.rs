//! Checks, lists and hints, from the command line.

mod fixture;

use std::process::Output;

use fixture::{EXERCISE, Fixture, stub};
use serde_json::Value;

fn workshop() -> Fixture {
    Fixture::with_exercise(&stub("todo!(\"find it\")"))
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn stdout_of(workshop: &Fixture, arguments: &[&str]) -> String {
    texts(&workshop.output(arguments)).0
}

#[track_caller]
fn assert_says(text: &str, expected: &str) {
    assert!(
        text.contains(expected),
        "`{expected}` is missing in:\n{text}"
    );
}

#[test]
fn a_check_is_red_then_green_and_the_list_remembers_it() {
    let workshop = workshop();
    assert_says(
        &stdout_of(&workshop, &["list"]),
        "find the answer  not started",
    );

    let red = workshop.output(&["check", "1"]);
    assert!(!red.status.success());
    let (stdout, _) = texts(&red);
    for expected in [
        "· 1. Right  not written yet",
        "this part is not written yet",
        "0 of 1 clauses hold, 1 isn't written yet.",
    ] {
        assert_says(&stdout, expected);
    }
    assert!(
        !stdout.contains('\x1b'),
        "colours are for terminals:\n{stdout}"
    );
    assert_says(
        &stdout_of(&workshop, &["list"]),
        "0 of 1 clauses hold, 1 not written yet",
    );

    workshop.write(EXERCISE, &stub("6 * 9"));
    assert_says(
        &stdout_of(&workshop, &["list"]),
        "changed since its last check",
    );
    assert_says(&stdout_of(&workshop, &["check"]), "it is 54");

    workshop.write(EXERCISE, &stub("6 * 7"));
    let green = workshop.output(&["check"]);
    assert!(green.status.success(), "{green:?}");
    assert_says(
        &texts(&green).0,
        "Exercise 1 is solved: 1 of 1 clauses hold.",
    );
    assert_says(&stdout_of(&workshop, &["list"]), "All are solved.");
    assert_says(
        &stdout_of(&workshop, &["check"]),
        "Every exercise is solved.",
    );
}

#[test]
fn a_check_for_programs_prints_the_events_of_the_page() {
    let workshop = workshop();
    let output = workshop.output(&["check", "1", "--format", "json"]);
    assert!(!output.status.success());
    let (stdout, _) = texts(&output);
    let events: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events[0]["type"], "compiling");
    let unwritten = events
        .iter()
        .find(|event| event["outcome"] == "unwritten")
        .unwrap();
    assert_eq!(unwritten["name"], "tests::the_answer_is_right");
    assert_eq!(unwritten["clause"], 1);
    assert_says(unwritten["message"].as_str().unwrap(), "The answer is 42.");
    let exit = events.last().unwrap();
    assert_eq!(
        (&exit["type"], &exit["code"]),
        (&"exit".into(), &101.into())
    );
}

#[test]
fn what_does_not_compile_is_told_in_the_compilers_words() {
    let workshop = workshop();
    workshop.write(EXERCISE, &stub("\"forty-two\""));
    let output = workshop.output(&["check", "1"]);
    assert!(!output.status.success());
    let (_, stderr) = texts(&output);
    assert_says(&stderr, "error[E0308]: mismatched types");
    assert_says(&stderr, "error: exercise 1 does not compile\nhelp: ");
    assert_says(&stdout_of(&workshop, &["list"]), "does not compile");
}

#[test]
fn an_exercise_that_does_not_exist_is_told_with_those_that_do() {
    let workshop = workshop();
    for arguments in [["check", "7"], ["hint", "7"], ["bench", "7"]] {
        let output = workshop.output(&arguments);
        assert!(!output.status.success());
        let expected = "error: there is no exercise `7`\nhelp: they are numbered 1 to 1";
        assert_says(&texts(&output).1, expected);
    }
    let (_, stderr) = texts(&workshop.output(&["bench", "1"]));
    assert_says(&stderr, "error: exercise 1 has no benchmark\nhelp: ");
}

#[test]
fn hints_go_on_level_by_level_and_stay_at_the_last() {
    let workshop = workshop();
    let (_, stderr) = texts(&workshop.output(&["hint", "1"]));
    assert_says(&stderr, "error: exercise 1 has no hints yet\nhelp: ");
    workshop.write(
        "exercises/01-answer/hints.md",
        "# Concept\n\nThink.\n\n# Code\n\n`6 * 7`\n",
    );
    assert_says(
        &stdout_of(&workshop, &["hint", "1"]),
        "hint 1 of 2: Concept\n\nThink.",
    );
    for _ in 0..2 {
        assert_says(
            &stdout_of(&workshop, &["hint", "1"]),
            "hint 2 of 2: Code\n\n`6 * 7`",
        );
    }
}
