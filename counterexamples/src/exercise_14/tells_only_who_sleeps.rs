//! Breaks clause 15: Shutdown.
//! Caught by: models::two_workers_end_in_every_order
//! Also fails: models::a_task_from_outside_runs_in_every_order
//! Also fails: models::a_task_that_comes_at_the_end_ends_in_every_order
//!
//! Who ends the runtime says so, and then looks who sleeps: to unpark those that
//! are up would be in vain. A worker says that it sleeps, and then looks whether
//! there is an end. One of them must see the other, if each of them sees what was
//! written before it looks. For that a fence is missing, on both sides.

use ::{run_queue, task};

super::parts! {
    builder context handle injector runtime search slot worker models
    all others but tests
}

mod sleepers {
    use sync::atomic::{
        AtomicBool,
        Ordering::{Acquire, Release},
    };

    /// The solution's, with a note for each worker.
    pub struct Sleepers {
        inner: ::sleepers::Sleepers,
        is_asleep: Vec<AtomicBool>,
    }

    impl Sleepers {
        pub fn new(workers: usize) -> Self {
            Self {
                inner: ::sleepers::Sleepers::new(workers),
                is_asleep: (0..workers)
                    .map(|_| AtomicBool::new(false))
                    .collect(),
            }
        }

        pub fn notify(&self) -> Option<usize> {
            self.inner.notify()
        }

        pub fn try_search(&self) -> bool {
            self.inner.try_search()
        }

        pub fn found(&self) -> bool {
            self.inner.found()
        }

        pub fn sleep(&self, worker: usize, searching: bool) -> bool {
            let is_last = self.inner.sleep(worker, searching);
            // Release: pairs with the Acquire in `is_asleep`.
            self.is_asleep[worker].store(true, Release);
            is_last
        }

        pub fn wake(&self, worker: usize) -> bool {
            // Release: as above.
            self.is_asleep[worker].store(false, Release);
            self.inner.wake(worker)
        }

        pub fn is_asleep(&self, worker: usize) -> bool {
            // Acquire: pairs with the Release in `sleep` and `wake`.
            self.is_asleep[worker].load(Acquire)
        }
    }
}

mod shared {
    use std::ptr;
    use std::sync::{Arc, PoisonError};

    use parker::Unparker;
    use spawn_blocking::Pool;
    use sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
        fence,
    };
    use sync::{Mutex, thread};

    use super::context;
    use super::events::{Event, Queue};
    use super::injector::Injector;
    use super::observer::Observer;
    use super::run_queue::Stealer;
    use super::sleepers::Sleepers;
    use super::task::{self, JoinHandle, OwnedTasks, Runnable, Schedule};

    /// How many tasks a worker's queue holds. In a model it shall overflow.
    pub const CAPACITY: usize =
        if cfg!(any(feature = "loom", feature = "shuttle")) {
            4
        } else {
            256
        };

    /// A task of a runtime.
    pub type Task = Runnable<Owner>;

    /// What the workers, the handles and, by a plain pointer, the tasks share.
    pub struct Shared {
        pub injector: Injector,
        pub sleepers: Sleepers,
        pub owned: OwnedTasks<Owner>,
        pub workers: Vec<Remote>,
        /// A worker looks at the injector after so many polls at the latest.
        pub global_queue_interval: u32,
        pub observer: Observer,
        is_shut_down: AtomicBool,
        /// Whether nobody waits for the workers, so that the last of them has to end
        /// the blocking threads.
        is_alone: AtomicBool,
        /// How many workers have not dropped their tasks yet.
        workers_left: AtomicUsize,
        /// How many threads are scheduling a task without anything that keeps this
        /// alive.
        guests: AtomicUsize,
        /// Taken when the runtime ends.
        blocking: Mutex<Option<Arc<Pool>>>,
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
        ) -> Self {
            Self {
                injector: Injector::new(),
                sleepers: Sleepers::new(workers.len()),
                owned: OwnedTasks::new(),
                global_queue_interval,
                observer,
                is_shut_down: AtomicBool::new(false),
                is_alone: AtomicBool::new(false),
                workers_left: AtomicUsize::new(workers.len()),
                guests: AtomicUsize::new(0),
                blocking: Mutex::new(Some(Arc::new(blocking))),
                workers,
            }
        }

        /// Spawns a task. The caller must hold what keeps this alive.
        #[inline]
        pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
        {
            let (task, handle) = task::spawn(future, Owner(self));
            match context::worker_of(self) {
                Some(worker) => worker.schedule(task),
                None => self.spawn_from_outside(task),
            }
            handle
        }

        #[inline]
        fn spawn_from_outside(&self, task: Task) {
            if self.is_shut_down() {
                return drop(task);
            }
            self.inject(task);
            // The last worker may have looked at the injector before that. Then it
            // knew of the shutdown, and since it has made a fence in between, as
            // `notify` did here, so do we.
            if self.is_shut_down() {
                self.drop_injected();
            }
        }

        /// Queues a task for whichever worker comes first.
        #[inline]
        pub fn inject(&self, task: Task) {
            self.observer.tell(|| Event::Pushed(Queue::Global));
            self.injector.push(task);
            self.notify();
        }

        /// Sees to it that somebody comes for the work that was published.
        #[inline]
        pub fn notify(&self) {
            if let Some(worker) = self.sleepers.notify() {
                self.observer.tell(|| Event::Notified { worker });
                self.workers[worker].unparker.unpark();
            }
        }

        /// Returns `true` if a worker could find work.
        pub fn has_work(&self) -> bool {
            let is_idle = |worker: &Remote| worker.stealer.is_empty();
            !self.injector.is_empty() || !self.workers.iter().all(is_idle)
        }

        /// The threads for what blocks; `None` once the runtime has ended.
        pub fn blocking(&self) -> Option<Arc<Pool>> {
            let blocking = self.blocking.lock();
            blocking.unwrap_or_else(PoisonError::into_inner).clone()
        }

        #[inline]
        pub fn is_shut_down(&self) -> bool {
            // Acquire: pairs with the Release in `shut_down`.
            self.is_shut_down.load(Acquire)
        }

        /// Tells the workers to end. Those that are up look by themselves.
        pub fn shut_down(&self) {
            // Release: pairs with the Acquire in `is_shut_down`.
            self.is_shut_down.store(true, Release);
            for (index, worker) in self.workers.iter().enumerate() {
                if self.sleepers.is_asleep(index) {
                    worker.unparker.unpark();
                }
            }
        }

        /// The same, by a worker in one of its tasks, which nobody waits for.
        pub fn shut_down_without_us(&self) {
            // Relaxed: published by this worker's `leave`.
            self.is_alone.store(true, Relaxed);
            self.shut_down();
        }

        /// Waits until all blocking jobs have ended, and takes no more.
        pub fn end_blocking(&self) {
            let blocking = self.blocking.lock();
            let pool = blocking.unwrap_or_else(PoisonError::into_inner).take();
            // Not under the lock: the jobs may want it.
            drop(pool);
        }

        /// So many workers are not there any more, or never were. The last of them
        /// ends what is left.
        pub fn leave(&self, workers: usize) {
            // Release and Acquire: what each worker did comes before the end.
            if self.workers_left.fetch_sub(workers, AcqRel) == workers {
                self.end();
            }
        }

        /// Drops all tasks, wherever they are. No worker runs any more.
        ///
        /// The destructor of a future may wake and spawn others, and foreign threads
        /// do so at any time. All of that comes to the injector, or, if it is
        /// spawned, ends at once.
        fn end(&self) {
            self.owned.close_and_cancel();
            // SeqCst: pairs with the fence in `notify`, see `spawn_from_outside`.
            fence(SeqCst);
            // A guest holds a task that is listed, or has pushed it already and is
            // about to leave.
            while self.drop_injected()
                || !self.owned.is_empty()
                || self.has_guests()
            {
                thread::yield_now();
            }
            // Relaxed: `leave` has published it.
            if self.is_alone.load(Relaxed) {
                self.end_blocking();
            }
        }

        fn has_guests(&self) -> bool {
            // Acquire: pairs with the Release of a guest that leaves.
            self.guests.load(Acquire) > 0
        }

        /// Returns `true` if there was one.
        fn drop_injected(&self) -> bool {
            let mut is_any = false;
            while let Some(task) = self.injector.take(1, drop) {
                is_any = true;
                drop(task);
            }
            is_any
        }
    }

    /// The runtime that a task belongs to.
    ///
    /// It is a plain pointer: a count for each task would be changed by all workers
    /// at every spawn and at every end. It may be used by whoever holds the task,
    /// since the runtime does not go before all its tasks have ended. After that
    /// nobody uses it: a waker of a task that has ended schedules nothing.
    #[derive(Clone, Copy)]
    pub struct Owner(*const Shared);

    // SAFETY: what it points to may be used by all threads.
    unsafe impl Send for Owner {}
    // SAFETY: as above.
    unsafe impl Sync for Owner {}

    impl Owner {
        /// # Safety
        ///
        /// The caller must hold a task of this owner, or be a worker, or be counted
        /// as a guest, as long as it uses the reference.
        #[inline]
        unsafe fn shared<'a>(self) -> &'a Shared {
            // SAFETY: `Shared` lives in an `Arc`, and `end` waits for all of these.
            unsafe { &*self.0 }
        }
    }

    impl Schedule for Owner {
        const RECYCLES: bool = !cfg!(any(test, feature = "without-recycling"));

        #[inline]
        fn schedule(&self, task: Task) {
            // SAFETY: we hold a task, until it is pushed. Then we are a worker, or
            // the thread's context keeps the runtime, or we are a guest.
            let shared = unsafe { self.shared() };
            if let Some(worker) = context::worker_of(shared) {
                worker.schedule(task);
            } else if ptr::eq(context::current(), shared) {
                shared.inject(task);
            } else {
                schedule_as_guest(shared, task);
            }
        }

        #[inline]
        fn schedule_yielded(&self, task: Task) {
            // SAFETY: as above.
            let shared = unsafe { self.shared() };
            match context::worker_of(shared) {
                Some(worker) => worker.schedule_yielded(task),
                None => self.schedule(task),
            }
        }

        #[inline]
        fn owned(&self) -> Option<&OwnedTasks<Self>> {
            // SAFETY: this is called by who holds a task, for it.
            Some(&unsafe { self.shared() }.owned)
        }
    }

    /// By a thread that nothing connects with the runtime but the task. As soon as
    /// the task is pushed, it may run and end, and the runtime with it: so the end
    /// waits for guests.
    fn schedule_as_guest(shared: &Shared, task: Task) {
        // Relaxed: published with the task. Whoever sees that it has ended sees us.
        shared.guests.fetch_add(1, Relaxed);
        shared.inject(task);
        // Release: pairs with the Acquire in `has_guests`; we do not touch it again.
        shared.guests.fetch_sub(1, Release);
    }
}
