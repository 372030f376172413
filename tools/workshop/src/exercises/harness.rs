//! Runs test binaries, and hears from the test kit what each check has found.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::mpsc::unbounded_channel;

use super::cargo::Binary;
use super::tail::Tail;
use super::verdict::{Cause, Kind};
use crate::events::{Event, Outcome};
use crate::problem::Problem;
use crate::runner::libtest;
use crate::sandbox::{Ended, Limits, Order};
use crate::workshop::Workshop;

pub use super::verdict::{Verdict, Verdicts};

const MIB: u64 = 1 << 20;

/// How many runs this process has started.
static RUN_COUNT: AtomicU64 = AtomicU64::new(0);

/// How often to look for news from the kit.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The longest that the tests of a binary may take. The kit itself ends what
/// hangs, within seconds; this is for what the kit doesn't see.
pub const TESTS_LIMIT: Duration = Duration::from_secs(180);

/// The longest that the models of a binary may take.
pub const MODELS_LIMIT: Duration = Duration::from_secs(900);

/// What the paths have in them of tests of versions that stand together.
pub const TOGETHER: &str = "::together_";

/// What to run.
#[derive(Clone)]
pub struct Run<'a> {
    /// The test binary.
    pub binary: &'a Binary,
    /// Only tests with one of these in their paths; all if there are none.
    pub filters: Vec<String>,
    /// None with this in their paths.
    pub skip: Option<&'static str>,
    /// How many tests run at once, if not as many as there are cores.
    pub threads: Option<usize>,
    /// The longest that it may take.
    pub limit: Duration,
    /// By what factor a check may take longer than usual before the kit ends it.
    pub patience: Option<f64>,
    /// The version that is meant, if several stand together in the binary.
    pub version: Option<Version>,
}

/// One of the versions that stand together in a module of a binary: the environment
/// chooses which of them that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// What the environment calls it.
    pub number: u32,
    /// The module that it would be on its own, with those that it stands in.
    pub path: String,
    /// The module in which it stands together with others.
    module: String,
}

impl Version {
    /// Reads the path of a test that only tells that a version is there.
    fn of_test(path: &str) -> Option<Self> {
        let (told, name) = path.rsplit_once("::")?;
        let (module, number) = told.rsplit_once("_has_")?;
        let (before, own) = module.rsplit_once("::")?;
        own.strip_prefix("together_")?;
        Some(Self {
            number: number.parse().ok()?,
            path: format!("{before}::{name}"),
            module: format!("{module}::"),
        })
    }

    /// The filters that choose those of this version's tests that these choose; nothing if
    /// there are none.
    pub fn filters(&self, filters: &[String]) -> Option<Vec<String>> {
        let own = format!("{}::", self.path);
        let module = &self.module;
        let chosen = |filter: &String| match filter.strip_prefix(&own) {
            Some(rest) => Some(format!("{module}{rest}")),
            // It's about all versions.
            None if filter.starts_with("::") => Some(format!("{module}{}", &filter[2..])),
            None => None,
        };
        let chosen: Vec<_> = filters.iter().filter_map(chosen).collect();
        (!chosen.is_empty()).then_some(chosen)
    }

    /// The path that a test would have if the version stood apart.
    fn apart(&self, path: String) -> String {
        match path.strip_prefix(&self.module) {
            Some(rest) => format!("{}::{rest}", self.path),
            None => path,
        }
    }
}

/// The versions that stand together in a binary.
///
/// # Errors
///
/// When the binary can't be run.
pub async fn versions(binary: &Binary) -> Result<Vec<Version>, Problem> {
    let listed = tokio::process::Command::new(&binary.executable)
        .args(["--list", "--format=terse", TOGETHER])
        .output()
        .await
        .map_err(|error| {
            Problem::new(format!("the tests cannot be listed: {error}")).help("build them again")
        })?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let tests = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    Ok(tests.filter_map(Version::of_test).collect())
}

/// Runs the tests. Each piece of news goes to `on_event` too.
///
/// # Errors
///
/// When the binary can't be run.
pub async fn run<Unwanted: Future<Output = ()>>(
    workshop: &Workshop,
    run: &Run<'_>,
    mut on_event: impl FnMut(Event),
    unwanted: impl Fn() -> Unwanted,
) -> Result<(Ended, Verdicts), Problem> {
    let unusable = |error: std::io::Error| {
        Problem::new(format!("the tests cannot be run: {error}"))
            .help("make room on the disk, and try again")
    };
    fs::create_dir_all(workshop.target()).map_err(unusable)?;
    let mut kit = Kit::new(&workshop.target());
    let order = order(run, kit.0.file());
    let mut merged = Merged {
        version: run.version.clone(),
        ..Merged::default()
    };

    let (events, mut inbox) = unbounded_channel();
    let mut harness = std::pin::pin!(libtest::run(order, &events, unwanted));
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    let ended = loop {
        tokio::select! {
            ended = &mut harness => break ended.map_err(unusable)?,
            Some(event) = inbox.recv() => {
                // The kit speaks before the harness does, and says more.
                kit.news().for_each(|news| merged.hear_kit(news, &mut on_event));
                merged.hear_harness(event, &mut on_event);
            }
            _tick = ticks.tick() => {
                kit.news().for_each(|news| merged.hear_kit(news, &mut on_event));
            }
        }
    };
    kit.news()
        .for_each(|news| merged.hear_kit(news, &mut on_event));
    while let Ok(event) = inbox.try_recv() {
        merged.hear_harness(event, &mut on_event);
    }
    Ok((ended, merged.verdicts))
}

fn order(run: &Run<'_>, kit_events: &Path) -> Order {
    let mut variables = vec![("TESTKIT_EVENTS".into(), kit_events.display().to_string())];
    let patience = run
        .patience
        .map(|it| ("TESTKIT_PATIENCE".into(), it.to_string()));
    variables.extend(patience);
    let version = run.version.as_ref();
    variables.extend(version.map(|it| ("TESTKIT_VERSION".into(), it.number.to_string())));
    let mut arguments = run.filters.clone();
    arguments.extend(run.skip.map(|skip| format!("--skip={skip}")));
    arguments.extend(
        run.threads
            .map(|threads| format!("--test-threads={threads}")),
    );
    Order {
        program: run.binary.executable.clone(),
        arguments,
        folder: run.binary.folder.clone(),
        inherit_environment: true,
        variables,
        limits: Limits {
            wall: run.limit,
            output_bytes: 16 * MIB,
            cuts_output: false,
            memory_bytes: 16_384 * MIB,
            file_bytes: 256 * MIB,
            processes: 512,
            threads: 16_384,
            disk_bytes: None,
        },
    }
}

/// What the kit says, one JSON object a line.
#[derive(Deserialize)]
pub struct News {
    name: String,
    clause: String,
    outcome: Outcome,
    message: String,
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    seen: String,
    #[serde(default)]
    usually: String,
    #[serde(default)]
    execution: Option<String>,
    /// The test binary, where a plain `cargo test` runs it.
    #[serde(default)]
    pub binary: Option<PathBuf>,
}

impl News {
    /// The test's path, and how it stands.
    pub fn into_verdict(self) -> (String, Verdict) {
        let verdict = Verdict {
            clause: Some(self.clause),
            outcome: self.outcome,
            message: self.message,
            cause: Cause {
                kind: self.kind,
                seen: self.seen,
                usually: self.usually,
                execution: self.execution.and_then(|number| number.parse().ok()),
            },
        };
        (self.name, verdict)
    }
}

/// Reads the file that the kit appends to.
struct Kit(Tail);

impl Kit {
    fn new(folder: &Path) -> Self {
        // Relaxed: the names only have to differ.
        let number = RUN_COUNT.fetch_add(1, Relaxed);
        let name = format!("events-{}-{number}", std::process::id());
        Self(Tail::new(folder.join(name)))
    }

    /// Returns the news since the last call.
    fn news(&mut self) -> impl Iterator<Item = News> + use<> {
        let lines = self.0.lines().into_iter();
        lines.filter_map(|line| serde_json::from_str(&line).ok())
    }
}

impl Drop for Kit {
    fn drop(&mut self) {
        // There is none if the binary has no checks of the kit.
        let _absent = fs::remove_file(self.0.file());
    }
}

/// What the kit and the harness say, put together.
#[derive(Default)]
struct Merged {
    verdicts: Verdicts,
    version: Option<Version>,
}

impl Merged {
    fn hear_kit(&mut self, news: News, on_event: &mut impl FnMut(Event)) {
        let (name, verdict) = news.into_verdict();
        let name = self.apart(name);
        self.put(name, verdict, on_event);
    }

    fn hear_harness(&mut self, event: Event, on_event: &mut impl FnMut(Event)) {
        let Event::Test {
            name,
            outcome,
            message,
            ..
        } = event
        else {
            return on_event(event);
        };
        let name = self.apart(name);
        // The harness lists its tests, and doesn't say when one starts.
        let outcome = match outcome {
            Outcome::Running => Outcome::Waiting,
            _ => outcome,
        };
        let known = self.verdicts.get(&name);
        // About the kit's tests, the harness only knows more if one got around the kit.
        if known.is_some_and(|verdict| {
            verdict.clause.is_some() && (verdict.outcome.is_over() || !outcome.is_over())
        }) {
            return;
        }
        let verdict = Verdict {
            clause: known.and_then(|verdict| verdict.clause.clone()),
            outcome,
            message: message.unwrap_or_default(),
            cause: Cause::default(),
        };
        self.put(name, verdict, on_event);
    }

    fn apart(&self, name: String) -> String {
        match &self.version {
            Some(version) => version.apart(name),
            None => name,
        }
    }

    fn put(&mut self, name: String, verdict: Verdict, on_event: &mut impl FnMut(Event)) {
        on_event(verdict.clone().into_event(name.clone()));
        self.verdicts.insert(name, verdict);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::{Event, Kit, Merged, Outcome, Version};

    fn harness(outcome: Outcome) -> Event {
        Event::Test {
            name: "tests::it_holds".into(),
            clause: None,
            outcome,
            message: None,
        }
    }

    #[test]
    fn the_kits_word_stands_over_the_harness() {
        let folder = tempfile::tempdir().unwrap();
        let mut kit = Kit::new(folder.path());
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(kit.0.file())
            .unwrap();
        let line = r#"{"name":"tests::it_holds","clause":"3. No loss","outcome":"failed","message":"seen","execution":"12"}"#;
        let mut merged = Merged::default();
        let mut told = Vec::new();
        let mut on_event = |event| told.push(event);

        merged.hear_harness(harness(Outcome::Running), &mut on_event);
        file.write_all(&line.as_bytes()[..30]).unwrap();
        assert_eq!(kit.news().count(), 0, "half a line is no news yet");
        file.write_all(&line.as_bytes()[30..]).unwrap();
        file.write_all(b"\n").unwrap();
        kit.news()
            .for_each(|news| merged.hear_kit(news, &mut on_event));
        merged.hear_harness(harness(Outcome::Failed), &mut on_event);
        assert_eq!(kit.news().count(), 0, "nothing is told twice");

        let failed = Event::Test {
            name: "tests::it_holds".into(),
            clause: Some(3),
            outcome: Outcome::Failed,
            message: Some("seen".into()),
        };
        assert_eq!(told, [harness(Outcome::Waiting), failed]);
        let cause = &merged.verdicts["tests::it_holds"].cause;
        assert_eq!(cause.execution, Some(12));
    }

    #[test]
    fn versions_that_stand_together_are_told_apart() {
        let version = Version::of_test("exercise_3::together_2_has_12::c01_wrong").unwrap();
        assert_eq!(
            (version.number, &*version.path),
            (12, "exercise_3::c01_wrong")
        );
        for test in ["c01_wrong::tests::a", "together_2::tests::it_has_2::a"] {
            assert_eq!(Version::of_test(&format!("exercise_3::{test}")), None);
        }

        let filters = |filter: &str| version.filters(&[filter.to_owned()]);
        let together = Some(vec!["exercise_3::together_2::tests::".to_owned()]);
        assert_eq!(filters("::tests::"), together);
        assert_eq!(filters("exercise_3::c01_wrong::tests::"), together);
        assert_eq!(filters("exercise_3::c01_wrong_again::tests::"), None);

        let name = "exercise_3::together_2::tests::a".to_owned();
        assert_eq!(version.apart(name), "exercise_3::c01_wrong::tests::a");
    }

    #[test]
    fn a_test_that_the_kit_saw_start_but_not_end_is_the_harnesss() {
        let mut merged = Merged::default();
        let line =
            r#"{"name":"tests::it_holds","clause":"3. No loss","outcome":"running","message":""}"#;
        merged.hear_kit(serde_json::from_str(line).unwrap(), &mut |_| ());
        merged.hear_harness(harness(Outcome::Failed), &mut |_| ());
        let verdict = &merged.verdicts["tests::it_holds"];
        assert_eq!(
            (verdict.outcome, verdict.number()),
            (Outcome::Failed, Some(3))
        );
    }
}
