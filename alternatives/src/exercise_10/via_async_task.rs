//! The tasks are those of the crate `async-task`: a [`Runnable`] is the right
//! to poll once, and is made whenever its task becomes ready. Dropping a
//! runnable instead drops the future. The pool therefore keeps the wakers of
//! all tasks, and calls them at its end: each task comes as a [`Runnable`], and
//! is dropped.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::thread;

use async_task::Runnable;

use work::{Work, drop_quietly, work};

pub use local_executor::{JoinError, JoinHandle};

/// Runs tasks on threads of its own, the workers.
pub struct Pool {
    handle: Handle,
    threads: Vec<thread::JoinHandle<()>>,
}

/// Spawns onto a [`Pool`], from any thread.
#[derive(Clone)]
pub struct Handle(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Runnable>,
    wakers: BTreeMap<u64, Waker>,
    spawned_count: u64,
    is_shut_down: bool,
}

thread_local! {
    static EMPLOYER: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

impl Pool {
    /// Creates a pool and starts its workers.
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "a pool without workers polls no task");
        let handle = Handle(Arc::default());
        let start = |_| {
            let shared = handle.0.clone();
            thread::spawn(move || shared.work())
        };
        let threads = (0..workers).map(start).collect();
        Self { handle, threads }
    }

    /// Runs `future` as a task of the pool.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Returns a handle for spawning.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Handle {
    /// Runs `future` as a task of the pool.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let shared = self.0.clone();
        let number = shared.number();
        let (work, handle) = work(future);
        let work = Quiet {
            work: Some(work),
            _entry: Entry(shared.clone(), number),
        };
        let (runnable, task) =
            async_task::spawn(work, move |runnable| shared.push(runnable));
        task.detach();
        let mut state = self.0.lock();
        if !state.is_shut_down {
            state.wakers.insert(number, runnable.waker());
        }
        drop(state);
        self.0.push(runnable);
        handle
    }
}

/// The work of a task. `async-task` ends the process if its drop panics.
struct Quiet {
    work: Option<Work>,
    _entry: Entry,
}

impl Future for Quiet {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let work = self.work.as_mut().expect("it is there until the drop");
        work.as_mut().poll(cx)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        drop_quietly(self.work.take());
    }
}

/// The key of a task among the wakers.
struct Entry(Arc<Shared>, u64);

impl Drop for Entry {
    fn drop(&mut self) {
        let waker = self.0.lock().wakers.remove(&self.1);
        drop(waker);
    }
}

impl Shared {
    /// Returns a new number each time.
    fn number(&self) -> u64 {
        let mut state = self.lock();
        state.spawned_count += 1;
        state.spawned_count
    }

    fn push(&self, runnable: Runnable) {
        let mut state = self.lock();
        if state.is_shut_down {
            drop(state);
            return drop_quietly(runnable);
        }
        state.queue.push_back(runnable);
        drop(state);
        self.changed.notify_one();
    }

    fn work(self: Arc<Self>) {
        EMPLOYER.set(Arc::as_ptr(&self));
        let mut state = self.lock();
        while !state.is_shut_down {
            let Some(runnable) = state.queue.pop_front() else {
                state = self.changed.wait(state).unwrap();
                continue;
            };
            drop(state);
            let ran = catch_unwind(AssertUnwindSafe(|| runnable.run()));
            drop_quietly(ran);
            state = self.lock();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let shared = &self.handle.0;
        let mut state = shared.lock();
        state.is_shut_down = true;
        let (queue, wakers) = (take(&mut state.queue), take(&mut state.wakers));
        drop(state);
        shared.changed.notify_all();
        queue.into_iter().for_each(drop_quietly);
        wakers.into_values().for_each(Waker::wake);
        if ptr::eq(EMPLOYER.get(), Arc::as_ptr(shared)) {
            return;
        }
        for thread in self.threads.drain(..) {
            thread.join().expect("a worker doesn't panic");
        }
    }
}

#[path = "../../../solutions/10-one-queue/src/work.rs"]
mod work;

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
