//! Solution 11: a bounded run queue with one owner and many thieves.
//!
//! # Contract
//!
//! 1. **Exactly once.** Every item that was pushed comes out once, no matter
//!    which threads pop, steal and overflow at the same time.
//! 2. **Owner order.** The owner pops the items in the order in which they
//!    were pushed.
//! 3. **Full means full.** The queue holds `N` items. With `N` in it, `push`
//!    gives the item back; a slot is free again once its item is out and no
//!    thief or overflow is at work.
//! 4. **Wrap-around.** Positions have 32 bits and wrap. [`run_queue_at`] starts
//!    at any position, and nothing else changes.
//! 5. **Half.** A steal takes the oldest items: at least one, at most half of
//!    those that it finds, rounded up, and at least a quarter if the thief has
//!    room. It returns one and puts the others into the thief's queue, in their
//!    order. It may fail if the queue is empty, if another thread or an
//!    overflow is at work on it (the owner's pop included), or if the thief's
//!    own queue is more than half full.
//! 6. **Room.** A steal takes no more items than there is room for in the
//!    thief's queue, plus the one that it returns. A slot of that queue that
//!    another thief, or an overflow, still reads isn't room. A steal that fails
//!    leaves nothing behind. A thief may steal from itself: no item is lost or
//!    duplicated, but their order and how many it takes are unspecified.
//! 7. **Overflow.** `push_or_overflow` pushes if there is room. If not, the
//!    youngest items, `N / 4` to `N / 2` of them, and the new item go to
//!    `overflow` one by one; if a thief or another overflow is at work, it may
//!    be the new item alone. `overflow` may use the queue. If it panics, the
//!    items that were on their way are dropped.
//! 8. **Dropped once.** An item that is never taken is dropped once, when the
//!    owner and all stealers are gone. A stealer may outlive the owner.
//! 9. **Published.** A thread that gets an item sees what was written before it
//!    was pushed. No slot is overwritten while a thread reads it.
//! 10. **One owner.** A [`Local`] may move to another thread; it can be neither
//!     shared nor cloned. A [`Stealer`] can be cloned, sent and shared,
//!     for any type of items that may be sent.
//! 11. **Counts.** `len`, `is_empty` and `free` are exact while no other thread
//!     is at work. While others are at work, `free` promises room, `len` is at
//!     most `N`, and a queue that always has an item in it never says that it
//!     is empty.
//! 12. **Cheap.** A push, a pop, a steal and an overflow don't allocate. While
//!     no other thread is at work, a push or a pop makes at most one atomic
//!     read-modify-write, and a steal at most four, however many items it
//!     takes. Locking and unlocking a mutex count as one.
//!
//! # Examples
//!
//! ```no_run
//! let (queue, stealer) = solution_11::run_queue::<_, 4>();
//! for item in 1..=4 {
//!     queue.push(item).unwrap();
//! }
//! assert_eq!(queue.push(5), Err(5));
//! assert_eq!(queue.pop(), Some(1));
//!
//! let (thief, _) = solution_11::run_queue();
//! assert_eq!(stealer.steal_into(&thief), Some(2));
//! assert_eq!((thief.pop(), queue.pop()), (Some(3), Some(4)));
//! ```
//!
//! # Parts
//!
//! `handles` is the public API: the owner's end, the thieves' end, and what to
//! do when there is no room. `ring` is the slots, and what only the owner does
//! to them. `claim` is how thieves take items out, and `overflow` how the owner
//! takes out the youngest items. `head` is the word on which they agree.

mod claim;
mod handles;
mod head;
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/11-run-queue/src/models.rs"]
mod models;
mod overflow;
mod ring;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/11-run-queue/src/tests/mod.rs"]
mod tests;

use claim::{Claim, ReleaseOnDrop};
use head::Head;
use ring::Ring;

pub use handles::{Local, Stealer, run_queue, run_queue_at};
