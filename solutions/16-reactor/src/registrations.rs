//! Finds the source of an event.
//!
//! An event carries the key that its source was registered with: an index and a
//! generation. An index is reused, but each time with a new generation, so an
//! event that was fetched before its source was dropped finds no entry. A file
//! descriptor wouldn't do as the key, because the system reuses it at once. A
//! pointer would have to stay valid until no fetched event carries it.

use std::io;
use std::sync::Arc;

use super::shut_down_error;
use readiness::Readiness;

/// A key has its index in the lower half of its bits and its generation in the
/// upper half. An event could reach the wrong source only if, between its fetch
/// and its dispatch, every generation of an index were used once: on a 64-bit
/// machine, four billion of them.
const HALF: u32 = usize::BITS / 2;

/// The key of the driver's own waker. No source has this key.
pub const RESERVED: usize = usize::MAX;

/// The registered sources.
#[derive(Default)]
pub struct Registrations {
    entries: Vec<Entry>,
    unused: Vec<usize>,
    is_shut_down: bool,
}

struct Entry {
    generation: usize,
    registered: Option<Registered>,
}

/// The driver's entry for a source.
#[derive(Clone)]
pub struct Registered {
    pub readiness: Arc<Readiness>,
    /// `true` for a stream, whose directions may be closed.
    pub is_stream: bool,
}

impl Registrations {
    /// Adds a source and returns its key.
    pub fn insert(&mut self, registered: Registered) -> io::Result<usize> {
        if self.is_shut_down {
            return Err(shut_down_error());
        }
        let index = match self.unused.pop() {
            Some(index) => index,
            None if self.entries.len() == RESERVED >> HALF => {
                return Err(io::Error::other("too many sources"));
            }
            None => {
                self.entries.push(Entry {
                    generation: 0,
                    registered: None,
                });
                self.entries.len() - 1
            }
        };
        let entry = &mut self.entries[index];
        entry.registered = Some(registered);
        Ok(index | entry.generation << HALF)
    }

    // ANCHOR: get
    pub fn get(&self, key: usize) -> Option<&Registered> {
        let (index, generation) = split(key);
        let entry = self.entries.get(index)?;
        let registered = entry.registered.as_ref();
        registered.filter(|_| entry.generation == generation)
    }
    // ANCHOR_END: get

    pub fn remove(&mut self, key: usize) -> Option<Registered> {
        self.get(key)?;
        let (index, generation) = split(key);
        let entry = &mut self.entries[index];
        entry.generation = generation.wrapping_add(1) % (1 << HALF);
        self.unused.push(index);
        entry.registered.take()
    }

    /// Refuses new sources from now on, and returns the registered ones.
    pub fn shut_down(&mut self) -> Vec<Registered> {
        self.is_shut_down = true;
        let registered = self.entries.iter().map(|entry| &entry.registered);
        registered.flatten().cloned().collect()
    }
}

fn split(key: usize) -> (usize, usize) {
    (key % (1 << HALF), key >> HALF)
}

#[cfg(test)]
#[path = "registrations_tests.rs"]
mod registrations_tests;
