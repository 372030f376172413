//! The right to change the file of an exercise. Pages, servers and commands
//! take turns: between comparing a version and replacing it, none of them may
//! put another one there.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use super::catalogue::Exercise;
use super::loose;
use crate::problem::Problem;

/// Taken first: a lock between processes may be asked for, but not waited for
/// with a limit.
static HERE: Mutex<()> = Mutex::new(());

/// Far longer than any change takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const ASK_EVERY: Duration = Duration::from_millis(1);

/// The turn; dropping it ends it, and so does the end of the process.
#[derive(Debug)]
pub struct Turn {
    _here: MutexGuard<'static, ()>,
    // Not every file system has locks. Nothing is lost without one: a
    // writer still looks at the version that it has replaced.
    _everywhere: Option<File>,
}

impl Turn {
    /// Waits for the turn, and puts away what a killed process left half done.
    ///
    /// # Errors
    ///
    /// When another process doesn't end its turn.
    pub fn take(exercise: &Exercise) -> Result<Self, Problem> {
        let here = HERE.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = Instant::now() + PATIENCE;
        let everywhere = loop {
            match try_lock(&exercise.folder) {
                Ok(lock) => break lock,
                Err(()) if Instant::now() < deadline => thread::sleep(ASK_EVERY),
                Err(()) => return Err(never_ends(exercise)),
            }
        };
        loose::put_away(exercise);
        Ok(Self {
            _here: here,
            _everywhere: everywhere,
        })
    }
}

/// Returns an error if another process holds the lock.
fn try_lock(folder: &Path) -> Result<Option<File>, ()> {
    let Ok(file) = open(folder) else {
        return Ok(None);
    };
    match file.try_lock() {
        // A switch of branches may have made another folder of this name.
        Ok(()) if is_still(&file, folder) => Ok(Some(file)),
        Ok(()) | Err(TryLockError::WouldBlock) => Err(()),
        Err(TryLockError::Error(_unsupported)) => Ok(None),
    }
}

/// What is locked: the folder itself, so that no other file is needed.
#[cfg(unix)]
fn open(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

#[cfg(unix)]
fn is_still(file: &File, folder: &Path) -> bool {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), folder.metadata()) {
        (Ok(locked), Ok(there)) => identity(locked) == identity(there),
        // Writing there will show that.
        _ => true,
    }
}

/// A folder can't be opened here.
#[cfg(not(unix))]
fn open(folder: &Path) -> io::Result<File> {
    File::create(folder.join(".lib.rs.lock"))
}

#[cfg(not(unix))]
fn is_still(_file: &File, _folder: &Path) -> bool {
    true
}

fn never_ends(exercise: &Exercise) -> Problem {
    let folder: PathBuf = exercise.folder_name().into();
    let seconds = PATIENCE.as_secs();
    Problem::new(format!(
        "another program has been changing `exercises/{}` for {seconds} seconds",
        folder.display()
    ))
    .help("wait until it has ended, or end it: it's a `cargo workshop` in another terminal")
}
