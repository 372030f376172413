//! Which source an event is of.
//!
//! An event carries the key that its source was registered with: an index and a
//! generation. The index is used again, and its generation is a new one each
//! time, so that an event that was fetched before its source went finds
//! nothing. A file descriptor as the key would be used again by the system, and
//! a pointer would have to be kept until no event carries it any more.

use std::io;
use std::sync::Arc;

use readiness::Readiness;

/// A key has its index in the lower half of its bits, and its generation in the
/// upper half. It would take as many sources as there are generations to come
/// and go at one index, between the fetching of an event and its dispatch, for
/// an event to reach the wrong one: four billion on a machine of 64 bits.
const HALF: u32 = usize::BITS / 2;

/// No source has this key.
pub const RESERVED: usize = usize::MAX;

/// All sources that are registered.
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

/// A source, as the driver sees it.
#[derive(Clone)]
pub struct Registered {
    pub readiness: Arc<Readiness>,
    /// Whether it's a stream, which may be closed.
    pub is_stream: bool,
}

impl Registrations {
    /// Returns the key of the new one.
    pub fn insert(&mut self, registered: Registered) -> io::Result<usize> {
        if self.is_shut_down {
            return Err(shut_down());
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

    /// Refuses others from now on, and returns all that are here.
    pub fn shut_down(&mut self) -> Vec<Registered> {
        self.is_shut_down = true;
        let registered = self.entries.iter().map(|entry| &entry.registered);
        registered.flatten().cloned().collect()
    }
}

fn split(key: usize) -> (usize, usize) {
    (key % (1 << HALF), key >> HALF)
}

/// The error of all that is asked of a driver that has ended.
pub fn shut_down() -> io::Error {
    let ended = "the runtime that this belongs to was shut down";
    io::Error::new(io::ErrorKind::NotConnected, ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Registered {
        Registered {
            readiness: Arc::new(Readiness::new()),
            is_stream: true,
        }
    }

    #[test]
    fn a_key_of_an_old_one_finds_no_new_one_in_its_place() {
        let mut registrations = Registrations::default();
        let old = registrations.insert(stream()).unwrap();
        assert!(registrations.remove(old).is_some());
        let new = registrations.insert(stream()).unwrap();
        assert_eq!(split(old).0, split(new).0, "the index is used again");
        assert!(registrations.get(old).is_none());
        assert!(registrations.remove(old).is_none());
        assert!(registrations.get(new).is_some());
    }

    #[test]
    fn generations_begin_again_after_the_last() {
        let mut registrations = Registrations::default();
        let key = registrations.insert(stream()).unwrap();
        registrations.remove(key);
        registrations.entries[0].generation = (1 << HALF) - 1;
        let last = registrations.insert(stream()).unwrap();
        assert!(registrations.remove(last).is_some());
        let first = registrations.insert(stream()).unwrap();
        assert_eq!(split(first), (0, 0));
    }
}
