//! Breaks clause 10: Shutdown.
//! Caught by: models::dropping_the_pool_ends_its_threads_in_every_order
//! Also fails: models::a_thread_that_was_woken_in_vain_is_woken_again_in_every_order
//! Also fails: models::a_job_that_comes_as_a_thread_leaves_runs_in_every_order
//! Also fails: models::a_result_reaches_who_awaits_it_in_every_order
//! Also fails: models::a_thread_that_was_chosen_as_it_left_is_chosen_again_in_every_order
//! Also fails: models::dropping_the_pool_runs_every_job_in_every_order
//!
//! The flag is an atomic, so it needs no lock. But the thread that looks at it holds
//! the lock until it sleeps, and who raises the flag and notifies in between
//! notifies nobody.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::time::Duration;

use spawn_blocking::Job;
pub use spawn_blocking::{JoinError, JoinHandle, spawn_rayon};
use sync::atomic::{AtomicBool, Ordering::SeqCst};
use sync::thread::{self, Builder};
use sync::{Arc, Condvar, Mutex, MutexGuard};

use super::works_for;

/// Runs jobs that block on threads of its own.
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    max_threads: usize,
    keep_alive: Duration,
    state: Mutex<State>,
    changed: Condvar,
    is_shut_down: AtomicBool,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// Threads that wait, or have been notified and not woken up yet.
    idle_count: usize,
    thread_count: usize,
    started_count: u64,
    threads: BTreeMap<u64, thread::JoinHandle<()>>,
}

impl Pool {
    /// Makes a pool that starts its threads when there are jobs for them.
    pub fn new(max_threads: usize, keep_alive: Duration) -> Self {
        assert!(max_threads > 0, "a pool of no threads runs no job");
        let shared = Shared {
            max_threads,
            keep_alive,
            state: Mutex::default(),
            changed: Condvar::new(),
            is_shut_down: AtomicBool::new(false),
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
        if shared.is_shut_down.load(SeqCst) {
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
    if !shared.is_shut_down.load(SeqCst) {
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
        self.shared.is_shut_down.store(true, SeqCst);
        self.shared.changed.notify_all();
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

// No tests: on real threads it is a matter of luck which of them hangs.
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/06-spawn-blocking/src/models.rs"]
mod models;
