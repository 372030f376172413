//! Breaks clause 15: Shutdown.
//! Caught by: shutdown_drops_every_task
//! Also fails: a_runtime_may_be_dropped_by_its_own_job
//! Also fails: a_runtime_dropped_by_a_task_of_another_is_waited_for
//! Also fails: a_job_that_waits_for_a_task_does_not_hold_up_the_shutdown
//! Also fails: a_runtime_may_be_dropped_by_its_own_task
//!
//! At the end the queues are emptied. A task that waits is in no queue: it
//! stays, and keeps what it has, until somebody drops its last waker.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context handle injector owner runtime search shared slot start
    worker all others
}

mod end {
    use spawn_blocking::Pool;
    use sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
        fence,
    };
    use sync::thread;

    use super::shared::{Shared, Task};

    /// How far the end has come.
    pub struct End {
        is_shut_down: AtomicBool,
        /// Whether nobody waits for the workers, so that the last of them has to end
        /// the blocking threads.
        is_alone: AtomicBool,
        /// How many workers have not dropped their tasks yet.
        workers_left: AtomicUsize,
        /// How many threads are scheduling a task without anything that keeps the
        /// runtime alive.
        guests: AtomicUsize,
        /// Shut down when the runtime ends.
        blocking: Pool,
    }

    impl End {
        pub fn new(workers: usize, blocking: Pool) -> Self {
            Self {
                is_shut_down: AtomicBool::new(false),
                is_alone: AtomicBool::new(false),
                workers_left: AtomicUsize::new(workers),
                guests: AtomicUsize::new(0),
                blocking,
            }
        }
    }

    impl Shared {
        #[inline]
        pub fn is_shut_down(&self) -> bool {
            // Relaxed: workers that sleep are unparked, which publishes it; others
            // see it sooner or later.
            self.end.is_shut_down.load(Relaxed)
        }

        /// Tells the workers to end.
        pub fn shut_down(&self) {
            // Relaxed: the unpark of each worker publishes it.
            self.end.is_shut_down.store(true, Relaxed);
            for worker in &self.workers {
                worker.unparker.unpark();
            }
        }

        /// The same, by a worker in one of its tasks, which nobody waits for.
        pub fn shut_down_without_us(&self) {
            // Relaxed: published by this worker's `leave`.
            self.end.is_alone.store(true, Relaxed);
            self.shut_down();
        }

        /// The threads for what blocks.
        pub fn blocking(&self) -> &Pool {
            &self.end.blocking
        }

        /// Waits until all blocking jobs have ended, and takes no more.
        pub fn end_blocking(&self) {
            self.end.blocking.shut_down();
        }

        /// So many workers are not there any more, or never were. The last of them
        /// ends what is left.
        pub fn leave(&self, workers: usize) {
            // Release and Acquire: what each worker did comes before the end.
            if self.end.workers_left.fetch_sub(workers, AcqRel) == workers {
                self.drop_all();
            }
        }

        /// Drops all tasks, wherever they are. No worker runs any more.
        ///
        /// The destructor of a future may wake and spawn others, and foreign threads
        /// do so at any time. All of that comes to the injector, or, if it is
        /// spawned, ends at once.
        fn drop_all(&self) {
            // SeqCst: pairs with the fence in `notify`, see `spawn_from_outside`.
            fence(SeqCst);
            // A guest holds a task that is listed, or has pushed it already and is
            // about to leave.
            while self.drop_injected() || self.has_guests() {
                thread::yield_now();
            }
            // Relaxed: `leave` has published it.
            if self.end.is_alone.load(Relaxed) {
                self.end_blocking();
            }
        }

        /// Drops what is in the injector. Returns `true` if there was something.
        pub fn drop_injected(&self) -> bool {
            let mut is_any = false;
            while let Some(task) = self.injector.take(1, drop) {
                is_any = true;
                drop(task);
            }
            is_any
        }

        /// Queues a task, by a thread that nothing connects with the runtime but the
        /// task. As soon as that is pushed, it may run and end, and the runtime with
        /// it: so the end waits for guests.
        pub fn inject_as_guest(&self, task: Task) {
            // Relaxed: published with the task. Whoever sees that it has ended sees
            // us.
            self.end.guests.fetch_add(1, Relaxed);
            self.inject(task);
            // Release: pairs with the Acquire in `has_guests`; we do not touch it
            // again.
            self.end.guests.fetch_sub(1, Release);
        }

        fn has_guests(&self) -> bool {
            // Acquire: pairs with the Release of a guest that leaves.
            self.end.guests.load(Acquire) > 0
        }
    }
}
