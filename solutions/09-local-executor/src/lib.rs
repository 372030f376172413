//! Solution 9: an executor of one thread, with tasks, a queue and handles.
//!
//! A waker contains the *key* of its task: an index and a generation. The
//! future stays with the executor, on its thread, so no other thread can poll
//! or drop it. The price is one more allocation for each task. In return,
//! nothing here needs `unsafe` except the pinning of one field.
//!
//! On the executor's thread, a wake-up sets a flag and goes into the queue: no
//! lock, no atomic read-modify-write. From other threads, it goes through an
//! inbox.
//!
//! # Contract
//!
//! A task is *ready* from its spawn, and from each wake-up, until its next
//! poll.
//!
//! 1. **Runs.** [`LocalExecutor::spawn`] creates a task and polls nothing.
//!    [`LocalExecutor::block_on`] polls its future and the tasks until its
//!    future is ready; the remaining tasks wait for the next call.
//!    [`LocalExecutor::run`] polls the tasks until none is left.
//! 2. **Many wakes, one poll.** A task is polled only when it's ready: all
//!    wake-ups that come before a poll cause that one poll. The future of
//!    `block_on` may be polled more often, once for each poll of a task.
//! 3. **No lost wake-up.** A wake-up counts at any time and from any thread,
//!    even while the task is polled. The poll that follows sees what was
//!    written before the wake-up.
//! 4. **Idle.** While nothing is ready, the thread sleeps.
//! 5. **Fair.** While a task or the future of `block_on` is ready, no other is
//!    polled more than 256 times, no matter what woke it.
//! 6. **Over.** A task that is over is never polled again, no matter what wakes
//!    it. When a task is over, its future is dropped before its handle is
//!    ready.
//! 7. **Re-entrant.** A future may spawn, wake and drop anything while it's
//!    polled, and while it's dropped. It can't call `run` or `block_on` there:
//!    such a call panics, and the call that is running continues.
//! 8. **Handles.** A [`JoinHandle`] is ready when its task is over, with what
//!    the task returned. It calls the waker of its last poll, no matter which
//!    thread that poll was on. Dropping it detaches the task.
//! 9. **Panics.** A task's panic reaches its handle and nothing else. A value
//!    that panics while it's dropped harms nothing else. If it's the future of
//!    a task that is over, the task's handle gives the output or that panic.
//!    If a poll of the future of `block_on` panics, the panic reaches the
//!    caller, and the executor can run again.
//! 10. **At home.** A task is polled and dropped on the executor's thread, no
//!     matter which thread wakes it, and which thread drops its last waker.
//!     Neither the task nor what it returns has to be `Send`.
//! 11. **Drop.** Dropping the executor drops all its tasks, no matter what
//!     refers to what, and everything that their destructors spawn. The handles
//!     of tasks that weren't over are cancelled, each after its future was
//!     dropped. Once the wakers are gone, nothing is left.
//! 12. **No scan.** The cost of a wake-up and of the poll that follows doesn't
//!     grow with the number of tasks that wait.
//! 13. **Here.** [`spawn`] creates a task on the executor that runs on this
//!     thread, or is being dropped there, and panics if there is none.
//! 14. **Two ends.** [`outcome`] creates a handle, and a [`Completer`] that
//!     makes it ready; a completer that is dropped cancels. Either may be used
//!     on any thread, if the result is `Send`, and by a waker that the handle
//!     clones, wakes or drops.
//! 15. **Jobs.** [`job`] turns a future into one without an output, and a
//!     handle: clauses 6, 8 and 9 apply to it, no matter what polls it, and
//!     where. A poll of a job never panics. A job that is dropped early drops
//!     its future, and then it is cancelled.
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
//!         task.await.expect("the task doesn't panic");
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
use slab::{Key, Next, Slab, Task};

pub use catch_unwind::{CatchUnwind, job};
pub use enter::spawn;
pub use executor::LocalExecutor;
pub use outcome::{Completer, JoinHandle, outcome};
pub use spawn_blocking::JoinError;
