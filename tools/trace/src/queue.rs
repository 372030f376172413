//! What a scheduler reports about its queues, and about its workers' search for work.
//!
//! The scheduler calls these functions, or calls a hook of its own that does. None of them names a
//! task: the recorder finds out afterward which it was. What a thread pushes is what it has just
//! made, woken or polled; what it pops is what it polls next.
//!
//! While nothing is recorded each of them costs one relaxed load and a branch.
//!
//! ```
//! use trace::queue::{self, Queue};
//!
//! let recording = trace::record("one task", "by hand", 1);
//! queue::started(0); // this thread is worker 0
//! let task = trace::task("A", async {});
//! queue::pushed(Queue::Local);
//! queue::popped(Queue::Local);
//! # std::mem::drop(std::pin::pin!(task).poll(&mut std::task::Context::from_waker(std::task::Waker::noop())));
//! let json = recording.finish().to_json();
//! assert!(json.contains(r#""push",0,1,0]"#) && json.contains(r#""pop",0,1,0]"#));
//! ```

use crate::event::Kind;
use crate::recorder::{tell, thread_is};

/// Where a task waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Queue {
    /// The worker's own queue.
    Local,
    /// The worker's next-task slot.
    Slot,
    /// The queue that all workers share.
    Global,
}

/// Makes this thread the worker of this number, in this and in later recordings.
/// The numbers of [`stole`] and [`notified`] are the same ones.
pub fn started(worker: usize) {
    thread_is(worker);
}

/// Records that a task has entered a queue. A task that a newer one displaces from the slot is
/// pushed, too, after the newer one.
#[inline]
pub fn pushed(queue: Queue) {
    tell(Kind::Push, queue as u32, 0);
}

/// Records that a task has left a queue, and is polled next.
#[inline]
pub fn popped(queue: Queue) {
    tell(Kind::Pop, queue as u32, 0);
}

/// Records that this worker's own queue was full, and that this many tasks went to the global one
/// instead. The task that didn't fit is one of them.
#[inline]
pub fn overflowed(count: usize) {
    tell(Kind::Overflow, 0, count);
}

/// Records that this worker took this many tasks from the queue of worker `from` into its own. If
/// one of them is polled at once, it is popped from there.
#[inline]
pub fn stole(from: usize, count: usize) {
    tell(Kind::Steal, from as u32, count);
}

/// Records that this worker took this many tasks from the global queue into its own. If one of them
/// is polled at once, it is popped from there.
#[inline]
pub fn took(count: usize) {
    tell(Kind::Take, 0, count);
}

/// Records that this worker has nothing to do, and looks for tasks of others.
#[inline]
pub fn searches() {
    tell(Kind::SearchBegin, 0, 0);
}

/// Records that this worker searches no longer, and whether it has `found` any.
#[inline]
pub fn searched(found: bool) {
    tell(Kind::SearchEnd, u32::from(found), 0);
}

/// Records that `worker` was chosen to be woken.
#[inline]
pub fn notified(worker: usize) {
    tell(Kind::Notify, worker as u32, 0);
}
