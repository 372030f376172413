//! Runs programs that misbehave. After each, no process and no folder is left,
//! and the server answers.

#![cfg(target_os = "linux")]

mod fixture;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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

/// The same for a program that takes seconds until it has done its worst, and far
/// longer on a busy machine: the usual limit of time would end it first.
fn run_long(main: &str) -> Events {
    let server = Fixture::new().serve();
    let events = server.run(&json!({ "code": program(main), "limit": 60 }));
    server.assert_clean();
    events
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

/// Names what [`misbehavior`] does.
const MISBEHAVIOR: &str = "MISBEHAVIOR";

/// Not a test of its own: the program that [`contained`] runs is this one.
#[test]
fn misbehavior() {
    let Ok(kind) = std::env::var(MISBEHAVIOR) else {
        return;
    };
    match kind.as_str() {
        "threads" => loop {
            std::thread::spawn(|| std::thread::sleep(fixture::PATIENCE));
            std::thread::sleep(Duration::from_millis(1));
        },
        "memory" => {
            let this = std::env::current_exe().unwrap();
            let part = |_| {
                let mut command = Command::new(&this);
                command.args(["--exact", "misbehavior"]);
                command.env(MISBEHAVIOR, "part").spawn().unwrap()
            };
            let parts: Vec<_> = (0..4).map(part).collect();
            parts
                .into_iter()
                .for_each(|mut part| assert!(part.wait().unwrap().success()));
        }
        "part" => {
            let memory = vec![1_u8; 180 << 20];
            std::thread::sleep(fixture::PATIENCE);
            drop(memory);
        }
        "none" => assert_eq!(cause(&contained("nothing", json!({}))), "Exited"),
        _ => {}
    }
}

/// Runs this very program under the launcher, with other limits than the page's,
/// and returns the launcher's reports.
fn contained(misbehavior: &str, limits: Value) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let mut order = json!({
        "program": std::env::current_exe().unwrap(),
        "arguments": ["--exact", "misbehavior"],
        "folder": folder.path(),
        "inherit_environment": true,
        "variables": [[MISBEHAVIOR, misbehavior]],
        "limits": {
            "wall": { "secs": 30, "nanos": 0 }, "output_bytes": 1 << 20, "memory_bytes": 1_u64 << 32,
            "file_bytes": 64 << 20, "processes": 64, "threads": 4096, "disk_bytes": 1 << 28,
        },
    });
    for (limit, amount) in limits.as_object().unwrap() {
        order["limits"][limit] = amount.clone();
    }
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_workshop"))
        .arg("__launch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lifeline = launcher.stdin.take().unwrap();
    writeln!(lifeline, "{order}").unwrap();
    let reports = BufReader::new(launcher.stdout.take().unwrap()).lines();
    let reports = reports
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    assert!(launcher.wait().unwrap().success());
    assert_eq!(processes_of(folder.path()), [] as [std::path::PathBuf; 0]);
    reports
}

/// What ended a program, by its name.
#[track_caller]
fn cause(reports: &[Value]) -> String {
    let cause = &reports.last().unwrap()["Ended"]["cause"];
    let with_number = cause.as_object().and_then(|cause| cause.keys().next());
    let name = with_number.map(String::as_str).or(cause.as_str());
    name.unwrap_or_else(|| panic!("it never ended: {reports:?}"))
        .to_owned()
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
fn threads_without_number_are_ended() {
    let reports = contained("threads", json!({ "threads": 50 }));
    assert_eq!(cause(&reports), "ThreadLimit");
}

#[test]
fn memory_that_many_processes_use_together_is_counted() {
    let reports = contained("memory", json!({ "memory_bytes": 600 << 20 }));
    assert_eq!(cause(&reports), "MemoryLimit");
}

#[test]
fn limits_of_the_readers_own_are_no_hindrance() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    fixture::limits::raise_no_limits(&mut command);
    // Less than the launcher asks for.
    fixture::limits::limit(&mut command, libc::RLIMIT_FSIZE, 32 << 20);
    let output = command
        .args(["--exact", "misbehavior", "--nocapture"])
        .env(MISBEHAVIOR, "none")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn more_room_on_disk_than_it_may_take_ends_it() {
    let events = run_long(
        "use std::os::fd::AsRawFd; unsafe extern \"C\" { fn posix_fallocate(fd: i32, at: i64, length: i64) -> i32; } \
         for number in 0.. { let file = std::fs::File::create(format!(\"{number}\")).unwrap(); \
         unsafe { posix_fallocate(file.as_raw_fd(), 0, 60 << 20) }; sleep(1); }",
    );
    assert_eq!(events.exit()["reason"], "killed");
    let message = events.exit()["message"].as_str().unwrap();
    assert!(message.contains("MiB of files"), "{message}");
}

#[test]
fn files_without_number_are_ended_and_removed() {
    let events =
        run_long("for number in 0.. { std::fs::write(format!(\"{number}\"), \"\").unwrap(); }");
    assert_eq!(events.exit()["reason"], "killed");
    let message = events.exit()["message"].as_str().unwrap();
    assert!(message.contains("MiB of files"), "{message}");
}

/// A server that may not open a folder for each level of a deep one.
fn server_with_few_files(fixture: Fixture) -> Server {
    Server::start(fixture, |command| {
        fixture::limits::limit(command, libc::RLIMIT_NOFILE, 256);
    })
}

#[test]
fn folders_within_folders_are_removed() {
    let server = server_with_few_files(Fixture::new());
    let code = program(
        "for _ in 0..5000 { std::fs::create_dir(\"d\").unwrap(); std::fs::write(\"f\", \"\").unwrap(); \
         std::env::set_current_dir(\"d\").unwrap(); } println!(\"deep\");",
    );
    // Five thousand folders take seconds, and far longer on a busy machine.
    let events = server.run(&json!({ "code": code, "limit": 60 }));
    assert_eq!(events.text("stdout"), "deep\n");
    server.assert_clean();
}

#[test]
fn what_may_not_be_read_or_written_is_removed() {
    let server = Server::start(Fixture::new(), fixture::limits::obey_permissions);
    let events = server.run_code(&program(
        "use std::os::unix::fs::PermissionsExt; std::fs::create_dir_all(\"a/b/c\").unwrap(); \
         std::fs::write(\"a/b/c/d\", \"\").unwrap(); \
         for folder in [\"a/b/c\", \"a/b\", \"a\", \".\"] { \
         std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0)).unwrap(); } \
         println!(\"{}\", std::fs::write(\"f\", \"\").is_err());",
    ));
    assert_eq!(events.text("stdout"), "true\n", "{events:?}");
    server.assert_clean();
}

#[test]
fn what_an_earlier_server_left_is_removed_and_never_in_the_way() {
    let fixture = Fixture::new();
    let runs = fixture.path().join("target/workshop/runs");
    std::fs::create_dir_all(runs.join("0").join("d/".repeat(1000))).unwrap();
    let server = server_with_few_files(fixture);
    wait_until("the old run is gone", || {
        std::fs::read_dir(&runs).unwrap().next().is_none()
    });
    // As if it couldn't be removed.
    std::fs::create_dir(runs.join("0")).unwrap();
    let events = server.run_code("fn main() { println!(\"it ran\"); }");
    assert_eq!(events.text("stdout"), "it ran\n", "{events:?}");
}

#[test]
fn those_who_watch_over_a_program_get_no_signals_from_it() {
    // Signal 0 only asks whether another would be sent. `-1` is everyone.
    let (server, events) = run(
        "let launcher = unsafe { getppid() }; let asks = |pid| unsafe { kill(pid, 0) }; \
         println!(\"{} {} {}\", asks(launcher), asks(-launcher), asks(-1)); \
         let server: i32 = std::fs::read_to_string(format!(\"/proc/{launcher}/stat\")).unwrap() \
         .rsplit_once(\") \").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap(); \
         println!(\"{} {server}\", asks(server)); \
         println!(\"{}\", asks(std::process::id() as i32) + asks(0));",
    );
    let server = server.child.id();
    assert_eq!(events.text("stdout"), format!("-1 -1 -1\n-1 {server}\n0\n"));
}

#[test]
fn the_compilers_temporary_files_go_with_the_run() {
    let server = Fixture::new().serve();
    let events = server.run_code("fn main() { println!(\"{}\", env!(\"TMPDIR\")); }");
    let folder = events.text("stdout");
    assert!(
        folder.starts_with(server.runs().to_str().unwrap()),
        "{folder}"
    );
    server.assert_clean();
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

/// What the server's process has used at most, in bytes.
fn memory_peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse::<u64>().unwrap() << 10
}

#[test]
fn two_hundred_runs_at_once_are_run_or_queued_or_refused() {
    const RUNS: usize = 200;
    let server = Fixture::new().serve();
    // As much code as a call may have, and as much output as a run may have.
    let code = format!(
        "fn main() {{ println!(\"it ran\"); loop {{ println!(\"{{:0>999}}\", 1); }} }} //{}",
        "x".repeat(200 << 10)
    );
    let call = server.call("/api/run", &json!({ "code": code }));
    let before = memory_peak(&server);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..RUNS)
            .map(|_| scope.spawn(|| server.send(&call)))
            .collect();
        server.assert_answers();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let of = |status| answers.iter().filter(move |answer| answer.status == status);
    let others = answers.iter();
    let others: Vec<_> = others
        .filter(|one| ![200, 429].contains(&one.status))
        .collect();
    assert!(others.is_empty(), "each is answered: {others:?}");
    assert_eq!(of(200).count() + of(429).count(), RUNS, "each is answered");
    assert!(of(429).count() > 0, "not all have room");
    let queued = |answer: &&fixture::Answer| answer.body.contains("queued");
    assert!(of(200).filter(queued).count() > 0, "some have waited");
    assert!(!of(200).all(|answer| queued(&answer)), "and some have not");
    for answer in of(200) {
        assert!(answer.body.contains("it ran"), "{answer:?}");
        assert!(answer.body.contains("output-limit"), "{answer:?}");
    }
    for answer in of(429) {
        assert!(answer.body.contains("help"), "{answer:?}");
    }
    // The bodies and the outputs, each held a few times at most.
    let grown = memory_peak(&server) - before;
    assert!(grown < 300 << 20, "the server grew by {} MiB", grown >> 20);
    server.assert_clean();
}

#[test]
fn a_client_that_leaves_the_line_makes_room() {
    let server = Fixture::new().serve();
    // None of them ends before the test does.
    let sleeper = json!({ "code": program("sleep(600)"), "limit": 60 });
    let call = server.call("/api/run", &sleeper);
    // More than run and wait at once on any machine.
    let mut clients: Vec<_> = (0..40).map(|_| server.open(&call)).collect();
    let refused = |client: &mut std::net::TcpStream| {
        let mut status = [0; 12];
        client.read_exact(&mut status).unwrap();
        status.ends_with(b"429")
    };
    let mut waiting = Vec::new();
    for mut client in clients.drain(..) {
        if !refused(&mut client) {
            waiting.push(client);
        }
    }
    assert!(waiting.len() < 40, "the line has an end");
    assert!(refused(&mut server.open(&call)), "the line is full");
    // The last in line: it doesn't run yet.
    drop(waiting.pop());
    wait_until("another may wait instead", || {
        let mut client = server.open(&call);
        let waits = !refused(&mut client);
        if waits {
            waiting.push(client);
        }
        waits
    });
    drop(waiting);
    server.assert_clean();
}
