//! Breaks clause 7: Re-entrant.
//! Caught by: a_task_may_spawn_and_wake_while_it_is_polled
//! Also fails: a_wake_up_within_another_executor_reaches_its_own
//! Also fails: a_destructor_may_spawn_and_wake
//! Also fails: a_handle_gives_what_the_task_returned
//! Also fails: a_panic_reaches_the_handle
//! Also fails: a_ready_task_has_its_turn
//! Also fails: a_recursive_run_panics
//! Also fails: an_executor_stays_on_its_thread
//! Also fails: each_of_many_tasks_is_found_at_once
//! Also fails: it_does_not_matter_who_woke_a_task
//! Also fails: panics_stay_in_their_task
//! Also fails: run_ends_when_no_task_is_left
//! Also fails: spawn_finds_the_executor_of_this_thread
//! Also fails: the_future_of_block_on_has_its_turn
//! Also fails: the_waker_of_the_last_poll_is_woken
//! Also fails: what_panics_as_it_is_dropped_harms_nobody
//!
//! The tasks are borrowed while one of them is polled, by a `match` on what is
//! borrowed. The future spawns, and finds them borrowed.

#[path = "../../../solutions/09-local-executor/src/here.rs"]
mod here;
#[path = "../../../solutions/09-local-executor/src/inbox.rs"]
mod inbox;
#[path = "../../../solutions/09-local-executor/src/tasks.rs"]
mod tasks;

use std::cell::{Cell, RefCell};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parker::Parker;

pub use here::spawn;
use here::{Here, wake_here};
use inbox::{Inbox, Signal};
pub use local_executor::{Completer, Job, JoinError, JoinHandle, job, outcome};
use tasks::{Key, Task, Tasks, Turn};

/// Runs tasks on the thread that it was made on.
pub struct LocalExecutor {
    core: Rc<Core>,
}

/// An executor, as its tasks see it.
struct Core {
    tasks: RefCell<Tasks>,
    inbox: Arc<Inbox>,
    parker: Parker,
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
        let _here = Here::enter_alone(&self.core);
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
        let _here = Here::enter_alone(&self.core);
        while !self.core.tasks.borrow().is_empty() {
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
        let _here = Here::enter(core);
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

    /// Gives a task its turn.
    fn poll(&self, key: Key, mut task: Task) {
        let mut tasks = self.tasks.borrow_mut();
        let mut cx = Context::from_waker(&task.waker);
        // A `Job` does not panic, whatever its future does.
        match task.future.as_mut().poll(&mut cx) {
            Poll::Pending => tasks.put_back(key, task),
            Poll::Ready(()) => tasks.remove(key),
        }
    }
}

/// The place of a future of `block_on` in the queue.
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
