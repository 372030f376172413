//! Runs programs that behave, and some that don't compile.

mod fixture;

use std::process::Command;

use fixture::{Fixture, Server};
use serde_json::json;

#[test]
fn both_streams_and_the_exit_status_arrive() {
    let server = Fixture::new().serve();
    let events = server.run_code(
        "fn main() { println!(\"grüße 😀\"); eprintln!(\"beside\"); std::process::exit(7); }",
    );
    assert_eq!(events.text("stdout"), "grüße 😀\n");
    assert_eq!(events.text("stderr"), "beside\n");
    let exit = events.exit();
    assert_eq!(
        (&exit["reason"], &exit["code"]),
        (&json!("exited"), &json!(7))
    );
    assert!(exit["compile_ms"].is_u64() && exit["run_ms"].is_u64());
    server.assert_clean();
}

/// Two pipes alone have no common order.
#[cfg(target_os = "linux")]
#[test]
fn both_streams_arrive_in_the_order_in_which_they_were_written() {
    let server = Fixture::new().serve();
    let code = "use std::io::Write;\n\
        fn main() {\n\
            for n in 0..300 {\n\
                println!(\"{}\", 3 * n);\n\
                eprintln!(\"{}\", 3 * n + 1);\n\
                print!(\"{} \", 3 * n + 2);\n\
                std::io::stdout().flush().unwrap();\n\
            }\n\
            std::thread::spawn(|| eprintln!(\"900\")).join().unwrap();\n\
            println!(\"901\");\n\
        }";
    let events = server.run_code(code);
    let is_output = |event: &&serde_json::Value| event["text"].is_string();
    let pieces = events.0.iter().filter(is_output);
    let text: String = pieces
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    let numbers: Vec<u32> = text
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    let first = numbers
        .iter()
        .zip(0..)
        .find(|(number, place)| *number != place);
    assert_eq!((first, numbers.len()), (None, 902));
    server.assert_clean();
}

#[test]
fn a_panic_names_the_line_of_the_snippet() {
    let server = Fixture::new().serve();
    let events = server.run_code("fn main() {\n    panic!(\"here\");\n}");
    assert!(events.text("stderr").contains("main.rs:2:5"), "{events:?}");
    assert_eq!(events.exit()["code"], 101);
}

#[test]
fn the_compiler_speaks_for_itself() {
    let server = Fixture::new().serve();
    let events = server.run_code("fn main() {\n    let n: u32 = \"one\";\n}");
    assert_eq!(events.exit()["reason"], "compile-error");
    let diagnostics: Vec<_> = events
        .0
        .iter()
        .filter(|event| event["type"] == "diagnostic")
        .collect();
    assert_eq!(diagnostics.len(), 1, "the summary is left out: {events:?}");
    assert_eq!(
        (&diagnostics[0]["level"], &diagnostics[0]["line"]),
        (&json!("error"), &json!(2))
    );
    assert!(
        diagnostics[0]["rendered"]
            .as_str()
            .unwrap()
            .contains("E0308")
    );
}

#[test]
fn a_warning_does_not_keep_the_program_from_running() {
    let server = Fixture::new().serve();
    let events = server.run_code("fn main() { let unused = 1; println!(\"over\"); }");
    assert!(events.0.iter().any(|event| event["level"] == "warning"));
    assert_eq!(events.text("stdout"), "over\n");
}

#[test]
fn the_crates_of_the_workshop_can_be_used_in_both_modes() {
    let server = Fixture::unbuilt().serve();
    let code = "fn main() { println!(\"{} {}\", salute::HELLO, cfg!(debug_assertions)); }";
    for (mode, debug) in [("debug", true), ("release", false)] {
        let events = server.run(&json!({ "code": code, "mode": mode }));
        assert_eq!(
            events.text("stdout"),
            format!("hello from a crate {debug}\n"),
            "{events:?}"
        );
    }
    // An edited crate is rebuilt before the next run.
    server.fixture.write(
        "greeting/src/lib.rs",
        "pub const HELLO: &str = \"changed\";\n",
    );
    assert_eq!(server.run_code(code).text("stdout"), "changed true\n");
}

#[test]
fn tests_are_told_one_by_one() {
    let server = Fixture::new().serve();
    let code =
        "#[test] fn holds() {}\n#[test] fn fails() { assert_eq!(1, 2, \"for good reason\"); }";
    let events = server.run(&json!({ "code": code, "tests": true }));
    let last = |name: &str| {
        events
            .0
            .iter()
            .rfind(|event| event["name"] == name)
            .unwrap()
    };
    assert_eq!(last("holds")["outcome"], "passed");
    assert_eq!(last("fails")["outcome"], "failed");
    assert!(
        last("fails")["message"]
            .as_str()
            .unwrap()
            .contains("for good reason")
    );
    let running = events
        .0
        .iter()
        .filter(|event| event["outcome"] == "running");
    assert_eq!(running.count(), 2, "each is told before it runs");
    assert_eq!(events.exit()["code"], 101);
    server.assert_clean();
}

#[test]
fn without_a_compiler_the_reader_learns_what_to_do() {
    let fixture = Fixture::new();
    let empty = fixture.path().join("no-programs");
    let server = Server::start(fixture, |command: &mut Command| {
        command.env("PATH", empty).env_remove("CARGO");
    });
    let events = server.run_code("fn main() {}");
    assert_eq!(events.exit()["reason"], "killed");
    let text = events.text("stderr");
    assert!(
        text.contains("error: ") && text.contains("help: install Rust"),
        "{text}"
    );
}

#[test]
fn what_a_program_leaves_for_a_figure_follows_its_output() {
    let server = Fixture::new().serve();
    let code = r##"fn main() {
        let folder = std::path::PathBuf::from(std::env::var("WORKSHOP_FIGURES").unwrap());
        let document = r#"{"schema":"workshop.trace/1","b":1,"a":[2]}"#;
        std::fs::write(folder.join("one-poll.json"), document).unwrap();
        std::fs::write(folder.join("broken.json"), "{").unwrap();
        println!("over");
        std::process::exit(3);
    }"##;
    let events = server.run_code(code);
    let figures: Vec<_> = events
        .0
        .iter()
        .filter(|event| event["type"] == "figure")
        .collect();
    assert_eq!(figures.len(), 1, "{events:?}");
    assert_eq!(figures[0]["name"], "one-poll");
    assert_eq!(figures[0]["document"]["a"], json!([2]));
    assert_eq!(events.text("stdout"), "over\n");
    let told = events.text("stderr");
    assert!(told.contains("`broken.json` is left out"), "{told}");
    assert_eq!(events.exit()["code"], 3);
    server.assert_clean();
}
