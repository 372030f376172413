//! Breaks clause 10: At home.
//! Caught by: the_last_waker_does_not_take_the_task_along
//! Also fails: dropping_the_executor_drops_every_task
//! Also fails: tasks_that_refer_to_each_other_are_dropped
//! Also fails: wakers_outlive_the_executor_and_leave_nothing
//! Also fails: each_short_history_of_two_executors_goes_as_the_contract_says
//!
//! A task is its own waker, as in many multi-threaded executors. There, the
//! future is `Send`. Here, `unsafe` claims that it is, since only the executor
//! polls it; but the thread that drops the last waker drops the future.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::ptr;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use parker::{Parker, Unparker};
use primitives::atomic::{AtomicBool, Ordering::AcqRel};
use primitives::{Mutex, MutexGuard};

pub use local_executor::{
    CatchUnwind, Completer, JoinError, JoinHandle, job, outcome,
};

/// Runs tasks on the thread that it was created on.
pub struct LocalExecutor {
    core: Rc<Core>,
}

struct Core {
    /// The tasks that aren't over, by their addresses.
    tasks: RefCell<HashMap<usize, Arc<Task>>>,
    queue: Arc<Queue>,
    parker: Parker,
}

struct Queue {
    ready: Mutex<Ready>,
    unparker: Unparker,
}

#[derive(Default)]
struct Ready {
    tasks: VecDeque<Arc<Task>>,
    is_closed: bool,
}

/// A task, which is its own waker.
struct Task {
    /// `None` when the task is over, and for the future of `block_on`.
    future: Mutex<Option<AtHome>>,
    is_ready: AtomicBool,
    queue: Arc<Queue>,
}

/// A future that only its executor uses.
struct AtHome(Pin<Box<dyn Future<Output = ()>>>);

// SAFETY: wakers move it to other threads, but only the executor polls it, and
// the executor doesn't leave its thread.
unsafe impl Send for AtHome {}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        // AcqRel: pairs with the swap in `next`.
        if self.is_ready.swap(true, AcqRel) {
            return;
        }
        let queue = self.queue.clone();
        let mut ready = queue.lock();
        if !ready.is_closed {
            ready.tasks.push_back(self);
            drop(ready);
            queue.unparker.unpark();
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    fn new(future: Option<AtHome>, queue: &Arc<Queue>) -> Arc<Self> {
        Arc::new(Self {
            future: Mutex::new(future),
            is_ready: AtomicBool::new(false),
            queue: queue.clone(),
        })
    }

    fn future(&self) -> MutexGuard<'_, Option<AtHome>> {
        self.future.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    fn spawn<F: Future + 'static>(&self, future: F) -> JoinHandle<F::Output> {
        let (job, handle) = job(future);
        if self.queue.lock().is_closed {
            return handle;
        }
        let task = Task::new(Some(AtHome(Box::pin(job))), &self.queue);
        let address = Arc::as_ptr(&task).addr();
        self.tasks.borrow_mut().insert(address, task.clone());
        task.wake();
        handle
    }

    /// Sleeps until something is ready, and returns it.
    fn next(&self) -> Arc<Task> {
        loop {
            let task = self.queue.lock().tasks.pop_front();
            if let Some(task) = task {
                // AcqRel: pairs with the swap in `wake`.
                task.is_ready.swap(false, AcqRel);
                return task;
            }
            self.parker.park();
        }
    }

    fn poll(&self, task: Arc<Task>) {
        let Some(mut future) = task.future().take() else {
            return;
        };
        let waker = Waker::from(task.clone());
        let mut cx = Context::from_waker(&waker);
        if future.0.as_mut().poll(&mut cx).is_pending() {
            *task.future() = Some(future);
        } else {
            let address = Arc::as_ptr(&task).addr();
            self.tasks.borrow_mut().remove(&address);
        }
    }
}

impl LocalExecutor {
    /// Creates an executor without tasks.
    pub fn new() -> Self {
        let parker = Parker::new();
        let queue = Queue {
            ready: Mutex::default(),
            unparker: parker.unparker(),
        };
        let core = Core {
            tasks: RefCell::default(),
            queue: Arc::new(queue),
            parker,
        };
        Self {
            core: Rc::new(core),
        }
    }

    /// Creates a task from `future`.
    pub fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> JoinHandle<F::Output> {
        self.core.spawn(future)
    }

    /// Runs `future` until it's ready, and meanwhile the tasks.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _guard = EnterGuard::enter_alone(&self.core);
        let mut future = pin!(future);
        let root = Task::new(None, &self.core.queue);
        root.clone().wake();
        let waker = Waker::from(root.clone());
        let mut cx = Context::from_waker(&waker);
        loop {
            let task = self.core.next();
            if !ptr::eq(&*task, &*root) {
                self.core.poll(task);
            } else if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
        }
    }

    /// Runs the tasks until none is left.
    pub fn run(&self) {
        let _guard = EnterGuard::enter_alone(&self.core);
        while !self.core.tasks.borrow().is_empty() {
            self.core.poll(self.core.next());
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
        let _guard = EnterGuard::enter(&self.core);
        let mut ready = self.core.queue.lock();
        ready.is_closed = true;
        let queued = mem::take(&mut ready.tasks);
        drop(ready);
        let tasks = self.core.tasks.take().into_values();
        for task in queued.into_iter().chain(tasks) {
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(task)));
            dropped.unwrap_or_else(mem::forget);
        }
    }
}

primitives::thread_local! {
    /// The executor that runs on this thread.
    static CURRENT: RefCell<Option<Rc<Core>>> = const { RefCell::new(None) };
}

/// Creates a task from `future` on the executor that runs on this thread.
pub fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    let here = CURRENT.with(|here| here.borrow().clone());
    here.expect("no executor runs on this thread").spawn(future)
}

/// Makes an executor this thread's current one until the guard is dropped.
struct EnterGuard(Option<Rc<Core>>);

impl EnterGuard {
    fn enter_alone(core: &Rc<Core>) -> Self {
        let is_idle = CURRENT.with(|here| here.borrow().is_none());
        assert!(is_idle, "recursive: an executor runs on this thread");
        Self::enter(core)
    }

    fn enter(core: &Rc<Core>) -> Self {
        let enter = |here: &RefCell<_>| here.replace(Some(core.clone()));
        Self(CURRENT.try_with(enter).unwrap_or_default())
    }
}

impl Drop for EnterGuard {
    fn drop(&mut self) {
        let leave = |here: &RefCell<_>| here.replace(self.0.take());
        let _ = CURRENT.try_with(leave);
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
