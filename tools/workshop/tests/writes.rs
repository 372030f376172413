//! Pages, servers, commands and editors that change one file at the same moment:
//! what was said to be saved is never lost.

#![cfg(target_os = "linux")]

mod fixture;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use fixture::{EXERCISE, Fixture, PATIENCE, Server, stub, wait_until};
use serde_json::{Value, json};

/// How many rounds to go: enough to see a gap of a millisecond, or as many as the
/// environment says.
fn rounds() -> u32 {
    let told = std::env::var("WORKSHOP_ROUNDS").ok();
    told.map_or(40, |rounds| rounds.parse().expect("a number of rounds"))
}

/// A folder with two servers.
struct Desk {
    // The second has brought the folder, and takes it along.
    servers: [Server; 2],
}

/// A text that was saved, and the hash of the one that its writer had seen.
struct Saved {
    text: String,
    seen: Option<Value>,
}

impl Desk {
    fn new() -> Self {
        let first = Fixture::with_exercise(&stub("todo!()")).serve();
        let path = first.fixture.path();
        let second = Server::start(Fixture::new(), |command| {
            command.current_dir(path);
        });
        Self {
            servers: [second, first],
        }
    }

    fn fixture(&self) -> &Fixture {
        &self.servers[1].fixture
    }

    fn folder(&self) -> PathBuf {
        self.fixture().path().join("exercises/01-answer")
    }

    fn ask(&self, server: usize, call: &str, body: &Value) -> (u16, Value) {
        let server = &self.servers[server];
        let path = format!("/api/exercises/1/{call}");
        let answer = server.send(&server.call(&path, body));
        let value = serde_json::from_str(&answer.body).unwrap_or_default();
        (answer.status, value)
    }

    fn hash(&self, server: usize) -> Value {
        let (status, read) = self.ask(server, "read", &json!({}));
        assert_eq!(status, 200, "{read}");
        read["hash"].clone()
    }

    /// Writes as a page does that has seen this; returns what was saved.
    fn write(&self, server: usize, text: String, seen: Value) -> Option<Saved> {
        let body = json!({ "text": text, "hash": seen });
        let (status, answer) = self.ask(server, "write", &body);
        assert!([200, 409].contains(&status), "{status}: {answer}");
        (status == 200).then_some(Saved {
            text,
            seen: Some(seen),
        })
    }

    fn reset(&self, way: usize) {
        if way < 2 {
            let (status, answer) = self.ask(way, "reset", &json!({}));
            assert_eq!(status, 200, "{answer}");
        } else {
            let output = self.fixture().output(&["reset", "1"]);
            assert!(output.status.success(), "{output:?}");
        }
    }

    /// Saves as an editor does, into the file that is there or by putting another
    /// in its place.
    fn save(&self, text: String, in_place: bool) -> Saved {
        let file = self.fixture().path().join(EXERCISE);
        if in_place {
            let mut open = File::create(file).unwrap();
            open.write_all(text.as_bytes()).unwrap();
        } else {
            let new = self.folder().join("lib.rs~");
            fs::write(&new, &text).unwrap();
            fs::rename(new, file).unwrap();
        }
        Saved { text, seen: None }
    }

    /// The texts in the file and in those that were kept.
    fn texts(&self) -> BTreeSet<String> {
        let kept = fs::read_dir(self.folder()).unwrap();
        let kept = kept.map(|entry| entry.unwrap().path());
        let kept = kept.filter(|file| file.to_string_lossy().ends_with(".kept.rs"));
        let files = kept.chain([self.fixture().path().join(EXERCISE)]);
        files
            .map(|file| fs::read_to_string(file).unwrap())
            .collect()
    }

    fn forget_kept(&self) {
        for entry in fs::read_dir(self.folder()).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().ends_with(".kept.rs") {
                fs::remove_file(path).unwrap();
            }
        }
    }

    /// Everything saved is in some file, unless a page has replaced it that had
    /// seen it.
    #[track_caller]
    fn assert_nothing_is_lost(&self, saved: &[Saved], hashes: &BTreeMap<String, Value>) {
        let is_replaced = |text: &String| {
            saved
                .iter()
                .any(|other| other.seen.is_some() && other.seen.as_ref() == hashes.get(text))
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            let texts = self.texts();
            let lost: Vec<_> = saved
                .iter()
                .map(|saved| &saved.text)
                .filter(|text| !texts.contains(*text) && !is_replaced(text))
                .collect();
            if lost.is_empty() {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "lost: {lost:?}, there: {texts:?}"
            );
            // A server finds out within a few looks what was overwritten.
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    fn assert_tidy(&self) {
        let names = fs::read_dir(self.folder()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<_> = names.filter(|name| name.contains("loose")).collect();
        assert_eq!(left, [] as [String; 0]);
    }
}

/// Delays the one or the other of the participants in each round, so that they
/// meet at every point of each other's way.
fn pause(round: u32, participant: u32) {
    let step = round
        .wrapping_mul(2_654_435_761)
        .wrapping_add(participant * 97)
        % 40;
    let end = Instant::now() + Duration::from_micros(u64::from(step) * 50);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

#[test]
fn no_write_that_was_answered_is_lost_in_a_reset() {
    let desk = Desk::new();
    let mut won = 0;
    for round in 0..rounds() {
        let barrier = Barrier::new(3);
        let writes = |server: usize| {
            let (desk, barrier) = (&desk, &barrier);
            move || {
                let seen = desk.hash(server);
                barrier.wait();
                pause(round, server as u32);
                desk.write(server, format!("// {round} of {server}\n"), seen)
            }
        };
        let saved: Vec<_> = thread::scope(|scope| {
            let writers = [0, 1].map(|server| scope.spawn(writes(server)));
            barrier.wait();
            pause(round, 2);
            // A command takes a thousand times as long to start as to reset.
            let way = if round % 20 == 0 {
                2
            } else {
                round as usize % 2
            };
            desk.reset(way);
            writers
                .into_iter()
                .filter_map(|writer| writer.join().unwrap())
                .collect()
        });
        won += saved.len();
        desk.assert_nothing_is_lost(&saved, &BTreeMap::new());
        desk.forget_kept();
    }
    println!("{won} writes were answered 200");
    assert!(won > 0, "some writes come before the reset");
    desk.assert_tidy();
}

#[test]
fn no_write_that_was_answered_is_lost_in_a_reset_from_the_command_line() {
    let desk = Desk::new();
    let round_count = rounds() / 4;
    for round in 0..round_count {
        let saved: Vec<_> = thread::scope(|scope| {
            let reset = scope.spawn(|| desk.reset(2));
            let mut saved = Vec::new();
            // The command comes at some point between these.
            while !reset.is_finished() {
                let text = format!("// {round}, {}\n", saved.len());
                let seen = desk.hash(0);
                saved.extend(desk.write(saved.len() % 2, text, seen));
            }
            saved
        });
        // Each write says by its hash which one it has replaced.
        let hashes = saved
            .iter()
            .map(|one| (one.text.clone(), hash_of(&one.text)));
        desk.assert_nothing_is_lost(&saved, &hashes.collect());
        desk.forget_kept();
    }
    desk.assert_tidy();
}

/// What an editor saves later than this after a page has begun to write, it may
/// have seen, and replace.
const UNSEEN: Duration = Duration::from_millis(100);

#[test]
fn nothing_is_lost_when_an_editor_saves_during_a_write_or_a_reset() {
    let desk = Desk::new();
    let mut met = 0;
    for round in 0..rounds() {
        let barrier = Barrier::new(3);
        let text = |who: &str| format!("// {who} in round {round}\n");
        let saved: Vec<_> = thread::scope(|scope| {
            let page = scope.spawn(|| {
                let seen = desk.hash(0);
                barrier.wait();
                pause(round, 0);
                let began = Instant::now();
                (desk.write(0, text("page"), seen), began)
            });
            let editor = scope.spawn(|| {
                barrier.wait();
                pause(round, 1);
                (desk.save(text("editor"), round % 2 == 0), Instant::now())
            });
            barrier.wait();
            pause(round, 2);
            if round % 4 < 2 {
                desk.reset(1);
            }
            let ((page, began), (editor, ended)) = (page.join().unwrap(), editor.join().unwrap());
            let meet = ended.saturating_duration_since(began) < UNSEEN;
            met += u32::from(meet);
            page.filter(|_| meet).into_iter().chain([editor]).collect()
        });
        let hashes = [(text("editor"), hash_of(&text("editor")))];
        desk.assert_nothing_is_lost(&saved, &hashes.into());
        desk.forget_kept();
    }
    println!("in {met} rounds they met");
    desk.assert_tidy();
}

#[test]
fn of_two_servers_in_one_folder_one_accepts_a_replacement_of_a_version() {
    let desk = Desk::new();
    for round in 0..rounds() {
        let seen = desk.hash(0);
        let won = thread::scope(|scope| {
            let writers = [0, 1, 0, 1].map(|server| {
                let (desk, seen) = (&desk, seen.clone());
                let name = thread::current().id();
                scope.spawn(move || {
                    let text = format!("// {round}, {server}, {name:?}\n");
                    desk.write(server, text, seen)
                })
            });
            let answers = writers.into_iter().map(|writer| writer.join().unwrap());
            answers.flatten().count()
        });
        assert_eq!(won, 1, "all have seen the same version");
    }
    desk.assert_tidy();
}

#[test]
fn a_save_that_an_editor_had_begun_before_a_reset_goes_to_the_kept_file() {
    let desk = Desk::new();
    let file = desk.fixture().path().join(EXERCISE);
    desk.fixture().write(EXERCISE, &stub("mine"));
    let mut editor = File::options().write(true).open(file).unwrap();
    desk.reset(0);
    editor.write_all(b"// late\n").unwrap();
    drop(editor);
    let texts = desk.texts();
    assert!(texts.contains(&stub("todo!()")), "{texts:?}");
    let mut kept = texts.iter();
    assert!(kept.any(|text| text.starts_with("// late\n")), "{texts:?}");
}

#[test]
fn a_save_that_an_editor_had_begun_before_a_write_is_not_lost() {
    let desk = Desk::new();
    let file = desk.fixture().path().join(EXERCISE);
    let seen = desk.hash(0);
    let mut editor = File::options().write(true).open(file).unwrap();
    let saved = thread::scope(|scope| {
        let page = scope.spawn(|| desk.write(0, "// page\n".into(), seen));
        // The page has replaced the file when there is another in its place, and
        // waits for the editor.
        wait_until("the page's text is there", || {
            desk.texts().contains("// page\n")
        });
        editor.write_all(b"// editor\n").unwrap();
        drop(editor);
        page.join().unwrap()
    });
    // The editor came first, unless it took seconds to write.
    let texts = desk.texts();
    let has = |beginning: &str| texts.iter().any(|text| text.starts_with(beginning));
    assert!(has("// editor\n"), "{texts:?}");
    assert!(saved.is_none() || has("// page\n"), "{texts:?}");
}

#[test]
fn what_a_killed_server_had_not_put_in_its_place_is_kept() {
    let desk = Desk::new();
    let left = "exercises/01-answer/.lib.rs.1.1.loose";
    desk.fixture().write(left, "// half way\n");
    let seen = desk.hash(0);
    assert!(desk.write(0, "// mine\n".into(), seen).is_some());
    assert!(desk.texts().contains("// half way\n"));
    desk.assert_tidy();
}

/// What a server calls the version with this text.
fn hash_of(text: &str) -> Value {
    let length = (text.len() as u64).to_le_bytes();
    let bytes = length.iter().chain(text.as_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    json!(format!("{hash:016x}"))
}
