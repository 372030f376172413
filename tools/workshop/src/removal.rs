//! Removes folders that a program has filled as it liked.
//!
//! [`std::fs::remove_dir_all`] goes down one level of the call stack, and opens
//! one more folder, for each level on disk. A program that makes folders within
//! folders for a second is deeper than either allows. And it gives up where a
//! folder may not be written to. What one run left would then stay, and keep the
//! next start from clearing up.

use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Removes `folder` and all that is in it, however deep, and with any
/// permissions. Links are removed, not followed. A folder that doesn't exist is
/// as good as removed.
///
/// The folder must not change meanwhile.
///
/// # Errors
///
/// When something can't be removed; all the rest is.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Ok(metadata) if metadata.is_dir() => {}
        _ => return fs::remove_file(folder),
    }
    let mut removal = Removal {
        folder,
        lifted_count: 0,
        done_count: 0,
        fault: None,
    };
    // Each round takes the folders one level down apart, and lifts what they
    // hold to that level. So no path is ever long.
    while removal.round()? {}
    fs::remove_dir(folder)
}

struct Removal<'a> {
    folder: &'a Path,
    lifted_count: u64,
    /// How much was removed or moved.
    done_count: u64,
    fault: Option<io::Error>,
}

impl Removal<'_> {
    /// Returns whether there may be something left.
    fn round(&mut self) -> io::Result<bool> {
        let done_before = self.done_count;
        let mut found = false;
        for entry in opened(self.folder)? {
            found = true;
            let result = entry.and_then(|entry| self.remove(&entry));
            self.note(result);
        }
        match self.fault.take() {
            // Another round would find the same again.
            Some(fault) if self.done_count == done_before => Err(fault),
            _ => Ok(found),
        }
    }

    fn remove(&mut self, entry: &DirEntry) -> io::Result<()> {
        if !entry.file_type()?.is_dir() {
            return remove_link(&entry.path());
        }
        for inner in opened(&entry.path())? {
            let result = inner.and_then(|inner| match inner.file_type()?.is_dir() {
                true => self.lift(&inner.path()),
                false => remove_link(&inner.path()),
            });
            self.note(result);
        }
        fs::remove_dir(entry.path())
    }

    fn note(&mut self, result: io::Result<()>) {
        match result {
            Ok(()) => self.done_count += 1,
            Err(error) => self.fault = Some(error),
        }
    }

    /// Moves a folder to the first level.
    fn lift(&mut self, inner: &Path) -> io::Result<()> {
        // Moving a folder takes the right to write to it.
        allow(inner);
        loop {
            self.lifted_count += 1;
            let place = self.folder.join(format!("lifted-{}", self.lifted_count));
            match fs::rename(inner, &place) {
                // The program's own folder has that name.
                Err(error) if is_taken(&error) => {}
                done => return done,
            }
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    use ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    [AlreadyExists, DirectoryNotEmpty, NotADirectory].contains(&error.kind())
}

/// Removes a file or a link.
fn remove_link(path: &Path) -> io::Result<()> {
    // On Windows a link to a folder is removed like one.
    fs::remove_file(path).or_else(|error| fs::remove_dir(path).map_err(|_| error))
}

/// Reads a folder, which it makes readable and writable before.
fn opened(folder: &Path) -> io::Result<fs::ReadDir> {
    allow(folder);
    fs::read_dir(folder)
}

#[cfg(unix)]
fn allow(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    // If it can't be changed, it may be well enough as it is.
    let _as_it_was = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
}

#[cfg(not(unix))]
fn allow(_folder: &Path) {}

/// The room on disk that a folder takes, up to about `most`. Each entry counts
/// for a page at least: a million empty files are a burden, too.
pub fn room_taken(folder: &Path, most: u64) -> u64 {
    const PAGE: u64 = 4096;
    let mut taken = 0;
    let mut folders: Vec<PathBuf> = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // It may be gone again.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            taken += on_disk(&metadata).max(PAGE);
            if taken > most {
                return taken;
            }
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    taken
}

#[cfg(unix)]
fn on_disk(metadata: &fs::Metadata) -> u64 {
    // The length of a file with holes says nothing.
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
fn on_disk(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::remove_tree;
    #[cfg(unix)]
    use super::room_taken;

    #[test]
    fn what_is_not_there_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        remove_tree(&folder.path().join("nothing")).unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        remove_tree(&file).unwrap();
        assert!(!file.exists());
    }

    #[test]
    fn names_of_its_own_do_not_disturb_it() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        for inner in ["lifted-1/a/b", "lifted-3/lifted-1/c", "z/lifted-2/d"] {
            fs::create_dir_all(tree.join(inner)).unwrap();
            fs::write(tree.join(inner).join("file"), "x").unwrap();
        }
        fs::write(tree.join("lifted-2"), "a file").unwrap();
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_removed_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, other) = (folder.path().join("tree"), folder.path().join("other"));
        fs::create_dir_all(tree.join("inner")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("kept"), "x").unwrap();
        for link in ["to-folder", "inner/to-folder"] {
            std::os::unix::fs::symlink(&other, tree.join(link)).unwrap();
        }
        std::os::unix::fs::symlink("/no/such/place", tree.join("inner/broken")).unwrap();
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        assert!(other.join("kept").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_with_holes_takes_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let file = fs::File::create(folder.path().join("holes")).unwrap();
        file.set_len(1 << 30).unwrap();
        assert!(room_taken(folder.path(), u64::MAX) < 1 << 20);
        for name in ["a", "b", "c"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert!(room_taken(folder.path(), u64::MAX) >= 4 * 4096);
        assert!(room_taken(folder.path(), 4096) <= 3 * 4096, "it stops");
    }
}
