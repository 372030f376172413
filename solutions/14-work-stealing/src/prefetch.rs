//! Where the tasks lie that were pushed last, so that whoever takes them can
//! fetch several at a time.
//!
//! The address of a task in a linked list stands in the task before it. Who
//! walks along the list waits for one task after the other, each time as long
//! as a cache line needs from core to core. Addresses that are known beforehand
//! can be asked for together.
//!
//! All of this is a hint. Threads that push at the same time overwrite each
//! other's notes, and what a note speaks of may have ended. So nothing depends
//! on them, and they are std's own atomics: no model has to look at them.

use std::array;
use std::ptr::{self, NonNull};
use std::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{self, Relaxed},
};

/// So many notes are kept: about as many tasks as come while a worker polls
/// those that it took before.
const NOTES: usize = 256;
/// So many tasks are under way at a time; a core can wait for about as many
/// cache lines.
const AHEAD: usize = 16;

/// Notes of the last tasks, in a circle.
pub struct PrefetchHints {
    written: Written,
    read: Read,
}

/// Those who push write to it, so it has its cache lines for itself.
#[repr(align(128))]
struct Written {
    notes: [AtomicPtr<()>; NOTES],
}

/// And so have those who take.
#[repr(align(128))]
struct Read {
    /// The number of the newest when the last one took.
    newest: AtomicUsize,
}

/// Relaxed: see above, nothing depends on what these say.
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

    /// Notes where a task lies that is about to be pushed, with this number.
    #[inline]
    pub fn record(&self, number: usize, task: NonNull<()>) {
        let note = &self.written.notes[number % NOTES];
        note.store(task.as_ptr(), HINT);
    }

    /// Begins to fetch what was noted since the last time, the newest first:
    /// that is of this number.
    pub fn fetch(&self, newest: usize) -> Fetch<'_> {
        let fetched = self.read.newest.load(HINT);
        let mut fetch = Fetch {
            left: newest.wrapping_sub(fetched).min(NOTES),
            ..self.skip(newest)
        };
        (0..AHEAD).for_each(|_| fetch.advance());
        fetch
    }

    /// The same for those who have pushed most of them: they fetch nothing.
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

/// Lets the processor fetch what is needed to poll a small task: its header,
/// and the future behind it.
#[inline]
pub fn prefetch(task: *const ()) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        for line in 0..2 {
            let line = task.cast::<i8>().wrapping_add(64 * line);
            // SAFETY: this is a hint as well. It reads nothing that the program
            // could see, and no address is wrong.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
        }
    }
    // Elsewhere there is no stable way to ask.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = task;
}
