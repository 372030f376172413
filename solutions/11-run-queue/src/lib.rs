//! Solution 11: a bounded run queue with one owner and many thieves.
//!
//! # Contract
//!
//! 1. **Exactly once.** Every item that was pushed comes out once, whoever
//!    pops, steals and overflows at the same time.
//! 2. **Owner order.** The owner pops the items in the order in which they
//!    were pushed.
//! 3. **Full means full.** The queue holds `N` items. With `N` in it `push`
//!    gives the item back; a slot is free again once its item is out and no
//!    thief or overflow is at work.
//! 4. **Wrap-around.** Positions are of 32 bits and wrap. [`run_queue_at`]
//!    starts anywhere, and nothing else changes.
//! 5. **Half.** A steal takes the oldest items: one at least, half of those
//!    that it finds, rounded up, at most; a quarter at least if the thief has
//!    room. It returns one and puts the others into the thief's queue, in their
//!    order. It may fail if the queue is empty, if another thread is at it, or
//!    if the thief's own queue is more than half full.
//! 6. **Room.** A steal takes no more than what finds room in the thief's
//!    queue, and the one that it returns. A slot of that queue that another
//!    thief, or an overflow, still reads is no room. A steal that fails leaves
//!    nothing behind. A thief may steal from itself: no item is lost or
//!    doubled, though their order and how many it takes are left open.
//! 7. **Overflow.** `push_or_overflow` pushes if there is room. If not, the
//!    youngest items, `N / 4` to `N / 2` of them, and the item, go to
//!    `overflow` one by one; if a thief or another overflow is at work, perhaps
//!    the item alone. `overflow` may use the queue. If it panics, what was on
//!    its way is dropped.
//! 8. **Dropped once.** An item that nobody takes is dropped once, when the
//!    owner and all stealers are gone. A stealer may outlive the owner.
//! 9. **Published.** Whoever gets an item sees what was written before it was
//!    pushed. Nothing is written over while somebody reads it.
//! 10. **One owner.** A [`Local`] may move to another thread; it can be neither
//!     shared nor cloned. A [`Stealer`] can be cloned, sent and shared,
//!     whatever the items are, as long as they may be sent.
//! 11. **Counts.** `len`, `is_empty` and `free` are right while nobody else is
//!     at work. With others at work `free` promises room, `len` is at most `N`,
//!     and a queue that has always an item in it never says that it is empty.
//! 12. **Cheap.** Neither a push nor a pop allocates, nor a steal, nor an
//!     overflow. Without others at work a push or a pop makes at most one
//!     atomic read-modify-write, and a steal at most four, however many items
//!     it takes.
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
//! `handles` is what one sees: the owner's end, the thieves' end, and what to
//! do when there is no room. `ring` is the slots, and what only the owner does
//! to them. `claim` is how thieves take items out, and `overflow` how the owner
//! takes out those that came last. `head` is the word on which they agree.

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
