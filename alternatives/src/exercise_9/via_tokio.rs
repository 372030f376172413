//! tokio's `LocalSet`, which needs no runtime to run.
//!
//! Fails at times: a_wake_up_from_a_thread_that_ends_counts
//! Fails at times: many_tasks_woken_from_elsewhere_are_polled_soon

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use tokio::task::LocalSet;

pub use super::spawn;
use super::{EnterGuard, Host, Quiet, task};
pub use local_executor::{
    CatchUnwind, Completer, JoinError, JoinHandle, job, outcome,
};

/// Runs tasks on the thread that it was created on.
pub struct LocalExecutor(Rc<Tasks>);

struct Tasks {
    set: RefCell<Option<Rc<LocalSet>>>,
    count: Rc<Count>,
}

/// Counts the tasks, and wakes `run` when there are none.
#[derive(Default)]
struct Count {
    count: Cell<usize>,
    run: Cell<Option<Waker>>,
}

struct Counted(Rc<Count>);

impl Counted {
    fn new(count: &Rc<Count>) -> Self {
        count.count.set(count.count.get() + 1);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get() - 1);
        if self.0.count.get() == 0 {
            self.0.run.take().into_iter().for_each(Waker::wake);
        }
    }
}

impl Host for Tasks {
    fn add(&self, task: Quiet) {
        let set = self.set.borrow().clone();
        if let Some(set) = set {
            let counted = Counted::new(&self.count);
            set.spawn_local(async {
                task.await;
                drop(counted);
            });
        }
    }
}

impl LocalExecutor {
    /// Creates an executor without tasks.
    pub fn new() -> Self {
        Self(Rc::new(Tasks {
            set: RefCell::new(Some(Rc::new(LocalSet::new()))),
            count: Rc::default(),
        }))
    }

    /// Creates a task from `future`.
    pub fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> JoinHandle<F::Output> {
        let (task, handle) = task(future);
        self.0.add(task);
        handle
    }

    /// Runs `future` until it's ready, and meanwhile the tasks.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _guard = EnterGuard::enter_alone(self.0.clone());
        let set = self.0.set.borrow().clone();
        let set = set.expect("it's there until it's dropped");
        parker::block_on(set.run_until(future))
    }

    /// Runs the tasks until none is left.
    pub fn run(&self) {
        let count = &self.0.count;
        self.block_on(poll_fn(|cx| {
            count.run.set(Some(cx.waker().clone()));
            match count.count.get() {
                0 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        }));
    }
}

impl Default for LocalExecutor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for LocalExecutor {
    fn drop(&mut self) {
        let _guard = EnterGuard::enter(self.0.clone());
        let set = self.0.set.take();
        drop(set);
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
