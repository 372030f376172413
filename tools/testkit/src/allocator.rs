//! The one global allocator of every test binary. It counts, and it turns memory errors into
//! messages: a block that is freed with another layout or twice ends the process with a sentence,
//! and a freed block contains [`POISON`] and is kept for a while, so that reading it shows. Miri
//! sees all that by itself, and sees more where a block has no header, so there the allocator only
//! counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::thread::{self, LocalKey};
use std::time::Duration;

use Ordering::{Acquire, Relaxed, Release};

#[global_allocator]
static ALLOCATOR: CheckingAllocator = CheckingAllocator;

struct CheckingAllocator;

/// Precedes each block.
#[repr(C, align(16))]
struct Header {
    size: usize,
    align: usize,
    state: AtomicUsize,
}

const LIVE: usize = 0x11FE_11FE;
/// A block of a thread that [isn't counted](leave_this_thread_uncounted).
const LIVE_UNCOUNTED: usize = 0x11FE_0000;
const FREED: usize = 0xDEAD_DEAD;
/// What a freed block is filled with.
const POISON: u8 = 0xDE;

/// What [`allocations`] counted on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocations {
    /// Blocks allocated.
    pub count: u64,
    /// Bytes in them.
    pub bytes: u64,
}

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
    static IS_SLOW: Cell<bool> = const { Cell::new(false) };
    static REUSES: Cell<bool> = const { Cell::new(false) };
    static IS_COUNTED: Cell<bool> = const { Cell::new(true) };
}

static LIVE_BLOCKS: AtomicIsize = AtomicIsize::new(0);
static LIVE_BYTES: AtomicIsize = AtomicIsize::new(0);

/// Runs `body` and counts what this thread allocates meanwhile.
pub fn allocations<R>(body: impl FnOnce() -> R) -> (R, Allocations) {
    let before = (COUNT.get(), BYTES.get());
    let result = body();
    let counted = Allocations {
        count: COUNT.get() - before.0,
        bytes: BYTES.get() - before.1,
    };
    (result, counted)
}

/// Runs `body`, in which each allocation of this thread takes a millisecond or more, so that an
/// allocation between a check and a step takes long enough for other threads to check, too.
pub fn with_slow_allocations<R>(body: impl FnOnce() -> R) -> R {
    with_set(&IS_SLOW, body)
}

/// Runs `body`, in which what this thread frees is given back at once, so that what it allocates
/// next may have the same address, as in a program without this allocator.
pub fn with_reused_addresses<R>(body: impl FnOnce() -> R) -> R {
    with_set(&REUSES, body)
}

/// Runs `body` while the flag is set, and resets it even if `body` panics.
fn with_set<R>(flag: &'static LocalKey<Cell<bool>>, body: impl FnOnce() -> R) -> R {
    struct Reset(&'static LocalKey<Cell<bool>>);
    impl Drop for Reset {
        fn drop(&mut self) {
            self.0.set(false);
        }
    }
    flag.set(true);
    let _reset = Reset(flag);
    body()
}

/// Doesn't count as live what this thread allocates from now on, wherever it is freed. For a thread
/// of the kit that works while a check compares what is live.
pub(crate) fn leave_this_thread_uncounted() {
    IS_COUNTED.set(false);
}

/// How many blocks of the whole process are allocated and not freed. The difference before and
/// after shows a leak, if no other thread of the check works.
pub fn live_blocks() -> isize {
    LIVE_BLOCKS.load(Relaxed)
}

/// How many bytes are in those blocks.
pub fn live_bytes() -> isize {
    LIVE_BYTES.load(Relaxed)
}

// SAFETY: blocks come from `System` and are as large and as aligned as requested, since `whole`
// adds the header in front without lowering the alignment; a block is given back to `System` once,
// with the layout it came with.
unsafe impl GlobalAlloc for CheckingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if cfg!(miri) {
            _ = count(layout);
            // SAFETY: the caller's promises are those that `System` asks for.
            return unsafe { System.alloc(layout) };
        }
        let Some((whole, offset)) = whole(layout) else {
            return ptr::null_mut();
        };
        // SAFETY: `whole` has at least the header's size, so it isn't zero.
        let base = unsafe { System.alloc(whole) };
        if base.is_null() {
            return base;
        }
        let state = count(layout);
        // SAFETY: the block begins `offset` bytes after `base`, inside the allocation.
        let block = unsafe { base.add(offset) };
        let header = Header {
            size: layout.size(),
            align: layout.align(),
            state: AtomicUsize::new(state),
        };
        // SAFETY: `offset` is at least the header's size and a multiple of its alignment.
        unsafe { header_of(block).write(header) };
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if cfg!(miri) {
            count_freed(layout);
            // SAFETY: `alloc` got the block from `System`, with the layout that the caller knows.
            return unsafe { System.dealloc(block, layout) };
        }
        // SAFETY: the caller passes a block of ours, which has a header; a freed one keeps it while in quarantine.
        let header = unsafe { &*header_of(block) };
        let was = header.state.swap(FREED, Relaxed);
        match was {
            LIVE | LIVE_UNCOUNTED => {}
            FREED => die(format_args!("memory was freed twice")),
            _ => die(format_args!("memory was freed that was never allocated")),
        }
        if (header.size, header.align) != (layout.size(), layout.align()) {
            die(format_args!(
                "memory was allocated with size {} and alignment {}, and freed with size {} and alignment {}",
                header.size,
                header.align,
                layout.size(),
                layout.align()
            ));
        }
        if was == LIVE {
            count_freed(layout);
        }
        // SAFETY: the block is `size` bytes long and no longer in use.
        unsafe { block.write_bytes(POISON, layout.size()) };
        // SAFETY: the block was just marked as freed, and only by us.
        unsafe { QUARANTINE.admit(block) };
    }
}

/// Counts a block, and returns the state that it starts in.
fn count(layout: Layout) -> usize {
    // `try_with`: blocks are also allocated while a thread's locals are destroyed.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    let _ = BYTES.try_with(|bytes| bytes.set(bytes.get() + layout.size() as u64));
    if IS_SLOW.try_with(Cell::get).unwrap_or(false) {
        thread::sleep(Duration::from_millis(1));
    }
    // Under Miri a block has no header that tells how it was counted.
    if !cfg!(miri) && !IS_COUNTED.try_with(Cell::get).unwrap_or(true) {
        return LIVE_UNCOUNTED;
    }
    LIVE_BLOCKS.fetch_add(1, Relaxed);
    LIVE_BYTES.fetch_add(layout.size() as isize, Relaxed);
    LIVE
}

fn count_freed(layout: Layout) {
    LIVE_BLOCKS.fetch_sub(1, Relaxed);
    LIVE_BYTES.fetch_sub(layout.size() as isize, Relaxed);
}

/// The layout of a block with its header, and where the block begins in it.
fn whole(layout: Layout) -> Option<(Layout, usize)> {
    Layout::new::<Header>().extend(layout).ok()
}

fn header_of(block: *mut u8) -> *mut Header {
    block.wrapping_sub(size_of::<Header>()).cast()
}

/// Gives a freed block back to the system.
///
/// # Safety
///
/// The caller must own the block, which must be marked as freed.
unsafe fn release(block: *mut u8) {
    // SAFETY: the header stays valid until the block is given back, below.
    let header = unsafe { &*header_of(block) };
    let layout = Layout::from_size_align(header.size, header.align);
    let Some((whole, offset)) = layout.ok().and_then(whole) else {
        die(format_args!(
            "memory was written to before its beginning or after it was freed"
        ));
    };
    // SAFETY: this is where the allocation of `whole` began, in `alloc`.
    unsafe { System.dealloc(block.wrapping_sub(offset), whole) };
}

/// The most recently freed blocks, kept from reuse so that a use-after-free meets [`POISON`]
/// instead of other data.
struct Quarantine {
    is_locked: AtomicBool,
    slots: [AtomicUsize; Quarantine::SLOTS],
    next: AtomicUsize,
}

static QUARANTINE: Quarantine = Quarantine {
    is_locked: AtomicBool::new(false),
    slots: [const { AtomicUsize::new(0) }; Quarantine::SLOTS],
    next: AtomicUsize::new(0),
};

impl Quarantine {
    const SLOTS: usize = 4096;
    /// Miri and the sanitizers notice only when a block is really freed.
    const IS_USED: bool = !cfg!(any(miri, feature = "no-quarantine"));
    /// Blocks above this size are given back at once, so that the quarantine
    /// stays below 16 MiB.
    const LARGEST: usize = 4096;

    /// Takes a freed block and gives the oldest one back.
    ///
    /// # Safety
    ///
    /// The caller must own the block, which must be marked as freed.
    unsafe fn admit(&self, block: *mut u8) {
        // SAFETY: the block is the caller's, and its header is intact.
        let size = unsafe { &*header_of(block) }.size;
        // `try_with`: as in `count`.
        let is_reused = REUSES.try_with(Cell::get).unwrap_or(false);
        let is_wanted = Self::IS_USED && size <= Self::LARGEST && !is_reused;
        // Acquire: pairs with the Release below; the thread that evicts sees the block that was put
        // in.
        let is_free = is_wanted && !self.is_locked.swap(true, Acquire);
        if !is_free {
            // SAFETY: the block is the caller's and marked as freed.
            return unsafe { release(block) };
        }
        let slot = self.next.load(Relaxed);
        self.next.store((slot + 1) % Self::SLOTS, Relaxed);
        let oldest = self.slots[slot].swap(block.expose_provenance(), Relaxed);
        // Release: pairs with the Acquire above.
        self.is_locked.store(false, Release);
        if oldest != 0 {
            // SAFETY: a block in a slot belongs to the quarantine and was marked as freed; it has just left its slot.
            unsafe { release(ptr::with_exposed_provenance_mut(oldest)) };
        }
    }
}

/// Ends the process with a message as the verdict of its check.
fn die(message: std::fmt::Arguments<'_>) -> ! {
    // Neither line allocates: standard error is unbuffered.
    let _ = writeln!(
        std::io::stderr(),
        "{}{message}{}",
        crate::verdict::MARK,
        crate::verdict::MARK
    );
    std::process::abort()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_box_is_one_allocation_of_its_size() {
        let (boxed, counted) = allocations(|| Box::new(7_u64));
        assert_eq!((*boxed, counted), (7, Allocations { count: 1, bytes: 8 }));
    }

    const LARGE: usize = 1 << 30;
    /// Other tests run meanwhile, with small blocks.
    const HALF: isize = 1 << 29;

    fn large_block() -> Vec<u8> {
        Vec::with_capacity(LARGE)
    }

    #[test]
    fn the_bytes_of_a_live_block_are_counted_unless_the_thread_is_not() {
        let before = live_bytes();
        let block = large_block();
        let with_it = live_bytes() - before;
        drop(block);
        let without = live_bytes() - before;
        assert!(
            with_it > HALF && without < HALF,
            "{with_it}, then {without}"
        );
        if cfg!(miri) {
            return;
        }
        let block = thread::spawn(|| {
            leave_this_thread_uncounted();
            large_block()
        });
        let block = block.join().expect("the thread ends");
        let with_it = live_bytes() - before;
        drop(block);
        let without = live_bytes() - before;
        assert!(
            with_it < HALF && without > -HALF,
            "uncounted: {with_it}, then {without}"
        );
    }

    #[test]
    fn other_threads_are_not_counted() {
        let gate = crate::Gate::new();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                gate.wait();
                drop(std::hint::black_box(vec![0_u8; 100]));
            });
            let ((), counted) = allocations(|| gate.open());
            other.join().expect("the other thread ends");
            assert_eq!(counted.count, 0, "only this thread counts");
        });
    }

    #[test]
    fn an_address_is_reused_if_a_test_asks_for_it() {
        let count = |boxes: usize| {
            let address = || ptr::from_ref(&*Box::new([0_u8; 200])).addr();
            let distinct: HashSet<_> = (0..boxes).map(|_| address()).collect();
            distinct.len()
        };
        if cfg!(any(miri, feature = "no-quarantine")) {
            return;
        }
        // Not all, because other tests run meanwhile.
        let kept = count(100);
        assert!(kept > 50, "100 boxes were at {kept} addresses");
        let reused = with_reused_addresses(|| count(100));
        assert!(reused < 50, "100 boxes were at {reused} addresses");
    }

    #[test]
    fn large_alignments_are_kept() {
        #[repr(align(256))]
        struct Aligned(u8);
        let boxed = Box::new(Aligned(1));
        assert_eq!(
            ptr::from_ref(&*boxed).addr() % 256,
            0,
            "its alignment is 256"
        );
        assert_eq!(boxed.0, 1);
    }
}
