//! Breaks clause 6: Over.
//! Caught by: a_task_that_is_over_is_not_polled_again
//! Also fails: a_late_wake_up_is_for_nobody_after_tens_of_thousands_of_tasks
//! Also fails: a_late_wake_up_is_for_nobody
//! Also fails: models::wake_ups_of_two_tasks_arrive_in_every_order
//!
//! A task that is over stays in its entry: the job holds nothing any more, and
//! a count says how many are not over. So its wakers still find it, and one
//! that woke itself in its last poll is in the queue already. It is polled once
//! more.

#[path = "../../../solutions/09-local-executor/src/enter.rs"]
mod enter;
#[path = "../../../solutions/09-local-executor/src/inbox.rs"]
mod inbox;
#[path = "../../../solutions/09-local-executor/src/slab.rs"]
#[allow(dead_code, reason = "nobody asks whether there are tasks")]
mod slab;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parker::Parker;

pub use enter::spawn;
use enter::{EnterGuard, wake_here};
use inbox::{Inbox, Signal};
pub use local_executor::{Completer, JoinError, JoinHandle, outcome};
use slab::{Key, Slab, Task, Turn};

/// Makes a job of a future, and the handle to await what the future returns. A
/// job is `Send` if the future is, and what it returns.
pub fn job<F: Future>(
    future: F,
) -> (impl Future<Output = ()>, JoinHandle<F::Output>) {
    let (completer, handle) = outcome();
    let job = async {
        let mut future = Box::pin(future);
        let result = poll_fn(|cx| {
            let poll = || future.as_mut().poll(cx).map(Ok);
            catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|payload| {
                Poll::Ready(Err(JoinError::panicked(payload)))
            })
        });
        let result = result.await;
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
        dropped.unwrap_or_else(mem::forget);
        completer.complete(result);
    };
    (job, handle)
}

/// Runs tasks on the thread that it was made on.
pub struct LocalExecutor {
    core: Rc<Core>,
}

/// An executor, as its tasks see it.
struct Core {
    tasks: RefCell<Slab>,
    inbox: Arc<Inbox>,
    parker: Parker,
    /// How many tasks are not over.
    live_count: Cell<usize>,
    /// Whether the executor is being dropped.
    is_closed: Cell<bool>,
}

impl LocalExecutor {
    /// Makes an executor without tasks.
    pub fn new() -> Self {
        let parker = Parker::new();
        let core = Core {
            tasks: RefCell::default(),
            inbox: Inbox::new(parker.unparker()),
            parker,
            live_count: Cell::new(0),
            is_closed: Cell::new(false),
        };
        Self {
            core: Rc::new(core),
        }
    }

    /// Makes a task of `future`.
    pub fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> JoinHandle<F::Output> {
        self.core.spawn(future)
    }

    /// Runs `future` until it is ready and returns its output; runs the tasks
    /// meanwhile.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _guard = EnterGuard::enter_alone(&self.core);
        let root = Root::new(&self.core);
        let mut future = pin!(future);
        let mut cx = Context::from_waker(&root.waker);
        loop {
            match self.core.wait_for_turn() {
                Turn::Task(key, task) => self.core.poll(key, task),
                Turn::Root => {
                    let polled = future.as_mut().poll(&mut cx);
                    if let Poll::Ready(output) = polled {
                        return output;
                    }
                }
            }
        }
    }

    /// Runs the tasks until none is left.
    pub fn run(&self) {
        let _guard = EnterGuard::enter_alone(&self.core);
        while self.core.live_count.get() > 0 {
            if let Turn::Task(key, task) = self.core.wait_for_turn() {
                self.core.poll(key, task);
            }
        }
    }
}

impl Default for LocalExecutor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for LocalExecutor {
    fn drop(&mut self) {
        let core = &self.core;
        // Destructors may wake and spawn, as they may while it runs.
        let _guard = EnterGuard::enter(core);
        core.is_closed.set(true);
        let tasks = core.tasks.borrow_mut().take_all();
        for task in tasks {
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(task)));
            // What was thrown may panic in turn when it is dropped.
            dropped.unwrap_or_else(mem::forget);
        }
        core.inbox.close();
    }
}

impl Core {
    /// Makes a task of `future`, unless the executor is being dropped.
    fn spawn<F: Future + 'static>(&self, future: F) -> JoinHandle<F::Output> {
        let (job, handle) = job(future);
        if self.is_closed.get() {
            return handle;
        }
        self.live_count.set(self.live_count.get() + 1);
        let future = Box::pin(job);
        let waker = |key| Signal::waker(key, &self.inbox);
        self.tasks.borrow_mut().add(future, waker);
        handle
    }

    /// Returns `true` if that is where its wake-ups from elsewhere arrive.
    fn has(&self, inbox: &Arc<Inbox>) -> bool {
        Arc::ptr_eq(&self.inbox, inbox)
    }

    /// Wakes a task, on this thread.
    fn make_ready(&self, key: Key) {
        self.tasks.borrow_mut().make_ready(key);
    }

    /// Sleeps until somebody is ready.
    fn wait_for_turn(&self) -> Turn {
        loop {
            // Before each turn, so that wake-ups from elsewhere do not wait
            // until there is nothing to do here.
            self.inbox.take(|key| self.make_ready(key));
            let turn = self.tasks.borrow_mut().pop();
            match turn {
                Some(turn) => return turn,
                None => self.parker.park(),
            }
        }
    }

    /// Gives a task its turn. Nothing is borrowed meanwhile: it may spawn, and
    /// wake whom it likes.
    fn poll(&self, key: Key, mut task: Task) {
        let mut cx = Context::from_waker(&task.waker);
        let polled = task.future.as_mut().poll(&mut cx);
        self.tasks.borrow_mut().put_back(key, task);
        if polled.is_ready() {
            self.live_count.set(self.live_count.get() - 1);
        }
    }
}

/// The entry of a future of `block_on` in the slab.
struct Root<'a> {
    core: &'a Core,
    key: Key,
    waker: Waker,
}

impl<'a> Root<'a> {
    fn new(core: &'a Core) -> Self {
        let key = core.tasks.borrow_mut().add_root();
        let waker = Signal::waker(key, &core.inbox);
        Self { core, key, waker }
    }
}

impl Drop for Root<'_> {
    fn drop(&mut self) {
        self.core.tasks.borrow_mut().remove(self.key);
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
