//! Breaks clause 1: Runs.
//! Caught by: spawning_polls_nothing
//! Also fails: a_late_wake_up_is_for_nobody_after_tens_of_thousands_of_tasks
//!
//! A new task is polled at once: perhaps it is ready, and need not be queued.
//! Whoever spawns pays for it, in the middle of a poll of its own, and hears
//! its panic.

#[path = "../../../solutions/09-local-executor/src/executor.rs"]
mod executor;
#[path = "../../../solutions/09-local-executor/src/inbox.rs"]
mod inbox;
#[path = "../../../solutions/09-local-executor/src/tasks.rs"]
mod tasks;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use executor::Core;
pub use executor::LocalExecutor;
use inbox::{Inbox, Signal};
pub use local_executor::{Completer, Job, JoinError, JoinHandle, job, outcome};
use tasks::{Key, Task, Tasks, Turn};

sync::thread_local! {
    /// The executor that runs on this thread.
    static HERE: RefCell<Option<Rc<Core>>> = const { RefCell::new(None) };
}

/// Makes a task of `future` on the executor that runs on this thread.
///
/// # Panics
///
/// With a message that contains the word "executor", if none does.
pub fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    let here = HERE.with(|here| here.borrow().clone());
    let core = here.expect(
        "`spawn` was called where no executor runs: call it within `run` or \
         `block_on`, or use `LocalExecutor::spawn`",
    );
    let mut future = Box::pin(future);
    let mut cx = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut cx) {
        // It need not be queued for long.
        Poll::Ready(output) => core.spawn(async { output }),
        Poll::Pending => core.spawn(future),
    }
}

/// Wakes a task if its executor runs on this thread. Returns `true` if it does.
pub fn wake_here(inbox: &Arc<Inbox>, key: Key) -> bool {
    let is_here = HERE.try_with(|here| {
        let here = here.borrow();
        let core = here.as_ref().filter(|core| core.has(inbox));
        if let Some(core) = core {
            core.make_ready(key);
        }
        core.is_some()
    });
    // Fails as the thread ends: no executor runs then.
    is_here.unwrap_or(false)
}

/// Makes an executor that of this thread, until it is dropped.
pub struct Here {
    outer: Option<Rc<Core>>,
}

impl Here {
    /// Makes it this thread's where there is none.
    pub fn enter_alone(core: &Rc<Core>) -> Self {
        let is_idle = HERE.with(|here| here.borrow().is_none());
        assert!(
            is_idle,
            "recursive `block_on` or `run`: an executor runs on this thread \
             already, and would have to wait; `.await` the inner future instead"
        );
        Self::enter(core)
    }

    /// Makes it this thread's, in front of another.
    pub fn enter(core: &Rc<Core>) -> Self {
        let enter = |here: &RefCell<_>| here.replace(Some(core.clone()));
        // Fails as the thread ends, and then nobody looks.
        let outer = HERE.try_with(enter).unwrap_or_default();
        Self { outer }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        let leave = |here: &RefCell<_>| here.replace(self.outer.take());
        let _ = HERE.try_with(leave);
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
