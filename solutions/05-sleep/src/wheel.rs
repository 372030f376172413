//! A hierarchical timing wheel: values, and the ticks at which they are due.
//!
//! A tick is a number of [`LEVELS`] digits of six bits. A value is at the level
//! of the highest digit in which its tick differs from [`Wheel::now`], in the
//! slot with that digit's number. Therefore the values of a level are due
//! before all values of the levels above, and the slots of a level are in
//! order: a word of bits shows the first one. When a slot's time comes, the
//! ticks of its values differ only in lower digits, and the values move down;
//! at level 0 they are due.
//!
//! Inserting and removing only change a list, no matter where in the order it
//! is. The lists are made of indices into one vector, so that nothing is
//! allocated for each value, and there are no pointers.

use super::unused::Unused;

/// Six bits of a tick each: 48 bits in all.
const LEVELS: usize = 8;
const SLOTS: usize = 64;
const _: () = assert!(SLOTS == u64::BITS as usize && SLOTS == 1 << 6);

/// No entry.
const NONE: u32 = u32::MAX;

/// Values of type `T`, each with the tick at which it is due.
pub(crate) struct Wheel<T> {
    /// All before this tick has been taken out.
    now: u64,
    /// For each level, which of its slots aren't empty.
    occupied: [u64; LEVELS],
    /// The first entry of each slot, level by level.
    firsts: [u32; LEVELS * SLOTS],
    /// Its memory is never given back, because asking the system for it again
    /// costs more than everything else. It is little more than enough for the
    /// largest number of values that there have been at once.
    entries: Vec<Entry<T>>,
    unused: Unused,
    insertion_count: u64,
}

struct Entry<T> {
    value: Option<T>,
    tick: u64,
    /// Distinguishes the value from those that had this entry before it.
    serial: u64,
    /// An index into `firsts`.
    slot: u32,
    next: u32,
    previous: u32,
}

/// Finds a value again, as long as it is in the wheel.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    entry: u32,
    serial: u64,
}

impl<T> Wheel<T> {
    pub(crate) fn new() -> Self {
        Self {
            now: 0,
            occupied: [0; LEVELS],
            firsts: [NONE; LEVELS * SLOTS],
            entries: Vec::new(),
            unused: Unused::default(),
            insertion_count: 0,
        }
    }

    /// Puts a value in, or gives it back if its tick has come already.
    pub(crate) fn insert(&mut self, tick: u64, value: T) -> Result<Key, T> {
        debug_assert!(tick >> (6 * LEVELS) == 0, "tick {tick} has more digits");
        if tick <= self.now {
            return Err(value);
        }
        self.insertion_count += 1;
        let serial = self.insertion_count;
        let entry = Entry {
            value: Some(value),
            tick,
            serial,
            slot: 0,
            next: NONE,
            previous: NONE,
        };
        let entry = self.store(entry);
        self.link(entry);
        Ok(Key { entry, serial })
    }

    /// The value of `key`, if it is still in the wheel.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let entry = self.entries.get_mut(key.entry as usize)?;
        entry.value.as_mut().filter(|_| entry.serial == key.serial)
    }

    /// Takes the value of `key` out, if it is still in the wheel.
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        self.get_mut(key)?;
        self.unlink(key.entry);
        self.free(key.entry)
    }

    /// Takes a value out that is due at `tick`, if there is one.
    pub(crate) fn pop_due(&mut self, tick: u64) -> Option<T> {
        while let Some((level, slot, start)) = self.first_slot() {
            if start > tick {
                break;
            }
            self.now = self.now.max(start);
            let first = self.firsts[slot];
            if level == 0 {
                self.unlink(first);
                return self.free(first);
            }
            self.move_down(slot);
        }
        self.now = self.now.max(tick);
        None
    }

    /// The tick at which something is due, or has to move down.
    pub(crate) fn next_tick(&self) -> Option<u64> {
        self.first_slot().map(|(_level, _slot, start)| start)
    }

    /// The level, the index and the first tick of the slot that comes first.
    fn first_slot(&self) -> Option<(usize, usize, u64)> {
        let level = self.occupied.iter().position(|slots| *slots != 0)?;
        let digit = self.occupied[level].trailing_zeros() as usize;
        let shift = 6 * level;
        let above = self.now >> shift >> 6 << 6 << shift;
        let start = above | (digit as u64) << shift;
        Some((level, level * SLOTS + digit, start))
    }

    /// Spreads the values of a slot, whose time has come, over the levels
    /// below.
    fn move_down(&mut self, slot: usize) {
        let mut index = std::mem::replace(&mut self.firsts[slot], NONE);
        self.occupied[slot / SLOTS] &= !(1 << (slot % SLOTS));
        while index != NONE {
            let next = self.entries[index as usize].next;
            self.link(index);
            index = next;
        }
    }

    /// Puts an entry in the slot that its tick belongs to now.
    fn link(&mut self, index: u32) {
        let tick = self.entries[index as usize].tick;
        let differing = tick ^ self.now;
        let level = differing.checked_ilog2().unwrap_or(0) as usize / 6;
        let digit = (tick >> (6 * level)) as usize % SLOTS;
        let slot = level * SLOTS + digit;
        self.occupied[level] |= 1 << digit;
        let next = std::mem::replace(&mut self.firsts[slot], index);
        let entry = &mut self.entries[index as usize];
        entry.slot = slot as u32;
        entry.next = next;
        entry.previous = NONE;
        if next != NONE {
            self.entries[next as usize].previous = index;
        }
    }

    /// Takes an entry out of its slot.
    fn unlink(&mut self, index: u32) {
        let Entry {
            slot,
            next,
            previous,
            ..
        } = self.entries[index as usize];
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        if previous != NONE {
            self.entries[previous as usize].next = next;
            return;
        }
        let slot = slot as usize;
        self.firsts[slot] = next;
        if next == NONE {
            self.occupied[slot / SLOTS] &= !(1 << (slot % SLOTS));
        }
    }

    /// Finds room for an entry.
    fn store(&mut self, entry: Entry<T>) -> u32 {
        if let Some(index) = self.unused.take() {
            self.entries[index as usize] = entry;
            return index;
        }
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    /// Takes the value out of an entry that is in no slot.
    fn free(&mut self, index: u32) -> Option<T> {
        self.unused.put(index);
        self.entries[index as usize].value.take()
    }
}
