//! Keeps the served book up to date.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use super::build::{Purpose, borrow_search_index, build};
use super::stamp::{Stamp, included_files};
use crate::problem::Problem;
use crate::workshop::{Scratch, Workshop};

/// How often the files are looked at. Watching by the system's own means would
/// see the build itself open files, and start it again forever.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long nothing must have changed before the search index is built.
const IDLE_AFTER: Duration = Duration::from_secs(1);

/// What happened to the book.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// It was rebuilt in this time.
    Built(Duration),
    /// It couldn't be built: the last good one is served on.
    Failed(Problem),
    /// It was built, but something is missing in it.
    Complaints(Vec<String>),
}

/// One build of the book. Its folder is removed when no request is served from
/// it anymore: a request that began before a newer build ends on the older one.
pub struct Build {
    folder: PathBuf,
}

impl Build {
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Build {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// The build to serve, which changes with each that succeeds.
pub type Current = Arc<RwLock<Arc<Build>>>;

/// Builds the book, each time into a folder of its own, and says which one to
/// serve. A half-built book is never served.
pub struct Keeper {
    workshop: Workshop,
    scratch: Arc<Scratch>,
    current: Current,
    build_count: u64,
    stamp: Stamp,
    included: Vec<PathBuf>,
}

impl Keeper {
    /// Builds the book for the first time.
    ///
    /// # Errors
    ///
    /// When it can't be built: there is no older one to serve instead.
    pub fn start(
        workshop: &Workshop,
        scratch: Arc<Scratch>,
    ) -> Result<(Self, Vec<String>), Problem> {
        let included = included_files(workshop);
        let stamp = Stamp::take(workshop, &included);
        let first = scratch.book(1);
        let complaints = build(workshop, &first, Purpose::Serve)?;
        let keeper = Self {
            workshop: workshop.clone(),
            scratch,
            current: Arc::new(RwLock::new(Arc::new(Build { folder: first }))),
            build_count: 1,
            stamp,
            included,
        };
        Ok((keeper, complaints))
    }

    pub fn current(&self) -> Current {
        self.current.clone()
    }

    /// Looks for changes forever, and tells `on_news` what comes of them.
    pub fn watch(mut self, on_news: impl Fn(News) + Send + 'static) {
        thread::spawn(move || {
            let mut index_due: Option<Instant> = None;
            loop {
                thread::sleep(LOOK_EVERY);
                let stamp = Stamp::take(&self.workshop, &self.included);
                // `cargo clean` removes the book without a question.
                let is_there = self.serving().folder().is_dir();
                if stamp != self.stamp || !is_there {
                    self.stamp = stamp;
                    self.rebuild(&on_news);
                    index_due = Some(Instant::now() + IDLE_AFTER);
                } else if index_due.is_some_and(|due| Instant::now() >= due) {
                    index_due = None;
                    self.rebuild_index();
                }
            }
        });
    }

    fn rebuild(&mut self, on_news: &impl Fn(News)) {
        let started = Instant::now();
        match self.build_next(Purpose::ServeSoon) {
            Ok(complaints) => {
                on_news(News::Built(started.elapsed()));
                if !complaints.is_empty() {
                    on_news(News::Complaints(complaints));
                }
            }
            Err(problem) => on_news(News::Failed(problem)),
        }
        self.included = included_files(&self.workshop);
        self.stamp.include(&self.workshop, &self.included);
    }

    fn rebuild_index(&mut self) {
        // A failure was told when the pages were built.
        let _told = self.build_next(Purpose::Serve);
    }

    fn build_next(&mut self, purpose: Purpose<'_>) -> Result<Vec<String>, Problem> {
        self.build_count += 1;
        let next = self.scratch.book(self.build_count);
        let built = build(&self.workshop, &next, purpose);
        if built.is_err() {
            remove(&next);
            return built;
        }
        if purpose == Purpose::ServeSoon {
            borrow_search_index(self.serving().folder(), &next);
        }
        let next = Arc::new(Build { folder: next });
        let _before = mem::replace(&mut *self.current.write().expect("no reader panics"), next);
        built
    }

    fn serving(&self) -> Arc<Build> {
        self.current.read().expect("no writer panics").clone()
    }
}

fn remove(book: &Path) {
    // What can't be removed now is removed by the next start.
    let _left = fs::remove_dir_all(book);
}
