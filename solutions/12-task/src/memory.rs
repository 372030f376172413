//! Memory for tasks: the block that one task leaves behind serves the next.
//!
//! Each thread keeps the blocks of the tasks that ended on it, by size, and
//! uses them for those that it spawns. If one thread spawns and another ends
//! tasks, blocks would pile up on one side and be missing on the other. So they
//! travel back, many at a time, through a depot.
//!
//! This hides from test kits and sanitizers whether a task is used after it was
//! freed, so a scheduler has to request it, with `Schedule::RECYCLES`.

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// Blocks are multiples of this, and begin where a cache line does: two tasks
/// never share a line.
pub const STEP: usize = 64;
/// Tasks larger than this many steps have memory of their own.
pub const CLASSES: usize = 8;
/// This many blocks travel together.
pub const BATCH: usize = 64;
/// The depot keeps this many batches of a class: a burst of ten thousand tasks
/// finds its memory again.
pub const MOST_BATCHES: usize = 256;

/// Returns a place on the heap, to which the caller writes a cell.
#[inline]
pub fn place<C>(recycles: bool) -> NonNull<C> {
    match class_of::<C>(recycles) {
        Some(class) => take_block(class).cast(),
        None => allocate(Layout::new::<C>()).cast(),
    }
}

/// Drops a cell and keeps or frees its memory.
///
/// # Safety
///
/// The caller must pass what [`place`] has returned for the same `recycles`,
/// with a cell in it, and must not use it again.
#[inline]
pub unsafe fn remove<C>(cell: NonNull<C>, recycles: bool) {
    // SAFETY: the cell is there, and is never used again.
    unsafe { cell.drop_in_place() };
    match class_of::<C>(recycles) {
        // SAFETY: `place` took it from the same class.
        Some(class) => unsafe { keep_block(class, cell.cast()) },
        // SAFETY: `place` allocated it with the same layout.
        None => unsafe {
            alloc::dealloc(cell.as_ptr().cast(), Layout::new::<C>());
        },
    }
}

/// The class of cells of this type, unless they have memory of their own.
const fn class_of<C>(recycles: bool) -> Option<usize> {
    let layout = Layout::new::<C>();
    let steps = layout.size().div_ceil(STEP);
    match recycles && layout.align() <= STEP && steps <= CLASSES {
        true => Some(steps - 1),
        false => None,
    }
}

fn layout_of(class: usize) -> Layout {
    let layout = Layout::from_size_align((class + 1) * STEP, STEP);
    layout.expect("the sizes are small, and the alignment a power of two")
}

fn allocate(layout: Layout) -> NonNull<u8> {
    debug_assert!(layout.size() > 0, "a cell has a header");
    // SAFETY: the layout isn't of size zero.
    let place = unsafe { alloc::alloc(layout) };
    NonNull::new(place).unwrap_or_else(|| alloc::handle_alloc_error(layout))
}

/// A block that no task uses. This is the only part of its memory that has a
/// meaning.
struct Block {
    next: Option<NonNull<Block>>,
}

/// Blocks of one class that a thread keeps.
struct FreeList {
    first: Cell<Option<NonNull<Block>>>,
    /// How many are linked from `first`: at most a batch.
    count: Cell<usize>,
    /// The first block of a whole batch. Because of it, a thread that
    /// alternately ends tasks and spawns others doesn't go to the depot each
    /// time.
    spare: Cell<Option<NonNull<Block>>>,
}

struct ThreadCache([FreeList; CLASSES]);

thread_local! {
    static THREAD_CACHE: ThreadCache = const { ThreadCache([const { FreeList::new() }; CLASSES]) };
}

#[inline]
fn take_block(class: usize) -> NonNull<Block> {
    // Fails while the thread ends.
    let block = THREAD_CACHE.try_with(|kept| kept.0[class].pop(class));
    let block = block.ok().flatten();
    block.unwrap_or_else(|| allocate(layout_of(class)).cast())
}

/// # Safety
///
/// The caller must pass a block of this class, and must not use it again.
#[inline]
unsafe fn keep_block(class: usize, block: NonNull<Block>) {
    // SAFETY: passed on.
    let keep = |kept: &ThreadCache| unsafe { kept.0[class].push(class, block) };
    if THREAD_CACHE.try_with(keep).is_err() {
        // SAFETY: passed on; `keep` wasn't called. The layout is that of its
        // class.
        unsafe { alloc::dealloc(block.as_ptr().cast(), layout_of(class)) };
    }
}

impl FreeList {
    const fn new() -> Self {
        Self {
            first: Cell::new(None),
            count: Cell::new(0),
            spare: Cell::new(None),
        }
    }

    #[inline]
    fn pop(&self, class: usize) -> Option<NonNull<Block>> {
        if self.first.get().is_none() {
            self.fetch(class);
        }
        let block = self.first.get()?;
        // SAFETY: a block that is kept is a `Block`.
        self.first.set(unsafe { block.as_ref() }.next);
        self.count.set(self.count.get() - 1);
        Some(block)
    }

    /// # Safety
    ///
    /// As for [`keep_block`].
    #[inline]
    unsafe fn push(&self, class: usize, block: NonNull<Block>) {
        if self.count.get() == BATCH {
            self.send_away(class);
        }
        let next = self.first.replace(Some(block));
        // SAFETY: its memory isn't in use, and is large enough.
        unsafe { block.write(Block { next }) };
        self.count.set(self.count.get() + 1);
    }

    #[cold]
    fn fetch(&self, class: usize) {
        let batch = self.spare.take();
        let batch = batch.or_else(|| DEPOT[class].lock().pop().map(|it| it.0));
        if batch.is_some() {
            self.first.set(batch);
            self.count.set(BATCH);
        }
    }

    #[cold]
    fn send_away(&self, class: usize) {
        self.count.set(0);
        let batch = self.spare.replace(self.first.take());
        let Some(batch) = batch else { return };
        let mut batches = DEPOT[class].lock();
        if batches.len() < MOST_BATCHES {
            return batches.push(Batch(batch));
        }
        drop(batches);
        // SAFETY: the batch is of this class, and was ours.
        unsafe { free(class, Some(batch)) };
    }
}

impl Drop for ThreadCache {
    fn drop(&mut self) {
        for (class, kept) in self.0.iter().enumerate() {
            for blocks in [kept.first.take(), kept.spare.take()] {
                // SAFETY: the blocks are of this class, and were ours.
                unsafe { free(class, blocks) };
            }
        }
    }
}

/// Gives linked blocks back to the system.
///
/// # Safety
///
/// The caller must pass blocks of this class, and must not use them again.
#[cold]
unsafe fn free(class: usize, mut blocks: Option<NonNull<Block>>) {
    while let Some(block) = blocks {
        // SAFETY: a block that is kept is a `Block`.
        blocks = unsafe { block.as_ref() }.next;
        // SAFETY: it was allocated with the layout of its class.
        unsafe { alloc::dealloc(block.as_ptr().cast(), layout_of(class)) };
    }
}

/// Whole batches on their way from threads that have too many blocks.
pub struct Depot(Mutex<Vec<Batch>>);

pub struct Batch(NonNull<Block>);

// SAFETY: the blocks belong to the thread that has the batch.
unsafe impl Send for Batch {}

pub static DEPOT: [Depot; CLASSES] =
    [const { Depot(Mutex::new(Vec::new())) }; CLASSES];

impl Depot {
    pub fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Batch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
