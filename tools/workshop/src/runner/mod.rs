//! Compiles and runs the code of a snippet on this machine.

mod compile;
pub mod crates;
mod exit;
mod folder;
pub mod libtest;
mod queue;
mod request;
mod slots;
mod toolchain;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::watch;

use crate::events::{Event, Events, Exit, send};
use crate::figures;
use crate::problem::Problem;
use crate::sandbox::{self, Limits, Order, Stream};
use crate::workshop::{Scratch, Workshop};
use crates::Crates;
use folder::RunFolder;
use queue::{Queue, Ticket};
use slots::Slots;

pub use request::{Mode, Request, TimeLimit};

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
            Err(problem) => exit::refused(&problem, events),
        };
        // A client that sees the end may start the next run at once.
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
            () = self.unwanted(events) => return Ok(exit::cancelled()),
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
        let limits = Limits::snippet(request.limit.duration());
        let order = program(&folder, limits.clone());
        let ended = if request.tests {
            libtest::run(order, events, || self.unwanted(events)).await
        } else {
            sandbox::run(
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
        Ok(exit::of_run(ended, &limits, compiled.time))
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

fn program(folder: &RunFolder, limits: Limits) -> Order {
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
        limits,
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
