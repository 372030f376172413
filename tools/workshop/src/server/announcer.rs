//! Tells every open page what concerns them all.

use std::sync::{Mutex, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::events::{Event, Events, send};

/// The open pages, and what a new one has to know.
pub struct Announcer {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pages: Vec<Events>,
    book_error: Option<String>,
}

impl Announcer {
    /// Creates an announcer for a book with these complaints.
    pub fn new(complaints: Vec<String>) -> Self {
        let book_error = (!complaints.is_empty()).then(|| complaints.join("\n"));
        Self {
            state: Mutex::new(State {
                pages: Vec::new(),
                book_error,
            }),
        }
    }

    /// Adds a page; it is told at once if the book has a fault.
    pub fn subscribe(&self) -> UnboundedReceiver<Event> {
        let (events, receiver) = unbounded_channel();
        let mut state = self.lock();
        if state.book_error.is_some() {
            let message = state.book_error.clone();
            send(&events, Event::BookError { message });
        }
        state.pages.push(events);
        receiver
    }

    /// Tells all pages, and forgets those that are gone.
    pub fn announce(&self, event: Event) {
        let mut state = self.lock();
        state.pages.retain(|page| page.send(event.clone()).is_ok());
    }

    /// Tells all pages to load the book's new build.
    pub fn book_is_good(&self) {
        let mended = self.lock().book_error.take().is_some();
        if mended {
            self.announce(Event::BookError { message: None });
        }
        self.announce(Event::Reload);
    }

    /// Tells all pages, and those still to come, what is wrong with the book.
    pub fn book_is_bad(&self, message: String) {
        self.lock().book_error = Some(message.clone());
        let message = Some(message);
        self.announce(Event::BookError { message });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
