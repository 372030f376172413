//! Checks, lists and hints, from the command line.

mod fixture;

use std::process::Output;

use fixture::{EXERCISE, Fixture, stub};
use serde_json::{Value, json};

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
        "colors are for terminals:\n{stdout}"
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
        "Exercise 1 is solved: 1 of 1 clauses hold.\n\
         Compare it with our solution: `cargo workshop diff 1`.\n\
         All others are solved, too.\n",
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

/// Adds models to the exercise, of which loom's feature compiles as `lib` says.
fn add_models(workshop: &Fixture, lib: &str) {
    const MANIFEST: &str = "exercises/01-answer/Cargo.toml";
    let manifest = workshop.read(MANIFEST);
    if !manifest.contains("[features]") {
        let with_loom = manifest.replace("[dev-", "[features]\nloom = []\n[dev-");
        workshop.write(MANIFEST, &with_loom);
    }
    let models = "#[test]\nfn every_order() {\n    assert_eq!(super::answer(), 42);\n}\n";
    workshop.write("exercises/01-answer/src/models.rs", models);
    let stub = stub("42").replace(
        "#[cfg(test)]\nmod tests;",
        "#[cfg(all(test, not(feature = \"loom\")))]\nmod tests;\n\
         #[cfg(all(test, feature = \"loom\"))]\nmod models;",
    );
    workshop.write(EXERCISE, &format!("{stub}\n{lib}\n"));
}

#[test]
fn models_that_do_not_compile_are_not_taken_for_an_exercise_that_does_not() {
    let workshop = workshop();
    add_models(
        &workshop,
        "#[cfg(feature = \"loom\")]\ncompile_error!(\"loom lacks this\");",
    );
    let output = workshop.output(&["check", "1"]);
    assert!(!output.status.success());
    let (stdout, stderr) = texts(&output);
    assert_says(&stdout, "✓ 1. Right");
    assert!(!stdout.contains("is solved"), "{stdout}");
    assert_says(&stderr, "error: loom lacks this");
    assert_says(&stderr, "error: the *models* don't compile");
    assert_says(&stderr, "write a function, `fn run(this: &Arc<Self>)`");
    assert_says(&stderr, "models.html#what-primitives-lacks");
    let list = stdout_of(&workshop, &["list"]);
    assert!(!list.contains("does not compile"), "{list}");
}

#[test]
fn a_model_that_cannot_judge_the_code_is_told_and_counts_for_nothing() {
    let workshop = workshop();
    add_models(&workshop, "");
    // What loom says of a program that does something else each time.
    let models = r#"#[test]
fn every_order() {
    let lesson = testkit::Lesson {
        clause: "1. Right",
        promise: "It is right in every order.",
        usual_cause: "It is wrong in one.",
        read: "one.html",
    };
    testkit::check_model(lesson, || {
        assert_eq!(super::answer(), 42);
        panic!("Reached unexpected exploration state. Is the model fully deterministic?")
    });
}
"#;
    workshop.write("exercises/01-answer/src/models.rs", models);
    let output = workshop.output(&["check", "1"]);
    let (stdout, _) = texts(&output);
    assert!(output.status.success(), "{stdout}");
    assert_says(&stdout, "models  1 of 1 can't judge your code");
    assert_says(&stdout, "Not judged: models::every_order");
    assert_says(&stdout, "the order of a `HashMap`");
    assert_says(&stdout, "is solved");
    // A model that fails isn't taken for one of these.
    workshop.write(
        "exercises/01-answer/src/models.rs",
        &models.replace("(), 42", "(), 43"),
    );
    let output = workshop.output(&["check", "1"]);
    assert!(!output.status.success(), "{output:?}");
}

#[test]
fn a_file_that_no_longer_declares_its_checks_is_not_solved() {
    let workshop = workshop();
    let without = stub("42").replace("mod tests;", "");
    workshop.write(EXERCISE, &without.replace("#[cfg(test)]", ""));
    let output = workshop.output(&["check", "1"]);
    assert!(!output.status.success());
    let (stdout, _) = texts(&output);
    assert_says(&stdout, "lib.rs has no `mod tests;`");
    assert_says(&stdout, "#[cfg(test)]\nmod tests;");
    assert!(!stdout.contains("is solved"), "{stdout}");
}

#[test]
fn code_that_the_models_cannot_see_is_told() {
    let workshop = workshop();
    add_models(
        &workshop,
        "pub static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());",
    );
    let output = workshop.output(&["check", "1"]);
    assert!(!output.status.success());
    let (stdout, _) = texts(&output);
    assert_says(&stdout, "can't see your code");
    assert_says(&stdout, "`std::sync::Mutex` (src/lib.rs:");
    assert_says(&stdout, "hold in the tests; the models haven't run.");
    assert!(!stdout.contains("is solved"), "{stdout}");
    // It uses both, and the models pass.
    add_models(
        &workshop,
        "mod primitives {\n    pub fn lock() {}\n}\npub fn f() {\n    primitives::lock();\n    \
         drop(std::sync::Mutex::new(()));\n}",
    );
    let output = workshop.output(&["check", "1"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn an_effect_inside_a_debug_assertion_is_found_before_the_exercise_is_solved() {
    let workshop = workshop();
    let with = |condition: &str| {
        let body = format!("let mut n = 41;\n    debug_assert!({condition});\n    n");
        workshop.write(EXERCISE, &stub(&body));
        let output = workshop.output(&["check", "1"]);
        (output.status.success(), texts(&output))
    };
    let (green, (stdout, stderr)) = with("{ n += 1; n == 42 }");
    assert!(!green, "{stdout}{stderr}");
    assert_says(&stdout, "✗ 1. Right");
    assert_says(&stdout, "it is 41");
    assert_says(&stdout, "only without debug assertions");
    assert_says(&stdout, "src/lib.rs:9");
    assert_says(&stdout, "`cargo test --release -p exercise-1`");
    assert!(!stdout.contains("✓"), "a ✓ is final:\n{stdout}");
    let list = stdout_of(&workshop, &["list"]);
    assert_says(&list, "0 of 1 clauses hold");

    // One that fails speaks for itself.
    let (green, (stdout, _)) = with("n == 42, \"n is {n}\"");
    assert!(!green && !stdout.contains("only without"), "{stdout}");
    assert_says(&stdout, "n is 41");

    workshop.write(
        EXERCISE,
        &stub("let n = 42;\n    debug_assert!(n > 41);\n    n"),
    );
    let green = workshop.output(&["check", "1"]);
    assert!(green.status.success(), "{green:?}");
    assert_says(&texts(&green).0, "Exercise 1 is solved");

    // What is left out may be needed: the compiler says so.
    workshop.write(
        EXERCISE,
        &stub("#[cfg(debug_assertions)]\n    let n = 42;\n    n"),
    );
    let (stdout, stderr) = texts(&workshop.output(&["check", "1"]));
    assert!(!stdout.contains("is solved"), "{stdout}");
    assert_says(&stderr, "cannot find value `n`");
    assert_says(&stderr, "only without debug assertions");
    assert!(!stderr.contains("primitives"), "{stderr}");
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

/// Three checks that the answer 54 fails, each with other words.
const THREE: &str = "
use testkit::{Lesson, check};

const fn lesson(usual_cause: &'static str) -> Lesson {
    Lesson { clause: \"1. Right\", promise: \"The answer is 42.\", usual_cause, read: \"one.html\" }
}

/// Clause 1: as was asked.
#[test]
fn it_is_small() {
    check(lesson(\"It is too large.\"), || assert!(super::answer() < 50, \"it is large\\u{1b}]0;x\\u{7}\"));
}

/// Clause 1: as was asked.
#[test]
fn it_is_right() {
    check(lesson(\"The factors are swapped. Or not.\"), || assert!(super::answer() == 42, \"it is wrong\"));
}

/// Clause 1: as was asked.
#[test]
fn it_has_its_factors() {
    check(lesson(\"It counts in base 13.\"), || assert!(super::answer() % 7 == 0, \"7 is no factor\"));
}
";

#[test]
fn of_several_failures_the_one_that_catches_the_nearest_known_version_is_told() {
    let workshop = Fixture::with_exercise(&stub("6 * 9"));
    workshop.write("exercises/01-answer/src/tests.rs", THREE);
    let (first, _) = texts(&workshop.output(&["check", "1"]));
    assert_says(&first, "\nit_is_small\nclause 1. Right\n");
    assert_says(&first, "it is large\\u{1b}]0;x\\u{7}");
    assert!(!first.contains('\x1b'), "{first}");

    let known = "//! Breaks clause 1: Right.\n//! Caught by: it_has_its_factors\n\
                 //! Also fails: it_is_small\n//! Also fails: it_is_right\n//!\n//! Why.\n";
    workshop.write("counterexamples/src/exercise_1/base_13.rs", known);
    let (chosen, _) = texts(&workshop.output(&["check", "1"]));
    for expected in [
        "\nit_has_its_factors\nclause 1. Right\n",
        "  seen       7 is no factor\n  usually    It counts in base 13.\n  or         ",
        "\nAlso failing (`cargo workshop check 1 NAME` tells one in full):\n",
        "  it_is_right\n      it is wrong\n",
        "0 of 1 clauses hold.",
    ] {
        assert_says(&chosen, expected);
    }

    let other = workshop.output(&["check", "1", "is_right"]);
    assert!(!other.status.success());
    let (other, _) = texts(&other);
    assert_says(&other, "\n✗ it_is_right\nclause 1. Right\n");
    assert_says(&other, "The factors are swapped. Or not.");
    assert!(!other.contains("it_is_small"), "{other}");
    let (_, stderr) = texts(&workshop.output(&["check", "1", "it_is_blue"]));
    assert_says(
        &stderr,
        "error: exercise 1 has no check `it_is_blue`\nhelp: ",
    );
}

/// It measures nothing: it writes what criterion would have, and says what it would say.
const BENCHMARK: &str = r#"// exercise_1, and `Criterion::default()`
use std::fs;

fn main() {
    for (contender, median) in [("exercise-1", 20.0), ("solution-1", 10.0), ("tokio", 15.0)] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/criterion/answer/");
        let folder = format!("{folder}{contender}/10/new");
        fs::create_dir_all(&folder).unwrap();
        let [low, high] = [median - 1.0, median + 1.0];
        let interval = format!(r"{{'lower_bound':{low},'upper_bound':{high}}}");
        let text = format!(r"{{'median':{{'point_estimate':{median},'confidence_interval':{interval}}}}}");
        fs::write(format!("{folder}/estimates.json"), text.replace('\'', "\"")).unwrap();
        println!("Performance has regressed.");
        eprintln!("thread 'main' panicked: not yet implemented");
    }
}
"#;

#[test]
fn a_benchmark_is_told_in_bars_and_what_criterion_says_is_kept_apart() {
    let workshop = Fixture::with_exercise(&stub("42"));
    let members = workshop
        .read("Cargo.toml")
        .replace("\"greeting\"", "\"greeting\", \"benches\"");
    workshop.write("Cargo.toml", &members);
    // The second exercise isn't solved: it must not even be compiled.
    workshop.add_exercise(2, "compile_error!(\"not for this benchmark\");");
    workshop.write(
        "benches/Cargo.toml",
        "[package]\nname = \"benches\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [features]\nmine-1 = [\"dep:exercise-1\"]\nmine-2 = [\"dep:exercise-2\"]\n\
         [[bench]]\nname = \"answer\"\npath = \"answer.rs\"\nharness = false\n[dependencies]\n\
         exercise-1 = { path = \"../exercises/01-answer\", optional = true }\n\
         exercise-2 = { path = \"../exercises/02-answer\", optional = true }\n",
    );
    workshop.write("benches/src/lib.rs", "");
    workshop.write("benches/answer.rs", BENCHMARK);
    let output = workshop.output(&["bench", "1"]);
    let (stdout, stderr) = texts(&output);
    assert!(output.status.success(), "{stdout}{stderr}");
    for said in ["regressed", "not yet implemented"] {
        assert!(
            !format!("{stdout}{stderr}").contains(said),
            "{stdout}{stderr}"
        );
        let log = workshop.read("target/workshop/bench-1.txt");
        assert!(log.contains(said), "{log}");
    }
    for contender in ["yours", "tokio"] {
        let is_bar = |line: &str| line.contains(contender) && line.contains('█');
        assert!(
            stdout.lines().any(is_bar),
            "no bar of {contender}: {stdout}"
        );
    }
    // A page shows the reader's figures, and ours of the same run, beside the recorded ones.
    let server = workshop.serve();
    let ask = |number: u32| {
        server.send(&server.call(&format!("/api/exercises/{number}/bench"), &json!({})))
    };
    let measured: Value = serde_json::from_str(&ask(1).body).unwrap();
    let expected = [("exercise-1", 20.0), ("solution-1", 10.0)].map(|(contender, median)| {
        json!({ "contender": contender, "parameter": "10", "median": median,
            "range": [median - 1.0, median + 1.0] })
    });
    assert_eq!(measured, json!(expected));
    assert_eq!(ask(2).status, 204, "it was never measured");
}

#[test]
fn a_demonstration_is_built_without_cargo_s_routine_lines() {
    let workshop = Fixture::with_exercise(&stub("42"));
    workshop.write("exercises/01-answer/examples/trace.rs", "fn main() {}\n");
    let (_, stderr) = texts(&workshop.output(&["trace", "1"]));
    assert_says(&stderr, "the demonstration saves nothing");
    for word in ["Compiling", "Finished"] {
        assert!(!stderr.contains(word), "{stderr}");
    }
}

#[test]
fn a_stub_is_told_to_be_one_before_its_demonstration_is_compiled() {
    let workshop = Fixture::with_exercise(&stub("todo!()"));
    let demonstration = "compile_error!(\"it is compiled\");\nfn main() {}\n";
    workshop.write("exercises/01-answer/examples/trace.rs", demonstration);
    let output = workshop.output(&["trace", "1"]);
    let (stdout, stderr) = texts(&output);
    assert!(!output.status.success());
    assert_says(&stderr, "error: exercise 1 holds a `todo!` still\nhelp: ");
    let all = format!("{stdout}{stderr}");
    assert!(
        !all.contains("Compiling") && !all.contains("it is compiled"),
        "{all}"
    );
}
