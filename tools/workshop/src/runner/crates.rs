//! The crates that snippets may use: cargo builds them once, in the background,
//! and says exactly which files they became.
//!
//! A folder full of libraries wouldn't do: with two builds of a crate in it the
//! compiler refuses to choose (E0464), and its layout is cargo's own affair.

mod cargo;
mod sources;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

use super::request::Mode;
use super::toolchain;
use crate::events::{Event, Events, send};
use crate::problem::Problem;
use crate::workshop::Workshop;
use sources::Sources;

/// How often to build again because a source was saved meanwhile. A crate may
/// write to its own sources while it's built, and is never the same then.
const BUILDS_MOST: usize = 5;

/// The built crates and the compiler that built them.
#[derive(Debug)]
pub struct Externs {
    rustc: PathBuf,
    arguments: Vec<String>,
    // What the arguments name.
    files: Vec<PathBuf>,
    // The files of this workspace that went into the crates, as they were.
    sources: Sources,
}

impl Externs {
    /// The compiler.
    pub fn rustc(&self) -> &Path {
        &self.rustc
    }

    /// The compiler's arguments that name the crates.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }
}

/// How far the crates are.
#[derive(Clone, Debug)]
pub enum Status {
    /// They haven't been asked for.
    Absent,
    /// Cargo builds them.
    Building {
        /// Crates built so far.
        done: usize,
        /// Crates to build in all, as far as is known.
        total: usize,
    },
    /// They can be used.
    Ready(Arc<Externs>),
    /// They couldn't be built.
    Failed(Failure),
}

/// Why the crates couldn't be built.
#[derive(Clone, Debug)]
pub struct Failure {
    problem: Problem,
    // What cargo found when it tried.
    sources: Sources,
}

impl Failure {
    /// The reason in words.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl Status {
    /// Returns `true` if the sources aren't what they were when this was found.
    fn is_outdated(&self) -> bool {
        match self {
            Self::Absent | Self::Building { .. } => false,
            Self::Ready(externs) => {
                // `cargo clean` removes them without a question.
                externs.sources.have_changed() || !externs.files.iter().all(|one| one.exists())
            }
            Self::Failed(failure) => failure.sources.have_changed(),
        }
    }
}

/// The crates in both modes.
pub struct Crates {
    workshop: Workshop,
    debug: watch::Sender<Status>,
    release: watch::Sender<Status>,
}

impl Crates {
    /// Creates the crates, none of them built.
    pub fn new(workshop: &Workshop) -> Self {
        Self {
            workshop: workshop.clone(),
            debug: watch::Sender::new(Status::Absent),
            release: watch::Sender::new(Status::Absent),
        }
    }

    /// Watches the building in `mode`.
    pub fn watch(&self, mode: Mode) -> watch::Receiver<Status> {
        self.status(mode).subscribe()
    }

    /// Starts to build, unless that is done or under way.
    pub fn prepare(&self, mode: Mode) {
        self.start_if(mode, |status| {
            matches!(status, Status::Absent) || status.is_outdated()
        });
    }

    fn start_if(&self, mode: Mode, is_wanted: impl FnOnce(&Status) -> bool) {
        let status = self.status(mode);
        let starts = status.send_if_modified(|status| {
            let starts = is_wanted(status);
            if starts {
                *status = Status::Building { done: 0, total: 0 };
            }
            starts
        });
        if starts {
            let (workshop, status) = (self.workshop.clone(), status.clone());
            tokio::spawn(async move {
                let built = build_what_is_there(&workshop, mode, &status).await;
                status.send_replace(built);
            });
        }
    }

    /// Returns what this code needs. Code that names none of the crates doesn't
    /// wait for them, and needs no network the first time.
    ///
    /// # Errors
    ///
    /// When there is no compiler, or the crates can't be built.
    pub async fn for_code(
        &self,
        code: &str,
        mode: Mode,
        events: &Events,
    ) -> Result<Arc<Externs>, Problem> {
        self.prepare(mode);
        let ready = matches!(&*self.status(mode).borrow(), Status::Ready(_));
        if ready || self.names_a_crate(code).await? {
            return self.built(mode, events).await;
        }
        Ok(Arc::new(Externs {
            rustc: toolchain::find_rustc(self.workshop.root())?,
            arguments: Vec::new(),
            files: Vec::new(),
            sources: Sources::default(),
        }))
    }

    async fn names_a_crate(&self, code: &str) -> Result<bool, Problem> {
        let crates = cargo::dependencies(&self.workshop).await?;
        Ok(crates.iter().any(|one| code.contains(&one.extern_name)))
    }

    /// Waits for the crates. If sources have changed since they were looked at, they
    /// are looked at again.
    async fn built(&self, mode: Mode, events: &Events) -> Result<Arc<Externs>, Problem> {
        // It may not have been the sources: the network may be back.
        self.start_if(mode, |status| matches!(status, Status::Failed(_)));
        let mut status = self.watch(mode);
        let mut builds_left = BUILDS_MOST;
        loop {
            let now = status.borrow_and_update().clone();
            if builds_left > 0 && now.is_outdated() {
                builds_left -= 1;
                // Unless another run has started it in the meantime.
                self.start_if(mode, Status::is_outdated);
                continue;
            }
            match now {
                Status::Ready(externs) => return Ok(externs),
                Status::Failed(failure) => return Err(failure.problem),
                Status::Building { done, total } => send(events, Event::Building { done, total }),
                Status::Absent => {}
            }
            let _open = status.changed().await;
        }
    }

    fn status(&self, mode: Mode) -> &watch::Sender<Status> {
        match mode {
            Mode::Debug => &self.debug,
            Mode::Release => &self.release,
        }
    }
}

/// Builds until the sources are those that were built.
async fn build_what_is_there(
    workshop: &Workshop,
    mode: Mode,
    status: &watch::Sender<Status>,
) -> Status {
    let mut builds_left = BUILDS_MOST;
    loop {
        let mut sources = Sources::of_workspace(workshop.root());
        let built = build(workshop, mode, status, &mut sources).await;
        builds_left -= 1;
        let verdict = match built {
            Ok(libraries) => Status::Ready(Arc::new(Externs {
                sources,
                ..libraries
            })),
            Err(problem) => Status::Failed(Failure { problem, sources }),
        };
        if builds_left == 0 || !verdict.is_outdated() {
            return verdict;
        }
    }
}

/// Builds once, and adds to `sources` what cargo was about to read.
async fn build(
    workshop: &Workshop,
    mode: Mode,
    status: &watch::Sender<Status>,
    sources: &mut Sources,
) -> Result<Externs, Problem> {
    let rustc = toolchain::find_rustc(workshop.root())?;
    let dependencies = cargo::dependencies(workshop).await?;
    let tree = cargo::tree(workshop).await?;
    sources.add_packages(&tree.local_folders);
    sources.renew_lock(workshop.root());
    let total = tree.packages.len();
    let on_progress = |done: usize| {
        let total = total.max(done);
        status.send_replace(Status::Building { done, total });
    };
    on_progress(0);
    let libraries = cargo::build(workshop, mode, on_progress).await?;

    let (mut arguments, mut files) = (Vec::new(), Vec::new());
    for dependency in dependencies {
        let library = libraries.iter().find(|library| {
            library.package == dependency.package
                && tree.is_direct(&library.package, &library.version)
        });
        // What this system doesn't need isn't built for it.
        let Some(library) = library else { continue };
        let name = dependency.renamed.as_ref().unwrap_or(&library.name);
        arguments.push("--extern".into());
        arguments.push(format!("{name}={}", library.file.display()));
        files.push(library.file.clone());
    }
    let folders: BTreeSet<_> = libraries
        .iter()
        .filter_map(|one| one.file.parent())
        .collect();
    for folder in folders {
        arguments.push(format!("-Ldependency={}", folder.display()));
    }
    Ok(Externs {
        rustc,
        arguments,
        files,
        sources: Sources::default(),
    })
}
