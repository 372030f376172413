//! The crates that snippets may use: cargo builds them once, in the background,
//! and says exactly which files they became.
//!
//! A folder full of libraries would not do: with two builds of a crate in it the
//! compiler refuses to choose (E0464), and its layout is cargo's own affair.

mod cargo;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::watch;

use super::{Mode, toolchain};
use crate::events::{Event, Events, send};
use crate::problem::Problem;
use crate::workshop::Workshop;

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

type Sources = BTreeMap<PathBuf, Option<SystemTime>>;

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
    /// Nobody has asked for them.
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
    /// They could not be built.
    Failed(Problem),
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
        let status = self.status(mode);
        let starts = status.send_if_modified(|status| {
            let starts = match status {
                Status::Absent | Status::Failed(_) => true,
                Status::Building { .. } => false,
                Status::Ready(externs) => {
                    // `cargo clean` removes them without a question.
                    sources_changed(&externs.sources)
                        || !externs.files.iter().all(|one| one.exists())
                }
            };
            if starts {
                *status = Status::Building { done: 0, total: 0 };
            }
            starts
        });
        if starts {
            let (workshop, status) = (self.workshop.clone(), status.clone());
            tokio::spawn(async move {
                let built = build(&workshop, mode, &status).await;
                status.send_replace(match built {
                    Ok(externs) => Status::Ready(Arc::new(externs)),
                    Err(problem) => Status::Failed(problem),
                });
            });
        }
    }

    /// Returns what this code needs. Code that names none of the crates does not
    /// wait for them, and needs no network the first time.
    ///
    /// # Errors
    ///
    /// When there is no compiler, or the crates cannot be built.
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
            sources: Sources::new(),
        }))
    }

    async fn names_a_crate(&self, code: &str) -> Result<bool, Problem> {
        let crates = cargo::dependencies(&self.workshop).await?;
        Ok(crates.iter().any(|one| code.contains(&one.extern_name)))
    }

    async fn built(&self, mode: Mode, events: &Events) -> Result<Arc<Externs>, Problem> {
        let mut status = self.watch(mode);
        loop {
            match &*status.borrow_and_update() {
                Status::Ready(externs) => return Ok(externs.clone()),
                Status::Failed(problem) => return Err(problem.clone()),
                &Status::Building { done, total } => send(events, Event::Building { done, total }),
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

async fn build(
    workshop: &Workshop,
    mode: Mode,
    status: &watch::Sender<Status>,
) -> Result<Externs, Problem> {
    let rustc = toolchain::find_rustc(workshop.root())?;
    let dependencies = cargo::dependencies(workshop).await?;
    let tree = cargo::tree(workshop).await?;
    let sources = sources(workshop, &tree.local_folders);
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
        // What this system does not need is not built for it.
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
        sources,
    })
}

/// The files of the workspace that the crates are made from.
fn sources(workshop: &Workshop, local_folders: &BTreeSet<PathBuf>) -> Sources {
    let root = workshop.root();
    let mut files = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    for folder in local_folders {
        files.push(folder.join("Cargo.toml"));
        files.extend(crate::workshop::files_under(&folder.join("src")));
    }
    let with_time = |file: PathBuf| (file.clone(), modified(&file));
    files.into_iter().map(with_time).collect()
}

fn sources_changed(sources: &Sources) -> bool {
    sources.iter().any(|(file, time)| modified(file) != *time)
}

fn modified(file: &Path) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}
