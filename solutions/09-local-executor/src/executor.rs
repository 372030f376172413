//! The executor: what polls the tasks, and what happens on its thread.

use std::cell::{Cell, RefCell};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parker::Parker;

use super::{
    EnterGuard, Inbox, JoinHandle, Key, Next, Signal, Slab, Task, job,
};

/// Runs tasks on the thread that it was created on. The [crate's
/// documentation](crate) states the contract.
pub struct LocalExecutor {
    core: Rc<Core>,
}

/// An executor, as its tasks see it.
pub struct Core {
    tasks: RefCell<Slab>,
    inbox: Arc<Inbox>,
    parker: Parker,
    /// Whether the executor is being dropped.
    is_closed: Cell<bool>,
}

impl LocalExecutor {
    /// Creates an executor without tasks.
    pub fn new() -> Self {
        let parker = Parker::new();
        let core = Core {
            tasks: RefCell::default(),
            inbox: Inbox::new(parker.unparker()),
            parker,
            is_closed: Cell::new(false),
        };
        Self {
            core: Rc::new(core),
        }
    }

    /// Creates a task from `future`. Only [`run`](Self::run) and
    /// [`block_on`](Self::block_on) poll it.
    pub fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> JoinHandle<F::Output> {
        self.core.spawn(future)
    }

    /// Runs `future` until it's ready and returns its output; meanwhile, runs
    /// the tasks.
    ///
    /// # Panics
    ///
    /// Passes on a panic of the future. Panics, with a message that contains
    /// the word "recursive", if an executor runs on this thread.
    // ANCHOR: block_on
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _guard = EnterGuard::enter_alone(&self.core);
        let root = Root::new(&self.core);
        let mut future = pin!(future);
        let mut cx = Context::from_waker(&root.waker);
        loop {
            match self.core.wait_for_next() {
                Next::Task(key, task) => self.core.poll(key, task),
                Next::Root => {
                    let polled = future.as_mut().poll(&mut cx);
                    if let Poll::Ready(output) = polled {
                        return output;
                    }
                }
            }
        }
    }
    // ANCHOR_END: block_on

    /// Runs the tasks until none is left.
    ///
    /// # Panics
    ///
    /// Panics, with a message that contains the word "recursive", if an
    /// executor runs on this thread.
    pub fn run(&self) {
        let _guard = EnterGuard::enter_alone(&self.core);
        while !self.core.tasks.borrow().is_empty() {
            if let Next::Task(key, task) = self.core.wait_for_next() {
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
        // Destructors may wake and spawn, as they may while the executor runs.
        let _guard = EnterGuard::enter(core);
        core.is_closed.set(true);
        let tasks = core.tasks.borrow_mut().take_all();
        for task in tasks {
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(task)));
            // The panic's payload may itself panic when it's dropped.
            dropped.unwrap_or_else(mem::forget);
        }
        core.inbox.close();
    }
}

impl Core {
    /// Creates a task from `future`, unless the executor is being dropped.
    pub fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> JoinHandle<F::Output> {
        let (job, handle) = job(future);
        if self.is_closed.get() {
            return handle;
        }
        let future = Box::pin(job);
        let waker = |key| Signal::waker(key, &self.inbox);
        self.tasks.borrow_mut().add(future, waker);
        handle
    }

    /// Returns `true` if the executor's remote wake-ups arrive in this inbox.
    pub fn has(&self, inbox: &Arc<Inbox>) -> bool {
        Arc::ptr_eq(&self.inbox, inbox)
    }

    /// Wakes a task, on this thread.
    pub fn make_ready(&self, key: Key) {
        self.tasks.borrow_mut().make_ready(key);
    }

    // ANCHOR: tick
    /// Sleeps until something is ready, and returns it.
    fn wait_for_next(&self) -> Next {
        loop {
            // At each tick, so that remote wake-ups don't wait until there is
            // nothing to do here.
            self.inbox.take(|key| self.make_ready(key));
            let next = self.tasks.borrow_mut().pop();
            match next {
                Some(next) => return next,
                None => self.parker.park(),
            }
        }
    }

    /// Polls a task. Nothing is borrowed meanwhile, so the task may spawn and
    /// wake.
    fn poll(&self, key: Key, mut task: Task) {
        let mut cx = Context::from_waker(&task.waker);
        // A `CatchUnwind` doesn't panic, no matter what its future does.
        match task.future.as_mut().poll(&mut cx) {
            Poll::Pending => self.tasks.borrow_mut().put_back(key, task),
            Poll::Ready(()) => self.tasks.borrow_mut().remove(key),
        }
    }
    // ANCHOR_END: tick
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
