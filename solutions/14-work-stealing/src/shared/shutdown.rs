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
    /// Whether nobody waits for the workers, so that the last of them has to
    /// end the blocking threads.
    is_detached: AtomicBool,
    /// How many workers have not dropped their tasks yet.
    workers_left: AtomicUsize,
    /// How many threads are scheduling a task without anything that keeps the
    /// runtime alive.
    in_flight: AtomicUsize,
    /// The threads for what blocks. Shut down when the runtime ends: whoever
    /// submits a job holds on to the runtime's parts, and must not be the one
    /// that waits.
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
        // Relaxed: workers that sleep are unparked, which publishes it; others
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
        if let Some(driver) = &self.driver {
            (0..self.workers.len()).for_each(|worker| driver.unpark(worker));
        }
    }

    /// The same, by a worker in one of its tasks, which nobody waits for.
    pub fn shut_down_detached(&self) {
        // Relaxed: published by this worker's `workers_exited`.
        self.shutdown.is_detached.store(true, Relaxed);
        self.shut_down();
    }

    /// The threads for what blocks. Once the runtime has ended they cancel what
    /// is submitted.
    pub fn blocking(&self) -> &Pool {
        &self.shutdown.blocking
    }

    /// Waits until all blocking jobs have ended, and takes no more.
    pub fn end_blocking(&self) {
        self.shutdown.blocking.shut_down();
    }

    /// So many workers are not there any more, or never were. The last of them
    /// ends what is left.
    pub fn workers_exited(&self, workers: usize) {
        // Release and Acquire: what each worker did comes before the end.
        if self.shutdown.workers_left.fetch_sub(workers, AcqRel) == workers {
            self.drop_all();
        }
    }

    /// Drops all tasks, wherever they are. No worker runs any more.
    ///
    /// The destructor of a future may wake and spawn others, and foreign
    /// threads do so at any time. All of that comes to the injector, or, if it
    /// is spawned, ends at once.
    fn drop_all(&self) {
        self.owned.close_and_cancel();
        // SeqCst: pairs with the fence in `notify`, see `spawn_remote`
        // in the module above.
        // Model: `a_task_that_comes_at_the_end_ends_in_every_order`.
        fence(SeqCst);
        // A thread in flight holds a task that is listed, or has pushed it
        // already and is about to leave.
        while self.drop_injected()
            || !self.owned.is_empty()
            || self.has_in_flight()
        {
            thread::yield_now();
        }
        if let Some(driver) = &self.driver {
            // What waits for it now is elsewhere: in a `block_on`, or in a task
            // of another runtime.
            driver.shut_down();
        }
        // Relaxed: `workers_exited` has published it.
        if self.shutdown.is_detached.load(Relaxed) {
            self.end_blocking();
        }
    }

    /// Drops what is in the injector. Returns `true` if there was something.
    pub fn drop_injected(&self) -> bool {
        let mut has_tasks = false;
        while let Some(task) = self.injector.take_one() {
            has_tasks = true;
            drop(task);
        }
        has_tasks
    }

    /// Queues a task, by a thread that nothing connects with the runtime but
    /// the task. As soon as that is pushed, it may run and end, and the runtime
    /// with it: so the end waits for those in flight.
    /// Model: `nobody_is_left_behind_in_whatever_order`.
    pub fn inject_remote(&self, task: Task) {
        // Relaxed: published with the task. Whoever sees that it has ended sees
        // us.
        self.shutdown.in_flight.fetch_add(1, Relaxed);
        self.inject(task);
        // Release: pairs with the Acquire in `has_in_flight`; we do not touch
        // it again.
        self.shutdown.in_flight.fetch_sub(1, Release);
    }

    fn has_in_flight(&self) -> bool {
        // Acquire: pairs with the Release in `inject_remote`.
        self.shutdown.in_flight.load(Acquire) > 0
    }
}
