//! The panics of an execution. A checker may abort the process while it unwinds, so some are the
//! last opportunity to write.

use std::panic::{self, PanicHookInfo};

use super::log::Entry;
use super::{finish, with_log};

/// How a checker's own verdicts read. Nothing that follows one belongs to the execution.
const VERDICTS: [&str; 4] = [
    "deadlock",
    "Causality violation",
    "exceeded maximum number of branches",
    "exceeded max_steps",
];

/// How the message of the panic begins that std raises just before it aborts.
const BEFORE_ABORT: &str = "panic in a ";

/// Notes each panic from now on.
pub fn watch() {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        hear(info);
        others(info);
    }));
}

fn hear(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or_default();
    if message.starts_with(BEFORE_ABORT) {
        let first = with_log(|log| log.last_panic());
        finish(&first.flatten().unwrap_or_default());
        return;
    }
    #[cfg(all(feature = "shuttle", not(feature = "loom")))]
    if message.starts_with("deadlock") {
        with_log(|log| log.put_last_to_sleep());
    }
    let place = info.location();
    with_log(|log| {
        let thread = log.running();
        log.order.push(Entry::Panic {
            thread,
            message: message.to_owned(),
            place: place.map(|at| (at.file().to_owned(), at.line())),
        });
    });
    if VERDICTS.iter().any(|verdict| message.contains(verdict)) {
        finish(message);
    }
}
