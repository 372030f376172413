//! The "before" of Lerche's "Making the Tokio scheduler 10x faster", tokio 0.1's
//! design: a Chase-Lev deque for each worker, a queue for all, a stack of the
//! parked workers, and a wake-up for each task that becomes ready. Its tasks are those of `async-task`.

use std::cell::Cell;
use std::iter;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use async_task::Runnable;
use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use solution_2::{Parker, Unparker};

use super::{Scheduler, Spawn, wake_itself};

/// A pool of workers with deques.
pub struct DequePool {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

struct Shared {
    injector: Injector<Runnable>,
    stealers: Vec<Stealer<Runnable>>,
    unparkers: Vec<Unparker>,
    /// The workers that sleep or are about to; the last is woken first.
    sleepers: Mutex<Vec<usize>>,
    sleeper_count: AtomicUsize,
    is_shut_down: AtomicBool,
}

thread_local! {
    /// The pool that this thread works for, and its deque there.
    static WORKER: Cell<(*const Shared, *const Worker<Runnable>)> =
        const { Cell::new((ptr::null(), ptr::null())) };
}

impl Shared {
    fn push(&self, task: Runnable) {
        let (pool, deque) = WORKER.get();
        if ptr::eq(pool, self) {
            // SAFETY: `deque` is the one of this thread's `work`, which runs
            // around all that is called from its tasks.
            unsafe { &*deque }.push(task);
        } else {
            self.injector.push(task);
        }
        self.wake_one();
    }

    fn wake_one(&self) {
        // Pairs with the fence in `work`: either the worker sees the task, or
        // it is seen here.
        fence(SeqCst);
        if self.sleeper_count.load(SeqCst) == 0 {
            return;
        }
        let mut sleepers = self.lock_sleepers();
        let Some(worker) = sleepers.pop() else { return };
        self.sleeper_count.store(sleepers.len(), SeqCst);
        drop(sleepers);
        self.unparkers[worker].unpark();
    }

    fn lock_sleepers(&self) -> std::sync::MutexGuard<'_, Vec<usize>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, deque: &Worker<Runnable>, worker: usize) -> Option<Runnable> {
        let steal = || {
            let (before, after) = self.stealers.split_at(worker);
            let others = after.iter().skip(1).chain(before);
            let stolen = others.map(|other| other.steal_batch_and_pop(deque));
            let injected = self.injector.steal_batch_and_pop(deque);
            iter::once(injected).chain(stolen).collect::<Steal<_>>()
        };
        deque.pop().or_else(|| {
            iter::repeat_with(steal)
                .find(|stolen| !stolen.is_retry())
                .and_then(Steal::success)
        })
    }

    fn work(&self, deque: &Worker<Runnable>, worker: usize, parker: &Parker) {
        WORKER.set((self, deque));
        while !self.is_shut_down.load(SeqCst) {
            if let Some(task) = self.find(deque, worker) {
                task.run();
                continue;
            }
            let mut sleepers = self.lock_sleepers();
            if !sleepers.contains(&worker) {
                sleepers.push(worker);
                self.sleeper_count.store(sleepers.len(), SeqCst);
            }
            drop(sleepers);
            // Pairs with the fence in `wake_one`. A worker that finds something
            // stays on the stack. If it's woken there, the wake-up is wasted, and the
            // task may wait for a poll to end: the bench `meetings` counts that.
            fence(SeqCst);
            match self.find(deque, worker) {
                Some(task) => drop(task.run()),
                None if self.is_shut_down.load(SeqCst) => break,
                None => parker.park(),
            }
        }
        WORKER.set((ptr::null(), ptr::null()));
    }
}

impl Scheduler for DequePool {
    type Spawner = DequeSpawner;

    fn start(workers: usize) -> Self {
        let deques: Vec<_> = (0..workers).map(|_| Worker::new_fifo()).collect();
        let parkers: Vec<_> = (0..workers).map(|_| Parker::new()).collect();
        let shared = Arc::new(Shared {
            injector: Injector::new(),
            stealers: deques.iter().map(Worker::stealer).collect(),
            unparkers: parkers.iter().map(Parker::unparker).collect(),
            sleepers: Mutex::default(),
            sleeper_count: AtomicUsize::new(0),
            is_shut_down: AtomicBool::new(false),
        });
        let threads = deques.into_iter().zip(parkers).enumerate();
        let start = |(worker, (deque, parker))| {
            let shared = shared.clone();
            thread::spawn(move || shared.work(&deque, worker, &parker))
        };
        let threads = threads.map(start).collect();
        Self { shared, threads }
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        futures::executor::block_on(future)
    }

    fn spawn<F>(&self, future: F) -> impl Future
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawner().start(future)
    }

    fn spawner(&self) -> DequeSpawner {
        DequeSpawner(self.shared.clone())
    }
}

impl Drop for DequePool {
    fn drop(&mut self) {
        self.shared.is_shut_down.store(true, SeqCst);
        self.shared.unparkers.iter().for_each(Unparker::unpark);
        for thread in self.threads.drain(..) {
            thread.join().expect("no task panics");
        }
    }
}

/// Spawns on a [`DequePool`].
#[derive(Clone)]
pub struct DequeSpawner(Arc<Shared>);

impl DequeSpawner {
    fn start<F>(&self, future: F) -> async_task::Task<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let shared = self.0.clone();
        let (runnable, task) = async_task::spawn(future, move |task| shared.push(task));
        runnable.schedule();
        task
    }
}

impl Spawn for DequeSpawner {
    #[inline]
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.start(future).detach();
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        wake_itself()
    }
}
