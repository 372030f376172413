//! Files on their way into the place of another, and out of it.
//!
//! An editor knows nothing of our locks, and can save at any moment: into the
//! file that is there, or by putting another one in its place. So a new version
//! never simply replaces the old one. The two are exchanged atomically, and
//! the writer then looks at the version it got. Even a save that was under way goes
//! to a file that is still there.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::catalogue::Exercise;
use super::kept::{self, unreadable};
use crate::problem::Problem;

/// How many files this process has named.
static COUNT: AtomicU64 = AtomicU64::new(0);

const PREFIX: &str = ".lib.rs.";
const SUFFIX: &str = ".loose";

/// How long a program may take to write what it has begun to write. Most take
/// less than a millisecond.
const WRITING_MOST: Duration = Duration::from_secs(2);

/// How often others may put a file where we have just moved one away.
const ATTEMPTS: usize = 100;

/// A file beside the reader's, under a name that nothing else uses.
#[derive(Debug)]
pub struct Loose {
    path: PathBuf,
}

impl Loose {
    /// Writes a new version for this place, with the permissions of what is there.
    ///
    /// # Errors
    ///
    /// When it can't be written.
    pub fn write(place: &Place, text: &[u8]) -> io::Result<Self> {
        let loose = Self {
            path: place.new_name(),
        };
        let written = File::create_new(&loose.path).and_then(|mut file| {
            file.write_all(text)?;
            // A caller that is told that it's saved can rely on that.
            file.sync_all()
        });
        let written = written.and_then(|()| match place.file.metadata() {
            Ok(old) => fs::set_permissions(&loose.path, old.permissions()),
            Err(_gone) => Ok(()),
        });
        match written {
            Ok(()) => Ok(loose),
            Err(error) => {
                loose.remove();
                Err(error)
            }
        }
    }

    /// Puts it where the reader's file is, and returns what was there, in order:
    /// nothing, one file, or several if others put some there meanwhile.
    ///
    /// # Errors
    ///
    /// When that can't be done. All that was there is there, or is kept.
    pub fn take_place(self, place: &Place) -> io::Result<Vec<Self>> {
        match exchange(&self.path, &place.file) {
            Ok(()) => return Ok(vec![self]),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if is_unsupported(&error) => {}
            Err(error) => {
                self.remove();
                return Err(error);
            }
        }
        let mut found = Vec::new();
        for _attempt in 0..ATTEMPTS {
            let old = Self {
                path: place.new_name(),
            };
            match fs::rename(&place.file, &old.path) {
                Ok(()) => found.push(old),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    self.remove();
                    return Err(error);
                }
            }
            // Unlike a renaming, this fails if there is one already.
            match fs::hard_link(&self.path, &place.file) {
                Ok(()) => {
                    self.remove();
                    return Ok(found);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                // A file system without links.
                Err(_) => {
                    fs::rename(&self.path, &place.file)?;
                    return Ok(found);
                }
            }
        }
        Err(io::Error::other("others write to it all the time"))
    }

    /// Reads it once no other program writes to it, and says whether one still
    /// might.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    pub fn settled(&self) -> io::Result<(Vec<u8>, bool)> {
        let file = File::open(&self.path)?;
        let deadline = Instant::now() + WRITING_MOST;
        let mut has_writer = has_writer(&file);
        while has_writer && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
            has_writer = self::has_writer(&file);
        }
        Ok((fs::read(&self.path)?, has_writer))
    }

    /// Gives it this name, in the place of a copy that is there.
    ///
    /// # Errors
    ///
    /// When the two aren't on one disk, for instance. It stays where it is then.
    pub fn rename(&self, name: &Path) -> io::Result<()> {
        fs::rename(&self.path, name)
    }

    /// Keeps the file itself, also for programs that still write to it.
    ///
    /// # Errors
    ///
    /// When it can't be read or kept.
    pub fn keep(self, exercise: &Exercise) -> Result<PathBuf, Problem> {
        let (bytes, _) = self
            .settled()
            .map_err(|error| unreadable(exercise, &error))?;
        let file = kept::keep(&exercise.folder, &bytes)?;
        if self.rename(&file).is_err() {
            // On another disk. The copy is all that can be had.
            self.remove();
        }
        Ok(file)
    }

    /// Removes it.
    pub fn remove(self) {
        // The next turn puts it away.
        let _left = fs::remove_file(self.path);
    }
}

/// Where the reader's file is, or is to be.
#[derive(Debug)]
pub struct Place {
    file: PathBuf,
    folder: PathBuf,
}

impl Place {
    /// The place of an exercise's file. A link stays one: its end is the place.
    pub fn of(exercise: &Exercise) -> Self {
        let stub = exercise.stub();
        // Not in `src`, which is watched.
        match fs::canonicalize(&stub) {
            Ok(file) if stub.is_symlink() => {
                let folder = file.parent().unwrap_or(&exercise.folder).to_path_buf();
                Self { file, folder }
            }
            _ => Self {
                file: stub,
                folder: exercise.folder.clone(),
            },
        }
    }

    fn new_name(&self) -> PathBuf {
        let process = std::process::id();
        // Relaxed: the names only have to differ.
        let number = COUNT.fetch_add(1, Relaxed);
        let name = format!("{PREFIX}{process}.{number}{SUFFIX}");
        self.folder.join(name)
    }
}

/// Keeps what a process that was killed in its turn has left beside the file.
/// To be called in a turn: no other process has a loose file then.
pub fn put_away(exercise: &Exercise) {
    let is_loose = |name: OsString| {
        let name = name.to_string_lossy();
        name.starts_with(PREFIX) && name.ends_with(SUFFIX)
    };
    let entries = fs::read_dir(&exercise.folder).into_iter().flatten();
    let left = entries
        .flatten()
        .filter(|entry| is_loose(entry.file_name()));
    for path in left.map(|entry| entry.path()) {
        // Only the reader can tell whether it has been seen.
        let Ok(text) = fs::read(&path) else { continue };
        if kept::is_kept(exercise, &text) || kept::keep(&exercise.folder, &text).is_ok() {
            let _left = fs::remove_file(path);
        }
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    // Not every file system can do it, and older systems say `EINVAL`.
    matches!(
        error.kind(),
        ErrorKind::Unsupported | ErrorKind::InvalidInput
    )
}

/// Exchanges two files in one step.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (one, other) = (text(one)?, text(other)?);
    let here = libc::AT_FDCWD;
    // SAFETY: this system call takes two folders, here none, and two texts that
    // end in a zero and outlive the call.
    let status = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            here,
            one.as_ptr(),
            here,
            other.as_ptr(),
            libc::RENAME_EXCHANGE,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// From linux/fcntl.h, the same number on every machine.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

/// Whether a program has the file open to write to it. The kernel grants no lease
/// to read then.
#[cfg(target_os = "linux")]
fn has_writer(file: &File) -> bool {
    use std::os::fd::AsRawFd;

    let descriptor = file.as_raw_fd();
    // The usual signal, sent to the holder of a lease whose file another program
    // opens, would end this process. This one is ignored unless it's asked for.
    // SAFETY: this command of `fcntl` takes an integer; the descriptor is open.
    unsafe { libc::fcntl(descriptor, F_SETSIG, libc::SIGURG) };
    // SAFETY: as above.
    let status = unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_RDLCK) };
    if status != 0 {
        // Other errors mean that this file system has no leases.
        return io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN);
    }
    // SAFETY: as above.
    unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK) };
    false
}

#[cfg(not(target_os = "linux"))]
fn has_writer(_file: &File) -> bool {
    false
}
