//! Breaks clause 9: Keep-alive.
//! Caught by: a_thread_serves_many_jobs
//! Also fails: a_waker_that_panics_when_it_is_dropped_ends_no_thread
//! Also fails: a_long_keep_alive_is_not_cut_to_a_short_one
//! Also fails: dropping_the_pool_waits_for_its_threads
//! Also fails: several_submitters_keep_to_the_cap
//! Also fails: what_is_thrown_may_panic_in_turn
//!
//! A thread ends when there is nothing to do. That is simple, it leaves nobody idle,
//! and it costs a new thread for most jobs.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::time::Duration;

use spawn_blocking::Job;
pub use spawn_blocking::{JoinError, JoinHandle, spawn_rayon};
use sync::thread::{self, Builder};
use sync::{Arc, Mutex, MutexGuard};

use super::works_for;

/// Runs jobs that block on threads of its own.
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    max_threads: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    is_shut_down: bool,
    thread_count: usize,
    started_count: u64,
    threads: BTreeMap<u64, thread::JoinHandle<()>>,
}

impl Pool {
    /// Makes a pool that starts its threads when there are jobs for them.
    pub fn new(max_threads: usize, _keep_alive: Duration) -> Self {
        assert!(max_threads > 0, "a pool of no threads runs no job");
        let shared = Shared {
            max_threads,
            state: Mutex::default(),
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
    state.queue.push_back(job);
    if state.thread_count < shared.max_threads {
        start_thread(shared, &mut state);
    }
    let stranded = match state.thread_count {
        0 => mem::take(&mut state.queue),
        _ => VecDeque::new(),
    };
    drop(state);
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
    while let Some(job) = state.queue.pop_front() {
        drop(state);
        job.run();
        state = shared.lock();
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
        self.shared.lock().is_shut_down = true;
        if super::is_working_for(&*self.shared) {
            return;
        }
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
