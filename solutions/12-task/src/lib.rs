//! Solution 12: a task in one allocation, its wakers and its handle.
//!
//! A task is a block of memory with a word of state in front. What may happen
//! to it stands in `state`, what is in the block in `cell`, and what is done
//! with it in the other files: `runnable` polls it, `waker` wakes it, `join`
//! awaits it, `owned` lists it, `yields` lets it yield.
//!
//! Nobody needs a reference to run a task, or to keep it in a queue. It has one
//! of its own, until it ends.
//!
//! # Contract
//!
//! A task *waits* from a poll that was pending until somebody wakes it. It has
//! *ended* when its future was ready or has panicked, or when it was cancelled.
//!
//! 1. **One allocation.** [`spawn`] allocates one block, of the size that the
//!    future and the output need, whatever their alignment. Nothing else that
//!    is done with the task allocates, but for what the future itself does. The
//!    block is freed with the layout that it was allocated with.
//! 2. **In place.** A future stays where it was first polled, and is dropped
//!    there.
//! 3. **When run.** [`spawn`] polls nothing and calls no scheduler.
//!    [`Runnable::run`] polls once. While a `run` polls, nobody else does; and
//!    nobody does after the end.
//! 4. **Scheduled once.** A wake-up of a task that waits gives it to its
//!    scheduler. However many wake-ups come until it is run, the scheduler
//!    gets it once, and it is polled once.
//! 5. **No lost wake-up.** If a task is woken while it is polled, `run` gives
//!    it to its scheduler again, by either method. A poll sees what was written
//!    before each wake-up that was there when it began, whether or not that one
//!    had scheduled it.
//! 6. **Wakers.** A waker may be cloned, woken and dropped by any thread, at
//!    any time, also by several at once, and long after the end, when it wakes
//!    nobody. It is known as the same waker as its clones and as that of
//!    another poll of the same task.
//! 7. **Freed.** The future is dropped when the task ends, by who ends it, and
//!    before the handle is ready. The block is freed, and the scheduler at the
//!    latest with it, when besides the handle is dropped or was ready, and the
//!    last waker is gone. A task that waits without a handle and without
//!    a waker ends only through its scheduler's list (15); with no list it is
//!    never freed.
//! 8. **The output.** It is moved to the handle, or dropped, once. It is
//!    dropped by `run` if the handle is gone, and with the handle otherwise,
//!    never by who drops a waker.
//! 9. **The handle.** A [`JoinHandle`] is ready when its task has ended, and
//!    wakes the waker of its last poll, once. It may be polled and dropped on
//!    any thread. To drop it detaches the task. Polled after it was ready, it
//!    panics with a message that contains "after".
//! 10. **Abort.** After [`JoinHandle::abort`] no poll begins. A task that waits
//!     is cancelled at once or given to its scheduler for that; one that is
//!     queued is cancelled when it is run, and one that is polled when the
//!     poll returns, unless it is ready then; if it yields, it may go to its
//!     scheduler for that. One that has ended is left alone.
//! 11. **Dropped unrun.** A [`Runnable`] that is dropped cancels its task, and
//!     what is linked behind it. One that is run cancels what is still linked
//!     behind it.
//! 12. **Panics.** If the future panics, in a poll or when it is dropped, its
//!     task ends, and the handle gives what was thrown. Nothing panics in
//!     `run`, or because a `Runnable` or a handle is dropped, whatever panics
//!     there: future, output, or the waker of the handle. If that waker
//!     panics when it is cloned or dropped, the poll of the handle may pass the
//!     panic on, and can be repeated. If the scheduler panics in `clone`,
//!     `schedule`, `schedule_yielded` or `owned`, the panic is passed on, and
//!     the task that it was called for is cancelled, unless the scheduler has
//!     kept its `Runnable`.
//! 13. **Handed over.** A scheduler may run, send on or drop what it is given
//!     before [`Schedule::schedule`] returns, or let another thread do so. It
//!     is alive until the call returns.
//! 14. **Queues without memory.** A `Runnable` is one word, also as a pointer,
//!     and has room for a link to another one.
//! 15. **Listed.** If its scheduler has a list, a task is listed until it ends,
//!     from the time that it first waits or from a pending poll before that.
//!     One that is cancelled may leave the list just before its future is
//!     dropped.
//!     [`OwnedTasks::close_and_cancel`] cancels those that wait before it
//!     returns; the others as [`JoinHandle::abort`] does. Two calls at a time
//!     share the tasks: neither waits for what the other cancels. Once the list
//!     is closed, a task that would be listed is cancelled instead.
//! 16. **Yield.** In a task, [`yield_now`] is pending once, and `run` gives the
//!     task to [`Schedule::schedule_yielded`], whose default is `schedule`,
//!     without a call of the waker. Anywhere else, and if it is polled with
//!     another waker, it wakes that one.
//! 17. **Few steps.** A wake-up by reference and the pending poll that follows
//!     take at most three atomic read-modify-writes together; a poll that
//!     yields takes at most two. What the scheduler does, also when it is
//!     cloned, doesn't count.
//!
//! # Examples
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use solution_12::{Runnable, Schedule, spawn, yield_now};
//!
//! #[derive(Clone, Default)]
//! struct Queue(Arc<Mutex<Vec<Runnable<Queue>>>>);
//!
//! impl Schedule for Queue {
//!     fn schedule(&self, task: Runnable<Self>) {
//!         self.0.lock().unwrap().push(task);
//!     }
//! }
//!
//! let queue = Queue::default();
//! let six_by_seven = async {
//!     yield_now().await;
//!     6 * 7
//! };
//! let (task, handle) = spawn(six_by_seven, queue.clone());
//! task.run();
//! let task = queue.0.lock().unwrap().pop();
//! task.expect("it has yielded").run();
//! assert_eq!(block_on::block_on(handle).unwrap(), 42);
//! ```

mod cell;
mod header;
mod join;
mod memory;
#[cfg(all(test, not(feature = "loom")))]
mod memory_tests;
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/12-task/src/models.rs"]
mod models;
mod owned;
mod raw;
mod runnable;
mod schedule;
mod state;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/12-task/src/tests/mod.rs"]
mod tests;
mod waker;
mod waker_cell;
mod yields;

pub use join::JoinHandle;
pub use owned::OwnedTasks;
pub use runnable::Runnable;
pub use schedule::{Schedule, spawn};
pub use spawn_blocking::JoinError;
pub use yields::{YieldNow, yield_now};
