//! Another correct design: a token is a message in a channel, and `park` takes
//! all the messages that are there. A channel with room for one message isn't
//! enough: a message that finds it full isn't sent, and so publishes nothing.

use primitives::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// Lets a thread sleep until another thread leaves it a token.
pub struct Parker {
    unparker: Unparker,
    tokens: Receiver<()>,
}

/// Unparks the thread that is parked in the [`Parker`] that it came from.
#[derive(Clone)]
pub struct Unparker(Sender<()>);

impl Parker {
    /// Makes a parker without a token.
    pub fn new() -> Self {
        let (unparker, tokens) = mpsc::channel();
        Self {
            unparker: Unparker(unparker),
            tokens,
        }
    }

    /// Sleeps until there is a token, and takes it.
    pub fn park(&self) {
        self.tokens
            .recv()
            .expect("the parker has a sender of its own");
        self.take_the_others();
    }

    /// Sleeps until there is a token or `timeout` has passed. Returns `true`
    /// if it has taken a token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        let took = self.tokens.recv_timeout(timeout).is_ok();
        // A token that comes after the time is up is left for the next call.
        if took {
            self.take_the_others();
        }
        took
    }

    /// Two tokens are one.
    fn take_the_others(&self) {
        while self.tokens.try_recv().is_ok() {}
    }

    /// Creates an unparker of this parker.
    pub fn unparker(&self) -> Unparker {
        self.unparker.clone()
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Unparker {
    /// Leaves a token, and wakes the thread if it is parked.
    pub fn unpark(&self) {
        // Fails when the parker is gone, so that there is no thread to wake.
        let _ = self.0.send(());
    }
}

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let parker = Parker::new();
    let unparker = parker.unparker();
    super::poll_and_park(future, || parker.park(), move || unparker.unpark())
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/02-parker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/02-parker/src/tests/mod.rs"]
mod tests;
