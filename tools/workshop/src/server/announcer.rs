//! Tells every open page what concerns them all.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::events::{Event, Events, send};

/// As many pages as a reader may have open. Each holds a connection.
pub const PAGES_MOST: usize = 100;

/// The open pages, and what a new one has to know.
pub struct Announcer {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pages: Vec<Events>,
    book_error: Option<String>,
    /// Crates built and to be built, while they are.
    crates: Option<(usize, usize)>,
    /// What was told of the checks that go on, by their names.
    checks: BTreeMap<String, Vec<Event>>,
}

impl Announcer {
    /// Creates an announcer for a book with these complaints.
    pub fn new(complaints: Vec<String>) -> Self {
        let book_error = (!complaints.is_empty()).then(|| complaints.join("\n"));
        Self {
            state: Mutex::new(State {
                pages: Vec::new(),
                book_error,
                crates: None,
                checks: BTreeMap::new(),
            }),
        }
    }

    /// Adds a page; it is told at once if the book has a fault and how far the
    /// crates are. Returns `None` if there are too many pages.
    pub fn subscribe(&self) -> Option<UnboundedReceiver<Event>> {
        let (events, receiver) = unbounded_channel();
        let mut state = self.lock();
        state.pages.retain(|page| !page.is_closed());
        if state.pages.len() >= PAGES_MOST {
            return None;
        }
        if state.book_error.is_some() {
            let message = state.book_error.clone();
            send(&events, Event::BookError { message });
        }
        if let Some((done, total)) = state.crates {
            send(&events, Event::Building { done, total });
        }
        for event in state.checks.values().flatten() {
            send(&events, event.clone());
        }
        state.pages.push(events);
        Some(receiver)
    }

    /// Tells all pages, and forgets those that are gone.
    pub fn announce(&self, event: Event) {
        let mut state = self.lock();
        state.pages.retain(|page| page.send(event.clone()).is_ok());
    }

    /// Tells all pages what a check has found, and those still to come while it
    /// goes on.
    pub fn check_goes_on(&self, run: String, event: Event) {
        let is_over =
            matches!(&event, Event::Elsewhere { event, .. } if matches!(**event, Event::Exit(_)));
        let mut state = self.lock();
        if is_over {
            state.checks.remove(&run);
        } else {
            state.checks.entry(run).or_default().push(event.clone());
        }
        drop(state);
        self.announce(event);
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

    /// Tells all pages, and those still to come, how far the crates are.
    pub fn crates_are_building(&self, done: usize, total: usize) {
        self.lock().crates = Some((done, total));
        self.announce(Event::Building { done, total });
    }

    /// Tells all pages that there is nothing left to wait for.
    pub fn crates_are_done(&self) {
        let crates = self.lock().crates.take();
        if let Some((_, total)) = crates {
            let done = total;
            self.announce(Event::Building { done, total });
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Exit, Reason};

    #[test]
    fn a_page_that_opens_late_learns_how_far_the_crates_are() {
        let announcer = Announcer::new(Vec::new());
        announcer.crates_are_building(3, 10);
        let mut page = announcer.subscribe().expect("the first page");
        let (done, total) = (3, 10);
        assert_eq!(page.try_recv(), Ok(Event::Building { done, total }));
        announcer.crates_are_done();
        let done = total;
        assert_eq!(page.try_recv(), Ok(Event::Building { done, total }));
        let mut later = announcer.subscribe().expect("the second page");
        assert!(later.try_recv().is_err(), "there is nothing to tell");
    }

    #[test]
    fn a_page_that_opens_late_learns_what_a_check_has_found_so_far() {
        let announcer = Announcer::new(Vec::new());
        let news = |event| Event::Elsewhere {
            number: 1,
            run: "one".into(),
            event: Box::new(event),
        };
        announcer.check_goes_on("one".into(), news(Event::Compiling));
        let mut page = announcer.subscribe().expect("the first page");
        assert_eq!(page.try_recv(), Ok(news(Event::Compiling)));
        let exit = Event::Exit(Exit {
            reason: Reason::Killed,
            code: None,
            compile_ms: None,
            run_ms: None,
            message: None,
        });
        announcer.check_goes_on("one".into(), news(exit.clone()));
        assert_eq!(page.try_recv(), Ok(news(exit)));
        let mut later = announcer.subscribe().expect("the second page");
        assert!(later.try_recv().is_err(), "the check is over");
    }

    #[test]
    fn a_closed_page_makes_room_for_another() {
        let announcer = Announcer::new(Vec::new());
        let mut pages: Vec<_> = (0..PAGES_MOST).map(|_| announcer.subscribe()).collect();
        assert!(pages.iter().all(Option::is_some));
        assert!(announcer.subscribe().is_none(), "one page too many");
        pages.pop();
        assert!(announcer.subscribe().is_some(), "one page has gone");
    }
}
