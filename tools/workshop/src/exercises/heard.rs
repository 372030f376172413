//! What a build says, at once or once it may be heard.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::events::{Event, Events, send};

/// What a build says, which is kept until it may be heard.
pub struct Heard(Mutex<Option<Vec<Event>>>);

impl Heard {
    /// All is said at once.
    pub fn at_once() -> Self {
        Self(Mutex::new(None))
    }

    /// All is kept for now.
    pub fn later() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }

    fn kept(&self) -> MutexGuard<'_, Option<Vec<Event>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if all is said at once.
    pub fn is_now(&self) -> bool {
        self.kept().is_none()
    }

    /// Says what was kept, and from now on everything at once.
    pub fn now(&self, events: &Events) {
        let kept = self.kept().take().into_iter().flatten();
        kept.for_each(|event| send(events, event));
    }

    /// Says this, or keeps it.
    pub fn say(&self, events: &Events, event: Event) {
        match &mut *self.kept() {
            Some(kept) => kept.push(event),
            None => send(events, event),
        }
    }
}
