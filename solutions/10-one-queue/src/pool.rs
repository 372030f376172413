//! The queue, the workers that take from it, and their end.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError};
use std::{mem, ptr};

use local_executor::JoinHandle;
use sync::atomic::{AtomicU64, Ordering::Relaxed};
use sync::{Condvar, Mutex, MutexGuard, thread};

use super::task::{Next, Task};

/// The workers, as `lib.rs` describes them.
pub struct Pool {
    handle: Handle,
    threads: Vec<thread::JoinHandle<()>>,
}

/// Spawns onto a [`Pool`], from any thread. It does not keep the pool running.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// What the workers, the handles and the tasks of a pool share. In an `Arc` of
/// std also in a model, since the wakers are.
pub struct Shared {
    state: Mutex<State>,
    /// Notified when a task has come into the queue, and at the end.
    changed: Condvar,
    spawned_count: AtomicU64,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<Task>>,
    /// All tasks that are not over, for the end of the pool to find.
    tasks: BTreeMap<u64, Arc<Task>>,
    sleeping_count: usize,
    is_shut_down: bool,
}

sync::thread_local! {
    /// The pool that this thread works for.
    static EMPLOYER: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

impl Pool {
    /// Makes a pool and starts its workers.
    ///
    /// # Panics
    ///
    /// If `workers` is zero, or if the system has not so many threads.
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "a pool of no workers polls no task");
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            spawned_count: AtomicU64::new(0),
        });
        let mut pool = Self {
            handle: Handle { shared },
            threads: Vec::new(),
        };
        for _ in 0..workers {
            let shared = pool.handle.shared.clone();
            let builder = thread::Builder::new().name("worker".into());
            let thread = builder.spawn(move || shared.work());
            // If it panics here, the workers end with the pool.
            pool.threads.push(thread.expect("a worker can be started"));
        }
        pool
    }

    /// Runs `future` as a task of the pool. The handle is a future of its
    /// output; a dropped handle detaches the task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Returns a handle to spawn by where the pool is out of reach.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Handle {
    /// Runs `future` as a task of the pool, as [`Pool::spawn`] does.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let shared = &self.shared;
        // Relaxed: it only has to be another number each time.
        let number = shared.spawned_count.fetch_add(1, Relaxed);
        let (task, handle) = Task::new(shared.clone(), number, future);
        let mut state = shared.lock();
        if state.is_shut_down {
            drop(state);
            task.cancel();
            return handle;
        }
        state.tasks.insert(number, task.clone());
        state.queue.push_back(task);
        shared.rouse_one(state);
        handle
    }
}

impl Drop for Pool {
    // ANCHOR: drop
    fn drop(&mut self) {
        let shared = &self.handle.shared;
        let mut state = shared.lock();
        state.is_shut_down = true;
        let queue = mem::take(&mut state.queue);
        let tasks = mem::take(&mut state.tasks);
        drop(state);
        shared.changed.notify_all();
        // A task that is polled just now ends with its poll.
        tasks.values().for_each(|task| task.cancel());
        drop(queue);
        if EMPLOYER.with(|it| ptr::eq(it.get(), Arc::as_ptr(shared))) {
            return;
        }
        for thread in self.threads.drain(..) {
            thread.join().expect("a worker does not panic");
        }
    }
    // ANCHOR_END: drop
}

impl Shared {
    /// Puts a task into the queue that has been woken.
    pub fn push(&self, task: Arc<Task>) {
        let mut state = self.lock();
        if !state.is_shut_down {
            state.queue.push_back(task);
            self.rouse_one(state);
        }
    }

    /// Wakes a worker for what has come into the queue. Without the lock: the
    /// first thing that it wants is the lock. And not if none sleeps: to notify
    /// nobody is a call into the operating system, too.
    fn rouse_one(&self, state: MutexGuard<'_, State>) {
        let somebody_sleeps = state.sleeping_count > 0;
        drop(state);
        if somebody_sleeps {
            self.changed.notify_one();
        }
    }

    /// What a worker does.
    // ANCHOR: work
    fn work(self: Arc<Self>) {
        EMPLOYER.with(|employer| employer.set(Arc::as_ptr(&self)));
        let mut state = self.lock();
        while !state.is_shut_down {
            let Some(task) = state.queue.pop_front() else {
                state = self.sleep(state);
                continue;
            };
            drop(state);
            let next = task.run();
            state = self.lock();
            match next {
                Next::Leave => {}
                Next::Forget => _ = state.tasks.remove(&task.number),
                // No worker need be woken for it: this one looks next.
                Next::Queue => state.queue.push_back(task),
            }
        }
    }
    // ANCHOR_END: work

    /// Gives the lock back, sleeps, and takes it again.
    fn sleep<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        state.sleeping_count += 1;
        let woken = self.changed.wait(state);
        state = woken.unwrap_or_else(PoisonError::into_inner);
        state.sleeping_count -= 1;
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
