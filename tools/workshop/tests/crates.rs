//! The crates that snippets use, edited while cargo builds them.

#![cfg(unix)]

mod fixture;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use fixture::{Events, Fixture, Server, wait_until};
use serde_json::{Value, json};

const USES_THE_CRATE: &str = "fn main() { println!(\"{}\", salute::HELLO); }";
const BAD: &str = "pub const HELLO: &str = 1;\n";

/// A compiler that has read the crate `greeting`, and doesn't end before it may.
const HELD_BACK: &str = r#"#!/bin/sh
"$@"
status=$?
case "$*" in *"--crate-name greeting"*)
    echo >> "$GATE/compiled"
    while [ -d "$GATE" ] && [ ! -e "$GATE/open" ]; do sleep 0.01; done
esac
exit $status
"#;

/// A server whose compiler waits at a gate.
struct Gated {
    server: Server,
    gate: PathBuf,
}

impl Gated {
    fn start(fixture: Fixture) -> Self {
        let gate = fixture.path().join("gate");
        fixture.write("gate/rustc", HELD_BACK);
        let wrapper = gate.join("rustc");
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        let server = Server::start(fixture, |command| {
            command.env("RUSTC_WRAPPER", wrapper).env("GATE", &gate);
        });
        let gated = Self { server, gate };
        gated.wait_for_compilers(1);
        gated
    }

    /// Waits until the crate was compiled this often.
    fn wait_for_compilers(&self, count: usize) {
        wait_until("the crate is compiled", || {
            let compiled = fs::read_to_string(self.gate.join("compiled"));
            compiled.is_ok_and(|lines| lines.len() >= count)
        });
    }

    fn open(&self) {
        fs::write(self.gate.join("open"), "").unwrap();
    }

    /// Starts a run that needs the crate, and returns its events once it waits
    /// for the build.
    fn start_run(&self) -> impl Iterator<Item = Value> + use<> {
        self.start_run_of(USES_THE_CRATE)
    }

    fn start_run_of(&self, code: &str) -> impl Iterator<Item = Value> + use<> {
        let call = json!({ "code": code });
        let answer = self.server.open(&self.server.call("/api/run", &call));
        let lines = BufReader::new(answer).lines().map_while(Result::ok);
        let mut events = lines
            .filter_map(|line| serde_json::from_str::<Value>(&line).ok())
            .filter(Value::is_object);
        assert!(events.any(|event| event["type"] == "building"));
        events
    }
}

fn rest(events: impl Iterator<Item = Value>) -> Events {
    Events(events.collect())
}

#[test]
fn a_crate_put_right_during_its_build_is_not_said_to_be_broken() {
    let fixture = Fixture::unbuilt();
    let greeting = fixture.read("greeting/src/lib.rs");
    fixture.write("greeting/src/lib.rs", BAD);
    let gated = Gated::start(fixture);
    gated.server.fixture.write("greeting/src/lib.rs", &greeting);
    let run = gated.start_run();
    gated.open();
    let events = rest(run);
    assert_eq!(events.text("stdout"), "hello from a crate\n", "{events:?}");
}

#[test]
fn a_crate_saved_during_its_build_runs_as_it_was_saved() {
    let gated = Gated::start(Fixture::unbuilt());
    let saved = "pub const HELLO: &str = \"saved\";\n";
    gated.server.fixture.write("greeting/src/lib.rs", saved);
    let run = gated.start_run();
    gated.open();
    let events = rest(run);
    assert_eq!(events.text("stdout"), "saved\n", "{events:?}");
}

#[test]
fn a_crate_saved_after_the_run_was_begun_is_not_judged_as_it_was_before() {
    let fixture = Fixture::unbuilt();
    let greeting = fixture.read("greeting/src/lib.rs");
    fixture.write("greeting/src/lib.rs", BAD);
    let gated = Gated::start(fixture);
    let run = gated.start_run();
    gated.server.fixture.write("greeting/src/lib.rs", &greeting);
    gated.open();
    let events = rest(run);
    assert_eq!(events.text("stdout"), "hello from a crate\n", "{events:?}");
}

#[test]
fn a_manifest_saved_during_the_build_counts_too() {
    let gated = Gated::start(Fixture::unbuilt());
    let manifest = gated.server.fixture.read("snippets/Cargo.toml");
    let renamed = manifest.replace("salute = ", "hail = ");
    gated.server.fixture.write("snippets/Cargo.toml", &renamed);
    let run = gated.start_run_of(&USES_THE_CRATE.replace("salute", "hail"));
    gated.open();
    let events = rest(run);
    assert_eq!(events.text("stdout"), "hello from a crate\n", "{events:?}");
}

#[test]
fn a_file_beside_the_sources_that_a_crate_includes_counts_too() {
    let fixture = Fixture::unbuilt();
    fixture.write("greeting/words.txt", "first");
    let includes = "pub const HELLO: &str = include_str!(\"../words.txt\");\n";
    fixture.write("greeting/src/lib.rs", includes);
    let server = fixture.serve();
    assert_eq!(server.run_code(USES_THE_CRATE).text("stdout"), "first\n");
    server.fixture.write("greeting/words.txt", "second");
    assert_eq!(server.run_code(USES_THE_CRATE).text("stdout"), "second\n");
}
