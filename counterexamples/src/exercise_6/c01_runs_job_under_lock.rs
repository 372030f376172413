//! Breaks clause 1: Never blocks.
//! Caught by: spawning_and_polling_wait_for_no_job
//! Also fails: a_job_may_shut_down_its_own_pool_as_another_thread_does
//! Also fails: two_that_shut_down_a_pool_both_wait
//! Also fails: shutting_down_by_reference_waits_and_cancels_what_comes_later
//! Also fails: what_a_job_leaves_may_drop_its_own_pool
//! Also fails: a_handle_gives_what_the_job_returned
//! Also fails: a_job_after_the_last_thread_left_starts_one
//! Also fails: a_job_may_drop_its_own_pool
//! Also fails: a_job_may_submit_another
//! Also fails: a_job_waits_where_no_thread_can_be_started
//! Also fails: a_job_without_a_handle_runs
//! Also fails: an_idle_thread_is_counted_on_once
//! Also fails: an_idle_thread_sleeps
//! Also fails: as_many_jobs_as_the_cap_run_together
//! Also fails: dropping_the_pool_ends_idle_threads
//! Also fails: dropping_the_pool_runs_what_is_in_the_queue
//! Also fails: dropping_the_pool_waits_for_a_thread_that_leaves
//! Also fails: dropping_the_pool_waits_for_a_thread_that_starts_meanwhile
//! Also fails: dropping_the_pool_waits_for_its_threads
//! Also fails: idle_threads_leave
//! Also fails: jobs_are_begun_in_the_order_of_submission
//! Also fails: no_job_is_lost_as_a_thread_leaves
//! Also fails: no_job_runs_on_the_thread_that_submits_it
//! Also fails: no_more_jobs_run_than_the_cap_allows
//! Also fails: panics_cost_no_thread
//! Also fails: what_panics_after_the_job_costs_no_thread
//! Also fails: a_thread_that_calls_a_waker_is_not_idle
//! Also fails: each_job_of_a_burst_gets_a_thread
//! Also fails: tests::a_thread_that_left_is_counted_on_by_no_job
//! Also fails: tests::a_handle_wakes_who_polled_it_last_no_matter_what_came_before
//! Also fails: tests::after_each_step_the_jobs_run_that_should
//! Also fails: a_job_that_comes_late_may_use_the_pool_as_it_is_dropped
//!
//! Takes a job and runs it in one `while let`. The guard of the lock is a
//! temporary of the condition, and lives until the end of the body: while a job
//! runs, no thread can submit another or take one.
//!
//! Nearly every check hangs. Either a job waits for what the submitter does
//! next, which waits for the lock; or jobs wait for one another, of which only
//! one can be taken; or a job submits another, and waits for the lock that its
//! own thread holds.

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
    // ANCHOR: bug
    loop {
        // ANCHOR: guilty
        while let Some(job) = shared.lock().queue.pop_front() {
        // ANCHOR_END: guilty
            job.run();
        }
        let mut state = shared.lock();
        if !state.queue.is_empty() {
            continue;
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
    // ANCHOR_END: bug
    let mut state = shared.lock();
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
