//! Measures the reader's version against the solution and its peers.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::SystemTime;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Command;

use super::bars::{self, Estimate};
use super::catalogue::Exercise;
use crate::problem::Problem;
use crate::terminal::{StatusLine, harmless, is_live};
use crate::workshop::{Workshop, files_under};

/// What a version must be measured against to be called fast.
struct Par {
    exercise: u32,
    group: &'static str,
    /// What is varied, as the estimates' folders have it.
    parameter: &'static str,
    base: &'static str,
    ratio: f64,
}

/// The goals of the book; the figures are ratios of medians of one run.
const PARS: [Par; 19] = [
    par_of_cached_block_on("10"),
    par_of_cached_block_on("50"),
    par_of_sleep("cancelled"),
    par_of_sleep("fired"),
    par_of_sleep("cancelled-among"),
    par_of_sleep("fired-among"),
    par_of_blocking_pool("tokio"),
    par_of_blocking_pool("blocking"),
    PAR_OF_ONE_QUEUE,
    par_of_run_queue("push-pop", "st3"),
    par_of_run_queue("thief-at-work", "crossbeam-deque"),
    PAR_OF_TASK,
    PAR_OF_SLEEPERS,
    par_of_local_executor("spawn", 1.2),
    par_of_local_executor("yield", 1.8),
    par_of_work_stealing("chained_spawn-2"),
    par_of_work_stealing("ping_pong-2"),
    par_of_work_stealing("spawn_many_outside-2"),
    par_of_work_stealing("yield_many-2"),
];

const fn par_of_cached_block_on(parameter: &'static str) -> Par {
    Par {
        exercise: 4,
        group: "block_on",
        parameter,
        base: "bare-loop",
        ratio: 1.15,
    }
}

const fn par_of_sleep(parameter: &'static str) -> Par {
    Par {
        exercise: 5,
        group: "timers",
        parameter,
        base: "tokio",
        ratio: 1.2,
    }
}

const fn par_of_blocking_pool(base: &'static str) -> Par {
    Par {
        exercise: 6,
        group: "blocking_pool",
        parameter: "one-by-one",
        base,
        ratio: 1.2,
    }
}

/// One lock is one lock: no contender is much faster than the solution.
const PAR_OF_ONE_QUEUE: Par = Par {
    exercise: 10,
    group: "one_queue",
    parameter: "spawns-2",
    base: "solution-10",
    ratio: 1.5,
};

/// Alone as fast as the same design elsewhere, and with a thief no slower than
/// a deque that grows.
const fn par_of_run_queue(parameter: &'static str, base: &'static str) -> Par {
    Par {
        exercise: 11,
        group: "run_queue",
        parameter,
        base,
        ratio: 1.2,
    }
}

/// The same steps and the same allocation: what is left is how they are written.
const PAR_OF_TASK: Par = Par {
    exercise: 12,
    group: "task",
    parameter: "joined",
    base: "solution-12",
    ratio: 1.5,
};

/// While another thread notifies, too: against the design of tokio.
const PAR_OF_SLEEPERS: Par = Par {
    exercise: 13,
    group: "sleepers",
    parameter: "beside",
    base: "counts-stack",
    ratio: 1.2,
};

const fn par_of_local_executor(parameter: &'static str, ratio: f64) -> Par {
    Par {
        exercise: 9,
        group: "local_executor",
        parameter,
        base: "tokio-local",
        ratio,
    }
}

/// The parts are those that beat tokio's: put together they shouldn't lose to
/// it.
const fn par_of_work_stealing(parameter: &'static str) -> Par {
    Par {
        exercise: 14,
        group: "scheduler",
        parameter,
        base: "tokio",
        ratio: 1.0,
    }
}

/// A benchmark of which only some cells are shown, after the exercise's own.
struct Beside {
    exercise: u32,
    bench: &'static str,
    /// What chooses contenders and cells.
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

/// What a runtime does while its workers are busy, in some seconds.
const BESIDE: [Beside; 1] = [Beside {
    exercise: 14,
    bench: "under_load",
    arguments: &[
        "solution-14",
        "exercise-14",
        "tokio",
        "latency/yield/100us",
        "hoarding",
        "burst/100000",
    ],
    environment: &[("SCHEDULER_WORKERS", "2")],
}];

/// Runs the benchmark that measures this exercise, and compares it with the par.
///
/// # Errors
///
/// When there is none, when there is nothing to measure yet, or when it fails.
pub async fn bench(workshop: &Workshop, exercise: &Exercise) -> Result<ExitCode, Problem> {
    let number = exercise.number;
    let Some(bench) = bench_of(workshop, number) else {
        let solution = format!("solutions/{}", exercise.folder_name());
        return Err(Problem::new(format!("exercise {number} has no benchmark"))
            .help(format!("compare your version with `{solution}` instead")));
    };
    if exercise.holds_a_todo() {
        return Err(super::trace::unwritten(number));
    }
    let started = SystemTime::now();
    let log = workshop.target().join(format!("bench-{number}.txt"));
    let mut said = Said::create(&log)?;
    let result = run(
        workshop,
        &bench,
        number,
        &[&filter(&bench, number)],
        &[],
        &mut said,
    )
    .await;
    let measured = bars::estimates(&estimates(workshop).join(&bench), started);
    keep(workshop, number, &measured);
    match bars::bars(&measured, number) {
        // A benchmark that isn't criterion's has a table of its own.
        bars if bars.is_empty() && result.is_ok() => print!("{}", harmless(&said.printed)),
        bars => print!("{bars}"),
    }
    result?;
    println!("\nAll that was measured is in {}.", log.display());
    for beside in BESIDE.iter().filter(|one| one.exercise == number) {
        let Beside {
            bench,
            arguments,
            environment,
            ..
        } = beside;
        said.printed.clear();
        run(workshop, bench, number, arguments, environment, &mut said).await?;
        print!("{}", harmless(&said.printed));
    }
    for par in PARS.iter().filter(|par| par.exercise == number) {
        if let Some(line) = par.compare(&estimates(workshop)) {
            println!("{line}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps what a page shows beside the recorded figures: the reader's version, and ours in
/// the same run.
fn keep(workshop: &Workshop, number: u32, measured: &[Estimate]) {
    let [mine, ours] = ["exercise", "solution"].map(|kind| format!("{kind}-{number}"));
    let is_kept = |one: &&Estimate| one.contender == mine || one.contender == ours;
    let kept: Vec<_> = measured.iter().filter(is_kept).collect();
    if kept.iter().all(|one| one.contender != mine) {
        return;
    }
    if let Ok(text) = serde_json::to_string(&kept) {
        // Without the file, the page shows what it showed before.
        let _not_kept = fs::write(file_of(workshop, number), text);
    }
}

/// What the last [`bench()`] of the exercise has measured.
pub fn last(workshop: &Workshop, number: u32) -> Option<Vec<Estimate>> {
    let text = fs::read_to_string(file_of(workshop, number)).ok()?;
    serde_json::from_str(&text).ok()
}

fn file_of(workshop: &Workshop, number: u32) -> PathBuf {
    workshop.target().join(format!("bench-{number}.json"))
}

/// The benchmark that names the exercise. One by criterion comes first: others
/// may show it in a table of their own.
fn bench_of(workshop: &Workshop, number: u32) -> Option<String> {
    let text_of = |file: &PathBuf| fs::read_to_string(file).unwrap_or_default();
    let mut files = files_under(&workshop.root().join("benches"));
    files.retain(|file| {
        let text = text_of(file);
        is_named(&text, number) && text.contains("fn main()")
    });
    let is_by_criterion = |file: &PathBuf| text_of(file).contains("Criterion::default()");
    let file = files.into_iter().max_by_key(is_by_criterion)?;
    Some(file.file_stem()?.to_str()?.to_owned())
}

/// Whether there is a benchmark of the exercise.
pub fn exists(workshop: &Workshop, number: u32) -> bool {
    bench_of(workshop, number).is_some()
}

/// Returns `true` if a program names the exercise's crate.
fn is_named(program: &str, number: u32) -> bool {
    let name = format!("exercise_{number}");
    let mut behind = program.split(&name).skip(1);
    behind.any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
}

/// How many lines are told of a benchmark that has failed.
const TOLD_LINES: usize = 20;

/// What a benchmark says, kept in a file. A terminal shows its last line.
struct Said {
    file: fs::File,
    log: PathBuf,
    status: StatusLine,
    printed: String,
    all: Vec<String>,
}

impl Said {
    fn create(log: &Path) -> Result<Self, Problem> {
        let folder = log.parent().map_or(Ok(()), fs::create_dir_all);
        let file = folder.and_then(|()| fs::File::create(log));
        let file = file.map_err(|error| {
            Problem::new(format!("`{}` cannot be written: {error}", log.display()))
                .help("make room on the disk, or change the folder's owner")
        })?;
        Ok(Self {
            file,
            log: log.to_path_buf(),
            status: StatusLine::new(is_live(&io::stderr())),
            printed: String::new(),
            all: Vec::new(),
        })
    }

    /// Takes a line; `printed` is what the benchmark itself prints.
    fn take(&mut self, line: &str, printed: bool) -> io::Result<()> {
        writeln!(self.file, "{line}")?;
        if printed {
            self.printed += line;
            self.printed.push('\n');
        }
        self.all.push(line.to_owned());
        let line = harmless(line.trim());
        self.status.show(&mut io::stderr(), &line)
    }

    /// Takes all that the two streams bring.
    async fn follow(
        &mut self,
        out: impl AsyncRead + Unpin,
        errors: impl AsyncRead + Unpin,
    ) -> io::Result<()> {
        let mut out = BufReader::new(out).lines();
        let mut errors = BufReader::new(errors).lines();
        let (mut out_ended, mut errors_ended) = (false, false);
        while !(out_ended && errors_ended) {
            tokio::select! {
                line = out.next_line(), if !out_ended => match line? {
                    Some(line) => self.take(&line, true)?,
                    None => out_ended = true,
                },
                line = errors.next_line(), if !errors_ended => match line? {
                    Some(line) => self.take(&line, false)?,
                    None => errors_ended = true,
                },
            }
        }
        self.status.clear(&mut io::stderr())
    }

    /// The end of what was said: the reason is there, if the benchmark failed.
    fn last_lines(&self) -> String {
        let from = self.all.len().saturating_sub(TOLD_LINES);
        harmless(&self.all[from..].join("\n"))
    }
}

async fn run(
    workshop: &Workshop,
    bench: &str,
    number: u32,
    arguments: &[&str],
    environment: &[(&str, &str)],
    said: &mut Said,
) -> Result<(), Problem> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let missing = |error: io::Error| {
        Problem::new(format!("`cargo` cannot be run: {error}"))
            .help("install Rust as https://rustup.rs says, and open a new terminal")
    };
    let mut child = Command::new(cargo)
        .args([
            "bench",
            "--package=benches",
            // No other exercise has to compile for this one to be measured.
            &format!("--features=mine-{number}"),
            "--bench",
            bench,
            "--",
        ])
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(workshop.root())
        .kill_on_drop(true)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    let pipes = child.stdout.take().zip(child.stderr.take());
    let (out, errors) = pipes.expect("both are piped");
    said.follow(out, errors).await.map_err(missing)?;
    if child.wait().await.map_err(missing)?.success() {
        return Ok(());
    }
    eprintln!("{}", said.last_lines());
    let log = said.log.display();
    Err(
        Problem::new("the benchmark failed, as said above").help(format!(
            "see whether `cargo workshop check {number}` is green; all that was said is in {log}"
        )),
    )
}

/// Chooses all contenders but the other exercises, which may not be solved.
fn filter(group: &str, number: u32) -> String {
    format!("^{group}/([^e]|exercise-{number}/)")
}

fn estimates(workshop: &Workshop) -> PathBuf {
    workshop.target().with_file_name("criterion")
}

impl Par {
    /// Says how the exercise does against the par, if both were measured.
    fn compare(&self, estimates: &Path) -> Option<String> {
        let median = |contender: &str| {
            let folder = estimates.join(self.group).join(contender);
            let file = folder.join(self.parameter).join("new/estimates.json");
            let text = fs::read_to_string(file).ok()?;
            let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
            estimates["median"]["point_estimate"].as_f64()
        };
        let ratio = median(&format!("exercise-{}", self.exercise))? / median(self.base)?;
        let verdict = match ratio <= self.ratio {
            true => "reached",
            false => "not yet",
        };
        let (parameter, base, par) = (self.parameter, self.base, self.ratio);
        Some(format!(
            "At {parameter} yours takes {ratio:.2} times as long as {base}. Par is {par}: {verdict}."
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{PARS, bench_of};
    use crate::exercises::catalogue;
    use crate::workshop::Workshop;

    #[test]
    fn a_benchmark_is_built_with_one_exercise() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let workshop = Workshop::at(&root.canonicalize().unwrap());
        let manifest = fs::read_to_string(root.join("benches/Cargo.toml")).unwrap();
        for exercise in catalogue::find_all(&workshop) {
            let number = exercise.number;
            let Some(bench) = bench_of(&workshop, number) else {
                continue;
            };
            let feature = format!("\nmine-{number} = [\"dep:exercise-{number}\"]\n");
            assert!(manifest.contains(&feature), "no{feature}");
            let program = fs::read_to_string(root.join(format!("benches/{bench}.rs"))).unwrap();
            let guard = format!("feature = \"mine-{number}\"");
            assert!(
                program.contains(&guard),
                "{bench} shows {number} without {guard}"
            );
            assert!(
                !program.contains("feature = \"mine\""),
                "{bench} asks for all exercises"
            );
        }
    }

    #[test]
    fn the_par_compares_medians_of_the_same_run() {
        let folder = tempfile::tempdir().unwrap();
        let write = |contender: &str, median: f64| {
            let folder = folder.path().join(format!("block_on/{contender}/10/new"));
            fs::create_dir_all(&folder).unwrap();
            let text = format!(r#"{{"median":{{"point_estimate":{median}}}}}"#);
            fs::write(folder.join("estimates.json"), text).unwrap();
        };
        assert_eq!(PARS[0].compare(folder.path()), None);
        write("bare-loop", 100.0);
        write("exercise-4", 115.0);
        let line = PARS[0].compare(folder.path()).unwrap();
        assert!(
            line.contains("1.15 times") && line.contains("reached"),
            "{line}"
        );
        write("exercise-4", 116.0);
        let line = PARS[0].compare(folder.path()).unwrap();
        assert!(line.contains("not yet"), "{line}");
    }
}
