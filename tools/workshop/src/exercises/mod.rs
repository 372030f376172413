//! The exercises: which there are, which pass, and what the next hint is.

mod asserts;
mod bars;
mod bench;
pub mod cargo;
pub mod catalogue;
mod check;
pub mod counterexamples;
mod diff;
pub mod file;
pub mod guard;
pub mod harness;
pub mod header;
mod heard;
pub mod hint;
pub mod journal;
mod kept;
mod listing;
mod loose;
pub mod milestones;
mod onward;
pub mod order;
mod placed;
mod progress;
mod report;
mod reset;
mod routine;
pub mod shown_first;
pub mod source;
mod state;
mod tail;
pub mod trace;
mod turn;
mod undeclared;
mod unseen;
pub mod verdict;
mod watch;

use std::future::pending;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;

use serde::Serialize;
use tokio::sync::mpsc::unbounded_channel;

use crate::events::{Event, Events};
use crate::problem::Problem;
use crate::terminal::{columns, harmless, is_live};
use crate::workshop::Workshop;
use bars::Estimate;
use catalogue::Exercise;
use check::Audience;
use milestones::Milestone;
use report::Report;

pub use crate::terminal::colors_wanted;
pub use progress::file as memory_file;
pub use state::Listed;

/// How the results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// The page's events, one JSON object a line.
    Json,
}

/// What the panel of an exercise shows.
#[derive(Debug, Serialize)]
pub struct Opened {
    /// The reader's file, from the workshop's folder on.
    pub file: String,
    /// The file as it is.
    #[serde(flatten)]
    pub version: file::Version,
    /// The clauses of its contract.
    pub clauses: Vec<source::FullClause>,
    /// The names of its tests, the simplest first.
    pub order: Vec<String>,
    /// The milestones, if it has some.
    pub milestones: Vec<Milestone>,
    /// The hints.
    pub hints: hint::Hints,
    /// Whether `cargo workshop check` has more to say than the page's check.
    pub has_models: bool,
    /// Whether `cargo workshop trace` can show it at work.
    pub has_trace: bool,
    /// Whether `cargo workshop bench` can measure it.
    pub has_bench: bool,
}

/// Which exercises to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The first that isn't solved.
    Next,
    /// The one with this number.
    One(u32),
    /// All.
    All,
}

/// Lists the exercises for the page.
pub fn list(workshop: &Workshop) -> Vec<Listed> {
    state::list(workshop)
}

/// Reads what the panel of an exercise shows.
///
/// # Errors
///
/// When there is no such exercise, or its file can't be read.
pub fn open(workshop: &Workshop, number: u32) -> Result<Opened, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    Ok(Opened {
        file: file::shown(&exercise),
        version: file::read(&exercise)?,
        clauses: exercise.clauses(),
        order: exercise.checks().map(|(_, test)| test.name).collect(),
        milestones: exercise.milestones(),
        hints: hint::given(workshop, &exercise),
        has_models: !exercise.models().is_empty(),
        has_trace: exercise.has_trace(),
        has_bench: bench::exists(workshop, number),
    })
}

/// Gives the next hint, and returns all that were given.
///
/// # Errors
///
/// When there is no such exercise, or it has no hints.
pub fn give_hint(workshop: &Workshop, number: u32) -> Result<hint::Hints, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    hint::next(workshop, &exercise)?;
    Ok(hint::given(workshop, &exercise))
}

/// The source of one of the checks.
///
/// # Errors
///
/// When there is no such exercise or check.
pub fn code_of_check(workshop: &Workshop, number: u32, name: &str) -> Result<String, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    let name = name.rsplit("::").next().unwrap_or(name);
    let mut checks = exercise.checks().chain(exercise.model_checks());
    let found = checks.find(|(_, test)| test.name == name);
    let code = found.and_then(|(source, test)| source::test_source(&source, &test.name));
    code.ok_or_else(|| {
        Problem::new(format!("exercise {number} has no check `{name}`"))
            .help(format!("see `{}/src`", exercise.folder.display()))
    })
}

/// The order in which a model of the exercise has failed, if one has since all of them
/// passed.
///
/// # Errors
///
/// When there is no such exercise.
pub fn failing_order(workshop: &Workshop, number: u32) -> Result<Option<order::Shown>, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    Ok(order::shown(workshop, &exercise))
}

/// What the reader's version was last measured to take, and ours in the same run.
///
/// # Errors
///
/// When there is no such exercise.
pub fn last_bench(workshop: &Workshop, number: u32) -> Result<Option<Vec<Estimate>>, Problem> {
    catalogue::find(workshop, number)?;
    Ok(bench::last(workshop, number))
}

/// How our solution differs from the reader's version.
///
/// # Errors
///
/// When there is no such exercise, or one of the two can't be read.
pub fn diff(workshop: &Workshop, number: u32) -> Result<String, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    diff::diff(workshop, &exercise, false)
}

/// Puts the stub in the place of the reader's version, and says where that is.
///
/// # Errors
///
/// When there is no such exercise, or a file can't be read or written.
pub fn reset(workshop: &Workshop, number: u32) -> Result<String, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    let done = reset::reset(&exercise)?;
    Ok(done.spoken(workshop, &exercise).trim_end().to_owned())
}

/// Checks one exercise for the page, with its models if they're asked for: sends
/// `compiling`, `diagnostic`, `test` and at last one `exit` event. Ends everything
/// it started when the receiver of `events` is dropped.
///
/// # Errors
///
/// When there is no such exercise, or cargo can't be run.
pub async fn check(
    workshop: &Workshop,
    number: u32,
    with_models: bool,
    events: &Events,
) -> Result<(), Problem> {
    let exercise = catalogue::find(workshop, number)?;
    let audience = match with_models {
        true => Audience::Program,
        false => Audience::Page,
    };
    check::check(workshop, &exercise, audience, events).await?;
    Ok(())
}

/// Checks one of the exercise's wrong versions for the page, as [`check()`] does the
/// reader's.
///
/// # Errors
///
/// When there is no such exercise or version, or cargo can't be run.
pub async fn check_wrong(
    workshop: &Workshop,
    number: u32,
    name: &str,
    events: &Events,
) -> Result<(), Problem> {
    let exercise = catalogue::find(workshop, number)?;
    check::check_wrong(workshop, &exercise, name, events).await
}

/// `cargo workshop list`.
///
/// # Errors
///
/// When the list can't be printed.
pub fn list_command(workshop: &Workshop, format: Format) -> Result<ExitCode, Problem> {
    let text = match format {
        Format::Text => listing::for_stdout(workshop),
        Format::Json => {
            let lines = state::list(workshop);
            let lines = lines
                .iter()
                .map(|one| format!("{}\n", serde_json::json!(one)));
            lines.collect()
        }
    };
    print(&text).map_err(unprintable)?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo workshop check`. The status is a success only if all is green.
///
/// # Errors
///
/// When there is no such exercise, or cargo can't be run.
pub async fn check_command(
    workshop: &Workshop,
    selection: Selection,
    format: Format,
) -> Result<ExitCode, Problem> {
    let exercises = match selection {
        Selection::One(number) => vec![catalogue::find(workshop, number)?],
        Selection::All => catalogue::find_all(workshop),
        Selection::Next => state::next(workshop).into_iter().collect(),
    };
    if exercises.is_empty() && format == Format::Text {
        let text = "Every exercise is solved. `cargo workshop check --all` checks them again.\n";
        print(text).map_err(unprintable)?;
    }
    let mut all_green = true;
    for exercise in &exercises {
        all_green &= match format {
            Format::Text => {
                // Of several exercises, the list says what comes next.
                let onward = (exercises.len() == 1).then_some(workshop);
                let green = check_for_people_until(workshop, exercise, onward, pending()).await?;
                green == Some(true)
            }
            Format::Json => {
                if exercises.len() > 1 {
                    let number = exercise.number;
                    print_event(&Event::Exercise { number }).map_err(unprintable)?;
                }
                check_for_programs(workshop, exercise).await?
            }
        };
    }
    if exercises.len() > 1 && format == Format::Text {
        let table = listing::for_stdout(workshop);
        print(&format!("\n{table}")).map_err(unprintable)?;
    }
    Ok(match all_green {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// `cargo workshop check N NAME`: tells the tests in full whose paths contain the
/// name.
///
/// # Errors
///
/// When there is no such exercise or test, or cargo can't be run.
pub async fn check_some_command(
    workshop: &Workshop,
    number: u32,
    name: &str,
    format: Format,
) -> Result<ExitCode, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    let (events, mut inbox) = unbounded_channel();
    let out = io::stdout();
    let audience = match format {
        Format::Text => audience_of_terminal(),
        Format::Json => Audience::Program,
    };
    let mut report = Report::new(&out, &exercise, colors_wanted(&out), is_live(&out)).in_full();
    let checking = async {
        let events = events;
        check::check_some(workshop, &exercise, name, audience, &events).await
    };
    let showing = async {
        while let Some(event) = inbox.recv().await {
            match format {
                Format::Text => report.show(event),
                Format::Json => print_event(&event),
            }
            .map_err(unprintable)?;
        }
        Ok::<(), Problem>(())
    };
    let (green, shown) = tokio::join!(checking, showing);
    shown?;
    Ok(match green? {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn audience_of_terminal() -> Audience {
    Audience::Terminal {
        colors: colors_wanted(&io::stderr()),
        columns: is_live(&io::stderr()).then(columns),
    }
}

/// `cargo workshop watch`: checks on every save, until it is ended.
///
/// # Errors
///
/// When there is no such exercise, or cargo can't be run.
pub async fn watch_command(workshop: &Workshop, number: Option<u32>) -> Result<ExitCode, Problem> {
    watch::watch(workshop, number).await
}

/// `cargo workshop diff N`.
///
/// # Errors
///
/// When there is no such exercise, or one of the two can't be read.
pub fn diff_command(workshop: &Workshop, number: u32) -> Result<ExitCode, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    let text = diff::diff(workshop, &exercise, colors_wanted(&io::stdout()))?;
    print(&text).map_err(unprintable)?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo workshop reset N`.
///
/// # Errors
///
/// When there is no such exercise, or a file can't be read or written.
pub fn reset_command(workshop: &Workshop, number: u32) -> Result<ExitCode, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    let done = reset::reset(&exercise)?;
    print(&done.spoken(workshop, &exercise)).map_err(unprintable)?;
    Ok(ExitCode::SUCCESS)
}

/// Ends the check when `until` is ready, and returns `None` then. If the exercise is
/// solved, says what comes next in `onward`.
async fn check_for_people_until(
    workshop: &Workshop,
    exercise: &Exercise,
    onward: Option<&Workshop>,
    until: impl Future<Output = ()>,
) -> Result<Option<bool>, Problem> {
    let out = io::stdout();
    let (colors, live) = (colors_wanted(&out), is_live(&out));
    let mut report = Report::new(out, exercise, colors, live);
    if let Some(workshop) = onward {
        report = report.with_onward(workshop);
    }
    let audience = audience_of_terminal();
    report.begin().map_err(unprintable)?;
    let show = |event| report.show(event);
    stream(workshop, exercise, audience, show, until).await
}

async fn check_for_programs(workshop: &Workshop, exercise: &Exercise) -> Result<bool, Problem> {
    let show = |event: Event| print_event(&event);
    let green = stream(workshop, exercise, Audience::Program, show, pending()).await?;
    Ok(green == Some(true))
}

/// Checks, and shows each event as it comes. Closing the pipe that the
/// events are printed to ends the check, and so does `until`: the result is
/// `None` then.
async fn stream(
    workshop: &Workshop,
    exercise: &Exercise,
    audience: Audience,
    mut show: impl FnMut(Event) -> io::Result<()>,
    until: impl Future<Output = ()>,
) -> Result<Option<bool>, Problem> {
    let (events, mut inbox) = unbounded_channel();
    let checking = async move { check::check(workshop, exercise, audience, &events).await };
    // The check ends what it has started when the inbox is dropped.
    let showing = async move {
        let mut until = pin!(until);
        loop {
            tokio::select! {
                event = inbox.recv() => match event {
                    Some(event) => show(event).map_err(unprintable)?,
                    None => return Ok(true),
                },
                () = &mut until => return Ok(false),
            }
        }
    };
    let (green, to_the_end) = tokio::join!(checking, showing);
    match to_the_end? {
        true => green.map(Some),
        false => Ok(None),
    }
}

/// What to do with a wrong version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Print it as it is written.
    Show,
    /// Print the whole program.
    Whole,
    /// Put it in place of the reader's version.
    IntoExercise,
    /// Write it, from what was changed in a right version: this one, or the one that it
    /// is an edit of already, or the solution.
    Save(Option<PathBuf>),
}

/// `cargo workshop wrong`: lists the wrong versions of all exercises, or of one.
///
/// # Errors
///
/// When there is no such exercise.
pub fn wrong_list_command(workshop: &Workshop, number: Option<u32>) -> Result<ExitCode, Problem> {
    let columns = is_live(&io::stdout()).then(|| usize::from(columns()));
    let text = counterexamples::list(workshop, number, columns)?;
    print(&text).map_err(unprintable)?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo workshop wrong N NAME`.
///
/// # Errors
///
/// When there is no such exercise or version, or a file can't be read or written.
pub fn wrong_command(
    workshop: &Workshop,
    number: u32,
    name: &str,
    what: &Wrong,
) -> Result<ExitCode, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    let found = || counterexamples::find(workshop, &exercise, name);
    let text = match what {
        Wrong::Show => found()?.text(colors_wanted(&io::stdout()))?,
        Wrong::Whole => found()?.whole(workshop)?,
        Wrong::IntoExercise => counterexamples::into_exercise(workshop, &exercise, &found()?)?,
        Wrong::Save(base) => counterexamples::save(workshop, &exercise, name, base.as_deref())?,
    };
    print(&text).map_err(unprintable)?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo workshop order N`: shows the order in which a model has failed.
///
/// # Errors
///
/// When there is no such exercise, or nothing was recorded.
pub fn order_command(
    workshop: &Workshop,
    number: u32,
    every_step: bool,
    format: Format,
) -> Result<ExitCode, Problem> {
    let (exercise, kept) = order::find(workshop, number)?;
    let document = match every_step {
        true => kept.whole(),
        false => kept.folded(),
    };
    let text = match format {
        Format::Json => format!("{}\n", serde_json::json!(document)),
        Format::Text => {
            let changed = match exercise.fingerprint() == kept.fingerprint {
                true => "",
                false => ", before the exercise was changed",
            };
            let model = &kept.model;
            let columns = usize::from(columns());
            let text = order::text(&document, columns, None);
            format!("{model} failed in this order{changed}:\n{text}")
        }
    };
    print(&harmless(&text)).map_err(unprintable)?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo workshop hint N`.
///
/// # Errors
///
/// When there is no such exercise, or it has no hints.
pub fn hint_command(workshop: &Workshop, number: u32) -> Result<ExitCode, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    let hint = hint::next(workshop, &exercise)?;
    print(&format!("{hint}\n")).map_err(unprintable)?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo workshop bench N`.
///
/// # Errors
///
/// When there is no such exercise, it has no benchmark, or that fails.
pub async fn bench_command(workshop: &Workshop, number: u32) -> Result<ExitCode, Problem> {
    let exercise = catalogue::find(workshop, number)?;
    bench::bench(workshop, &exercise).await
}

fn print_event(event: &Event) -> io::Result<()> {
    print(&format!("{}\n", serde_json::to_string(event)?))
}

/// Prints. It's no error that the program which reads the output has ended, as
/// `head` does after a few lines.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

fn unprintable(error: io::Error) -> Problem {
    Problem::new(format!("the result cannot be printed: {error}"))
}
