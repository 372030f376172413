//! Wrong versions, from the command line: listed, shown, put into an exercise, and
//! written by their authors.

mod fixture;

use std::process::{Command, Output};

use fixture::{EXERCISE, Fixture, stub};

const SOLUTION: &str = "solutions/01-answer/src/lib.rs";
const PART: &str = "solutions/01-answer/src/part.rs";
const EDIT: &str = "counterexamples/src/exercise_1/c01_nine_for_seven.diff";
const FOLDER: &str = "exercises/01-answer";

/// The solution, in two files.
fn root() -> String {
    let stub = stub("part::SIX * 7").replace(
        "#[cfg(test)]\nmod tests;",
        "mod part;\n#[cfg(test)]\n#[path = \"../../../exercises/01-answer/src/tests.rs\"]\nmod tests;",
    );
    contract(&stub)
}

fn contract(stub: &str) -> String {
    stub.replace(
        "/// Returns it.\n",
        "/// Returns it.\n///\n/// # Contract\n///\n/// 1. **Right.** It is 42.\n",
    )
}

const HEADER: &str = "Breaks clause 1: Right.\nCaught by: the_answer_is_right\n\
                      Base: solutions/01-answer\n\nA seven looks like a nine.\n\n";
const CHANGE: &str = "--- lib.rs\n+++ lib.rs\n@@ -13,3 +13,3 @@\n pub fn answer() -> u32 {\n\
                      -    part::SIX * 7\n+    part::SIX * 9\n }\n";

/// A workshop with an edit of its solution, and a whole program.
fn workshop() -> Fixture {
    let workshop = Fixture::with_exercise(&contract(&stub("todo!()")));
    workshop.write("exercises/01-answer/stub.rs", &contract(&stub("todo!()")));
    workshop.write(SOLUTION, &root());
    workshop.write(PART, "pub const SIX: u32 = 6;\n");
    workshop.write(EDIT, &format!("{HEADER}{CHANGE}"));
    let whole = stub("greeting::HELLO.len() as u32").replace(
        "//! Exercise 1: find the answer.\n",
        "//! Breaks clause 1: Right.\n//! Caught by: the_answer_is_right\n//!\n//! It greets.\n",
    );
    let whole = whole.replace(
        "mod tests;",
        "#[path = \"../../../exercises/01-answer/src/tests.rs\"]\nmod tests;",
    );
    workshop.write("counterexamples/src/exercise_1/c01_greets.rs", &whole);
    let manifest = "[package]\nname = \"counterexamples\"\n[dependencies]\n\
                    greeting = { path = \"../greeting\" }\n";
    workshop.write("counterexamples/Cargo.toml", manifest);
    workshop
}

/// The same, known to git.
fn repository() -> Fixture {
    let workshop = workshop();
    git(&workshop, &["init", "--quiet"]);
    git(&workshop, &["add", "."]);
    workshop
}

fn git(workshop: &Fixture, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    let output = git.args(arguments).current_dir(workshop.path()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn stdout_of(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn says(workshop: &Fixture, arguments: &[&str]) -> String {
    stdout_of(&workshop.output(&[&["wrong"], arguments].concat()))
}

/// The command has failed in two lines.
#[track_caller]
fn assert_refused(workshop: &Fixture, arguments: &[&str], error: &str, help: &str) {
    let output = workshop.output(&[&["wrong"], arguments].concat());
    assert!(!output.status.success(), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<_> = stderr.lines().collect();
    let [first, second] = lines[..] else {
        panic!("no two lines: {stderr}");
    };
    assert!(
        first.starts_with("error: ") && first.contains(error),
        "{first}"
    );
    assert!(
        second.starts_with("help: ") && second.contains(help),
        "{second}"
    );
}

#[test]
fn the_list_says_what_each_breaks_and_what_catches_it() {
    let workshop = workshop();
    let expected = "   1  c01_greets          1. Right  the_answer_is_right\n   \
                    1  c01_nine_for_seven  1. Right  the_answer_is_right\n";
    assert_eq!(says(&workshop, &[]), expected);
    assert_eq!(says(&workshop, &["1"]), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_lines_that_fit_and_edits_in_colors() {
    use fixture::terminal::in_terminal;

    let workshop = workshop();
    let long =
        "a_name_of_a_test_that_is_so_long_that_it_does_not_fit_on_one_line_with_all_the_rest";
    let edit = workshop.read(EDIT).replace("the_answer_is_right", long);
    workshop.write(EDIT, &edit);
    // It has a hundred columns.
    let (_, list) = in_terminal(workshop.command().args(["wrong", "1"]));
    let widths: Vec<_> = list
        .lines()
        .map(|line| line.trim_end().chars().count())
        .collect();
    assert_eq!(widths.len(), 2, "{list}");
    assert!(widths.iter().all(|width| *width < 100), "{list}");
    assert!(
        list.contains("a_name_of_a_test") && list.contains('…'),
        "{list}"
    );
    let (_, shown) = in_terminal(workshop.command().args(["wrong", "1", "nine"]));
    assert!(
        shown.contains("\x1b[32m+    part::SIX * 9\x1b[0m"),
        "{shown}"
    );
}

#[test]
fn one_is_shown_as_its_edit_or_as_a_whole() {
    let workshop = workshop();
    let edit = workshop.read(EDIT);
    assert_eq!(says(&workshop, &["1", "c01_nine_for_seven"]), edit);
    assert_eq!(
        says(&workshop, &["1", "nine"]),
        edit,
        "by a part of its name"
    );
    let greets = workshop.read("counterexamples/src/exercise_1/c01_greets.rs");
    assert_eq!(says(&workshop, &["1", "c01_greets"]), greets);
    assert_eq!(says(&workshop, &["1", "c01_greets", "--whole"]), greets);

    let root = root().replace("SIX * 7", "SIX * 9");
    let whole = format!("// lib.rs\n\n{root}\n// part.rs\n\npub const SIX: u32 = 6;\n");
    assert_eq!(says(&workshop, &["1", "nine", "--whole"]), whole);
}

#[test]
fn what_there_is_not_is_told_with_what_there_is() {
    let workshop = workshop();
    assert_refused(&workshop, &["7"], "no exercise `7`", "numbered 1 to 1");
    let none = "no wrong version with `ten` in its name";
    assert_refused(&workshop, &["1", "ten"], none, "`cargo workshop wrong 1`");
    let several = "`c01_` is in the names of 2";
    assert_refused(
        &workshop,
        &["1", "c01_"],
        several,
        "`c01_greets`, `c01_nine_for_seven`",
    );
    workshop.write(SOLUTION, "pub fn answer() {}\n");
    assert_refused(
        &workshop,
        &["1", "nine", "--whole"],
        "does not fit",
        "--save",
    );
}

#[test]
fn the_checks_catch_one_in_the_exercise_and_a_reset_takes_it_away() {
    let workshop = workshop();
    let mine = contract(&stub("41"));
    workshop.write(EXERCISE, &mine);
    let files = || git_files(&workshop);
    let before = files();

    let said = says(&workshop, &["1", "nine", "--into-exercise"]);
    let kept = "exercises/01-answer/lib-1.kept.rs";
    assert!(
        said.contains(&format!("Your version is in `{kept}`.")),
        "{said}"
    );
    assert_eq!(workshop.read(kept), mine);
    let text = workshop.read(EXERCISE);
    assert!(
        text.contains("mod part;\n#[cfg(test)]\nmod tests;"),
        "{text}"
    );
    let check = workshop.output(&["check", "1"]);
    let check = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.contains("it is 54"), "{check}");

    // Another one in its place: this time nothing is the reader's.
    let said = says(&workshop, &["1", "greets", "--into-exercise"]);
    assert!(!said.contains("Your version"), "{said}");
    let check = workshop.output(&["check", "1"]);
    let check = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.contains("it is 18"), "{check}");

    let reset = stdout_of(&workshop.output(&["reset", "1"]));
    assert_eq!(reset, "Exercise 1 is the stub again.\n");
    let stub = workshop.read("exercises/01-answer/stub.rs");
    assert_eq!(workshop.read(EXERCISE), stub);
    let mut after = before;
    after.push(kept.rsplit('/').next().unwrap().to_owned());
    after.sort();
    assert_eq!(files(), after);
    let manifest = workshop.read("exercises/01-answer/Cargo.toml");
    assert!(!manifest.contains("greeting"), "{manifest}");
}

/// The files in the exercise's folder.
fn git_files(workshop: &Fixture) -> Vec<String> {
    let folder = workshop.path().join(FOLDER);
    let mut names = Vec::new();
    for below in ["", "src"] {
        for entry in std::fs::read_dir(folder.join(below)).unwrap() {
            names.push(entry.unwrap().file_name().into_string().unwrap());
        }
    }
    names.sort();
    names
}

#[test]
fn one_that_shares_something_with_others_stays_outside() {
    let workshop = workshop();
    let parts = "//! Breaks clause 1: Right.\n//! Caught by: the_answer_is_right\n//!\n\
                 //! Why.\n\nuse super::parts;\n\nparts! { all }\n";
    let module = "macro_rules! parts {\n    () => {};\n}\n";
    workshop.write("counterexamples/src/exercise_1.rs", module);
    workshop.write("counterexamples/src/exercise_1/in_parts.rs", parts);
    let arguments = ["1", "in_parts", "--into-exercise"];
    assert_refused(
        &workshop,
        &arguments,
        "it shares `parts`",
        "wrong 1 in_parts",
    );
}

#[test]
fn an_edit_is_saved_and_its_base_is_as_before() {
    let workshop = repository();
    workshop.write(PART, "pub const SIX: u32 = 7;\n");
    workshop.write(
        "solutions/01-answer/src/deep/more.rs",
        "pub const MORE: u32 = 1;\n",
    );
    let said = says(&workshop, &["1", "c01_seven_sevens", "--save"]);
    let file = "counterexamples/src/exercise_1/c01_seven_sevens.diff";
    assert!(
        said.contains(file) && said.contains("Say in its header"),
        "{said}"
    );
    let expected = "Breaks clause 1: Right.\nCaught by: name_of_the_test\n\
                    Base: solutions/01-answer\n\nWhat is wrong, and why a reader would write it.\n\n\
                    --- /dev/null\n+++ deep/more.rs\n@@ -0,0 +1 @@\n+pub const MORE: u32 = 1;\n\
                    --- part.rs\n+++ part.rs\n@@ -1 +1 @@\n-pub const SIX: u32 = 6;\n\
                    +pub const SIX: u32 = 7;\n";
    assert_eq!(workshop.read(file), expected);
    assert_eq!(workshop.read(PART), "pub const SIX: u32 = 6;\n");
    assert_eq!(
        git(&workshop, &["status", "--short", "solutions"])
            .matches("??")
            .count(),
        0
    );
    let whole = says(&workshop, &["1", "sevens", "--whole"]);
    assert!(whole.contains("// deep/more.rs\n"), "{whole}");

    // An existing one keeps its header.
    workshop.write(SOLUTION, &root().replace("SIX * 7", "SIX * 9"));
    says(&workshop, &["1", "c01_nine_for_seven", "--save"]);
    assert_eq!(workshop.read(EDIT), format!("{HEADER}{CHANGE}"));
    assert_eq!(workshop.read(SOLUTION), root());
}

#[test]
fn another_base_may_be_a_single_file() {
    let workshop = Fixture::with_exercise(&contract(&stub("todo!()")));
    let base = "alternatives/src/exercise_1/plain.rs";
    workshop.write("exercises/01-answer/stub.rs", &contract(&stub("todo!()")));
    workshop.write(base, &stub("42"));
    workshop.write("counterexamples/src/exercise_1/c01_x.rs", "");
    git(&workshop, &["init", "--quiet"]);
    git(&workshop, &["add", "."]);
    workshop.write(base, &stub("43"));
    says(&workshop, &["1", "c01_one_more", "--save", "--base", base]);
    let text = workshop.read("counterexamples/src/exercise_1/c01_one_more.diff");
    assert!(text.contains(&format!("\nBase: {base}\n")), "{text}");
    assert!(text.contains("\n--- plain.rs\n+++ plain.rs\n"), "{text}");
    assert_eq!(workshop.read(base), stub("42"));
    let whole = says(&workshop, &["1", "one_more", "--whole"]);
    assert_eq!(whole, stub("43"));
}

#[test]
fn what_cannot_be_saved_is_refused_and_nothing_is_undone() {
    let workshop = repository();
    let save = |name| ["1", name, "--save"];
    let unchanged = "nothing is changed in `solutions/01-answer`";
    assert_refused(&workshop, &save("c01_x"), unchanged, "--base PATH");
    let change = root().replace("SIX * 7", "SIX * 9");
    workshop.write(SOLUTION, &change);
    let name = "doesn't begin with the clause";
    assert_refused(&workshop, &save("greets"), name, "`c03_what_is_wrong`");
    assert_refused(&workshop, &save("c1_greets"), name, "`c03_what_is_wrong`");
    assert_refused(&workshop, &save("c07_x"), "has no clause 7", "1 to 1");
    assert_refused(
        &workshop,
        &save("c01_greets"),
        "a whole program",
        "another name",
    );
    let base = ["1", "c01_x", "--save", "--base", "solutions/02-x"];
    assert_refused(
        &workshop,
        &base,
        "no right version",
        "an alternative's file",
    );
    assert_eq!(workshop.read(SOLUTION), change);
    let outside = Fixture::with_exercise(&contract(&stub("todo!()")));
    assert_refused(&outside, &save("c01_x"), "`git ls-files", "clone");
}
