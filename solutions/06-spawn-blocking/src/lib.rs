//! Solution 6: a pool of threads for jobs that block, and a bridge to rayon.
//!
//! A futex call for each job would cost more than a small job does. A thread is
//! *coming* if it has been unparked or started, or looks around for a job before
//! it parks. A submitter unparks or starts a thread only if none is coming, or if
//! more than `JOBS_PER_THREAD` jobs wait for each that is. A thread that comes
//! takes a job and, before it runs the job, unparks or starts up to `FAN_OUT`
//! threads if more jobs wait than threads are coming. So the threads for a burst
//! of jobs that block come as a tree, in a number of scheduling delays that is
//! the logarithm of their number. Jobs that are short need few threads: the first
//! to come have run them before the tree grows.
//!
//! *Memory ordering.* What the submitter wrote before `spawn_blocking` is seen
//! by the job, and what the job wrote by the task that awaits it: through the
//! mutex of the queue, and that of the job. `waiting_count` orders nothing.

mod job;
#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/06-spawn-blocking/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/06-spawn-blocking/src/tests/mod.rs"]
mod tests;

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::ptr;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use parker::{Parker, Unparker};
use primitives::atomic::{AtomicUsize, Ordering::Relaxed};
use primitives::{Mutex, MutexGuard, thread};

pub use job::{Job, JoinError, JoinHandle};

/// Runs blocking jobs on threads of its own, so that the threads that run tasks
/// don't have to block.
///
/// # Contract
///
/// 1. **Never blocks.** Neither [`Pool::spawn_blocking`] nor a poll of a
///    [`JoinHandle`] waits for a job, and no job runs on the thread that
///    submits it.
/// 2. **Cap.** At most `max_threads` jobs run at the same time, on at most as
///    many threads. A thread that is leaving no longer counts.
/// 3. **In parallel.** No job waits while fewer than `max_threads` run, no
///    matter whether threads sleep or must be started: that many jobs can wait
///    for one another. For each job that would otherwise wait, a thread is
///    woken or started, and this waits for no other job to end.
/// 4. **Order.** Threads take up the jobs in the order of their submission. A
///    job that is handed to a thread, woken or new, has been taken up.
/// 5. **Every job runs.** A job runs once, unless clause 10 or 11 cancels it,
///    even if its handle has been dropped, if another job has submitted it, or
///    if a thread was just leaving.
/// 6. **The handle.** A handle is ready when its job has ended, and gives what
///    the job has returned. It calls the waker of its last poll. A waker may
///    wait for the job or drop the pool when it's cloned or dropped.
/// 7. **Panics.** A job's panic reaches the handle and nothing else. The thread
///    survives it, and any panic after the job: of a result's destructor, of a
///    waker, or of what one of these has thrown. Other crates create the same
///    errors with [`JoinError::panicked`] and [`JoinError::cancelled`].
/// 8. **Idle.** A thread without a job sleeps.
/// 9. **Keep-alive.** A thread that has had no job for `keep_alive` leaves;
///    until then, it takes the next job. A wake-up in vain may restart the
///    time. If all have left, a job starts a thread. Any `Duration` is allowed.
/// 10. **Shutdown.** Dropping the pool waits until all jobs have run, including
///     those in the queue, and until its threads have ended, even one that was
///     just leaving. [`Pool::shut_down`] does the same through a reference, for
///     each thread that calls it, and cancels the jobs that are submitted once
///     it has begun. A job that ends its own pool waits for nothing; the other
///     jobs still run.
/// 11. **No thread to be had.** If the system can't start a thread for it, a
///     job waits for the existing ones. If there are none, it's cancelled, and
///     its handle says so, even if what the job owns panics when it's dropped.
///     The next job tries again to start a thread, at least for itself.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// let pool = solution_6::Pool::new(4, Duration::from_secs(10));
/// let sum = pool.spawn_blocking(|| (1..=100).sum::<u32>());
/// assert_eq!(parker::block_on(sum).unwrap(), 5_050);
/// ```
pub struct Pool {
    shared: Arc<Shared>,
}

impl Pool {
    /// Creates a pool that starts its threads when there are jobs for them.
    ///
    /// # Panics
    ///
    /// Panics if `max_threads` is zero.
    pub fn new(max_threads: usize, keep_alive: Duration) -> Self {
        assert!(max_threads > 0, "a pool of no threads runs no job");
        Self {
            shared: Arc::new(Shared {
                max_threads,
                keep_alive,
                state: Mutex::new(State::default()),
                waiting_count: AtomicUsize::new(0),
                ending: Mutex::new(()),
            }),
        }
    }

    /// Runs `job` on a thread of the pool. The handle is a future of the job's
    /// result; a dropped handle detaches the job.
    pub fn spawn_blocking<F, T>(&self, job: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (job, handle) = Job::new(job);
        self.shared.submit(job);
        handle
    }

    /// Does what dropping the pool does, but through a reference, for a pool
    /// that is shared: waits until all jobs have run and all threads have
    /// ended. A job that is submitted from now on is cancelled.
    ///
    /// Code that only submits jobs may keep the pool meanwhile, and afterward:
    /// the wait is here, and never where the last owner is dropped.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let pool = solution_6::Pool::new(4, Duration::from_secs(10));
    /// pool.shut_down();
    /// let late = parker::block_on(pool.spawn_blocking(|| ()));
    /// assert!(late.unwrap_err().is_cancelled());
    /// ```
    pub fn shut_down(&self) {
        self.shared.shut_down();
    }
}

/// What the pool shares with its threads. In an `Arc` of std also in a model:
/// loom's can't be `self`.
struct Shared {
    max_threads: usize,
    keep_alive: Duration,
    state: Mutex<State>,
    /// The length of the queue, for a look without the lock. Changed only under
    /// the lock.
    waiting_count: AtomicUsize,
    /// Held while the threads are joined: if two shut down the pool, both wait.
    ending: Mutex<()>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// The parked threads, with their numbers. The thread that takes one from
    /// here counts it as coming, and must unpark it.
    idle: Vec<(u64, Unparker)>,
    /// How many threads will look at the queue without being unparked.
    coming_count: usize,
    is_shut_down: bool,
    thread_count: usize,
    started_count: u64,
    /// The threads that haven't left, for the pool to join, and under
    /// [`LEFT_LAST`] the one that left last.
    threads: BTreeMap<u64, thread::JoinHandle<()>>,
}

/// What remains to be done without the lock.
#[must_use]
struct Calls {
    unpark: Vec<(u64, Unparker)>,
    /// No thread can run these: dropping them cancels them.
    cancel: VecDeque<Job>,
}

/// How many jobs a submitter lets wait for each thread that is coming before it
/// unparks or starts another. With more, short jobs would cost less, but on a
/// busy machine, where each thread comes late, a burst would wait for more rows
/// of the tree.
const JOBS_PER_THREAD: usize = 2;

/// How many threads a thread that comes unparks or starts. With one, the threads
/// of a burst would come in a row; with many, most would find that the short
/// jobs they came for have been run.
const FAN_OUT: usize = 8;

/// No thread has this number.
const LEFT_LAST: u64 = u64::MAX;

/// How often a thread checks for a job before it parks. In between, it lets
/// others run, so that the submitter of the next job gets the processor. In a
/// model one look stands for all.
const LOOKS: u32 = if IS_MODEL { 1 } else { 32 };

const IS_MODEL: bool = cfg!(any(feature = "loom", feature = "shuttle"));

primitives::thread_local! {
    /// The pool that this thread works for.
    static EMPLOYER: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

impl Shared {
    // A model's failing order shows who locks.
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn submit(self: &Arc<Self>, job: Job) {
        let mut state = self.lock();
        if state.is_shut_down {
            drop(state);
            // To drop the job cancels it.
            return drop(job);
        }
        state.queue.push_back(job);
        // Relaxed: a hint for `look_around`; the job is found under the lock.
        self.waiting_count.store(state.queue.len(), Relaxed);
        let limit = state.queue.len().div_ceil(JOBS_PER_THREAD);
        let calls = self.send_for(limit, &mut state);
        drop(state);
        calls.make();
    }

    /// Makes sure that a thread is coming for each job in the queue, up to
    /// `limit` threads.
    // ANCHOR: send_for
    fn send_for(self: &Arc<Self>, limit: usize, state: &mut State) -> Calls {
        let wanted_count = limit.min(state.queue.len());
        let missing_count = wanted_count.saturating_sub(state.coming_count);
        // The last to park: their caches are warm, and the others may leave.
        let rest = state.idle.len().saturating_sub(missing_count);
        let unpark = state.idle.split_off(rest);
        state.coming_count += unpark.len();
        while state.coming_count < wanted_count
            && state.thread_count < self.max_threads
            && self.start_thread(state)
        {
            state.coming_count += 1;
        }
        let cancel = match state.thread_count {
            0 => mem::take(&mut state.queue),
            _ => VecDeque::new(),
        };
        Calls { unpark, cancel }
    }
    // ANCHOR_END: send_for

    /// Returns `true` if there is a new thread.
    fn start_thread(self: &Arc<Self>, state: &mut State) -> bool {
        let number = state.started_count;
        let shared = self.clone();
        let builder = thread::Builder::new().name("blocking".into());
        let Ok(thread) = builder.spawn(move || shared.work(number)) else {
            return false;
        };
        state.started_count += 1;
        state.thread_count += 1;
        state.threads.insert(number, thread);
        true
    }

    /// What a thread of the pool does.
    // ANCHOR: work
    fn work(self: Arc<Self>, number: u64) {
        EMPLOYER.with(|employer| employer.set(Arc::as_ptr(&self)));
        let parker = Parker::new();
        let mut state = self.lock();
        loop {
            // This thread has come.
            state.coming_count -= 1;
            let mut limit = state.coming_count + FAN_OUT;
            while let Some(job) = state.queue.pop_front() {
                // Relaxed: as in `submit`.
                self.waiting_count.store(state.queue.len(), Relaxed);
                let calls = self.send_for(limit, &mut state);
                drop(state);
                calls.make();
                job.run();
                state = self.lock();
                limit = 1;
            }
            if state.coming_count == 0 && !state.is_shut_down {
                state.coming_count = 1;
                drop(state);
                self.look_around();
                state = self.lock();
                if !state.queue.is_empty() {
                    continue;
                }
                state.coming_count -= 1;
            }
            if state.is_shut_down {
                break;
            }
            state.idle.push((number, parker.unparker()));
            drop(state);
            let is_woken = parker.park_timeout(self.keep_alive);
            state = self.lock();
            let place = state.idle.iter().position(|(idle, _)| *idle == number);
            // Not in the list: counted as coming, however the park ended.
            if let Some(place) = place {
                state.idle.remove(place);
                if !is_woken && state.queue.is_empty() {
                    break;
                }
                state.coming_count += 1;
            }
        }
        state.thread_count -= 1;
        if state.is_shut_down {
            return;
        }
        // A thread that leaves joins the thread that left before it, so that
        // the pool has only the last of them to join.
        let own = state.threads.remove(&number);
        let before = own.and_then(|own| state.threads.insert(LEFT_LAST, own));
        drop(state);
        before.into_iter().for_each(join);
    }
    // ANCHOR_END: work

    /// Looks for a job for a while, counted as coming: meanwhile, a submitter
    /// needs to unpark no thread.
    fn look_around(&self) {
        for _ in 0..LOOKS {
            // Relaxed: pairs with nothing. A job that is missed here is found
            // under the lock, in `work`.
            if self.waiting_count.load(Relaxed) > 0 {
                break;
            }
            thread::yield_now();
        }
    }
}

impl Calls {
    /// Must be called without the lock: a thread that is unparked wants it, and
    /// a cancelled job wakes the task that awaits it.
    fn make(self) {
        let Self { unpark, cancel } = self;
        unpark.iter().for_each(|(_, unparker)| unparker.unpark());
        drop(cancel);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.shut_down();
    }
}

impl Shared {
    fn shut_down(&self) {
        let mut state = self.lock();
        state.is_shut_down = true;
        let unpark = mem::take(&mut state.idle);
        state.coming_count += unpark.len();
        drop(state);
        unpark.iter().for_each(|(_, unparker)| unparker.unpark());
        if EMPLOYER.with(|it| ptr::eq(it.get(), self)) {
            return;
        }
        let _ending = self.ending.lock();
        // One by one: a thread may start another before it ends, for the jobs
        // that wait.
        while let Some((_, thread)) = self.pop_thread() {
            join(thread);
        }
    }

    fn pop_thread(&self) -> Option<(u64, thread::JoinHandle<()>)> {
        self.lock().threads.pop_first()
    }
}

fn join(thread: thread::JoinHandle<()>) {
    thread.join().expect("the threads of a pool do not panic");
}

/// Runs `job` on rayon's global pool.
///
/// # Contract
///
/// 12. **On rayon.** The job runs on one of rayon's threads, in the global pool
///     unless another pool's thread submits it, so that it can use all of
///     rayon. The submitter doesn't wait for it, and its handle keeps clauses 6
///     and 7: rayon itself would abort the process.
///
/// # Examples
///
/// ```
/// let job = solution_6::spawn_rayon(|| rayon::current_num_threads());
/// assert!(parker::block_on(job).unwrap() > 0);
/// ```
// ANCHOR: spawn_rayon
pub fn spawn_rayon<F, T>(job: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, handle) = Job::new(job);
    rayon::spawn(|| job.run());
    handle
}
// ANCHOR_END: spawn_rayon
