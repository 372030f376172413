//! Compiles and runs the code of a snippet on this machine.

mod compile;
pub mod crates;
pub mod libtest;
mod queue;
mod slots;
mod toolchain;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::watch;

use crate::contain::{self, Cause, Ended, Limits, Order, Stream};
use crate::events::{Event, Events, Exit, Reason, send};
use crate::figures;
use crate::problem::Problem;
use crate::removal::remove_tree;
use crate::workshop::{Scratch, Workshop};
use crates::Crates;
use queue::{Queue, Ticket};
use slots::Slots;

/// How the code is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Quick to compile.
    Debug,
    /// Quick to run.
    Release,
}

/// What the page asks for. It names no file, no crate and no compiler flag.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The whole program.
    pub code: String,
    /// How to compile it.
    #[serde(default = "debug")]
    pub mode: Mode,
    /// Whether to run its `#[test]` functions instead of `main`.
    #[serde(default)]
    pub tests: bool,
    /// How long it may run.
    #[serde(default)]
    pub limit: TimeLimit,
}

fn debug() -> Mode {
    Mode::Debug
}

/// How long a program may run: the usual time, or the longer one that some
/// blocks of the book ask for. On the wire it is the number of seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub enum TimeLimit {
    /// Enough for everything that does not say otherwise.
    #[default]
    Usual,
    /// For the demonstrations that take long.
    Long,
    /// Enough to see that a program hangs. No page asks for it.
    Brief,
}

impl TimeLimit {
    /// The limit itself.
    pub fn duration(self) -> Duration {
        match self {
            Self::Usual => Duration::from_secs(10),
            Self::Long => Duration::from_secs(60),
            Self::Brief => Duration::from_secs(2),
        }
    }
}

impl TryFrom<u64> for TimeLimit {
    type Error = String;

    fn try_from(seconds: u64) -> Result<Self, String> {
        [Self::Usual, Self::Long]
            .into_iter()
            .find(|limit| limit.duration().as_secs() == seconds)
            .ok_or_else(|| format!("the limit is 10 or 60 seconds, not {seconds}"))
    }
}

/// Runs snippets, a few at a time.
pub struct Runner {
    crates: Crates,
    slots: Slots,
    queue: Queue,
    runs: PathBuf,
    run_count: AtomicU64,
    closing: watch::Sender<bool>,
}

impl Runner {
    /// Creates a runner that keeps its files in `scratch`.
    pub fn new(workshop: &Workshop, scratch: &Scratch) -> Self {
        Self {
            crates: Crates::new(workshop),
            slots: Slots::new(scratch.incremental()),
            queue: Queue::new(),
            runs: scratch.runs(),
            run_count: AtomicU64::new(0),
            closing: watch::Sender::new(false),
        }
    }

    /// The crates that snippets may use.
    pub fn crates(&self) -> &Crates {
        &self.crates
    }

    /// Takes a place in the line, for a run or for anything else that keeps
    /// the machine busy.
    ///
    /// # Errors
    ///
    /// When the line is full.
    pub fn enqueue(&self) -> Result<Ticket, Problem> {
        self.queue.enter()
    }

    /// Runs the request in its turn, and sends events up to [`Event::Exit`].
    /// Everything it started is ended when the receiver of `events` is dropped.
    pub async fn run(&self, ticket: Ticket, request: &Request, events: &Events) {
        let unwanted = self.unwanted(events);
        let turn = tokio::select! {
            turn = ticket.turn(|position| send(events, Event::Queued { position })) => turn,
            () = unwanted => return,
        };
        let exit = match self.compile_and_run(request, events).await {
            Ok(exit) => exit,
            Err(problem) => refused(&problem, events),
        };
        // Whoever sees the end may start the next run at once.
        drop(turn);
        send(events, Event::Exit(exit));
    }

    /// Events for something that knows nothing of the runner. They go on to
    /// `events`, and are no longer wanted when the server closes either.
    pub fn until_closing(&self, events: Events) -> Events {
        let (inner, mut inbox) = unbounded_channel();
        let mut closing = self.closing.subscribe();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    event = inbox.recv() => match event {
                        Some(event) => send(&events, event),
                        None => return,
                    },
                    () = events.closed() => return,
                    _closing = closing.wait_for(|closing| *closing) => return,
                }
            }
        });
        inner
    }

    /// Ends all runs, and waits until nothing of them is left.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        self.queue.drained().await;
    }

    async fn compile_and_run(&self, request: &Request, events: &Events) -> Result<Exit, Problem> {
        let externs = tokio::select! {
            externs = self.crates.for_code(&request.code, request.mode, events) => externs?,
            () = self.unwanted(events) => return Ok(cancelled()),
        };
        let folder = RunFolder::create(&self.runs, || self.next_run_name())?;
        let slot = self.slots.claim(request)?;
        send(events, Event::Compiling);
        let job = compile::Job {
            request,
            externs: &externs,
            slot: slot.folder(),
            executable: folder.executable(),
            temporary: folder.path(),
        };
        let compiled = compile::compile(&job, events, self.unwanted(events)).await?;
        drop(slot);
        if let Err(exit) = compiled.outcome {
            return Ok(exit);
        }
        let order = program(&folder, request.limit);
        let ended = if request.tests {
            libtest::run(order, events, || self.unwanted(events)).await
        } else {
            contain::run(
                &order,
                |stream, text| pass_on(stream, text, events),
                self.unwanted(events),
            )
            .await
        };
        let ended = ended
            .map_err(|error| Problem::new(format!("the program could not be run: {error}")))?;
        tell_figures(folder.figures(), events).await;
        folder.remove().await;
        Ok(exit_of(ended, request, compiled.time))
    }

    /// Completes when the client is gone or the server is closing.
    async fn unwanted(&self, events: &Events) {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            () = events.closed() => {}
            _closing = closing.wait_for(|closing| *closing) => {}
        }
    }

    fn next_run_name(&self) -> String {
        // Relaxed: the numbers only have to differ.
        self.run_count.fetch_add(1, Relaxed).to_string()
    }
}

/// A folder that lasts as long as a run.
struct RunFolder(PathBuf);

impl RunFolder {
    /// Creates a folder in `runs`, which `next_name` names. What an earlier
    /// process could not remove is left alone.
    fn create(runs: &Path, mut next_name: impl FnMut() -> String) -> Result<Self, Problem> {
        let created = loop {
            let path = runs.join(next_name());
            match std::fs::create_dir_all(runs).and_then(|()| std::fs::create_dir(&path)) {
                Ok(()) => break Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => break Err(error),
            }
        };
        let created = created.and_then(|folder| {
            std::fs::create_dir(folder.figures())?;
            Ok(folder)
        });
        created.map_err(|error| {
            Problem::new(format!(
                "no folder can be made in `{}`: {error}",
                runs.display()
            ))
            .help("make room on the disk, or change the folder's owner")
        })
    }

    /// Removes it. A program can leave so much that this takes seconds, which no
    /// thread of the server has to spare.
    async fn remove(self) {
        let _removed = tokio::task::spawn_blocking(move || drop(self)).await;
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// Where the program leaves what figures are drawn from.
    fn figures(&self) -> PathBuf {
        self.0.join("figures")
    }

    fn executable(&self) -> PathBuf {
        self.0
            .join(format!("snippet{}", std::env::consts::EXE_SUFFIX))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next start.
        let _left = remove_tree(&self.0);
    }
}

fn program(folder: &RunFolder, limit: TimeLimit) -> Order {
    let path = std::env::var("PATH").unwrap_or_default();
    let temporary = folder.path().display().to_string();
    let figures = folder.figures().display().to_string();
    Order {
        program: folder.executable(),
        arguments: Vec::new(),
        folder: folder.path().to_path_buf(),
        inherit_environment: false,
        variables: [
            ("PATH", path),
            ("TMPDIR", temporary),
            (figures::FOLDER, figures),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec(),
        limits: Limits::snippet(limit.duration()),
    }
}

/// Hands on what the program has left for figures.
async fn tell_figures(folder: PathBuf, events: &Events) {
    // Several MiB of JSON take a while.
    let collected = tokio::task::spawn_blocking(move || figures::collect(&folder)).await;
    let (figures, complaints) = collected.unwrap_or_default();
    for complaint in complaints {
        let text = format!("{complaint}\n");
        send(events, Event::Stderr { text });
    }
    for figure in figures {
        send(events, Event::Figure(figure));
    }
}

fn pass_on(stream: Stream, text: String, events: &Events) {
    send(
        events,
        match stream {
            Stream::Out => Event::Stdout { text },
            Stream::Err => Event::Stderr { text },
        },
    );
}

fn exit_of(ended: Ended, request: &Request, compile_time: Duration) -> Exit {
    let limits = Limits::snippet(request.limit.duration());
    let (reason, code, message) = match ended.cause {
        Cause::Exited(code) => (Reason::Exited, Some(code), None),
        Cause::Signal(signal) => (Reason::Signal, Some(signal), None),
        Cause::Cancelled => (Reason::Killed, None, Some("stopped".into())),
        cause => {
            let (reason, limit) = limit_reached(cause, &limits);
            (reason, None, Some(format!("ended {limit}")))
        }
    };
    Exit {
        reason,
        code,
        compile_ms: Some(milliseconds(compile_time)),
        run_ms: Some(milliseconds(ended.time)),
        message,
    }
}

/// What the limit was that ended a program, to be read after `ended`.
fn limit_reached(cause: Cause, limits: &Limits) -> (Reason, String) {
    let mib = |bytes: u64| bytes >> 20;
    match cause {
        Cause::Timeout => {
            let seconds = limits.wall.as_secs();
            (Reason::Timeout, format!("after {seconds} seconds"))
        }
        Cause::OutputLimit => {
            let kib = limits.output_bytes >> 10;
            (Reason::OutputLimit, format!("after {kib} KiB of output"))
        }
        Cause::ProcessLimit => {
            let processes = limits.processes;
            (
                Reason::Killed,
                format!("with more than {processes} processes"),
            )
        }
        Cause::ThreadLimit => {
            let threads = limits.threads;
            (Reason::Killed, format!("with more than {threads} threads"))
        }
        Cause::MemoryLimit => {
            let mib = mib(limits.memory_bytes);
            (
                Reason::Killed,
                format!("with more than {mib} MiB of memory"),
            )
        }
        Cause::DiskLimit => {
            let mib = mib(limits.disk_bytes.unwrap_or_default());
            (Reason::Killed, format!("with more than {mib} MiB of files"))
        }
        Cause::Exited(_) | Cause::Signal(_) | Cause::Cancelled => {
            unreachable!("{cause:?} is no limit")
        }
    }
}

fn cancelled() -> Exit {
    Exit {
        reason: Reason::Killed,
        code: None,
        compile_ms: None,
        run_ms: None,
        message: Some("stopped".into()),
    }
}

/// The program never ran: the problem goes where its errors would have gone.
fn refused(problem: &Problem, events: &Events) -> Exit {
    let text = format!("{problem}\n");
    send(events, Event::Stderr { text });
    Exit {
        message: Some(problem.error().to_owned()),
        ..cancelled()
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
