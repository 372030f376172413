//! Runs programs that misbehave. After each, no process and no folder is left,
//! and the server answers.

#![cfg(target_os = "linux")]

mod fixture;

use std::io::{BufRead, BufReader};
use std::time::Instant;

use fixture::{Events, Fixture, Server, processes_of, wait_until};
use serde_json::{Value, json};

/// What the programs need from C; the standard library links it anyway.
const C: &str = "unsafe extern \"C\" { fn fork() -> i32; fn setsid() -> i32; \
    fn signal(signal: i32, handler: usize) -> usize; fn getppid() -> i32; fn kill(pid: i32, signal: i32) -> i32; }\n\
    fn sleep(seconds: u64) { std::thread::sleep(std::time::Duration::from_secs(seconds)) }\n";

fn run(main: &str) -> (Server, Events) {
    let server = Fixture::new().serve();
    let events = server.run_code(&program(main));
    server.assert_clean();
    (server, events)
}

fn program(main: &str) -> String {
    format!("#![allow(dead_code, unused_must_use)]\n{C}fn main() {{ {main} }}")
}

/// Starts a program that prints `ready` once it has done its worst, and returns
/// its events, not read to the end.
fn start(server: &Server, main: &str) -> impl Iterator<Item = Value> + use<> {
    let call = server.call("/api/run", &json!({ "code": program(main) }));
    let lines = BufReader::new(server.open(&call)).lines();
    let mut events = lines.filter_map(|line| serde_json::from_str(&line.ok()?).ok());
    let ready = |event: &Value| {
        event["text"]
            .as_str()
            .is_some_and(|text| text.contains("ready"))
    };
    assert!(
        events.any(|event| ready(&event)),
        "the program never came to it"
    );
    events
}

#[test]
fn an_endless_loop_is_ended_and_its_output_kept() {
    let (_, events) = run("println!(\"before\"); eprintln!(\"beside\"); loop {}");
    assert_eq!(events.exit()["reason"], "timeout");
    assert_eq!(events.text("stdout"), "before\n");
    assert_eq!(events.text("stderr"), "beside\n");
}

#[test]
fn a_flood_of_output_is_cut_off() {
    let (_, events) = run("loop { println!(\"{:0>999}\", 1); }");
    assert_eq!(events.exit()["reason"], "output-limit");
    assert_eq!(events.text("stdout").len(), 256 << 10);
}

#[test]
fn a_flood_without_line_ends_or_text_is_cut_off() {
    let (_, events) =
        run("use std::io::Write; loop { std::io::stderr().write_all(&[0xE2; 4096]); }");
    assert_eq!(events.exit()["reason"], "output-limit");
}

#[test]
fn memory_without_end_is_refused() {
    let (_, events) = run("println!(\"before\"); println!(\"{}\", vec![0u8; 10 << 30].len());");
    assert_eq!(
        (&events.exit()["reason"], &events.exit()["code"]),
        (&json!("signal"), &json!(6))
    );
    assert_eq!(events.text("stdout"), "before\n");
    assert!(
        events.text("stderr").contains("memory allocation"),
        "{events:?}"
    );
}

#[test]
fn a_file_cannot_fill_the_disk() {
    let (_, events) = run(
        "use std::io::Write; let mut file = std::fs::File::create(\"big\").unwrap(); \
         loop { file.write_all(&[0; 1 << 20]).unwrap(); }",
    );
    assert_eq!(
        (&events.exit()["reason"], &events.exit()["code"]),
        (&json!("signal"), &json!(25))
    );
}

#[test]
fn a_fork_bomb_is_ended_while_it_is_small() {
    let (_, events) = run("println!(\"before\"); loop { unsafe { fork() }; }");
    assert_eq!(events.exit()["reason"], "killed");
    let message = events.exit()["message"].as_str().unwrap();
    assert!(message.contains("processes"), "{message}");
    assert!(events.text("stdout").contains("before"));
}

#[test]
fn a_chain_of_processes_that_never_stay_is_broken() {
    let server = Fixture::new().serve();
    let chain = "let start = unsafe { fork() }; if start != 0 { sleep(1); println!(\"ready\"); return; } \
         loop { unsafe { setsid() }; if unsafe { fork() } != 0 { std::process::abort(); } }";
    start(&server, chain).for_each(drop);
    server.assert_clean();
}

#[test]
fn a_grandchild_that_keeps_the_pipe_open_holds_up_nothing() {
    let begin = Instant::now();
    let (_, events) = run(
        "std::process::Command::new(\"sleep\").arg(\"600\").spawn().unwrap(); println!(\"over\");",
    );
    assert_eq!(
        (&events.exit()["reason"], &events.exit()["code"]),
        (&json!("exited"), &json!(0))
    );
    assert!(
        begin.elapsed() < fixture::PATIENCE,
        "it waited for the grandchild"
    );
}

#[test]
fn a_grandchild_that_floods_the_pipe_holds_up_nothing() {
    let (_, events) = run(
        "if unsafe { fork() } == 0 { unsafe { setsid() }; loop { println!(\"{:0>999}\", 1); } } \
         sleep(1); std::process::abort();",
    );
    assert_eq!(events.exit()["reason"], "output-limit");
}

#[test]
fn a_daemon_in_a_session_of_its_own_is_found() {
    let daemon = "if unsafe { fork() } == 0 { unsafe { setsid() }; \
         if unsafe { fork() } == 0 { println!(\"ready\"); sleep(600); } return; } sleep(1);";
    let (_, events) = run(daemon);
    assert!(
        events.text("stdout").contains("ready"),
        "the daemon did run"
    );
    assert_eq!(events.exit()["code"], 0);
}

#[test]
fn a_program_that_ignores_signals_ends_with_its_client() {
    let server = Fixture::new().serve();
    let ignores = "for number in 1..32 { unsafe { signal(number, 1) }; } \
         if unsafe { fork() } == 0 { unsafe { setsid() }; loop {} } println!(\"ready\"); loop {}";
    let events = start(&server, ignores);
    assert!(processes_of(&server.runs()).len() >= 2);
    drop(events);
    let gone = Instant::now();
    wait_until("the run is ended", || {
        processes_of(&server.runs()).is_empty()
    });
    println!("ended {:?} after its client left", gone.elapsed());
    server.assert_clean();
}

#[test]
fn a_program_that_stops_itself_is_ended() {
    let (_, events) = run("println!(\"before\"); unsafe { kill(0, 19) }; sleep(600);");
    assert_eq!(events.exit()["reason"], "timeout");
    assert_eq!(events.text("stdout"), "before\n");
}

#[test]
fn a_storm_of_panics_is_only_output() {
    let storm =
        "std::thread::scope(|scope| for _ in 0..200 { scope.spawn(|| panic!(\"drop\")); });";
    let (_, events) = run(storm);
    assert_eq!(
        (&events.exit()["reason"], &events.exit()["code"]),
        (&json!("exited"), &json!(101))
    );
    assert!(events.text("stderr").matches("drop").count() >= 200);
}

#[test]
fn what_is_written_to_the_current_folder_and_to_the_temporary_one_goes() {
    let (_, events) = run(
        "let folder = std::env::temp_dir(); std::fs::write(folder.join(\"a\"), \"x\").unwrap(); \
         std::fs::create_dir_all(\"b/c\").unwrap(); std::fs::write(\"b/c/d\", \"x\").unwrap(); \
         println!(\"{}\", folder == std::env::current_dir().unwrap());",
    );
    assert_eq!(events.text("stdout"), "true\n");
}

#[test]
fn a_killed_server_takes_its_runs_along() {
    let mut server = Fixture::new().serve();
    let events = start(
        &server,
        "unsafe { fork() }; unsafe { setsid() }; println!(\"ready\"); sleep(600);",
    );
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    wait_until("the run is ended", || {
        processes_of(&server.runs()).is_empty()
    });
    drop(events);
}

#[test]
fn a_server_asked_to_end_leaves_nothing() {
    let mut server = Fixture::new().serve();
    let events = start(&server, "println!(\"ready\"); sleep(600);");
    let pid = i32::try_from(server.child.id()).unwrap();
    // SAFETY: `kill` takes integers; the process is our own child.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    assert!(server.child.wait().unwrap().success());
    assert!(processes_of(&server.runs()).is_empty());
    assert!(std::fs::read_dir(server.runs()).unwrap().next().is_none());
    drop(events);
}

#[test]
fn a_compiler_kept_busy_for_ever_ends_with_its_client() {
    let server = Fixture::new().serve();
    let endless = "const fn spin() -> usize { let mut n = 0usize; while n < usize::MAX { n += 1; } n }\n\
         #[allow(long_running_const_eval)] const N: usize = spin(); fn main() { println!(\"{N}\"); }";
    let call = server.call("/api/run", &json!({ "code": endless }));
    let mut lines = BufReader::new(server.open(&call)).lines();
    assert!(lines.any(|line| line.unwrap().contains("compiling")));
    let slots = server.fixture.path().join("target/workshop/incremental");
    wait_until("the compiler works", || !processes_of(&slots).is_empty());
    drop(lines);
    wait_until("the compiler is ended", || processes_of(&slots).is_empty());
    server.assert_clean();
}

#[test]
fn many_runs_at_once_are_run_or_refused() {
    let server = Fixture::new().serve();
    let call = server.call(
        "/api/run",
        &json!({ "code": "fn main() { println!(\"it ran\"); }" }),
    );
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..60)
            .map(|_| scope.spawn(|| server.send(&call)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let count = |status| {
        answers
            .iter()
            .filter(|answer| answer.status == status)
            .count()
    };
    assert_eq!(count(200) + count(429), 60, "{answers:?}");
    assert!(count(429) > 0 && count(200) > 0, "some run, some do not");
    for answer in answers.iter().filter(|answer| answer.status == 200) {
        assert!(answer.body.contains("it ran"), "{answer:?}");
    }
    server.assert_clean();
}
