//! Solution 9: an executor of one thread, with tasks, a queue and handles.
//!
//! A waker holds the *key* of its task: an index and a generation. The future
//! stays with the executor, on its thread, so nobody elsewhere can poll or drop
//! it. The price is one more allocation for each task. What it buys is that
//! nothing here needs `unsafe` but the pinning of one field.
//!
//! On its own thread a wake-up sets a flag and goes into the queue: no lock, no
//! atomic read-modify-write. From elsewhere it goes by an inbox.
//!
//! # Contract
//!
//! A task is *ready* from its spawn, and from each wake-up, until its next
//! poll.
//!
//! 1. **Runs.** [`LocalExecutor::spawn`] makes a task and polls nothing.
//!    [`LocalExecutor::block_on`] polls its future and the tasks, until its
//!    future is ready; the tasks that are left wait for the next call.
//!    [`LocalExecutor::run`] polls the tasks until none is left.
//! 2. **Many wakes, one poll.** A task is polled only when it is ready: all
//!    wake-ups that come before a poll cause this one. The future of `block_on`
//!    may be polled more often, once for each poll of a task.
//! 3. **No lost wake-up.** A wake-up counts whenever it comes, from whichever
//!    thread, also while the task is polled. The poll that follows sees what
//!    was written before it.
//! 4. **Idle.** While nobody is ready, the thread sleeps.
//! 5. **Fair.** While a task is ready, or the future of `block_on`, none other
//!    is polled more than 256 times, whoever woke it.
//! 6. **Over.** A task that is over is never polled again, whoever wakes it.
//!    Its future is dropped then, before its handle is ready.
//! 7. **Re-entrant.** A future may spawn, wake and drop what it likes while it
//!    is polled, and while it is dropped. What it cannot do there is call `run`
//!    or `block_on`: that panics, and the call that runs goes on.
//! 8. **Handles.** A [`JoinHandle`] is ready when its task is over, with what
//!    the task returned. It wakes the waker of its last poll, on whichever
//!    thread that was. To drop it detaches the task.
//! 9. **Panics.** The panic of a task reaches its handle and nobody else. What
//!    panics as it is dropped harms nobody; if that is a task's future, which
//!    was ready, its handle gives the output or the panic. If a poll of the
//!    future of `block_on` panics, that reaches the caller, and the executor
//!    can run on.
//! 10. **At home.** A task is polled and dropped on the executor's thread,
//!     whoever wakes it, and whoever drops its last waker. It need not be
//!     `Send`, and neither need what it returns.
//! 11. **Drop.** With the executor all its tasks are dropped, whatever refers
//!     to whatever, and what their destructors spawn. The handles of those that
//!     were not over are cancelled. Once the wakers are gone, nothing is left.
//! 12. **No scan.** What a wake-up and the poll that follows cost does not grow
//!     with the number of tasks that wait.
//! 13. **Here.** [`spawn`] makes a task of the executor that runs on this
//!     thread, or is being dropped there, and panics where there is none.
//! 14. **Two ends.** [`outcome`] makes a handle, and a [`Completer`] that makes
//!     it ready; one that is dropped cancels. Either may be used on any thread,
//!     if the result is `Send`.
//! 15. **Jobs.** [`job`] makes of a future one of nothing, and a handle: 6, 8
//!     and 9 hold of it, whoever polls it, and wherever. It never panics.
//!     Dropped early, it is cancelled.
//!
//! # Examples
//!
//! ```
//! use std::cell::Cell;
//! use std::rc::Rc;
//!
//! let executor = solution_9::LocalExecutor::new();
//! let sum = Rc::new(Cell::new(0));
//! let adding = [1, 2, 3].map(|number| {
//!     let sum = sum.clone();
//!     executor.spawn(async move { sum.set(sum.get() + number) })
//! });
//! executor.block_on(async {
//!     for task in adding {
//!         task.await.expect("it does not panic");
//!     }
//! });
//! assert_eq!(sum.get(), 6);
//! ```

mod catch_unwind;
mod enter;
mod executor;
mod inbox;
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
mod outcome;
mod slab;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;

use enter::{EnterGuard, wake_here};
use executor::Core;
use inbox::{Inbox, Signal};
use slab::{Key, Slab, Task, Turn};

pub use catch_unwind::{CatchUnwind, job};
pub use enter::spawn;
pub use executor::LocalExecutor;
pub use outcome::{Completer, JoinHandle, outcome};
pub use spawn_blocking::JoinError;
