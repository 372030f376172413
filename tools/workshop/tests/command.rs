//! The command in a terminal and in a pipe, and what it does when the machine
//! doesn't play along: one sentence, the remedy, and nothing lost.

#![cfg(target_os = "linux")]

mod fixture;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use fixture::limits::{limit, obey_permissions, raise_no_limits};
use fixture::terminal::in_terminal;
use fixture::{EXERCISE, Fixture, PATIENCE, Server, processes_of, stub, wait_until};
use serde_json::{Value, json};

const RIGHT: &str = "6 * 7";
const WRONG: &str = "6 * 9";

/// What a command printed.
struct Said {
    success: bool,
    stdout: String,
    stderr: String,
}

fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        success: output.status.success(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

fn run(fixture: &Fixture, arguments: &[&str]) -> Said {
    said(fixture.command().args(arguments))
}

impl Said {
    /// The command has failed in two lines: what is wrong, and what to do.
    #[track_caller]
    fn assert_refused(&self, error: &str, help: &str) {
        assert!(!self.success, "{}", self.stdout);
        let at = self.stderr.rfind("error: ").unwrap_or(0);
        let lines: Vec<_> = self.stderr[at..].lines().collect();
        let [first, second] = lines[..] else {
            panic!("no two lines: {}", self.stderr);
        };
        assert!(first.contains(error), "`{error}` is not in: {first}");
        assert!(second.starts_with("help: "), "{second}");
        assert!(second.contains(help), "`{help}` is not in: {second}");
    }
}

/// Has no file written by the command, as on a full disk: one can still be
/// created. The system says `File too large` then and not `No space left`.
fn fill_disk(command: &mut Command) -> &mut Command {
    leave_room(command, 0)
}

fn leave_room(command: &mut Command, bytes: libc::rlim_t) -> &mut Command {
    ignore_file_limit(command);
    raise_no_limits(command);
    limit(command, libc::RLIMIT_FSIZE, bytes);
    command
}

/// A process that writes past its limit gets an error, and no signal.
fn ignore_file_limit(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let ignore = || {
        // SAFETY: nothing is called when the signal comes.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        Ok(())
    };
    // SAFETY: the closure only makes a system call and allocates nothing.
    unsafe { command.pre_exec(ignore) };
}

// In a terminal, and elsewhere.

const COLOR: &str = "\x1b[3";

#[test]
fn a_terminal_gets_colors_and_progress_and_no_color_takes_the_colors() {
    let workshop = Fixture::with_exercise(&stub(RIGHT));
    // Cargo shows no bar for a build that is over in half a second.
    let slow = "fn main() { std::thread::sleep(std::time::Duration::from_secs(2)); }";
    workshop.write("exercises/01-answer/build.rs", slow);
    let (success, colored) = in_terminal(workshop.command().args(["check", "1"]));
    assert!(success, "{colored}");
    assert!(colored.contains("\x1b[32m✓\x1b[0m 1. Right"), "{colored}");
    // Cargo's bar, and ours.
    assert!(colored.contains("Building"), "{colored}");
    assert!(colored.contains("] 0/1 tests"), "{colored}");
    // What was taken back isn't seen in the end.
    let (_, last) = colored.rsplit_once("tests").unwrap();
    assert!(last.starts_with("\r\x1b[K"), "{colored}");

    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut check = workshop.command();
        check.args(["check", "1"]).env(name, value);
        let (success, plain) = in_terminal(&mut check);
        assert!(success && plain.contains("✓ 1. Right"), "{name}: {plain}");
        assert!(!plain.contains(COLOR), "{name}: {plain}");
    }
    let (_, diff) = in_terminal(workshop.command().args(["diff", "1"]));
    assert!(diff.contains("\x1b[31m-    6 * 7\x1b[0m"), "{diff}");
}

#[test]
fn the_list_fits_the_terminal_and_a_pipe_gets_all_of_it() {
    let workshop = Fixture::with_exercise(&stub(RIGHT));
    workshop.add_exercise(2, &stub("todo!()"));
    let page = "# Exercise 2: short\n\n<div class=\"exercise\" data-exercise=\"2\"></div>\n";
    workshop.write("src/two.md", page);
    let piped = run(&workshop, &["list"]).stdout;
    let next = "Next: exercise 1, in `exercises/01-answer/src/lib.rs`. `cargo workshop check 1` \
                checks it.";
    let rows = "  ·  1  find the answer  not checked yet\n  ·  2  short            not started\n";
    assert_eq!(piped, format!("{rows}\n{next}\n"));
    let (success, shown) = in_terminal(workshop.command().arg("list"));
    assert!(success, "{shown}");
    let colored = "  \x1b[2m·\x1b[0m  2  short            \x1b[2mnot started\x1b[0m\r\n";
    assert!(shown.contains(colored), "{shown:?}");
    let (_, plain) = in_terminal(workshop.command().arg("list").env("NO_COLOR", "1"));
    assert_eq!(plain.replace("\r\n", "\n"), piped);
}

#[test]
fn cargo_shows_how_far_it_is_and_says_nothing_once_the_command_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    let manifest = "[package]\nname = \"workshop\"\nedition = \"2024\"\n[workspace]\n";
    write("Cargo.toml", manifest);
    // Cargo shows no bar for a build that is over in half a second.
    let slow = "fn main() {\n    println!(\"cargo::rerun-if-changed=build.rs\");\n    \
                std::thread::sleep(std::time::Duration::from_secs(2));\n}\n";
    write("build.rs", slow);
    let answer = "fn main() { println!(\"{:?}\", std::env::args().nth(1)); }\n";
    write("src/main.rs", answer);
    let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cargo/config.toml");
    write(".cargo/config.toml", &fs::read_to_string(settings).unwrap());
    let cargo = || {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["workshop", "list"])
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", folder.path().join("target"))
            .env_remove("CI")
            // Without colors, cargo leaves a terminal's sequences out, too.
            .env_remove("CARGO_TERM_COLOR");
        cargo
    };
    let (success, first) = in_terminal(&mut cargo());
    assert!(success, "{first}");
    let (taken_back, last) = first.rsplit_once("\x1b[K").unwrap();
    assert!(taken_back.contains("] 1/"), "{first:?}");
    assert_eq!(last, "Some(\"list\")\r\n");
    let second = said(&mut cargo());
    assert!(second.success, "{}", second.stderr);
    assert_eq!(second.stdout, "Some(\"list\")\n");
    // A machine that is slow to see that nothing is to be built may show a bar meanwhile.
    for word in ["Compiling", "Finished", "Running"] {
        assert!(!second.stderr.contains(word), "{}", second.stderr);
    }
}

#[test]
fn a_check_shows_cargos_bar_and_none_of_its_lines() {
    let workshop = Fixture::with_exercise(&stub(RIGHT));
    let mut check = workshop.command();
    check.args(["check", "1"]).env_remove("CARGO_TERM_COLOR");
    let (success, screen) = in_terminal(&mut check);
    assert!(success, "{screen}");
    assert!(screen.contains(" 1. Right"), "{screen}");
    for word in ["Compiling", "Finished", "generated"] {
        assert!(!screen.contains(word), "{screen}");
    }
    // What the compiler says of the reader's code stays.
    let unused = stub("let unused = 1; 6 * 7");
    workshop.write(EXERCISE, &unused);
    let check = run(&workshop, &["check", "1"]);
    assert!(check.stderr.contains("unused variable"), "{}", check.stderr);
    for word in ["Compiling", "Finished", "generated"] {
        assert!(!check.stderr.contains(word), "{}", check.stderr);
    }
}

#[test]
fn a_pipe_gets_neither_colors_nor_progress() {
    let workshop = Fixture::with_exercise(&stub(RIGHT));
    let check = run(&workshop, &["check", "1"]);
    for text in [&check.stdout, &check.stderr] {
        assert!(!text.contains('\x1b') && !text.contains('\r'), "{text:?}");
    }
    assert!(check.stdout.contains("✓ 1. Right"), "{}", check.stdout);
    let diff = run(&workshop, &["diff", "1"]);
    assert!(
        diff.stdout.contains("\n-    6 * 7\n+    42\n"),
        "{}",
        diff.stdout
    );
}

#[test]
fn a_server_shows_how_far_the_crates_are() {
    let (_server, screen) = Server::in_terminal(Fixture::unbuilt());
    wait_until("the crates are built", || {
        screen.text().contains("are ready (Debug)")
    });
    let text = screen.text();
    let bar = "\r\x1b[KBuilding the snippets' crates (Debug) [";
    assert!(text.contains(bar), "{text}");
    assert!(
        text.contains("\r\x1b[KThe snippets' crates are ready"),
        "{text}"
    );
}

#[test]
fn a_run_has_no_terminal() {
    let (server, _screen) = Server::in_terminal(Fixture::new());
    let code = "fn main() { println!(\"{}\", std::fs::File::open(\"/dev/tty\").is_ok()); }";
    assert_eq!(server.run_code(code).text("stdout"), "false\n");
}

// The status.

#[test]
fn all_are_green_only_if_each_is() {
    let workshop = Fixture::with_exercise(&stub(RIGHT));
    workshop.add_exercise(2, &stub(WRONG));
    let red = run(&workshop, &["check", "--all"]);
    assert!(!red.success);
    for expected in ["Exercise 1 is solved", "it is 54", "0 of 1 clauses hold"] {
        assert!(red.stdout.contains(expected), "{}", red.stdout);
    }

    workshop.add_exercise(2, &stub(RIGHT));
    let green = run(&workshop, &["check", "--all", "--format", "json"]);
    assert!(green.success, "{}", green.stderr);
    let events: Vec<Value> = green
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = events
        .iter()
        .filter(|event| ["exercise", "exit"].contains(&event["type"].as_str().unwrap()))
        .map(|event| event["number"].as_u64().or(event["code"].as_u64()).unwrap())
        .collect();
    assert_eq!(told, [1, 0, 2, 0], "which exercise, and how it went");

    let nothing = run(&workshop, &["check", "--format", "json"]);
    assert!(nothing.success);
    assert_eq!(nothing.stdout, "", "words are not for programs");
}

#[test]
fn a_killed_check_leaves_no_process() {
    let workshop = Fixture::with_exercise(&stub("loop { std::thread::yield_now() }"));
    let mut check = workshop
        .command()
        .args(["check", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let tests = workshop.path().join("target/debug/deps");
    wait_until("the tests run", || !processes_of(&tests).is_empty());
    check.kill().unwrap();
    check.wait().unwrap();
    wait_until("the tests are ended", || processes_of(&tests).is_empty());
}

// The file and its watch.

/// A watch, and the lines that it prints.
struct Watch {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Watch {
    fn start(workshop: &Fixture) -> Self {
        Self::start_with(workshop, Stdio::null())
    }

    fn start_with(workshop: &Fixture, stdin: impl Into<Stdio>) -> Self {
        let mut child = workshop
            .command()
            .args(["watch", "1"])
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = lines(child.stdout.take().unwrap());
        let stderr = lines(child.stderr.take().unwrap());
        Self {
            child,
            stdout,
            stderr,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        self.child.wait().unwrap();
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

#[test]
fn a_watch_checks_on_every_save_and_goes_on_after_a_removed_file() {
    let workshop = Fixture::with_exercise(&stub(WRONG));
    let watch = Watch::start(&workshop);
    wait_for(&watch.stdout, "it is 54");
    wait_for(&watch.stdout, "Watching");
    workshop.write(EXERCISE, &stub("7 * 7"));
    wait_for(&watch.stdout, "it is 49");
    wait_for(&watch.stdout, "Watching");

    fs::remove_file(workshop.path().join(EXERCISE)).unwrap();
    let error = wait_for(&watch.stderr, "error: ");
    assert!(error.contains("is gone"), "{error}");
    wait_for(&watch.stderr, "help: `cargo workshop reset 1`");
    let reset = run(&workshop, &["reset", "1"]);
    assert!(reset.success, "{}", reset.stderr);
    wait_for(&watch.stdout, "not written yet");
    workshop.write(EXERCISE, &stub(RIGHT));
    wait_for(&watch.stdout, "Exercise 1 is solved");
}

#[test]
fn a_watch_listens_to_keys_and_leaves_the_terminal_as_it_was() {
    let workshop = Fixture::with_exercise(&stub(WRONG));
    workshop.add_exercise(2, &stub(RIGHT));
    let (mut keyboard, terminal) = keyboard();
    let mode = |terminal: &File| {
        // SAFETY: zeroes are a value of this structure of integers.
        let mut mode: libc::termios = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a `termios`, which the call writes.
        let status = unsafe { libc::tcgetattr(terminal.as_raw_fd(), &mut mode) };
        assert_eq!(status, 0);
        mode.c_lflag
    };
    let before = mode(&terminal);
    let mut watch = Watch::start_with(&workshop, terminal.try_clone().unwrap());
    let mut press = |key: &[u8]| keyboard.write_all(key).unwrap();
    wait_for(&watch.stdout, "it is 54");
    wait_for(&watch.stdout, "press a key");
    assert_ne!(mode(&terminal), before, "keys come without Enter");
    press(b"l");
    wait_for(&watch.stdout, "  2  ");
    press(b"?");
    wait_for(&watch.stdout, "press a key");
    press(b"\n");
    wait_for(&watch.stdout, "it is 54");
    wait_for(&watch.stdout, "press a key");
    press(b"n");
    wait_for(&watch.stdout, "Exercise 2 is solved");
    press(b"q");
    assert!(watch.child.wait().unwrap().success());
    assert_eq!(mode(&terminal), before);
}

/// Both ends of a terminal: what is written to the first, the second reads.
fn keyboard() -> (File, File) {
    let (mut ours, mut theirs) = (0, 0);
    let none = std::ptr::null_mut();
    // SAFETY: the first two pointers are to integers, which the call writes; the others
    // may be null.
    let status = unsafe { libc::openpty(&mut ours, &mut theirs, none, none.cast(), none.cast()) };
    assert_eq!(status, 0, "there are terminals left");
    // SAFETY: the call has just opened it, and nothing else owns it.
    let ours = unsafe { File::from_raw_fd(ours) };
    // SAFETY: as above.
    let theirs = unsafe { File::from_raw_fd(theirs) };
    (ours, theirs)
}

#[test]
fn a_reset_keeps_the_old_version_aside() {
    let workshop = Fixture::with_exercise(&stub(WRONG));
    let reset = run(&workshop, &["reset", "1"]);
    assert!(reset.success, "{}", reset.stderr);
    let kept = "exercises/01-answer/lib-1.kept.rs";
    assert!(reset.stdout.contains(kept), "{}", reset.stdout);
    assert_eq!(workshop.read(kept), stub(WRONG));
    assert!(workshop.read(EXERCISE).contains("todo!"));
}

#[test]
fn a_missing_solution_is_told() {
    let workshop = Fixture::with_exercise(&stub(WRONG));
    fs::remove_dir_all(workshop.path().join("solutions")).unwrap();
    run(&workshop, &["diff", "1"]).assert_refused("cannot be read", "git restore");
}

// A folder that may not be written to.

#[test]
fn a_target_folder_that_may_not_be_written_is_told_before_anything_is_built() {
    let workshop = Fixture::unbuilt().and_exercise(&stub(RIGHT));
    let target = workshop.path().join("target");
    fs::create_dir(&target).unwrap();
    workshop.forbid_writing("target");
    for arguments in [
        &["check", "1"][..],
        &["check", "--all", "--format", "json"],
        &["watch", "1"],
        &["serve", "--no-open", "--port", "0"],
    ] {
        let mut command = workshop.command();
        obey_permissions(&mut command);
        let said = said(command.args(arguments));
        said.assert_refused("cannot be written to", "CARGO_TARGET_DIR");
    }
    assert_eq!(fs::read_dir(target).unwrap().count(), 0);
}

#[test]
fn an_exercise_that_may_not_be_written_is_not_reset() {
    let workshop = Fixture::with_exercise(&stub(WRONG));
    workshop.forbid_writing("exercises/01-answer");
    let mut command = workshop.command();
    obey_permissions(&mut command);
    let said = said(command.args(["reset", "1"]));
    said.assert_refused("cannot be kept", "nothing has been reset");
    assert_eq!(workshop.read(EXERCISE), stub(WRONG));
}

// A full disk.

#[test]
fn a_full_disk_is_told_before_anything_is_built() {
    let workshop = Fixture::unbuilt().and_exercise(&stub(RIGHT));
    for arguments in [
        &["check", "1"][..],
        &["watch", "1"],
        &["serve", "--no-open", "--port", "0"],
    ] {
        let mut command = workshop.command();
        let said = said(fill_disk(&mut command).args(arguments));
        said.assert_refused("cannot be written to", "make room");
    }
}

#[test]
fn a_disk_that_fills_during_a_build_is_told() {
    let workshop = Fixture::unbuilt().and_exercise(&stub(RIGHT));
    let mut command = workshop.command();
    let said = said(leave_room(&mut command, 100 << 10).args(["check", "1"]));
    said.assert_refused("the disk is full", "make room");
    assert!(run(&workshop, &["check", "1"]).success, "with room it goes");
}

#[test]
fn a_reset_on_a_full_disk_loses_nothing() {
    let workshop = Fixture::with_exercise(&stub(WRONG));
    let mut command = workshop.command();
    let said = said(fill_disk(&mut command).args(["reset", "1"]));
    said.assert_refused("cannot be kept", "nothing has been reset");
    assert_eq!(workshop.read(EXERCISE), stub(WRONG));
    let kept = workshop.path().join("exercises/01-answer/lib-1.kept.rs");
    assert!(!kept.exists(), "half of a version is none");
}

#[test]
fn what_was_remembered_survives_a_full_disk() {
    let workshop = Fixture::with_exercise(&stub(RIGHT));
    workshop.write("exercises/01-answer/hints.md", "# Concept\n\nThink.\n");
    assert!(run(&workshop, &["check", "1"]).success);
    let mut command = workshop.command();
    let said = said(fill_disk(&mut command).args(["hint", "1"]));
    said.assert_refused("cannot be remembered", "make room");
    let list = run(&workshop, &["list"]);
    assert!(list.stdout.contains("solved"), "{}", list.stdout);
}

#[test]
fn a_server_on_a_full_disk_says_so_and_runs_again_when_there_is_room() {
    let workshop = Fixture::with_exercise(&stub(WRONG));
    let server = Server::start(workshop, ignore_file_limit);
    let code = "fn main() { println!(\"it ran\"); }";
    assert_eq!(server.run_code(code).text("stdout"), "it ran\n");
    let leave_room = |bytes| {
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: libc::RLIM_INFINITY,
        };
        let pid = i32::try_from(server.child.id()).unwrap();
        // SAFETY: the first pointer is to a whole `rlimit` that outlives the call,
        // and null is allowed as the second. The process is our child.
        let status =
            unsafe { libc::prlimit(pid, libc::RLIMIT_FSIZE, &limit, std::ptr::null_mut()) };
        assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
    };
    leave_room(0);
    let events = server.run_code(code);
    assert_eq!(events.exit()["reason"], "killed", "{events:?}");
    let told = events.text("stderr");
    assert!(told.contains("cannot be written to"), "{told}");
    assert!(told.contains("help: make room"), "{told}");
    // What the page writes goes nowhere, and what the reader had stays.
    let answer = server.send(&server.call("/api/exercises/1/read", &json!({})));
    let read: Value = serde_json::from_str(&answer.body).unwrap();
    let write = json!({ "text": stub(RIGHT), "hash": read["hash"] });
    let answer = server.send(&server.call("/api/exercises/1/write", &write));
    assert_eq!(answer.status, 422, "{answer:?}");
    assert!(answer.body.contains("make room"), "{answer:?}");
    assert_eq!(server.fixture.read(EXERCISE), stub(WRONG));
    leave_room(libc::RLIM_INFINITY);
    assert_eq!(server.run_code(code).text("stdout"), "it ran\n");
    server.assert_clean();
}

// The first build.

#[test]
fn a_first_build_without_the_network_is_told() {
    let workshop = Fixture::unbuilt().and_exercise(&stub(RIGHT));
    let manifest = workshop.read("exercises/01-answer/Cargo.toml");
    workshop.write(
        "exercises/01-answer/Cargo.toml",
        &format!("{manifest}[dependencies]\nno-such-crate-here = \"1\"\n"),
    );
    let without_network = |command: &mut Command| {
        let home = workshop.path().join("cargo-home");
        command
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_HOME", home);
    };
    let mut command = workshop.command();
    without_network(&mut command);
    let said = said(command.args(["check", "1"]));
    said.assert_refused("exercise 1 cannot be built", "network");
    assert_eq!(workshop.read(EXERCISE), stub(RIGHT));
}

#[test]
fn crates_that_cannot_be_built_are_told_and_built_when_they_can() {
    let fixture = Fixture::new();
    let greeting = fixture.read("greeting/src/lib.rs");
    fixture.write("greeting/src/lib.rs", "pub const HELLO: &str = 1;\n");
    let server = fixture.serve();
    let code = "fn main() { println!(\"{}\", salute::HELLO); }";
    let events = server.run_code(code);
    assert_eq!(events.exit()["reason"], "killed", "{events:?}");
    let told = events.text("stderr");
    assert!(
        told.contains("the snippets' crates cannot be built"),
        "{told}"
    );
    assert!(told.contains("mismatched types"), "{told}");
    assert!(told.contains("\nhelp: "), "{told}");
    // What needs no crate runs all the same.
    let events = server.run_code("fn main() { println!(\"it ran\"); }");
    assert_eq!(events.text("stdout"), "it ran\n", "{events:?}");

    server.fixture.write("greeting/src/lib.rs", &greeting);
    let events = server.run_code(code);
    assert_eq!(events.text("stdout"), "hello from a crate\n", "{events:?}");
}

// Others.

#[test]
fn a_second_server_on_the_same_port_is_told_where_the_first_is() {
    let first = Fixture::new().serve();
    let port = first.port.to_string();
    let second = run(&Fixture::new(), &["serve", "--no-open", "--port", &port]);
    second.assert_refused(
        &format!("is served at `127.0.0.1:{port}` already"),
        "--port",
    );
    first.assert_answers();
}

#[test]
fn a_server_whose_folder_was_cleaned_goes_on() {
    let server = Fixture::new().serve();
    let code = "fn main() { println!(\"{}\", salute::HELLO); }";
    assert_eq!(server.run_code(code).text("stdout"), "hello from a crate\n");
    // As `cargo clean` does.
    let target = server.fixture.path().join("target");
    wait_until("all is removed, also what is written meanwhile", || {
        fs::remove_dir_all(&target).is_ok()
    });
    wait_until("the book is there again", || {
        server.send(&server.page("/one.html")).status == 200
    });
    assert_eq!(server.run_code(code).text("stdout"), "hello from a crate\n");
    server.assert_clean();
}

#[test]
fn a_server_asked_to_end_does_not_wait_for_a_check() {
    let workshop = Fixture::with_exercise(&stub(RIGHT));
    // A test of the reader's own, which the kit doesn't watch. Its name puts it
    // behind the others: on one core libtest runs one test after the other.
    let tests = workshop.read("exercises/01-answer/src/tests.rs");
    let slow =
        "#[test]\nfn z_slow() {\n    std::thread::sleep(std::time::Duration::from_secs(900));\n}\n";
    workshop.write("exercises/01-answer/src/tests.rs", &(tests + slow));
    let mut server = workshop.serve();
    let call = server.call("/api/exercises/1/check", &json!({}));
    let events = BufReader::new(server.open(&call)).lines();
    let mut events = events.map_while(Result::ok);
    assert!(events.any(|line| line.contains("\"passed\"")), "it runs");
    let tests = server.fixture.path().join("target/debug/deps");
    assert!(!processes_of(&tests).is_empty());

    let pid = i32::try_from(server.child.id()).unwrap();
    // SAFETY: `kill` takes integers; the process is our own child.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    wait_until("the server ends", || {
        server.child.try_wait().unwrap().is_some()
    });
    wait_until("the tests are ended", || processes_of(&tests).is_empty());
}

#[test]
fn a_command_whose_reader_has_ended_says_nothing() {
    let workshop = Fixture::with_exercise(&stub(RIGHT));
    let mut command = workshop.command();
    command
        .arg("list")
        .stderr(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // As `head` does when it has enough.
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    child.wait().unwrap();
    assert_eq!(stderr, "");
}
