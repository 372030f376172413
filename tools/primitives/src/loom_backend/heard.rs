//! What loom says of itself while an execution is recorded: when a thread falls asleep, and which
//! one a notification wakes. Both happen in the midst of an operation, after other threads may have
//! had their turn.

use std::fmt::{self, Write};

use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::{Interest, Subscriber};
use tracing_core::{Dispatch, Event, LevelFilter, Metadata, dispatcher};

use crate::record;

/// Hears loom while `body` runs.
pub(super) fn with_ears<R>(body: impl FnOnce() -> R) -> R {
    dispatcher::with_default(&Dispatch::new(Ears), body)
}

struct Ears;

/// Where loom puts threads to sleep, and where it wakes them.
const TARGETS: [&str; 2] = ["loom::rt", "loom::rt::condvar"];

fn matters(metadata: &Metadata<'_>) -> bool {
    metadata.is_event() && TARGETS.contains(&metadata.target())
}

impl Subscriber for Ears {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        match matters(metadata) {
            true => Interest::always(),
            false => Interest::never(),
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        matters(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }

    fn event(&self, event: &Event<'_>) {
        if !record::is_on() {
            return;
        }
        let mut said = Said::default();
        event.record(&mut said);
        match said.message.as_str() {
            // A wake-up that came before keeps it awake.
            "park" if !said.state.contains("unparked: true") => {
                for thread in numbers(&said.threads) {
                    record::note_sleep(thread);
                }
            }
            "Condvar::notify_one" | "Condvar::notify_all" => {
                for thread in numbers(&said.threads) {
                    record::note_wake(thread);
                }
            }
            _ => {}
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The fields of an event that matter.
#[derive(Default)]
struct Said {
    message: String,
    /// `Id(1)`, `Some(Id(1))`, `[Id(1), Id(2)]`.
    threads: String,
    state: String,
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = match field.name() {
            "message" => &mut self.message,
            "thread" | "threads" => &mut self.threads,
            "active.state" => &mut self.state,
            _ => return,
        };
        let _ = write!(text, "{value:?}");
    }
}

/// The numbers in `[Id(1), Id(2)]`.
fn numbers(ids: &str) -> Vec<usize> {
    let parts = ids.split(|character: char| !character.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_threads_of_an_event_are_read() {
        assert_eq!(super::numbers("[Id(1), Id(12)]"), [1, 12]);
        assert_eq!(super::numbers("Some(Id(0))"), [0]);
        assert!(super::numbers("None").is_empty());
    }
}
