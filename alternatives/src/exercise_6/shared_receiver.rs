//! The queue is std's channel, whose receiver is behind a lock: the thread that
//! has the lock waits for a job, and the others wait for the lock. A thread
//! whose keep-alive is over by then takes what is there, or leaves.

use primitives::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use primitives::thread::{self, Builder};
use primitives::{Arc, Mutex, MutexGuard};

use super::promise::Job;
pub use super::promise::{JoinError, JoinHandle, spawn_rayon};
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
    jobs: Mutex<Receiver<Job>>,
}

struct State {
    /// `None` once the pool is shut down. Used only under the lock, so that the
    /// count matches what was sent.
    submit: Option<Sender<Job>>,
    /// Jobs that were sent, but that no thread has recorded as received.
    queued_count: usize,
    /// Threads that wait, or have a job but haven't recorded it.
    idle_count: usize,
    thread_count: usize,
    started_count: u64,
    threads: BTreeMap<u64, thread::JoinHandle<()>>,
}

impl Pool {
    /// Creates a pool that starts its threads when there are jobs for them.
    pub fn new(max_threads: usize, keep_alive: Duration) -> Self {
        assert!(max_threads > 0, "a pool of no threads runs no job");
        let (submit, jobs) = mpsc::channel();
        let state = State {
            submit: Some(submit),
            queued_count: 0,
            idle_count: 0,
            thread_count: 0,
            started_count: 0,
            threads: BTreeMap::new(),
        };
        let shared = Shared {
            max_threads,
            keep_alive,
            state: Mutex::new(state),
            ending: Mutex::default(),
            jobs: Mutex::new(jobs),
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
    if state.submit.is_none() {
        drop(state);
        return drop(job);
    }
    if state.queued_count >= state.idle_count
        && state.thread_count < shared.max_threads
    {
        start_thread(shared, &mut state);
    }
    if state.thread_count == 0 {
        drop(state);
        // Dropping it cancels it.
        return drop(job);
    }
    state.queued_count += 1;
    let submit = state.submit.as_ref().expect("looked at above");
    submit.send(job).expect("the receiver is shared");
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
        state.idle_count += 1;
        drop(state);
        let received = shared.receive();
        state = shared.lock();
        state.idle_count -= 1;
        match received {
            Ok(job) => {
                state.queued_count -= 1;
                drop(state);
                job.run();
                state = shared.lock();
            }
            Err(RecvTimeoutError::Timeout) if state.queued_count > 0 => {}
            Err(_) => break,
        }
    }
    state.thread_count -= 1;
    if state.submit.is_some() {
        let before = super::leave(&mut state.threads, number);
        drop(state);
        before.into_iter().for_each(super::join);
    }
}

impl Shared {
    /// Waits for a job, or until the keep-alive is over.
    fn receive(&self) -> Result<Job, RecvTimeoutError> {
        let end = Instant::now().checked_add(self.keep_alive);
        let jobs = self.jobs.lock().unwrap();
        let Some(end) = end else {
            return jobs.recv().map_err(Into::into);
        };
        jobs.recv_timeout(end.saturating_duration_since(Instant::now()))
    }

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
        // Receivers learn that nothing more comes once everything is taken.
        self.shared.lock().submit = None;
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
