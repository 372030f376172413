//! Folders for the compiler's incremental state.
//!
//! A reader who edits a snippet compiles almost the same text again and again.
//! The page doesn't say which snippet a text comes from, so each slot remembers
//! its last text, and a run takes the slot whose text is most like its own.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::request::{Mode, Request};
use crate::problem::Problem;

/// So many slots are kept on disk.
const SLOTS_MOST: usize = 24;

/// The slots.
pub struct Slots {
    folder: PathBuf,
    slots: Mutex<Vec<Slot>>,
}

struct Slot {
    number: usize,
    kind: (Mode, bool),
    code: String,
    busy: bool,
}

/// A slot that one run has to itself.
pub struct Claimed<'a> {
    folder: PathBuf,
    number: usize,
    slots: &'a Mutex<Vec<Slot>>,
}

impl Slots {
    /// Creates the slots in `folder`.
    pub fn new(folder: PathBuf) -> Self {
        // The texts of an earlier process aren't known anymore.
        let _absent = std::fs::remove_dir_all(&folder);
        Self {
            folder,
            slots: Mutex::default(),
        }
    }

    /// Claims a slot for the request, and writes its code to `main.rs` there.
    ///
    /// # Errors
    ///
    /// When the folder can't be written to.
    pub fn claim(&self, request: &Request) -> Result<Claimed<'_>, Problem> {
        let number = self.choose(request);
        let folder = self.folder.join(number.to_string());
        let claimed = Claimed {
            folder,
            number,
            slots: &self.slots,
        };
        std::fs::create_dir_all(&claimed.folder)
            .and_then(|()| std::fs::write(claimed.folder.join("main.rs"), &request.code))
            .map_err(|error| {
                let folder = claimed.folder.display();
                Problem::new(format!("`{folder}` cannot be written to: {error}"))
                    .help("make room on the disk, or change the folder's owner")
            })?;
        Ok(claimed)
    }

    fn choose(&self, request: &Request) -> usize {
        let kind = (request.mode, request.tests);
        let mut slots = self.slots.lock().expect("no claim panics");
        let alike = |slot: &Slot| shared_length(&slot.code, &request.code);
        let best = (0..slots.len())
            .filter(|&at| !slots[at].busy && slots[at].kind == kind)
            .max_by_key(|&at| alike(&slots[at]))
            .filter(|&at| alike(&slots[at]) * 2 >= request.code.len());
        // Slots move to the end when they are used, so the first is the oldest.
        let oldest = || slots.iter().position(|slot| !slot.busy);
        let reused = match best {
            Some(best) => Some(best),
            None if slots.len() >= SLOTS_MOST => oldest(),
            None => None,
        };
        let number = match reused {
            Some(at) => slots.remove(at).number,
            None => (0..)
                .find(|number| slots.iter().all(|slot| slot.number != *number))
                .unwrap_or(0),
        };
        slots.push(Slot {
            number,
            kind,
            code: request.code.clone(),
            busy: true,
        });
        number
    }
}

impl Claimed<'_> {
    /// The slot's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        let mut slots = self.slots.lock().expect("no claim panics");
        for slot in slots.iter_mut().filter(|slot| slot.number == self.number) {
            slot.busy = false;
        }
    }
}

/// The length of the common beginning and the common end: an edit is mostly in
/// one place.
fn shared_length(old: &str, new: &str) -> usize {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let beginning = old
        .iter()
        .zip(new)
        .take_while(|(old, new)| old == new)
        .count();
    let (old, new) = (&old[beginning..], &new[beginning..]);
    let end = old.iter().rev().zip(new.iter().rev());
    beginning + end.take_while(|(old, new)| old == new).count()
}

#[cfg(test)]
mod tests {
    use super::super::request::{Mode, Request, TimeLimit};
    use super::{SLOTS_MOST, Slots};

    fn request(code: &str, mode: Mode) -> Request {
        Request {
            code: code.into(),
            mode,
            tests: false,
            limit: TimeLimit::Usual,
        }
    }

    #[test]
    fn an_edited_text_gets_the_slot_of_its_former_self() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(folder.path().join("incremental"));
        let hello = "fn main() { println!(\"hello\"); }";
        let number = |code, mode| slots.claim(&request(code, mode)).unwrap().number;

        let first = number(hello, Mode::Debug);
        assert_ne!(
            number("mod other { pub const N: usize = 3_000; }", Mode::Debug),
            first
        );
        assert_eq!(
            number("fn main() { println!(\"hullo\"); }", Mode::Debug),
            first
        );
        assert_ne!(
            number(hello, Mode::Release),
            first,
            "other flags, other state"
        );

        let busy = slots.claim(&request(hello, Mode::Debug)).unwrap();
        assert_eq!(busy.number, first);
        assert_ne!(
            number(hello, Mode::Debug),
            first,
            "two runs never share a slot"
        );
    }

    #[test]
    fn the_number_of_slots_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(folder.path().join("incremental"));
        for n in 0..2 * SLOTS_MOST as u32 {
            let code = char::from_u32('a' as u32 + n)
                .unwrap()
                .to_string()
                .repeat(9);
            slots.claim(&request(&code, Mode::Debug)).unwrap();
        }
        let folders = std::fs::read_dir(folder.path().join("incremental")).unwrap();
        assert_eq!(folders.count(), SLOTS_MOST);
    }
}
