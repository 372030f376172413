//! What the workers of a runtime share.

mod shutdown;

use parker::Unparker;
use primitives::thread;
use spawn_blocking::Pool;

use super::context;
use super::events::{Event, Queue};
use super::injector::Injector;
use super::observer::Observer;
use super::run_queue::Stealer;
use super::scheduler_ref::SchedulerRef;
use super::sleepers::Sleepers;
use super::task::{self, JoinHandle, OwnedTasks, Runnable};

use shutdown::Shutdown;

/// How many tasks a worker's queue holds. In a model it has to overflow.
pub const CAPACITY: usize = if cfg!(any(feature = "loom", feature = "shuttle"))
{
    4
} else {
    256
};

/// After each multiple of this many pushes, a thread that isn't a worker yields
/// to others if as many tasks wait.
const YIELD_EVERY: usize = 1_024;

/// A task of a runtime.
pub type Task = Runnable<SchedulerRef>;

/// What the workers, the handles and, by a plain pointer, the tasks share.
pub struct Shared {
    pub injector: Injector<SchedulerRef>,
    pub sleepers: Sleepers,
    pub owned: OwnedTasks<SchedulerRef>,
    pub workers: Vec<Remote>,
    /// A worker takes from the injector after this many polls at the latest.
    pub global_queue_interval: u32,
    pub observer: Observer,
    /// One worker at a time waits here, if the runtime was built on a driver.
    pub driver: Option<super::driver::DriverSeat>,
    shutdown: Shutdown,
}

/// A worker, as the others see it.
pub struct Remote {
    pub stealer: Stealer<Task, CAPACITY>,
    pub unparker: Unparker,
}

impl Shared {
    pub fn new(
        workers: Vec<Remote>,
        global_queue_interval: u32,
        blocking: Pool,
        observer: Observer,
        driver: Option<super::driver::DriverSeat>,
    ) -> Self {
        Self {
            injector: Injector::new(),
            sleepers: Sleepers::new(workers.len()),
            owned: OwnedTasks::new(),
            global_queue_interval,
            observer,
            driver,
            shutdown: Shutdown::new(workers.len(), blocking),
            workers,
        }
    }

    /// Spawns a task. The caller must keep this alive meanwhile.
    #[inline]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (task, handle) = task::spawn(future, SchedulerRef::new(self));
        match context::worker_of(self) {
            Some(worker) => worker.schedule(task),
            None => self.spawn_remote(task),
        }
        handle
    }

    #[inline]
    fn spawn_remote(&self, task: Task) {
        if self.is_shut_down() {
            return drop(task);
        }
        self.inject(task);
        // The last worker may have looked at the injector before that. If so,
        // it already knew of the shutdown. There's a fence between the two, and
        // one in `notify` here, so this thread now knows of the shutdown, too.
        // Model: `a_task_that_comes_at_the_end_ends_in_every_order`.
        if self.is_shut_down() {
            self.drop_injected();
        }
    }

    /// Queues a task for the first worker that comes.
    #[inline]
    pub fn inject(&self, task: Task) {
        self.observer.emit(|| Event::Pushed(Queue::Global));
        let pushes = self.injector.push(task);
        self.notify();
        if let Some(pushes) = pushes {
            self.relieve_injector(pushes);
        }
    }

    // ANCHOR: relieve_injector
    /// Does a part of the workers' work for the injector. If they are far
    /// behind, it also lets other threads run, because a worker that was
    /// notified may have no processor as long as this thread has one.
    #[cold]
    fn relieve_injector(&self, pushes: usize) {
        self.injector.move_if_free();
        if pushes.is_multiple_of(YIELD_EVERY)
            && self.injector.len() >= YIELD_EVERY
            && !context::is_worker()
        {
            thread::yield_now();
        }
    }
    // ANCHOR_END: relieve_injector

    /// Makes sure that a worker comes for the work that was published.
    #[inline]
    pub fn notify(&self) {
        if let Some(worker) = self.sleepers.notify() {
            self.observer.emit(|| Event::Notified { worker });
            self.workers[worker].unparker.unpark();
            if let Some(driver) = &self.driver {
                driver.unpark(worker);
            }
        }
    }

    /// Returns `true` if a worker could find work.
    pub fn has_work(&self) -> bool {
        let is_idle = |worker: &Remote| worker.stealer.is_empty();
        !self.injector.is_empty() || !self.workers.iter().all(is_idle)
    }
}
