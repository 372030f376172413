//! What the server says in its terminal.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::runner::Mode;
use crate::terminal::{StatusLine, bar, harmless, is_live};

/// Standard output and standard error, usually a terminal. A reader who has closed
/// it reads on in the browser, so write errors are ignored here.
pub struct Console {
    live: bool,
    status: Mutex<StatusLine>,
}

impl Console {
    /// Creates the only one.
    pub fn new() -> Self {
        let live = is_live(&io::stdout());
        Self {
            live,
            status: Mutex::new(StatusLine::new(live)),
        }
    }

    /// Says something.
    pub fn say(&self, text: &str) {
        let _status = self.cleared();
        let _unheard = writeln!(io::stdout(), "{}", harmless(text));
    }

    /// Says what is wrong.
    pub fn complain(&self, text: &str) {
        let _status = self.cleared();
        let _unheard = writeln!(io::stderr(), "{}", harmless(text));
    }

    /// Says how far the crates are.
    pub fn tell_crates(&self, mode: Mode, done: usize, total: usize) {
        if total == 0 {
            return;
        }
        let what = format!("Building the snippets' crates ({mode:?})");
        if self.live {
            let text = format!("{what} {}", bar(done, total));
            let _unseen = self.lock().show(&mut io::stdout(), &text);
        } else if done.is_multiple_of(10) {
            // One line for every ten is enough to see that it moves.
            self.say(&format!("{what}: {done} of {total}."));
        }
    }

    fn cleared(&self) -> MutexGuard<'_, StatusLine> {
        let mut status = self.lock();
        let _unseen = status.clear(&mut io::stdout());
        status
    }

    fn lock(&self) -> MutexGuard<'_, StatusLine> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
