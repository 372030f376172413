//! What the handlers of requests share.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use super::announcer::Announcer;
use super::console::Console;
use crate::runner::Runner;
use crate::workshop::Workshop;

/// What every request can use.
pub struct App {
    pub workshop: Workshop,
    pub runner: Runner,
    pub book: Arc<RwLock<PathBuf>>,
    pub announcer: Arc<Announcer>,
    pub console: Arc<Console>,
}
