//! Solution 6: a pool of threads for jobs that block, and a bridge to rayon.
//!
//! A futex call for each job would cost more than a small job does. So at most
//! one thread at a time is *coming*: started or woken for a job, or looking for
//! one before it falls asleep. Whoever submits a job while one is coming wakes
//! nobody. The one that comes takes a job, and before it runs it, sends for the
//! next thread if more jobs wait. So all threads that are needed come, one by
//! one, and no herd of them.
//!
//! *Memory ordering.* What the submitter wrote before `spawn_blocking` is seen
//! by the job, and what the job wrote by whoever awaits it: by the mutex of the
//! queue, and by that of the job. `waiting_count` orders nothing.

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
///    for one another.
/// 4. **Order.** Threads take up the jobs in the order of their submission. A
///    job that is handed to a thread, woken or new, has been taken up.
/// 5. **Every job runs.** A job runs once, even if its handle has been dropped,
///    if another job has submitted it, or if a thread was just leaving.
/// 6. **The handle.** A handle is ready when its job has ended, and gives what
///    the job has returned. It calls the waker of its last poll. A waker may
///    wait for the job or drop the pool when it's cloned or dropped.
/// 7. **Panics.** A job's panic reaches the handle and nothing else. The thread
///    survives it, and any panic after the job: of a result's destructor, of a
///    waker, or of what one of these has thrown.
/// 8. **Idle.** A thread without a job sleeps.
/// 9. **Keep-alive.** A thread that has had no job for `keep_alive` leaves;
///    until then, it takes the next job. A wake-up in vain may restart the
///    time. If all have left, a job starts a thread. Any `Duration` is allowed.
/// 10. **Shutdown.** Dropping the pool waits until all jobs have run, including
///     those in the queue, and until its threads have ended, even one that was
///     just leaving. A job that drops its own pool waits for nothing; the other
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

    /// Does what dropping the pool does, for those who share it: waits until
    /// all jobs have run and all threads have ended. A job that is submitted
    /// from now on is cancelled.
    ///
    /// Whoever only submits jobs may hold on to the pool meanwhile, and after
    /// it: the wait is here, and never where the last of them lets go.
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
/// loom's cannot be `self`.
struct Shared {
    max_threads: usize,
    keep_alive: Duration,
    state: Mutex<State>,
    /// The length of the queue, for those who look without the lock. Changed
    /// only by who holds it.
    waiting_count: AtomicUsize,
    /// Held while the threads are joined: if two shut down the pool, both wait.
    ending: Mutex<()>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// The threads that sleep, with their numbers. Whoever takes a thread from
    /// here must unpark it, and it is the one that is coming.
    idle: Vec<(u64, Unparker)>,
    /// Whether a thread will look at the queue without having been asked.
    is_one_coming: bool,
    is_shut_down: bool,
    thread_count: usize,
    started_count: u64,
    /// The threads that have not left, for the pool to join, and under
    /// [`LEFT_LAST`] the one that left last.
    threads: BTreeMap<u64, thread::JoinHandle<()>>,
}

/// What is to be done for the jobs in the queue, once the lock is given back.
enum Summons {
    Nothing,
    Wake(Unparker),
    /// Nobody can run these. To drop them cancels them.
    Cancel(VecDeque<Job>),
}

/// No thread has this number.
const LEFT_LAST: u64 = u64::MAX;

/// How often a thread looks for a job before it falls asleep. In between it
/// lets others run, so that the one that submits the next job gets its turn. In
/// a model one look stands for all.
const LOOKS: u32 = if cfg!(any(feature = "loom", feature = "shuttle")) {
    1
} else {
    32
};

primitives::thread_local! {
    /// The pool that this thread works for.
    static EMPLOYER: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

impl Shared {
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
        let summons = self.summon(&mut state);
        drop(state);
        summons.carry_out();
    }

    /// Sees to it that a thread comes for the jobs in the queue, if there are
    /// any and if none is coming.
    // ANCHOR: summon
    fn summon(self: &Arc<Self>, state: &mut State) -> Summons {
        if state.queue.is_empty() || state.is_one_coming {
            return Summons::Nothing;
        }
        // The last to fall asleep: its caches are warm; the others may leave.
        if let Some((_, sleeper)) = state.idle.pop() {
            state.is_one_coming = true;
            return Summons::Wake(sleeper);
        }
        if state.thread_count < self.max_threads {
            state.is_one_coming = self.start_thread(state);
        }
        if state.thread_count == 0 {
            return Summons::Cancel(mem::take(&mut state.queue));
        }
        Summons::Nothing
    }
    // ANCHOR_END: summon

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
        state.is_one_coming = false;
        loop {
            while let Some(job) = state.queue.pop_front() {
                // Relaxed: as in `submit`.
                self.waiting_count.store(state.queue.len(), Relaxed);
                let summons = self.summon(&mut state);
                drop(state);
                summons.carry_out();
                job.run();
                state = self.lock();
            }
            state = self.look_around(state);
            if !state.queue.is_empty() {
                continue;
            }
            if state.is_shut_down {
                break;
            }
            state.idle.push((number, parker.unparker()));
            drop(state);
            let is_woken = parker.park_timeout(self.keep_alive);
            state = self.lock();
            let place = state.idle.iter().position(|(idle, _)| *idle == number);
            match place {
                // Taken from the list: we are the one that is coming,
                // whatever has ended the sleep.
                None => state.is_one_coming = false,
                Some(place) => {
                    state.idle.remove(place);
                    if !is_woken && state.queue.is_empty() {
                        break;
                    }
                }
            }
        }
        state.thread_count -= 1;
        if state.is_shut_down {
            return;
        }
        // Who leaves joins the one that left before, so that the pool has only
        // the last of them to join.
        let own = state.threads.remove(&number);
        let before = own.and_then(|own| state.threads.insert(LEFT_LAST, own));
        drop(state);
        before.into_iter().for_each(join);
    }
    // ANCHOR_END: work

    /// Looks for a job for a while, as the one that is coming. Meanwhile
    /// nobody who submits a job needs to wake a thread.
    fn look_around<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        if state.is_one_coming || state.is_shut_down {
            return state;
        }
        state.is_one_coming = true;
        drop(state);
        for _ in 0..LOOKS {
            // Relaxed: pairs with nothing. A job that is missed here is found
            // under the lock, in `work`.
            if self.waiting_count.load(Relaxed) > 0 {
                break;
            }
            thread::yield_now();
        }
        state = self.lock();
        state.is_one_coming = false;
        state
    }
}

impl Summons {
    /// To be called without the lock: the thread that is woken wants it, and a
    /// cancelled job wakes whoever awaits it.
    fn carry_out(self) {
        match self {
            Self::Nothing => {}
            Self::Wake(sleeper) => sleeper.unpark(),
            Self::Cancel(jobs) => drop(jobs),
        }
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
        let idle = mem::take(&mut state.idle);
        drop(state);
        idle.iter().for_each(|(_, sleeper)| sleeper.unpark());
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
