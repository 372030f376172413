//! Reads a file that grows, line by line.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

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
        if let Ok(mut file) = File::open(&self.file)
            && file.seek(SeekFrom::Start(self.read)).is_ok()
        {
            let _rest_later = file.read_to_end(&mut bytes);
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
