//! Where the filter hasn't been written for the processor: the door is open.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use super::news::News;
use super::streams::Streams;

/// A door that doesn't exist.
pub struct Door;

impl Door {
    /// Refuses: the census must do.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn install(
        _most: usize,
        _news: SyncSender<News>,
        _streams: Arc<Streams>,
    ) -> io::Result<Arc<Self>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Does nothing.
    pub fn close(&self) {}
}
