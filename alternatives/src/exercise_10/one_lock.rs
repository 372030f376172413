//! One lock for everything: the queue contains numbers, and a map says which
//! stage the task of each number is in. A waker is a number, too. A wake-up
//! that finds no entry comes too late, so the end of the pool is the end of the
//! map. The cost is that each wake-up takes the lock, even if it changes
//! nothing.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::mem::{replace, take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use primitives::{Condvar, Mutex, MutexGuard, thread};

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
    queue: VecDeque<u64>,
    tasks: BTreeMap<u64, Stage>,
    spawned_count: u64,
    is_shut_down: bool,
}

enum Stage {
    Ready(Work),
    Polled { is_woken: bool },
    Asleep(Work),
}

primitives::thread_local! {
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
        let (work, handle) = work(future);
        let mut state = self.0.lock();
        if state.is_shut_down {
            drop(state);
            drop_quietly(work);
            return handle;
        }
        let number = state.spawned_count;
        state.spawned_count += 1;
        state.tasks.insert(number, Stage::Ready(work));
        state.queue.push_back(number);
        drop(state);
        self.0.changed.notify_one();
        handle
    }
}

impl Shared {
    fn work(self: Arc<Self>) {
        EMPLOYER.with(|employer| employer.set(Arc::as_ptr(&self)));
        let mut state = self.lock();
        while !state.is_shut_down {
            let Some(number) = state.queue.pop_front() else {
                state = self.changed.wait(state).unwrap();
                continue;
            };
            let stage = state.tasks.get_mut(&number);
            let polled = Stage::Polled { is_woken: false };
            let stage = stage.map(|stage| replace(stage, polled));
            let Some(Stage::Ready(work)) = stage else {
                unreachable!("task {number} is in the queue and not ready")
            };
            drop(state);
            self.poll(number, work);
            state = self.lock();
        }
    }

    fn poll(self: &Arc<Self>, number: u64, mut work: Work) {
        let shared = self.clone();
        let waker = Waker::from(Arc::new(Signal { shared, number }));
        let mut cx = Context::from_waker(&waker);
        let poll =
            catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut cx)));
        let is_pending = matches!(poll, Ok(Poll::Pending));
        let mut guard = self.lock();
        let state = &mut *guard;
        match state.tasks.get_mut(&number) {
            Some(stage) if is_pending => match stage {
                Stage::Polled { is_woken: true } => {
                    *stage = Stage::Ready(work);
                    state.queue.push_back(number);
                }
                _ => *stage = Stage::Asleep(work),
            },
            _ => {
                state.tasks.remove(&number);
                drop(guard);
                drop_quietly(work);
                drop_quietly(poll);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// What a waker is.
struct Signal {
    shared: Arc<Shared>,
    number: u64,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut guard = self.shared.lock();
        let state = &mut *guard;
        let Some(stage) = state.tasks.get_mut(&self.number) else {
            return;
        };
        let polled = Stage::Polled { is_woken: true };
        match replace(stage, polled) {
            Stage::Polled { .. } => {}
            Stage::Ready(work) => *stage = Stage::Ready(work),
            Stage::Asleep(work) => {
                *stage = Stage::Ready(work);
                state.queue.push_back(self.number);
                drop(guard);
                self.shared.changed.notify_one();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let shared = &self.handle.0;
        let mut state = shared.lock();
        state.is_shut_down = true;
        let tasks = take(&mut state.tasks);
        drop(state);
        shared.changed.notify_all();
        tasks.into_values().for_each(drop_quietly);
        if EMPLOYER.with(|it| ptr::eq(it.get(), Arc::as_ptr(shared))) {
            return;
        }
        for thread in self.threads.drain(..) {
            thread.join().expect("a worker doesn't panic");
        }
    }
}

#[path = "../../../solutions/10-one-queue/src/work.rs"]
mod work;

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/10-one-queue/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/10-one-queue/src/tests/mod.rs"]
mod tests;
