//! How a runtime ends.

use primitives::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};
use primitives::thread;
use spawn_blocking::Pool;

use super::{Shared, Task};

/// How far the end has come.
pub struct Shutdown {
    is_shut_down: AtomicBool,
    /// Whether no thread waits for the workers, so that the last of them has to
    /// end the blocking threads.
    is_detached: AtomicBool,
    /// How many workers haven't dropped their tasks yet.
    workers_left: AtomicUsize,
    /// How many threads are scheduling a task and have nothing that keeps the
    /// runtime alive.
    in_flight: AtomicUsize,
    /// The threads for blocking jobs. They are shut down when the runtime ends,
    /// and not when this is dropped: a thread that submits a job keeps the
    /// runtime's parts alive, but must not wait for the jobs.
    blocking: Pool,
}

impl Shutdown {
    pub fn new(workers: usize, blocking: Pool) -> Self {
        Self {
            is_shut_down: AtomicBool::new(false),
            is_detached: AtomicBool::new(false),
            workers_left: AtomicUsize::new(workers),
            in_flight: AtomicUsize::new(0),
            blocking,
        }
    }
}

impl Shared {
    #[inline]
    pub fn is_shut_down(&self) -> bool {
        // Relaxed: parked workers are unparked, which publishes it; the others
        // see it sooner or later.
        self.shutdown.is_shut_down.load(Relaxed)
    }

    /// Tells the workers to end.
    pub fn shut_down(&self) {
        // Relaxed: the unpark of each worker publishes it.
        // Model: `two_workers_end_in_every_order`.
        self.shutdown.is_shut_down.store(true, Relaxed);
        for worker in &self.workers {
            worker.unparker.unpark();
        }
    }

    /// The same, by a worker in one of its tasks: no thread waits for the
    /// workers.
    pub fn shut_down_detached(&self) {
        // Relaxed: published by this worker's `workers_exited`.
        self.shutdown.is_detached.store(true, Relaxed);
        self.shut_down();
    }

    /// The threads for blocking jobs. Once the runtime has ended, jobs that are
    /// submitted are cancelled.
    pub fn blocking(&self) -> &Pool {
        &self.shutdown.blocking
    }

    /// Takes no more blocking jobs, and waits until all have ended.
    pub fn end_blocking(&self) {
        self.shutdown.blocking.shut_down();
    }

    /// This many workers have exited, or never started. The last of them drops
    /// all tasks that are left.
    pub fn workers_exited(&self, workers: usize) {
        // Release and Acquire: what each worker did comes before the end.
        if self.shutdown.workers_left.fetch_sub(workers, AcqRel) == workers {
            self.drop_all();
        }
    }

    /// Drops all tasks, no matter where they are. No worker runs anymore.
    ///
    /// The destructor of a future may wake and spawn other tasks, and foreign
    /// threads may do so at any time. All of these tasks come to the injector,
    /// or, if they are spawned, end at once.
    fn drop_all(&self) {
        self.owned.close_and_cancel();
        // SeqCst: pairs with the fence in `notify`, see `spawn_remote`
        // in the module above.
        // Model: `a_task_that_comes_at_the_end_ends_in_every_order`.
        fence(SeqCst);
        // A thread in flight owns a task that is listed, or has already pushed
        // the task and is about to leave.
        while self.drop_injected()
            || !self.owned.is_empty()
            || self.has_in_flight()
        {
            thread::yield_now();
        }
        // Relaxed: `workers_exited` has published it.
        if self.shutdown.is_detached.load(Relaxed) {
            self.end_blocking();
        }
    }

    /// Drops the tasks in the injector. Returns `true` if there were any.
    pub fn drop_injected(&self) -> bool {
        let mut has_tasks = false;
        while let Some(task) = self.injector.take_one() {
            has_tasks = true;
            drop(task);
        }
        has_tasks
    }

    /// Queues a task, on a thread that only the task connects with the runtime.
    /// As soon as the task is pushed, it may run and end, and the runtime with
    /// it, so the end waits for the threads in flight.
    /// Model: `nobody_is_left_behind_in_whatever_order`.
    pub fn inject_remote(&self, task: Task) {
        // Relaxed: published with the task. A thread that sees that the task
        // has ended also sees this one counted.
        self.shutdown.in_flight.fetch_add(1, Relaxed);
        self.inject(task);
        // Release: pairs with the Acquire in `has_in_flight`; we don't touch
        // the runtime again.
        self.shutdown.in_flight.fetch_sub(1, Release);
    }

    fn has_in_flight(&self) -> bool {
        // Acquire: pairs with the Release in `inject_remote`.
        self.shutdown.in_flight.load(Acquire) > 0
    }
}
