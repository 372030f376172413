//! Which executor runs on this thread.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::{Core, Inbox, JoinHandle, Key};

primitives::thread_local! {
    /// The executor that runs on this thread.
    static CURRENT: RefCell<Option<Rc<Core>>> = const { RefCell::new(None) };
}

/// Creates a task from `future` on the executor that runs on this thread.
///
/// # Panics
///
/// Panics, with a message that contains the word "executor", if no executor
/// runs on this thread.
pub fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    let here = CURRENT.with(|here| here.borrow().clone());
    let core = here.expect(
        "`spawn` was called without a running executor: call it within `run` or `block_on`, or use \
         `LocalExecutor::spawn`",
    );
    core.spawn(future)
}

/// Wakes a task if its executor runs on this thread. Returns `true` if the
/// executor does.
pub fn wake_here(inbox: &Arc<Inbox>, key: Key) -> bool {
    let is_here = CURRENT.try_with(|here| {
        let here = here.borrow();
        let core = here.as_ref().filter(|core| core.has(inbox));
        if let Some(core) = core {
            core.make_ready(key);
        }
        core.is_some()
    });
    // Fails while the thread ends: no executor runs then.
    is_here.unwrap_or(false)
}

/// Makes an executor this thread's current one until the guard is dropped.
pub struct EnterGuard {
    outer: Option<Rc<Core>>,
}

impl EnterGuard {
    /// Makes it the thread's current executor. Panics if there is one already.
    pub fn enter_alone(core: &Rc<Core>) -> Self {
        let is_idle = CURRENT.with(|here| here.borrow().is_none());
        assert!(
            is_idle,
            "recursive `block_on` or `run`: an executor already runs on this thread, and would \
             have to wait; `.await` the inner future instead"
        );
        Self::enter(core)
    }

    /// Makes it the thread's current executor, in place of any other.
    pub fn enter(core: &Rc<Core>) -> Self {
        let enter = |here: &RefCell<_>| here.replace(Some(core.clone()));
        // Fails while the thread ends, when nothing looks for it anymore.
        let outer = CURRENT.try_with(enter).unwrap_or_default();
        Self { outer }
    }
}

impl Drop for EnterGuard {
    fn drop(&mut self) {
        let leave = |here: &RefCell<_>| here.replace(self.outer.take());
        let _ = CURRENT.try_with(leave);
    }
}
