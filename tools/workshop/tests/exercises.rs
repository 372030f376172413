//! Checks, lists and hints, from the command line.

mod fixture;

use std::path::Path;
use std::process::Output;

use fixture::Fixture;
use serde_json::Value;

const TESTS: &str = "
use testkit::{Lesson, check};

/// Clause 1: because it was asked for.
#[test]
fn the_answer_is_right() {
    let lesson = Lesson {
        clause: \"1. Right\",
        promise: \"The answer is 42.\",
        usual_cause: \"It is another number.\",
        read: \"one.html\",
    };
    check(lesson, || assert!(super::answer() == 42, \"it is {}\", super::answer()));
}
";

fn stub(body: &str) -> String {
    format!(
        "//! Exercise 1: find the answer.\n\n#[cfg(test)]\nmod tests;\n\n\
         /// Returns it.\npub fn answer() -> u32 {{\n    {body}\n}}\n"
    )
}

/// A workshop with one exercise.
fn workshop() -> Fixture {
    let fixture = Fixture::new();
    let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit");
    let manifest = format!(
        "[package]\nname = \"exercise-1\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [dev-dependencies]\ntestkit = {{ path = {kit:?} }}\n"
    );
    fixture.write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"snippets\", \"greeting\", \"exercises/*\"]\n",
    );
    fixture.write("exercises/01-answer/Cargo.toml", &manifest);
    fixture.write(STUB, &stub("todo!(\"find it\")"));
    fixture.write("exercises/01-answer/src/tests.rs", TESTS);
    fixture
}

const STUB: &str = "exercises/01-answer/src/lib.rs";

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
        "✗ 1. Right",
        "this part is not written yet",
        "0 of 1 clauses hold",
    ] {
        assert_says(&stdout, expected);
    }
    assert!(
        !stdout.contains('\x1b'),
        "colours are for terminals:\n{stdout}"
    );
    assert_says(&stdout_of(&workshop, &["list"]), "0 of 1 clauses hold");

    workshop.write(STUB, &stub("6 * 9"));
    assert_says(
        &stdout_of(&workshop, &["list"]),
        "changed since its last check",
    );
    assert_says(&stdout_of(&workshop, &["check"]), "it is 54");

    workshop.write(STUB, &stub("6 * 7"));
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
    let failed = events
        .iter()
        .find(|event| event["outcome"] == "failed")
        .unwrap();
    assert_eq!(failed["name"], "tests::the_answer_is_right");
    assert_eq!(failed["clause"], 1);
    assert_says(failed["message"].as_str().unwrap(), "The answer is 42.");
    let exit = events.last().unwrap();
    assert_eq!(
        (&exit["type"], &exit["code"]),
        (&"exit".into(), &101.into())
    );
}

#[test]
fn what_does_not_compile_is_told_in_the_compilers_words() {
    let workshop = workshop();
    workshop.write(STUB, &stub("\"forty-two\""));
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
