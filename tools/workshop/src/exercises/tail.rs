//! Reads a file that grows, line by line.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// So much is read in one go, and no more of a line.
const BYTES_AT_ONCE: u64 = 4 << 20;

/// Opens it if it's a file: opening a named pipe blocks until another process
/// writes to it.
fn open(file: &Path) -> Option<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(file).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// What has been read of the file.
pub struct Tail {
    file: PathBuf,
    read: u64,
}

impl Tail {
    /// Begins at the file's start, whether the file exists yet or not.
    pub fn new(file: PathBuf) -> Self {
        Self { file, read: 0 }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the lines since the last call. An unfinished one is for the next time.
    pub fn lines(&mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        if let Some(mut file) = open(&self.file)
            && file.seek(SeekFrom::Start(self.read)).is_ok()
        {
            let _rest_later = file.take(BYTES_AT_ONCE).read_to_end(&mut bytes);
        }
        if bytes.len() as u64 == BYTES_AT_ONCE && !bytes.contains(&b'\n') {
            // No useful line is so long.
            self.read += BYTES_AT_ONCE;
            return Vec::new();
        }
        let whole = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        self.read += whole as u64;
        let text = String::from_utf8_lossy(&bytes[..whole]);
        text.lines().map(str::to_owned).collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use super::{BYTES_AT_ONCE, Tail};

    #[test]
    fn a_named_pipe_is_never_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let name = CString::new(pipe.as_os_str().as_bytes()).unwrap();
        // SAFETY: the pointer is to a text that ends in a zero and outlives the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert!(Tail::new(pipe).lines().is_empty());
    }

    #[test]
    fn a_line_without_an_end_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let endless = vec![b'x'; BYTES_AT_ONCE as usize + 3];
        fs::write(&file, [&endless[..], b"\nnext\n"].concat()).unwrap();
        let mut tail = Tail::new(file);
        assert!(tail.lines().is_empty());
        assert_eq!(tail.lines(), ["xxx", "next"]);
    }
}
