//! If a job would have to wait, all threads that the cap allows are started at
//! once, and those that get no job leave after the keep-alive. A burst then finds
//! them there.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::time::Duration;

use primitives::thread::{self, Builder};
use primitives::{Arc, Condvar, Mutex, MutexGuard};

use super::promise::Job;
pub use super::promise::{JoinError, JoinHandle, spawn_rayon};
use super::works_for;

/// Runs jobs that block on threads of its own.
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    most: usize,
    keep_alive: Duration,
    crew: Mutex<Crew>,
    /// There's a job, or no more will come.
    changed: Condvar,
    /// Held while the threads are joined: if two shut down the pool, both wait.
    ending: Mutex<()>,
}

/// The threads, and what they have to do.
#[derive(Default)]
struct Crew {
    jobs: VecDeque<Job>,
    is_sent_home: bool,
    size: usize,
    /// Those that wait, or have been notified but haven't woken up yet.
    idle: usize,
    /// How many were ever started: the number of the next.
    started: u64,
    threads: BTreeMap<u64, thread::JoinHandle<()>>,
}

impl Pool {
    /// Creates a pool that starts its threads when there are jobs for them.
    pub fn new(max_threads: usize, keep_alive: Duration) -> Self {
        assert!(max_threads > 0, "a pool of no threads runs no job");
        Self {
            shared: Arc::new(Shared {
                most: max_threads,
                keep_alive,
                crew: Mutex::default(),
                changed: Condvar::new(),
                ending: Mutex::default(),
            }),
        }
    }

    /// Runs `job` on a thread of the pool.
    pub fn spawn_blocking<F, T>(&self, job: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (job, handle) = Job::new(job);
        // Dropped without the lock, which cancels them.
        drop(Shared::submit(&self.shared, job));
        handle
    }

    /// Does what dropping the pool does, and cancels what is submitted later.
    pub fn shut_down(&self) {
        self.shared.lock().is_sent_home = true;
        self.shared.changed.notify_all();
        if super::is_working_for(&*self.shared) {
            return;
        }
        let _ending = self.shared.ending.lock();
        while let Some(thread) = self.shared.next_thread() {
            super::join(thread);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Crew> {
        self.crew.lock().unwrap()
    }

    fn next_thread(&self) -> Option<thread::JoinHandle<()>> {
        Some(self.lock().threads.pop_first()?.1)
    }

    /// Returns the jobs that no thread will run.
    fn submit(shared: &Arc<Self>, job: Job) -> VecDeque<Job> {
        let mut crew = shared.lock();
        if crew.is_sent_home {
            return VecDeque::from([job]);
        }
        crew.jobs.push_back(job);
        if crew.jobs.len() > crew.idle {
            crew.complete(shared);
        }
        shared.changed.notify_one();
        match crew.size {
            0 => mem::take(&mut crew.jobs),
            _ => VecDeque::new(),
        }
    }

    /// Waits for the next job of a thread. If there's none, the thread has left.
    fn next_job(&self, number: u64) -> Option<Job> {
        let mut crew = self.lock();
        let mut has_waited_long = false;
        loop {
            if let Some(job) = crew.jobs.pop_front() {
                return Some(job);
            }
            if has_waited_long || crew.is_sent_home {
                break;
            }
            crew.idle += 1;
            let waited = self.changed.wait_timeout(crew, self.keep_alive);
            let (woken, result) = waited.unwrap();
            crew = woken;
            crew.idle -= 1;
            has_waited_long = result.timed_out();
        }
        crew.size -= 1;
        if !crew.is_sent_home {
            let before = super::leave(&mut crew.threads, number);
            drop(crew);
            before.into_iter().for_each(super::join);
        }
        None
    }
}

impl Crew {
    /// Starts all threads that are missing, or as many as the system can.
    fn complete(&mut self, shared: &Arc<Shared>) {
        while self.size < shared.most {
            let (number, shared) = (self.started, shared.clone());
            let thread = Builder::new().spawn(move || {
                works_for(&*shared);
                while let Some(job) = shared.next_job(number) {
                    job.run();
                }
            });
            let Ok(thread) = thread else { return };
            self.started += 1;
            self.size += 1;
            self.threads.insert(number, thread);
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/06-spawn-blocking/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/06-spawn-blocking/src/tests/mod.rs"]
mod tests;
