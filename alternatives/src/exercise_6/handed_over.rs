//! No thread looks for jobs while it sleeps: the submitter hands a job over, to
//! an idle thread through that thread's own channel, or to a new thread. Only
//! when all are busy is there a queue.

use primitives::mpsc::{self, RecvTimeoutError, Sender};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

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
}

#[derive(Default)]
struct State {
    /// Empty unless all threads are busy.
    queue: VecDeque<Job>,
    is_shut_down: bool,
    /// The channel to each thread that waits. The thread that takes one sends a
    /// job, or drops it to end the thread.
    idle: Vec<(u64, Sender<Job>)>,
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
    if let Some((_, idle)) = state.idle.pop() {
        drop(state);
        idle.send(job).expect("a thread waits for what it is owed");
        return;
    }
    state.queue.push_back(job);
    let is_started = state.thread_count < shared.max_threads
        && start_thread(shared, &mut state);
    if !is_started && state.thread_count == 0 {
        let stranded = state.queue.pop_back();
        drop(state);
        drop(stranded);
    }
}

fn start_thread(shared: &Arc<Shared>, state: &mut State) -> bool {
    let number = state.started_count;
    let shared = shared.clone();
    let started = Builder::new().spawn(move || work(&shared, number));
    let Ok(thread) = started else { return false };
    state.started_count += 1;
    state.thread_count += 1;
    state.threads.insert(number, thread);
    true
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
        let (hand_over, handed_over) = mpsc::channel::<Job>();
        state.idle.push((number, hand_over));
        drop(state);
        let mut job = handed_over.recv_timeout(shared.keep_alive);
        if let Err(RecvTimeoutError::Timeout) = job {
            state = shared.lock();
            let place = state.idle.iter().position(|(idle, _)| *idle == number);
            if let Some(place) = place {
                state.idle.remove(place);
                break;
            }
            // Another thread has taken us from the list, and sends at once.
            drop(state);
            job = handed_over.recv().map_err(Into::into);
        }
        if let Ok(job) = job {
            job.run();
        }
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
        self.shut_down();
    }
}

impl Pool {
    /// Does what dropping the pool does, and cancels what is submitted later.
    pub fn shut_down(&self) {
        let mut state = self.shared.lock();
        state.is_shut_down = true;
        state.idle.clear();
        drop(state);
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
