//! One mutex, one condition variable. A thread that waits counts as idle until
//! it has the lock again. A job that has left the queue therefore needs no
//! thread, and each job in the queue needs one of its own.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::time::Duration;

use primitives::thread::{self, Builder};
use primitives::{Arc, Condvar, Mutex, MutexGuard};
use spawn_blocking::Job;
pub use spawn_blocking::{JoinError, JoinHandle, spawn_rayon};

use super::works_for;

/// Runs jobs that block on threads of its own.
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    max_threads: usize,
    keep_alive: Duration,
    state: Mutex<State>,
    /// Held while the threads are joined: if two shut down the pool, both wait.
    ending: Mutex<()>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    is_shut_down: bool,
    /// Threads that wait, or have been notified but haven't woken up yet.
    idle_count: usize,
    thread_count: usize,
    started_count: u64,
    threads: BTreeMap<u64, thread::JoinHandle<()>>,
}

impl Pool {
    /// Creates a pool that starts its threads when there are jobs for them.
    pub fn new(max_threads: usize, keep_alive: Duration) -> Self {
        assert!(max_threads > 0, "a pool of no threads runs no job");
        let shared = Shared {
            max_threads,
            keep_alive,
            state: Mutex::default(),
            ending: Mutex::default(),
            changed: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Runs `job` on a thread of the pool.
    pub fn spawn_blocking<F, T>(&self, job: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (job, handle) = Job::new(job);
        submit(&self.shared, job);
        handle
    }
}

fn submit(shared: &Arc<Shared>, job: Job) {
    let mut state = shared.lock();
    if state.is_shut_down {
        drop(state);
        return drop(job);
    }
    state.queue.push_back(job);
    if state.queue.len() > state.idle_count
        && state.thread_count < shared.max_threads
    {
        start_thread(shared, &mut state);
    }
    let stranded = match state.thread_count {
        0 => mem::take(&mut state.queue),
        _ => VecDeque::new(),
    };
    drop(state);
    shared.changed.notify_one();
    drop(stranded);
}

fn start_thread(shared: &Arc<Shared>, state: &mut State) {
    let number = state.started_count;
    let shared = shared.clone();
    if let Ok(thread) = Builder::new().spawn(move || work(&shared, number)) {
        state.started_count += 1;
        state.thread_count += 1;
        state.threads.insert(number, thread);
    }
}

fn work(shared: &Shared, number: u64) {
    works_for(shared);
    let mut state = shared.lock();
    loop {
        while let Some(job) = state.queue.pop_front() {
            drop(state);
            job.run();
            state = shared.lock();
        }
        if state.is_shut_down {
            break;
        }
        state.idle_count += 1;
        let (woken, result) = shared
            .changed
            .wait_timeout(state, shared.keep_alive)
            .unwrap();
        state = woken;
        state.idle_count -= 1;
        if result.timed_out() && state.queue.is_empty() {
            break;
        }
    }
    state.thread_count -= 1;
    if !state.is_shut_down {
        let before = super::leave(&mut state.threads, number);
        drop(state);
        before.into_iter().for_each(super::join);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl Pool {
    /// Does what dropping the pool does, and cancels what is submitted later.
    pub fn shut_down(&self) {
        self.shared.lock().is_shut_down = true;
        self.shared.changed.notify_all();
        if super::is_working_for(&*self.shared) {
            return;
        }
        let _ending = self.shared.ending.lock();
        loop {
            let next = self.shared.lock().threads.pop_first();
            let Some((_, thread)) = next else { break };
            super::join(thread);
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/06-spawn-blocking/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/06-spawn-blocking/src/tests/mod.rs"]
mod tests;
