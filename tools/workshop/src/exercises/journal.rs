//! The journals of checks: what a check finds, line by line in a file of its
//! own, so that open pages can follow it, no matter what started it. A plain
//! `cargo test` keeps one too: the test kit writes it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use super::catalogue::{self, Exercise};
use super::harness::{News, Verdicts};
use super::milestones;
use super::progress::{LastCheck, Progress};
use super::tail::Tail;
use super::{shown_first, source};
use crate::events::{Event, Exit, Outcome, Reason};
use crate::workshop::Workshop;

/// How many journals this process has begun.
static JOURNAL_COUNT: AtomicU64 = AtomicU64::new(0);

/// How long a journal stays after its check: every server has read it then.
const KEPT: Duration = Duration::from_secs(60);

/// Where the journals are. `.cargo/config.toml` names the same folder for the
/// test kit, no matter what the target folder is. The kit writes only if it's there.
pub fn folder(workshop: &Workshop) -> PathBuf {
    workshop.root().join("target/workshop/checks")
}

/// Writes a check's journal. A check that can't write one is still a check.
pub struct Journal(Option<File>);

impl Journal {
    /// Begins one, and removes old ones.
    pub fn begin(workshop: &Workshop, exercise: &Exercise) -> Self {
        let folder = folder(workshop);
        sweep(&folder);
        // Relaxed: the names only have to differ.
        let count = JOURNAL_COUNT.fetch_add(1, Relaxed);
        let name = format!("{}.{}.{count}", exercise.package(), std::process::id());
        let file = fs::create_dir_all(&folder).and_then(|()| {
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(folder.join(name))
        });
        Self(file.ok())
    }

    /// Adds what the check has to say.
    pub fn add(&mut self, event: &Event) {
        if let Some(file) = &mut self.0
            && let Ok(mut line) = serde_json::to_vec(event)
        {
            line.push(b'\n');
            let _unread = file.write_all(&line);
        }
    }

    /// Adds that the check was ended before its end.
    pub fn add_stop(&mut self) {
        self.add(&Event::Exit(stopped()));
    }
}

/// Removes the journals of checks that are long over.
fn sweep(folder: &Path) {
    for name in names(folder) {
        let file = folder.join(&name);
        let is_old = silence(&file).is_some_and(|silence| silence > KEPT);
        if is_old && Name::read(&name).is_none_or(|name| !is_alive(name.process, &file)) {
            let _left = fs::remove_file(file);
        }
    }
}

fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// What the name of a journal says.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    exercise: u32,
    process: u32,
}

impl Name {
    /// Reads `exercise-7.4711.0`.
    fn read(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix("exercise-")?.split('.');
        Some(Self {
            exercise: parts.next()?.parse().ok()?,
            process: parts.next()?.parse().ok()?,
        })
    }
}

/// Whether the process lives that writes to the file. Where the system doesn't
/// tell, a process that has been silent for long counts as over.
fn is_alive(process: u32, file: &Path) -> bool {
    if Path::new("/proc/self").exists() {
        return Path::new("/proc").join(process.to_string()).exists();
    }
    silence(file).is_some_and(|silence| silence < KEPT)
}

fn silence(file: &Path) -> Option<Duration> {
    let modified = file.metadata().ok()?.modified().ok()?;
    Some(
        SystemTime::now()
            .duration_since(modified)
            .unwrap_or_default(),
    )
}

/// Follows all checks from now on.
pub struct Followers {
    workshop: Workshop,
    checks: BTreeMap<String, Option<Follower>>,
}

impl Followers {
    /// Those that go on already are left alone: their beginning isn't known.
    pub fn new(workshop: &Workshop) -> Self {
        let folder = folder(workshop);
        // The test kit doesn't make it.
        let _unfollowed = fs::create_dir_all(&folder);
        sweep(&folder);
        Self {
            workshop: workshop.clone(),
            checks: names(&folder).map(|name| (name, None)).collect(),
        }
    }

    /// Returns the news since the last look, in order, each with its check's name.
    pub fn look(&mut self) -> Vec<(String, Event)> {
        let folder = folder(&self.workshop);
        let names: Vec<_> = names(&folder).collect();
        self.checks.retain(|name, _| names.contains(name));
        let mut all_news = Vec::new();
        for run in names {
            let follower = self.checks.entry(run.clone()).or_insert_with(|| {
                let name = Name::read(&run)?;
                let exercise = catalogue::find(&self.workshop, name.exercise).ok()?;
                let tail = Tail::new(folder.join(&run));
                Some(Follower::new(tail, exercise, name.process))
            });
            let Some(check) = follower else { continue };
            let number = check.exercise.number;
            let (news, is_over) = check.look(&self.workshop);
            all_news.extend(news.into_iter().map(|event| {
                let news = Event::Elsewhere {
                    number,
                    run: run.clone(),
                    event: Box::new(event),
                };
                (run.clone(), news)
            }));
            if is_over {
                *follower = None;
            }
        }
        all_news
    }
}

/// Follows one check.
struct Follower {
    tail: Tail,
    exercise: Exercise,
    process: u32,
    /// The sources when the check was first heard of.
    fingerprint: String,
    kit: Option<Kit>,
}

/// What the test kit says in a plain `cargo test`.
struct Kit {
    binary: Option<PathBuf>,
    tests: Verdicts,
}

impl Follower {
    fn new(tail: Tail, exercise: Exercise, process: u32) -> Self {
        Self {
            tail,
            fingerprint: exercise.fingerprint(),
            exercise,
            process,
            kit: None,
        }
    }

    /// Returns the news, and whether they are the last.
    fn look(&mut self, workshop: &Workshop) -> (Vec<Event>, bool) {
        // Asked first: what a process writes before it ends is read below.
        let is_alive = is_alive(self.process, self.tail.file());
        let lines = self.tail.lines();
        let mut events: Vec<_> = lines.iter().filter_map(|line| self.hear(line)).collect();
        let is_over = |event: &Event| matches!(event, Event::Exit(_));
        if events.iter().any(is_over) {
            return (events, true);
        }
        let ending = match &self.kit {
            Some(kit) if !is_alive || self.is_complete(kit) => Some(self.end(kit, workshop)),
            None if !is_alive => Some(stopped()),
            _ => None,
        };
        let is_over = ending.is_some();
        if let Some(kit) = self.kit.as_ref().filter(|_| is_over) {
            let root = workshop.root();
            events.extend(shown_first::of_check(root, &self.exercise, &kit.tests));
        }
        events.extend(ending.map(Event::Exit));
        (events, is_over)
    }

    fn hear(&mut self, line: &str) -> Option<Event> {
        if let Ok(event) = serde_json::from_str::<Event>(line) {
            return Some(event);
        }
        let news: News = serde_json::from_str(line).ok()?;
        let kit = self.kit.get_or_insert_with(|| Kit {
            binary: news.binary.clone(),
            tests: Verdicts::new(),
        });
        let (name, verdict) = news.into_verdict();
        kit.tests.insert(name.clone(), verdict.clone());
        Some(verdict.into_event(name))
    }

    /// How many tests there are.
    fn test_count(&self) -> usize {
        let sources = self.exercise.tests().into_iter().map(fs::read_to_string);
        sources
            .flatten()
            .map(|source| source::tests(&source).len())
            .sum()
    }

    fn is_complete(&self, kit: &Kit) -> bool {
        kit.tests.len() >= self.test_count()
            && kit.tests.values().all(|test| test.outcome.is_over())
    }

    /// Says how a plain `cargo test` has ended, and remembers it if it ran all.
    fn end(&self, kit: &Kit, workshop: &Workshop) -> Exit {
        let passed = kit
            .tests
            .values()
            .all(|test| matches!(test.outcome, Outcome::Passed | Outcome::Unjudged));
        let done = kit
            .tests
            .values()
            .filter(|test| test.outcome.is_over())
            .count();
        let message = match self.is_complete(kit) {
            true => None,
            false => Some(format!("{done} of {} tests were run", self.test_count())),
        };
        if message.is_none() && self.is_of_these_sources(kit) {
            self.remember(kit, passed, workshop);
        }
        if done < kit.tests.len() {
            return stopped();
        }
        exit(Reason::Exited, Some(if passed { 0 } else { 101 }), message)
    }

    /// The binary was built from the sources as they were when the compiler
    /// wrote down which they are; they must not have changed since.
    fn is_of_these_sources(&self, kit: &Kit) -> bool {
        let modified = |file: &Path| file.metadata().and_then(|data| data.modified()).ok();
        let read_at = kit
            .binary
            .as_ref()
            .and_then(|binary| modified(&binary.with_extension("d")));
        let sources = self.exercise.sources();
        // The reader's own tests don't speak to the kit.
        let stub = fs::read_to_string(self.exercise.stub()).unwrap_or_default();
        read_at.is_some_and(|read_at| {
            source::tests(&stub).is_empty()
                && sources
                    .iter()
                    .all(|file| modified(file).is_some_and(|at| at <= read_at))
                && self.exercise.fingerprint() == self.fingerprint
        })
    }

    fn remember(&self, kit: &Kit, passed: bool, workshop: &Workshop) {
        let tests = kit.tests.values();
        let clauses = milestones::clauses(tests.map(|test| (test.number(), test.outcome)));
        let last = LastCheck::new(self.fingerprint.clone(), passed, &clauses);
        // A check whose result can't be kept is still a check.
        let _forgotten =
            Progress::change(workshop, self.exercise.number, |memory| memory.hear(last));
    }
}

fn stopped() -> Exit {
    exit(Reason::Killed, None, Some("stopped".into()))
}

fn exit(reason: Reason, code: Option<i32>, message: Option<String>) -> Exit {
    Exit {
        reason,
        code,
        compile_ms: None,
        run_ms: None,
        message,
    }
}
