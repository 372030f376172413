//! The order of steps in which a model has failed: recorded by running the model once
//! more, kept, and shown.

pub mod document;
mod ending;
mod names;
mod picture;
mod recording;
mod sources;
#[cfg(test)]
mod tests;
mod text;
mod values;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cargo::Binary;
use super::catalogue::{self, Exercise};
use crate::problem::Problem;
use crate::sandbox::{self, Limits, Order};
use crate::workshop::Workshop;

use document::Document;
use picture::Extent;
use recording::Recording;
use sources::Sources;

pub use text::text;

/// The environment variable that makes a model record, and names the file.
const FILE_VARIABLE: &str = "PRIMITIVES_ORDER";

/// The environment variable that says which execution has failed.
const EXECUTION_VARIABLE: &str = "PRIMITIVES_EXECUTION";

/// The environment variable by which a check runs in the process that is asked for it.
const INLINE_VARIABLE: &str = "TESTKIT_INLINE";

/// The longest that a recording may take; it has limits of its own, by the CPU's time.
const LIMIT: Duration = Duration::from_secs(40);

/// How many rows are shown after a check.
pub const ROWS: usize = 15;

/// How many steps are drawn on a page.
const PAGE_STEPS: usize = 500;

/// No recording is larger.
const BYTES_MOST: u64 = FILE_MIB * MIB;

/// So much may a recording write.
const FILE_MIB: u64 = 256;

const MIB: u64 = 1 << 20;

/// A recording, with all that is needed to show it after the sources have changed.
#[derive(Debug, Serialize, Deserialize)]
pub struct Kept {
    /// The model's path.
    pub model: String,
    /// The sources that were checked.
    pub fingerprint: String,
    /// How the names of the files begin or go on that hold the code under test.
    own: Vec<String>,
    recording: Recording,
    sources: Sources,
    /// Whether all models have passed since.
    #[serde(default)]
    is_overcome: bool,
}

/// What a page is shown of the recording that was kept last.
#[derive(Debug, PartialEq, Serialize)]
pub struct Shown {
    /// The steps that matter.
    document: Box<Document>,
    /// Every step, if there are more, and a page can draw them.
    whole: Option<Box<Document>>,
    /// Whether the exercise isn't what it was.
    changed: bool,
}

impl Kept {
    /// What matters of it.
    pub fn folded(&self) -> Document {
        self.draw(Extent::Folded)
    }

    /// Every step.
    pub fn whole(&self) -> Document {
        self.draw(Extent::Whole)
    }

    /// What matters of it; and every step, if there are more, and a page can draw them.
    pub fn for_page(&self) -> (Box<Document>, Option<Box<Document>>) {
        let folded = self.folded();
        let may_fit = self.recording.order.len() <= 2 * PAGE_STEPS;
        let steps = folded.steps.len() + 1..=PAGE_STEPS;
        let whole = may_fit.then(|| self.whole());
        let whole = whole.filter(|whole| steps.contains(&whole.steps.len()));
        (Box::new(folded), whole.map(Box::new))
    }

    fn draw(&self, extent: Extent) -> Document {
        picture::draw(
            &self.recording,
            &self.sources,
            &self.model,
            &self.own,
            extent,
        )
    }
}

/// A model that has failed.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    /// What holds it.
    pub binary: &'a Binary,
    /// Its path.
    pub model: &'a str,
    /// Which of its executions has failed, counted from 1, if that is known: the recording
    /// then takes less time.
    pub execution: Option<u64>,
}

/// Runs a model that has failed once more, and records the order in which it fails.
/// Nothing comes of it if it fails too late, or isn't a model of `primitives`.
pub async fn record(
    workshop: &Workshop,
    exercise: &Exercise,
    failed: Failed<'_>,
    unwanted: impl Future<Output = ()>,
) -> Option<Kept> {
    record_within(LIMIT, workshop, exercise, failed, unwanted).await
}

/// The same, but it may take so long: on a busy machine, a recording takes many times as
/// long as the CPU time that limits it.
pub async fn record_within(
    limit: Duration,
    workshop: &Workshop,
    exercise: &Exercise,
    failed: Failed<'_>,
    unwanted: impl Future<Output = ()>,
) -> Option<Kept> {
    /// How many recordings this process has made.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // Relaxed: the names only have to differ.
    let number = COUNT.fetch_add(1, Relaxed);
    let name = format!("order-{}-{number}", std::process::id());
    fs::create_dir_all(workshop.target()).ok()?;
    let file = workshop.target().join(name);
    let order = order(failed, &file, limit);
    let ran = sandbox::run(&order, |_, _| (), unwanted).await;
    let text = fs::read_to_string(&file);
    let _absent = fs::remove_file(&file);
    ran.ok()?;
    let recording = Recording::read(&text.ok()?)?;
    let own = [
        format!("exercises/{}/", exercise.folder_name()),
        format!("solutions/{}/", exercise.folder_name()),
        format!("exercise_{}", exercise.number),
    ];
    Some(Kept {
        model: failed.model.to_owned(),
        fingerprint: exercise.fingerprint(),
        own: own.to_vec(),
        sources: Sources::of(&recording, workshop.root()),
        recording,
        is_overcome: false,
    })
}

fn order(failed: Failed<'_>, file: &Path, limit: Duration) -> Order {
    let arguments = [failed.model, "--exact", "--nocapture", "--test-threads=1"];
    let mut variables = vec![
        (INLINE_VARIABLE.into(), "1".into()),
        (FILE_VARIABLE.into(), file.display().to_string()),
    ];
    let execution = failed.execution.map(|number| number.to_string());
    variables.extend(execution.map(|number| (EXECUTION_VARIABLE.into(), number)));
    Order {
        program: failed.binary.executable.clone(),
        arguments: arguments.map(String::from).to_vec(),
        folder: failed.binary.folder.clone(),
        inherit_environment: true,
        variables,
        limits: Limits {
            wall: limit,
            output_bytes: 16 * MIB,
            cuts_output: true,
            memory_bytes: 16_384 * MIB,
            file_bytes: FILE_MIB * MIB,
            processes: 512,
            threads: 16_384,
            disk_bytes: None,
        },
    }
}

/// Where the last recording of an exercise is kept.
fn file(workshop: &Workshop, exercise: &Exercise) -> PathBuf {
    let name = format!("{}.json", exercise.package());
    workshop.target().join("orders").join(name)
}

/// Keeps a recording in the place of the last one. If that fails, it can't be shown
/// again, and that is all.
pub fn keep(workshop: &Workshop, exercise: &Exercise, kept: &Kept) {
    let file = file(workshop, exercise);
    let folder = file.parent().map(fs::create_dir_all);
    if let (Some(Ok(())), Ok(text)) = (folder, serde_json::to_string(kept)) {
        let _lost = fs::write(file, text);
    }
}

/// Remembers that all models pass now: no page needs the last recording any longer.
pub fn overcome(workshop: &Workshop, exercise: &Exercise) {
    if let Some(mut kept) = read(workshop, exercise).filter(|kept| !kept.is_overcome) {
        kept.is_overcome = true;
        keep(workshop, exercise, &kept);
    }
}

/// What a page is shown of the recording that was kept last; nothing if there is none,
/// or all models have passed since.
pub fn shown(workshop: &Workshop, exercise: &Exercise) -> Option<Shown> {
    let kept = read(workshop, exercise).filter(|kept| !kept.is_overcome)?;
    let (document, whole) = kept.for_page();
    Some(Shown {
        document,
        whole,
        changed: kept.fingerprint != exercise.fingerprint(),
    })
}

fn read(workshop: &Workshop, exercise: &Exercise) -> Option<Kept> {
    let mut text = String::new();
    let file = File::open(file(workshop, exercise)).ok()?;
    file.take(BYTES_MOST).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// The recording that was kept last.
///
/// # Errors
///
/// When there is no such exercise, or none of its models has failed.
pub fn find(workshop: &Workshop, number: u32) -> Result<(Exercise, Kept), Problem> {
    let exercise = catalogue::find(workshop, number)?;
    match read(workshop, &exercise) {
        Some(kept) => Ok((exercise, kept)),
        None => Err(
            Problem::new(format!("no order of exercise {number} has been recorded")).help(
                match exercise.models().is_empty() {
                    true => "it has no models, and only a model has an order".to_owned(),
                    false => format!(
                        "`cargo workshop check {number}` records the order in which a model fails"
                    ),
                },
            ),
        ),
    }
}
