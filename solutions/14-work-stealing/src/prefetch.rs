//! The addresses of the tasks that were pushed last, so that a thread that
//! takes them can fetch several at a time.
//!
//! In a linked list, the address of a task is in the task before it. A thread
//! that walks along the list waits for one task after the other, each time as
//! long as a cache line takes from core to core. Lines whose addresses are
//! known beforehand can be fetched together.
//!
//! All of this is a hint. Threads that push at the same time overwrite each
//! other's notes, and the task that a note points to may have ended. So nothing
//! depends on the notes, and they are std's own atomics: no model has to look
//! at them.

use std::array;
use std::ptr::{self, NonNull};
use std::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{self, Relaxed},
};

/// How many notes are kept: about as many as tasks come while a worker polls
/// those that it took before.
const NOTES: usize = 256;
/// How many tasks are being fetched at a time; a core can wait for about as
/// many cache lines.
const AHEAD: usize = 16;

/// Notes of the last tasks, in a ring.
pub struct PrefetchHints {
    written: Written,
    read: Read,
}

/// Threads that push write to it, so it has its cache lines to itself.
#[repr(align(128))]
struct Written {
    notes: [AtomicPtr<()>; NOTES],
}

/// Threads that take write to it, so it has its cache lines to itself, too.
#[repr(align(128))]
struct Read {
    /// The number of the newest task when tasks were last taken.
    newest: AtomicUsize,
}

/// Relaxed: as said above, nothing depends on what is read.
const HINT: Ordering = Relaxed;

impl PrefetchHints {
    pub fn new() -> Self {
        Self {
            written: Written {
                notes: array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            },
            read: Read {
                newest: AtomicUsize::new(0),
            },
        }
    }

    /// Notes the address of the task that is about to be pushed with this
    /// number.
    #[inline]
    pub fn record(&self, number: usize, task: NonNull<()>) {
        let note = &self.written.notes[number % NOTES];
        note.store(task.as_ptr(), HINT);
    }

    /// Begins to fetch the tasks that were noted since the last time, the
    /// newest first, which has this number.
    pub fn fetch(&self, newest: usize) -> Fetch<'_> {
        let fetched = self.read.newest.load(HINT);
        let mut fetch = self.skip(newest);
        fetch.left = newest.wrapping_sub(fetched).min(NOTES);
        (0..AHEAD).for_each(|_| fetch.advance());
        fetch
    }

    /// The same for a thread that has pushed most of the tasks: it fetches
    /// nothing.
    pub fn skip(&self, newest: usize) -> Fetch<'_> {
        self.read.newest.store(newest, HINT);
        Fetch {
            notes: &self.written.notes,
            next: newest,
            left: 0,
        }
    }
}

/// A walk along the notes, some steps ahead of a walk along the tasks.
pub struct Fetch<'a> {
    notes: &'a [AtomicPtr<()>; NOTES],
    /// The number of the next note.
    next: usize,
    left: usize,
}

impl Fetch<'_> {
    /// To be called for each task that the other walk passes.
    #[inline]
    pub fn advance(&mut self) {
        if self.left > 0 {
            self.left -= 1;
            prefetch(self.notes[self.next % NOTES].load(HINT));
            self.next = self.next.wrapping_sub(1);
        }
    }
}

/// Has the processor fetch what a poll of a small task needs: its header, and
/// the future behind that.
#[inline]
pub fn prefetch(task: *const ()) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        for line in 0..2 {
            let line = task.cast::<i8>().wrapping_add(64 * line);
            // SAFETY: this is a hint as well. The program sees nothing that it
            // reads, and no address is wrong.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
        }
    }
    // Elsewhere there is no stable way to prefetch.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = task;
}
