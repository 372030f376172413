//! What the handlers of requests share.

use std::sync::Arc;

use super::announcer::Announcer;
use super::console::Console;
use crate::book::Current;
use crate::runner::Runner;
use crate::workshop::Workshop;

/// What every request can use.
pub struct App {
    pub workshop: Workshop,
    pub runner: Runner,
    pub book: Current,
    pub announcer: Arc<Announcer>,
    pub console: Arc<Console>,
}
