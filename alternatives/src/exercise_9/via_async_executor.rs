//! The executor of the crate `async-executor`: each of its tasks is one
//! allocation, which is scheduled as a whole.

use std::cell::Cell;
use std::rc::Rc;

pub use super::spawn;
use super::{EnterGuard, Host, Quiet, task};
pub use local_executor::{
    CatchUnwind, Completer, JoinError, JoinHandle, job, outcome,
};

/// Runs tasks on the thread that it was created on.
pub struct LocalExecutor(Rc<Tasks>);

struct Tasks {
    executor: Cell<Option<Rc<async_executor::LocalExecutor<'static>>>>,
}

impl Tasks {
    /// The executor; `None` once it's being dropped.
    fn executor(&self) -> Option<Rc<async_executor::LocalExecutor<'static>>> {
        let executor = self.executor.take();
        self.executor.set(executor.clone());
        executor
    }
}

impl Host for Tasks {
    fn add(&self, task: Quiet) {
        if let Some(executor) = self.executor() {
            executor.spawn(task).detach();
        }
    }
}

impl LocalExecutor {
    /// Creates an executor without tasks.
    pub fn new() -> Self {
        let executor = Rc::new(async_executor::LocalExecutor::new());
        Self(Rc::new(Tasks {
            executor: Cell::new(Some(executor)),
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
        parker::block_on(self.executor().run(future))
    }

    /// Runs the tasks until none is left.
    pub fn run(&self) {
        let _guard = EnterGuard::enter_alone(self.0.clone());
        let executor = self.executor();
        while !executor.is_empty() {
            parker::block_on(executor.tick());
        }
    }

    fn executor(&self) -> Rc<async_executor::LocalExecutor<'static>> {
        self.0.executor().expect("it's there until it's dropped")
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
        let executor = self.0.executor.take();
        drop(executor);
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
