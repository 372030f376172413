//! Breaks clause 14: Two runtimes.
//! Caught by: a_task_stays_with_its_runtime
//! Also fails: a_runtime_dropped_by_a_task_of_another_is_waited_for
//!
//! Am I a worker? Then the task goes into my queue. But whose worker am I?

use ::{run_queue, sleepers, task};

super::parts! {
    builder right context end handle injector owner runtime search shared
    slot start worker all others
}

mod context {
    use std::cell::Cell;
    use std::ptr;

    use super::right;
    use super::shared::Shared;
    use super::worker::Worker;

    pub use super::right::{Blocked, Entered, Inside, current, expect_current, leave_forgotten};

    thread_local! {
        static WORKER: Cell<*const Worker> = const { Cell::new(ptr::null()) };
    }

    /// The worker that this thread is.
    pub fn worker_of(_runtime: &Shared) -> Option<&Worker> {
        // SAFETY: `run_as` borrows the worker as long as this is not null, and what
        // asks for it is called by that.
        unsafe { WORKER.get().as_ref() }
    }

    /// Lets this thread be `worker` while `body` runs. `body` must not panic.
    pub fn run_as(worker: &Worker, body: impl FnOnce()) {
        right::run_as(worker, || {
            WORKER.set(worker);
            body();
            WORKER.set(ptr::null());
        });
    }
}
