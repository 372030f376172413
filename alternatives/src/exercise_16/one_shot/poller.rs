//! The crate polling, as this design uses it.

use std::io;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use polling::{Event, Events};

/// An event: what a source is ready for.
pub struct Found {
    pub key: usize,
    pub readable: bool,
    pub writable: bool,
}

/// Waits for events of the directions that are armed. An event disarms both
/// directions of its source.
pub struct Poller(polling::Poller);

impl Poller {
    pub fn new() -> io::Result<Self> {
        Ok(Self(polling::Poller::new()?))
    }

    /// Adds a source, with no direction armed. The caller must delete it before
    /// it's closed.
    pub fn add(&self, source: BorrowedFd<'_>, key: usize) -> io::Result<()> {
        let nothing = Event::none(key);
        // SAFETY: the caller deletes the source before it's closed.
        unsafe { self.0.add(source.as_raw_fd(), nothing) }
    }

    /// Arms these directions of a source, and disarms the others.
    pub fn arm(
        &self,
        source: BorrowedFd<'_>,
        key: usize,
        (read, write): (bool, bool),
    ) -> io::Result<()> {
        self.0.modify(source, Event::new(key, read, write))
    }

    pub fn delete(&self, source: BorrowedFd<'_>, _key: usize) {
        // This fails only if the source isn't there.
        let _ = self.0.delete(source);
    }

    /// Waits, at most for the given time, and adds what it finds.
    pub fn wait(&self, timeout: Option<Duration>, found: &mut Vec<Found>) {
        let mut events = Events::new();
        match self.0.wait(&mut events, timeout) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => unreachable!("it can't wait for events: {error}"),
        }
        found.extend(events.iter().map(|event| Found {
            key: event.key,
            readable: event.readable,
            writable: event.writable,
        }));
    }

    /// Ends the current wait, or the next one.
    pub fn notify(&self) {
        self.0.notify().expect("the system can end a wait");
    }
}
