//! Collects what mdBook only logs: it builds the book even if an include names a
//! file that doesn't exist, and says so in a log that isn't shown.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Starts to listen, once for the whole process.
pub fn listen() {
    // A second call finds the first one's listener, which is as good.
    let _already = tracing::subscriber::set_global_default(Listener);
}

/// Takes what was heard since the last call.
pub fn take() -> Vec<String> {
    std::mem::take(&mut HEARD.lock().unwrap_or_else(PoisonError::into_inner))
}

struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.target().starts_with("mdbook")
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        HEARD
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(message.0);
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
