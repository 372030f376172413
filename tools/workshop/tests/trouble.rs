//! What a reader's machine may be like: files that come and go, an environment
//! with ideas of its own, an interrupted command, and output as no program of
//! ours writes it.

#![cfg(target_os = "linux")]

mod fixture;

use std::ffi::CString;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use fixture::limits::obey_permissions;
use fixture::{EXERCISE, Fixture, PATIENCE, Server, stub, wait_until};
use serde_json::{Value, json};

const FOLDER: &str = "exercises/01-answer";
const USES_THE_CRATE: &str = "fn main() { println!(\"{}\", salute::HELLO); }";

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A command that goes on, and the lines that it prints.
struct Running {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    fn start(workshop: &Fixture, arguments: &[&str]) -> Self {
        let mut command = workshop.command();
        command.args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            stdout: lines(child.stdout.take().unwrap()),
            stderr: lines(child.stderr.take().unwrap()),
            child,
        }
    }

    fn send(&self, signal: libc::c_int) {
        let pid = i32::try_from(self.child.id()).unwrap();
        // SAFETY: `kill` takes integers; the process is our own child.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        lines.for_each(|line| sender.send(line).unwrap_or_default());
    });
    receiver
}

/// Waits for a line with this text in it, and returns it.
#[track_caller]
fn wait_for(lines: &Receiver<String>, text: &str) -> String {
    loop {
        let line = lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|_| panic!("no line says `{text}`"));
        if line.contains(text) {
            return line;
        }
    }
}

fn make_pipe(path: &Path) {
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the pointer is to a text that ends in a zero and outlives the call.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
}

// Files that come and go.

#[test]
fn a_watch_goes_on_when_the_folder_is_back() {
    let workshop = Fixture::with_exercise(&stub("6 * 9"));
    let mut watch = Running::start(&workshop, &["watch", "1"]);
    wait_for(&watch.stdout, "it is 54");
    wait_for(&watch.stdout, "Watching");
    let (folder, away) = (workshop.path().join(FOLDER), workshop.path().join("away"));
    for (others, body, seen) in [(false, "7 * 7", "it is 49"), (true, "5 * 5", "it is 25")] {
        if others {
            workshop.add_exercise(2, &stub("42"));
        }
        // As a switch of branches does.
        fs::rename(&folder, &away).unwrap();
        wait_for(&watch.stderr, "error: ");
        wait_for(&watch.stderr, "help: ");
        fs::write(away.join("src/lib.rs"), stub(body)).unwrap();
        fs::rename(&away, &folder).unwrap();
        wait_for(&watch.stdout, seen);
        wait_for(&watch.stdout, "Watching");
    }
    assert!(watch.child.try_wait().unwrap().is_none(), "it goes on");
}

#[test]
fn a_watch_of_all_does_not_take_missing_exercises_for_solved_ones() {
    let workshop = Fixture::with_exercise(&stub("6 * 9"));
    let watch = Running::start(&workshop, &["watch"]);
    wait_for(&watch.stdout, "Watching");
    let (folder, away) = (
        workshop.path().join("exercises"),
        workshop.path().join("away"),
    );
    fs::rename(&folder, &away).unwrap();
    let error = wait_for(&watch.stderr, "error: ");
    assert!(error.contains("has no exercise in it"), "{error}");
    fs::write(away.join("01-answer/src/lib.rs"), stub("7 * 7")).unwrap();
    fs::rename(&away, &folder).unwrap();
    wait_for(&watch.stdout, "it is 49");
}

#[test]
fn a_named_pipe_among_the_journals_holds_up_no_news() {
    let workshop = Fixture::with_exercise(&stub("6 * 9"));
    let checks = workshop.path().join("target/workshop/checks");
    fs::create_dir_all(&checks).unwrap();
    make_pipe(&checks.join("exercise-1.1.0"));
    let server = workshop.serve();
    let events = server.open(&server.call("/api/events", &json!({})));
    make_pipe(&checks.join("exercise-1.1.1"));
    make_pipe(&checks.join("a-pipe"));
    server.fixture.output(&["check", "1"]);
    let lines = BufReader::new(events).lines().map_while(Result::ok);
    let mut news = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    assert!(news.any(|event| event["event"]["outcome"] == "failed"));
    server.fixture.write(EXERCISE, &stub("7 * 7"));
    assert!(news.any(|event| event["type"] == "exercise-file"));
}

// An interrupted command.

/// What a check has left in the target folder for the kit to write to.
fn left_events(workshop: &Fixture) -> Vec<String> {
    let entries = fs::read_dir(workshop.path().join("target/workshop")).into_iter();
    let names = entries.flatten().flatten().map(|entry| entry.file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name.starts_with("events-")).collect()
}

#[test]
fn an_interrupted_check_leaves_nothing() {
    let workshop = Fixture::with_exercise(&stub("loop { std::thread::yield_now() }"));
    for (command, signal) in [("check", libc::SIGINT), ("watch", libc::SIGTERM)] {
        let mut check = Running::start(&workshop, &[command, "1"]);
        wait_until("the tests run", || !left_events(&workshop).is_empty());
        check.send(signal);
        let status = check.child.wait().unwrap();
        assert_eq!(status.code(), Some(128 + signal), "{command}");
        assert_eq!(left_events(&workshop), [] as [String; 0], "{command}");
    }
}

#[test]
fn what_a_killed_check_has_left_goes_with_the_next() {
    let workshop = Fixture::with_exercise(&stub("loop { std::thread::yield_now() }"));
    let mut check = Running::start(&workshop, &["check", "1"]);
    wait_until("the tests run", || !left_events(&workshop).is_empty());
    check.send(libc::SIGKILL);
    check.child.wait().unwrap();
    assert_eq!(left_events(&workshop).len(), 1);
    workshop.write(EXERCISE, &stub("42"));
    assert!(workshop.output(&["check", "1"]).status.success());
    assert_eq!(left_events(&workshop), [] as [String; 0]);
}

// An environment with ideas of its own.

#[test]
fn flags_in_the_environment_or_the_configuration_break_no_snippet() {
    let environments: [&[(&str, &str)]; 3] = [
        &[("RUSTFLAGS", "-Cpanic=abort")],
        &[("CARGO_ENCODED_RUSTFLAGS", "-Cpanic=abort\u{1f}-Dwarnings")],
        &[
            ("CARGO_PROFILE_DEV_PANIC", "abort"),
            ("CARGO_BUILD_TARGET", "no-such-target"),
        ],
    ];
    for variables in environments {
        let server = Server::start(Fixture::unbuilt(), |command| {
            command.envs(variables.iter().copied());
        });
        let events = server.run_code(USES_THE_CRATE);
        assert_eq!(
            events.text("stdout"),
            "hello from a crate\n",
            "{variables:?}: {events:?}"
        );
    }
    let configured = Fixture::unbuilt();
    let flags = "[build]\nrustflags = [\"-Cpanic=abort\"]\n[profile.dev]\npanic = \"abort\"\n";
    configured.write(".cargo/config.toml", flags);
    let events = configured.serve().run_code(USES_THE_CRATE);
    assert_eq!(events.text("stdout"), "hello from a crate\n", "{events:?}");
}

// Far too much of something.

#[test]
fn fifteen_thousand_warnings_keep_no_program_from_running() {
    let server = Fixture::new().serve();
    let unused = "let a = 1;\n".repeat(15_000);
    let code = format!("fn main() {{\n{unused}println!(\"it ran\");\n}}");
    // In release, where the compiler may take longer: the machine may be busy.
    let events = server.run(&json!({ "code": code, "mode": "release" }));
    assert_eq!(events.text("stdout"), "it ran\n", "{:?}", events.exit());
    let told = events
        .0
        .iter()
        .filter(|event| event["type"] == "diagnostic");
    assert!((1..=200).contains(&told.count()), "a page shows some");
    let rest = events.text("stderr");
    assert!(rest.contains("14800 more warnings aren't shown"), "{rest}");
}

// Folders for the static book.

#[track_caller]
fn assert_refused(output: &Output, error: &str, help: &str) {
    let text = stderr_of(output);
    assert!(!output.status.success(), "{text}");
    let (first, second) = text.split_once("\nhelp: ").unwrap_or((&text, ""));
    assert!(
        first.starts_with("error: ") && first.contains(error),
        "{text}"
    );
    assert!(
        second.contains(help) && !text.contains("book.toml"),
        "{text}"
    );
}

#[test]
fn a_folder_that_takes_no_book_is_told_by_its_name() {
    let workshop = Fixture::new();
    let place = workshop.path().join("read-only");
    fs::create_dir(&place).unwrap();
    workshop.forbid_writing("read-only");
    for place in ["read-only", "read-only/book"] {
        let mut command = workshop.command();
        obey_permissions(&mut command);
        let output = command
            .args(["build", "--dest-dir", place])
            .output()
            .unwrap();
        assert_refused(&output, place, "--dest-dir");
    }
    let file = workshop.output(&["build", "--dest-dir", "Cargo.toml"]);
    assert_refused(&file, "Cargo.toml", "--dest-dir");
}

#[test]
fn a_folder_with_the_readers_files_is_not_emptied_for_a_book() {
    let workshop = Fixture::new();
    for place in [".", "snippets"] {
        let output = workshop.output(&["build", "--dest-dir", place]);
        assert_refused(&output, "files in it that are no book", "empty folder");
    }
    assert!(workshop.path().join("snippets/Cargo.toml").is_file());
    for _ in 0..2 {
        let output = workshop.output(&["build", "--dest-dir", "elsewhere"]);
        assert!(output.status.success(), "{}", stderr_of(&output));
    }
}

// Bytes that a terminal obeys.

#[test]
fn what_stands_in_a_file_gives_a_terminal_no_orders() {
    let hostile = stub("6 * 9 // \u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m");
    let hostile = hostile.replace("find the answer", "find\u{1b}[2J the answer");
    let workshop = Fixture::with_exercise(&hostile);
    for arguments in [
        &["diff", "1"][..],
        &["list"],
        &["check", "1"],
        &["hint", "1"],
    ] {
        let output = workshop.output(arguments);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        let is_order = |c: char| c.is_control() && !"\n\t".contains(c);
        assert!(!text.contains(is_order), "{arguments:?}: {text:?}");
    }
}
