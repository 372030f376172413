//! For authors: how long a reader waits for the page, and how long for the same by
//! hand. Both are measured in turn, on the same machine, with the same compiler.

mod client;

use std::cell::Cell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use crate::exercises::catalogue;
use crate::problem::Problem;
use crate::runner::Mode;
use crate::runner::crates::{Crates, Externs};
use crate::workshop::{Scratch, Workshop};
use client::{Lines, Server};

/// What the page may take of what the same takes by hand.
const OUTPUT_GOAL: f64 = 1.25;
const VERDICT_GOAL: f64 = 1.2;

/// With fewer rounds than these no goal is judged.
const ROUNDS_TO_JUDGE: usize = 5;

/// Rounds that aren't counted: they fill the caches.
const WARM_UP: usize = 2;

/// Tasks, a channel and a `select!`: what a snippet with tokio usually has.
const SNIPPET: &str = r#"use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep};

async fn work(number: u64, done: mpsc::Sender<u64>) -> u64 {
    sleep(Duration::from_micros(50 * number)).await;
    done.send(number).await.unwrap();
    number * number
}

#[tokio::main]
async fn main() {
    let (sender, mut receiver) = mpsc::channel(4);
    let mut tasks = JoinSet::new();
    for number in 0..4 {
        tasks.spawn(work(number, sender.clone()));
    }
    drop(sender);
    let mut beats = interval(Duration::from_millis(1));
    let mut order = Vec::new();
    loop {
        tokio::select! {
            number = receiver.recv() => match number {
                Some(number) => order.push(number),
                None => break,
            },
            _ = beats.tick() => {}
        }
    }
    let sum: u64 = tasks.join_all().await.into_iter().sum();
    println!("edit EDIT: {} done, {sum}", order.len());
}
"#;

/// `cargo workshop measure`. The status is a success only if each goal is reached.
///
/// # Errors
///
/// When something can't be run, or gives another answer than it should.
pub async fn measure_command(workshop: &Workshop, rounds: usize) -> Result<ExitCode, Problem> {
    let scratch = Scratch::claim(&workshop.target())?;
    let (events, _inbox) = unbounded_channel();
    let crates = Crates::new(workshop);
    let externs = crates.for_code(SNIPPET, Mode::Debug, &events).await?;
    let all = tokio::task::block_in_place(|| {
        let output = edit_to_output(workshop, &scratch.runs(), externs, rounds)?;
        let verdict = save_to_verdict(workshop, &scratch.runs(), rounds.div_ceil(2))?;
        Ok(output && verdict)
    })
    .map_err(|error: std::io::Error| {
        Problem::new(format!("nothing can be measured: {error}"))
            .help("see whether `cargo workshop` and `cargo workshop check 1` work")
    });
    // What was built here is of no further use.
    let _left = scratch.sweep();
    Ok(match all? || rounds < ROUNDS_TO_JUDGE {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

type Times = Vec<Duration>;

fn edit_to_output(
    workshop: &Workshop,
    folder: &Path,
    externs: Arc<Externs>,
    rounds: usize,
) -> std::io::Result<bool> {
    println!("From an edit of the snippet with tokio to its output:");
    let folder = folder.join("by-hand");
    fs::create_dir_all(&folder)?;
    let server = Server::start(workshop.root(), None)?;
    let (mut by_hand, mut page, mut whole) = (Times::new(), Times::new(), Times::new());
    for round in 0..WARM_UP + rounds {
        let code = SNIPPET.replace("EDIT", &round.to_string());
        let expected = format!("edit {round}: 4 done, 14");
        let hand = run_by_hand(&folder, &externs, &code, &expected)?;
        let (output, exit) = run_on_page(&server, &code, &expected)?;
        if round >= WARM_UP {
            by_hand.push(hand);
            page.push(output);
            whole.push(exit);
        }
    }
    let base = tell("rustc -Cincremental, and the program", by_hand, None);
    let reached = tell("the page", page, Some((base, Some(OUTPUT_GOAL))));
    tell("the page, up to the end of all", whole, Some((base, None)));
    Ok(reached <= base.mul_f64(OUTPUT_GOAL))
}

/// Compiles and runs as the page does, without the page.
fn run_by_hand(
    folder: &Path,
    externs: &Externs,
    code: &str,
    expected: &str,
) -> std::io::Result<Duration> {
    let started = Instant::now();
    fs::write(folder.join("main.rs"), code)?;
    let flags = [
        "main.rs",
        "--crate-name=snippet",
        "--crate-type=bin",
        "--edition=2024",
        "-Cdebuginfo=0",
        "-Cincremental=state",
        "-osnippet.out",
    ];
    let status = Command::new(externs.rustc())
        .args(flags)
        .args(externs.arguments())
        .current_dir(folder)
        .status()?;
    if !status.success() {
        return Err(std::io::Error::other("the snippet does not compile"));
    }
    let mut program = Command::new(folder.join("snippet.out"))
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let stdout = program.stdout.take().expect("the output is piped");
    BufReader::new(stdout).read_line(&mut line)?;
    let time = started.elapsed();
    program.wait()?;
    expect(&line, expected)?;
    Ok(time)
}

/// Returns when the output came, and when all was over.
fn run_on_page(
    server: &Server,
    code: &str,
    expected: &str,
) -> std::io::Result<(Duration, Duration)> {
    let started = Instant::now();
    let (mut output, mut text) = (None, String::new());
    let call = json!({ "code": code, "mode": "debug", "tests": false });
    server.call("/api/run", &call, |event| {
        if let (Some("stdout"), Some(piece)) = (event["type"].as_str(), event["text"].as_str()) {
            output.get_or_insert_with(|| started.elapsed());
            text += piece;
        }
    })?;
    expect(&text, expected)?;
    let whole = started.elapsed();
    Ok((output.unwrap_or(whole), whole))
}

fn expect(text: &str, expected: &str) -> std::io::Result<()> {
    match text.contains(expected) {
        true => Ok(()),
        false => Err(std::io::Error::other(format!(
            "`{}` is not `{expected}`",
            text.trim()
        ))),
    }
}

fn save_to_verdict(workshop: &Workshop, folder: &Path, rounds: usize) -> std::io::Result<bool> {
    println!("From a save of exercise 1, with our solution in it, to the verdict:");
    let model = Model::create(workshop, &folder.join("exercise-1"))?;
    let mut all: [Times; 4] = Default::default();
    let server = Server::start(&model.root, Some(&model.target()))?;
    for round in 0..WARM_UP + rounds {
        let times = [
            model.save_and(|model| model.run("cargo", &["test", "-pexercise-1"]))?,
            model.save_and(|model| model.run("cargo", &["test", "-pexercise-1", "--lib"]))?,
            model.save_and(|model| model.run_workshop(&["check", "1"]))?,
            model.save_and(|_| check_on_page(&server))?,
        ];
        if round >= WARM_UP {
            let pairs = all.iter_mut().zip(times);
            pairs.for_each(|(all, time)| all.push(time));
        }
    }
    drop(server);
    let watch = model.times_of_watch(rounds)?;

    let [by_hand, library, command, page] = all;
    let base = tell("cargo test -p exercise-1", by_hand, None);
    let goal = Some((base, Some(VERDICT_GOAL)));
    // Its examples aren't run by the others either.
    tell(
        "cargo test -p exercise-1 --lib",
        library,
        Some((base, None)),
    );
    let reached = [
        tell("cargo workshop check 1", command, goal),
        tell("the page", page, goal),
        tell("cargo workshop watch 1", watch, goal),
    ];
    Ok(reached
        .into_iter()
        .all(|median| median <= base.mul_f64(VERDICT_GOAL)))
}

fn check_on_page(server: &Server) -> std::io::Result<()> {
    let mut last = Value::Null;
    server.call("/api/exercises/1/check", &json!({}), |event| {
        last = event.clone();
    })?;
    match last["type"] == "exit" && last["code"] == 0 {
        true => Ok(()),
        false => Err(std::io::Error::other(format!("the check ended by {last}"))),
    }
}

/// A workshop with exercise 1 and nothing else, so that the reader's own isn't touched.
struct Model {
    root: PathBuf,
    /// The one that is saved.
    file: PathBuf,
    version: String,
    saves: Cell<usize>,
}

impl Model {
    fn create(workshop: &Workshop, root: &Path) -> std::io::Result<Self> {
        let missing = |problem: Problem| std::io::Error::other(problem.error().to_owned());
        let exercise = catalogue::find(workshop, 1).map_err(missing)?;
        let solution = workshop
            .root()
            .join("solutions")
            .join(exercise.folder_name());
        let kit = workshop.root().join("tools/testkit");
        let own = format!("exercises/{}", exercise.folder_name());
        let manifest = format!("{own}/Cargo.toml");
        let files = [
            ("book.toml", "[book]\ntitle = \"x\"\n".to_owned()),
            ("src/SUMMARY.md", "# Summary\n\n[One](one.md)\n".into()),
            ("src/one.md", "# One\n".into()),
            (
                "Cargo.toml",
                "[workspace]\nresolver = \"3\"\nmembers = [\"snippets\", \"exercises/*\"]\n\
                 [profile.dev]\ndebug = \"line-tables-only\"\n\
                 [profile.dev.package.\"*\"]\ndebug = false\n"
                    .into(),
            ),
            (
                "snippets/Cargo.toml",
                "[package]\nname = \"snippets\"\nedition = \"2024\"\n".into(),
            ),
            ("snippets/src/lib.rs", String::new()),
            (
                &manifest,
                format!(
                    "[package]\nname = \"exercise-1\"\nedition = \"2024\"\n\
                     [dev-dependencies]\ntestkit = {{ path = {kit:?} }}\n"
                ),
            ),
        ];
        for (file, text) in files {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap_or(root))?;
            fs::write(file, text)?;
        }
        for tests in exercise.tests() {
            let place = tests.strip_prefix(&exercise.folder).unwrap_or(&tests);
            let copy = root.join(&own).join(place);
            fs::create_dir_all(copy.parent().unwrap_or(root))?;
            fs::copy(&tests, copy)?;
        }
        let version = fs::read_to_string(solution.join("src/lib.rs"))?;
        let model = Self {
            root: root.to_owned(),
            file: root.join(&own).join("src/lib.rs"),
            // Its example is a test, too.
            version: version.replace("solution_1", "exercise_1"),
            saves: Cell::new(0),
        };
        // All that doesn't change is built here.
        model.save_and(|model| model.run("cargo", &["test", "--no-run"]))?;
        Ok(model)
    }

    fn target(&self) -> PathBuf {
        self.root.join("target")
    }

    /// Saves the exercise with a small change in it, and returns how long `check`
    /// takes from then on.
    fn save_and(
        &self,
        check: impl FnOnce(&Self) -> std::io::Result<()>,
    ) -> std::io::Result<Duration> {
        let started = Instant::now();
        let edit = self.saves.get();
        self.saves.set(edit + 1);
        let text = format!("{}\nconst _EDIT: usize = {edit};\n", self.version);
        fs::write(&self.file, text)?;
        check(self)?;
        Ok(started.elapsed())
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.target());
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) -> std::io::Result<()> {
        let output = self.command(program, arguments).output()?;
        match output.status.success() {
            true => Ok(()),
            false => Err(std::io::Error::other(format!(
                "`{program} {}` fails: {}{}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ))),
        }
    }

    fn run_workshop(&self, arguments: &[&str]) -> std::io::Result<()> {
        let program = std::env::current_exe()?;
        self.run(&program.display().to_string(), arguments)
    }

    fn times_of_watch(&self, rounds: usize) -> std::io::Result<Times> {
        let mut command = self.command(std::env::current_exe()?, &["watch", "1"]);
        let mut lines = Lines::of(command.stderr(Stdio::null()))?;
        lines.wait_for("Watching")?;
        let mut times = Times::new();
        for round in 0..WARM_UP + rounds {
            let time = self.save_and(|_| lines.wait_for("is solved"))?;
            lines.wait_for("Watching")?;
            if round >= WARM_UP {
                times.push(time);
            }
        }
        Ok(times)
    }
}

/// Prints the median of the times, and returns it.
fn tell(what: &str, mut times: Times, against: Option<(Duration, Option<f64>)>) -> Duration {
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (least, most) = (times[0], times[times.len() - 1]);
    let median = times[times.len() / 2];
    let mut line = format!(
        "  {what:<38} {:>6.0} ms ({:.0} to {:.0})",
        ms(median),
        ms(least),
        ms(most)
    );
    if let Some((base, goal)) = against {
        let ratio = median.div_duration_f64(base);
        line += &format!(", {ratio:.2} times");
        if let Some(goal) = goal {
            let verdict = if ratio <= goal { "reached" } else { "missed" };
            line += &format!("; goal {goal}: {verdict}");
        }
    }
    println!("{line}");
    median
}
