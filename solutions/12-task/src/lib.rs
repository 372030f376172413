//! Solution 12: a task in one allocation, its wakers and its handle.
//!
//! A task is a block of memory that begins with a word of state. `state` has
//! the transitions of that word, `cell` what is in the block, and the other
//! files what is done with it: `runnable` polls it, `waker` wakes it, `join`
//! awaits it, `owned` lists it, `yields` lets it yield.
//!
//! Running a task, or keeping it in a queue, takes no reference. The task has a
//! reference of its own, until it ends.
//!
//! # Contract
//!
//! A task *waits* from a pending poll until it is woken. It has *ended* when
//! its future was ready or has panicked, or when it was cancelled.
//!
//! 1. **One allocation.** [`spawn`] allocates one block, of the size that the
//!    future and the output need, for any alignment. Nothing else that
//!    is done with the task allocates, except what the future itself does. The
//!    block is freed with the layout that it was allocated with.
//! 2. **In place.** A future stays where it was first polled, and is dropped
//!    there.
//! 3. **When run.** [`spawn`] polls nothing and calls no scheduler.
//!    [`Runnable::run`] polls once. While a `run` polls, no other poll takes
//!    place, and none takes place after the end.
//! 4. **Scheduled once.** A wake-up of a task that waits gives it to its
//!    scheduler. However many wake-ups come before it is run, the scheduler
//!    gets it once, and it is polled once.
//! 5. **No lost wake-up.** If a task is woken while it is polled, `run` gives
//!    it to its scheduler again, through either method. A poll sees what was
//!    written before each wake-up that came before the poll began, whether or
//!    not that wake-up scheduled it.
//! 6. **Wakers.** A waker may be cloned, woken and dropped by any thread, at
//!    any time, even by several at once, and long after the end, when it wakes
//!    nothing. `will_wake` recognizes it as equal to its clones and to the
//!    waker of another poll of the same task.
//! 7. **Freed.** The future is dropped when the task ends, by the thread that
//!    ends it, and before the handle is ready. The block is freed, and the
//!    scheduler dropped at the latest with it, when in addition the handle is
//!    dropped or was ready, and the last waker is gone. A task that waits
//!    without a handle and without a waker ends only through its scheduler's
//!    list (15); without a list it is never freed.
//! 8. **The output.** It is moved to the handle, or dropped, once. It is
//!    dropped by `run` if the handle is gone, and otherwise with the handle,
//!    never by a thread that drops a waker.
//! 9. **The handle.** A [`JoinHandle`] is ready when its task has ended, and
//!    wakes the waker of its last poll, once. It may be polled and dropped on
//!    any thread. Dropping it detaches the task. When the handle is dropped or
//!    was ready, the task keeps no waker of it. If it is polled after it was
//!    ready, it panics with a message that contains "after".
//! 10. **Abort.** After [`JoinHandle::abort`] no poll begins. A waiting task is
//!     cancelled at once or given to its scheduler to be cancelled; a queued
//!     task is cancelled when it is run; a task that is being polled is
//!     cancelled when the poll returns, unless it is ready then; if it yields,
//!     it may go to its scheduler to be cancelled. A task that has ended is
//!     left alone.
//! 11. **Dropped unrun.** Dropping a [`Runnable`] cancels its task, and what is
//!     linked behind it. Running it first cancels what is still linked behind
//!     it.
//! 12. **Panics.** If the future panics, in a poll or when it is dropped, its
//!     task ends, and the handle returns the first panic's payload. Neither
//!     `run` nor dropping a `Runnable` or a handle panics, no matter what
//!     panics inside: the future, the output, or the waker of the handle. If
//!     that waker panics when it is cloned or dropped, the poll of the handle
//!     may pass the panic on, and can be repeated. If the scheduler panics in
//!     `clone`, `schedule`, `schedule_yielded` or `owned`, the panic is passed
//!     on, and the task that it was called for is cancelled, unless the
//!     scheduler has kept its `Runnable`.
//! 13. **Handed over.** A scheduler may run, send on or drop what it is given
//!     before [`Schedule::schedule`] returns, or let another thread do so. The
//!     scheduler stays alive until the call returns.
//! 14. **Queues without memory.** A `Runnable` is one word, even as a pointer,
//!     and has room for a link to another `Runnable`.
//! 15. **Listed.** If its scheduler has a list, a task is listed until it ends,
//!     starting when it first waits or at a pending poll before that. A
//!     cancelled task may leave the list just before its future is dropped.
//!     [`OwnedTasks::close_and_cancel`] cancels the waiting tasks before it
//!     returns, and the others as [`JoinHandle::abort`] does. Two simultaneous
//!     calls share the tasks: neither waits for what the other cancels. Once
//!     the list is closed, a task that would be listed is cancelled instead.
//! 16. **Yield.** In a task, [`yield_now`] is pending once, and `run` gives the
//!     task to [`Schedule::schedule_yielded`], whose default is `schedule`,
//!     without calling the waker. If the task is also woken in that poll, it is
//!     still scheduled once and then polled once. Anywhere else, and if it is
//!     polled with another waker, a yield wakes that waker.
//! 17. **Few steps.** A wake-up by reference and the pending poll that follows
//!     take at most three atomic read-modify-writes together; a poll that
//!     yields takes at most two. What the scheduler does, including when it is
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
