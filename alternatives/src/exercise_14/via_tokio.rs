//! tokio's multi-thread runtime behind the exercise's names.
//!
//! Fails at times: a_flood_from_outside_leaves_polls_for_the_own_tasks
//! Fails at times: a_guard_that_is_forgotten_harms_nobody
//! Fails at times: a_panic_harms_nobody_else
//! Fails at times: a_runtime_dropped_by_a_task_of_another_is_waited_for
//! Fails at times: a_runtime_may_be_dropped_by_its_own_job
//! Fails at times: a_task_that_yields_to_a_long_poll_is_stolen
//! Fails at times: a_thread_that_is_refused_is_an_error
//! Fails at times: as_many_tasks_run_as_there_are_workers
//! Fails at times: as_many_woken_tasks_run_as_there_are_workers
//! Fails at times: each_poll_counts_in_the_interval
//! Fails at times: idle_workers_sleep
//! Fails at times: no_count_of_polls_keeps_a_task_out
//! Fails at times: the_queue_behind_a_long_poll_is_stolen
//! Fails at times: there_are_as_many_workers_as_asked_for
//! Fails at times: what_a_timer_or_a_job_wakes_is_polled_soon
//! Fails at times: what_comes_after_the_end_may_use_the_runtime_as_it_is_dropped
//! Fails at times: what_comes_now_and_then_is_polled_soon
//!
//! The check of forgotten guards always fails: a guard of tokio's own, around all tasks or all
//! jobs of a thread, panics if one of them has forgotten its guard. The checks of the interval,
//! of the flood, of what comes now and then or after a lull, and of timers and jobs always
//! fail, too: tokio doesn't count the polls of tasks from its slot, and it looks at its global
//! queue only once an interval, which it adapts to the length of the polls if you set none, and
//! at its driver once an event interval, which is fixed. The check of what comes after the end
//! always fails because the free functions spawn while a cell with the entered runtime is
//! borrowed: a destructor of what is refused panics if it enters a runtime, which changes the
//! cell. Where the system refuses a thread,
//! tokio panics. It doesn't wait for a runtime that is dropped in a task or a job of any
//! runtime: it panics, or would wait for the job itself, unless the caller asks it not to wait.
//!
//! On a busy machine a run sometimes hangs: a worker of tokio is parked while a task
//! waits behind another that is being polled. This can happen in two ways; the section
//! "Two corners" of `src/scheduler/reading-tokio.md` shows both, and what was measured.
//! The other checks are those that failed in sixty runs with both windows widened in a
//! copy of tokio, and one, of a yield, that has been written since and waits for the
//! same thing.

use std::any::Any;
use std::io;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime;
pub use tokio::runtime::EnterGuard;
use tokio::task;
pub use tokio::time::sleep;
// tokio's own keeps the task back until its worker has nothing else to poll: so long
// no other worker can take it.
pub use yield_now::yield_now;

/// tokio's runtime.
pub struct Runtime(ManuallyDrop<runtime::Runtime>);

impl Runtime {
    /// Makes a runtime with a worker for each processor.
    pub fn new() -> io::Result<Self> {
        Self::builder().build()
    }

    /// Returns a builder, for a runtime with other settings.
    pub fn builder() -> Builder {
        let mut builder = runtime::Builder::new_multi_thread();
        builder.enable_time().thread_name("worker");
        Builder {
            builder,
            is_name_refused: false,
        }
    }

    /// Runs `future` to its end on this thread.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle(self.0.spawn(future))
    }

    /// Runs `job` on a thread where it may block.
    pub fn spawn_blocking<F, T>(&self, job: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        JoinHandle(self.0.spawn_blocking(job))
    }

    /// Makes this the runtime of this thread.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.0.enter()
    }

    /// Returns a handle.
    pub fn handle(&self) -> Handle {
        Handle(self.0.handle().clone())
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // SAFETY: the runtime isn't used after this.
        let runtime = unsafe { ManuallyDrop::take(&mut self.0) };
        match runtime::Handle::try_current() {
            // tokio panics rather than wait within one of its own tasks.
            Ok(_) => runtime.shutdown_background(),
            Err(_) => drop(runtime),
        }
    }
}

/// tokio's builder.
pub struct Builder {
    builder: runtime::Builder,
    /// tokio leaves this case to std, which panics.
    is_name_refused: bool,
}

impl Builder {
    /// How many workers there are.
    pub fn worker_threads(&mut self, count: usize) -> &mut Self {
        self.builder.worker_threads(count);
        self
    }

    /// How often a worker looks into the global queue.
    pub fn global_queue_interval(&mut self, polls: u32) -> &mut Self {
        // With 1 tokio polls tasks of the worker's own only once the global queue
        // is empty. With 0 it panics.
        let polls = if polls == 1 { 2 } else { polls };
        self.builder.global_queue_interval(polls);
        self
    }

    /// How the threads of the workers are named.
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        self.is_name_refused = name.contains('\0');
        self.builder.thread_name(name);
        self
    }

    /// How many blocking jobs run at a time.
    pub fn max_blocking_threads(&mut self, count: usize) -> &mut Self {
        self.builder.max_blocking_threads(count);
        self
    }

    /// Starts the workers.
    pub fn build(&mut self) -> io::Result<Runtime> {
        if self.is_name_refused {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Runtime(ManuallyDrop::new(self.builder.build()?)))
    }
}

/// tokio's handle.
#[derive(Clone)]
pub struct Handle(runtime::Handle);

impl Handle {
    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle(self.0.spawn(future))
    }

    /// Runs `job` on a thread where it may block.
    pub fn spawn_blocking<F, T>(&self, job: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        JoinHandle(self.0.spawn_blocking(job))
    }

    /// Makes this the runtime of this thread.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.0.enter()
    }
}

/// tokio's handle of a task or of a blocking job.
pub struct JoinHandle<T>(task::JoinHandle<T>);

impl<T> JoinHandle<T> {
    /// Aborts the task.
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Returns `true` if the task has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        let result = Pin::new(&mut self.0).poll(cx);
        result.map(|result| result.map_err(JoinError))
    }
}

/// tokio's error.
#[derive(Debug)]
pub struct JoinError(task::JoinError);

impl JoinError {
    /// Returns `true` if the task has panicked.
    pub fn is_panic(&self) -> bool {
        self.0.is_panic()
    }

    /// Returns `true` if the task was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Returns the task's panic payload.
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.0.into_panic()
    }
}

/// Spawns a task on the runtime of this thread.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    JoinHandle(task::spawn(future))
}

/// Runs `job` on a thread of this thread's runtime where it may block.
pub fn spawn_blocking<F, T>(job: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    JoinHandle(task::spawn_blocking(job))
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "../../../exercises/14-work-stealing/src/tests/mod.rs"]
mod tests;
