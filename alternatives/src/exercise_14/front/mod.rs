//! The public API of a runtime, over workers of any kind. The workers only run boxed
//! futures, and exit. Everything else is here: handles, shutdown, and the runtime that
//! a thread has entered.
//!
//! Locks, threads and atomics are from `primitives`, so that the models can explore
//! these runtimes, too. An `Arc` is std's, because `Waker`s and `dyn` need that.

pub mod pool;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{AbortHandle, BoxFuture, abortable};
pub use local_executor::JoinError;
use primitives::atomic::{AtomicBool, Ordering::SeqCst};
use primitives::thread;
use primitives::{Condvar, Mutex};

/// Threads that run futures.
pub trait Workers: Any + Send + Sync {
    /// Starts `count` threads.
    fn start(count: usize, name: &str, interval: u32) -> io::Result<Arc<Self>>
    where
        Self: Sized;
    /// Runs a future on one of the threads.
    fn run(&self, task: BoxFuture<'static, ()>);
    /// Returns `true` if the current thread is one of theirs.
    fn are_here(&self) -> bool;
    /// Ends the threads. All futures are gone by now, except perhaps this thread's.
    fn end(&self);
}

/// A runtime on top of `W`.
pub struct Runtime<W>(Handle, PhantomData<W>);

impl<W: Workers> Runtime<W> {
    /// Makes a runtime with a worker for each processor.
    pub fn new() -> io::Result<Self> {
        Self::builder().build()
    }

    /// Returns a builder, for a runtime with other settings.
    pub fn builder() -> Builder<W> {
        let count = thread::available_parallelism().map_or(1, usize::from);
        Builder {
            count,
            interval: 61,
            name: "worker".into(),
            blocking: 512,
            workers: PhantomData,
        }
    }

    /// Runs `future` to its end on this thread.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _running = Running::begin();
        let _entered = self.0.enter();
        parker::block_on(future)
    }

    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.spawn(future)
    }

    /// Runs `job` on a thread where it may block.
    pub fn spawn_blocking<F, T>(&self, job: F) -> spawn_blocking::JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.0.spawn_blocking(job)
    }

    /// Makes this the runtime of this thread.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.0.enter()
    }

    /// Returns a handle.
    pub fn handle(&self) -> Handle {
        self.0.clone()
    }
}

impl<W> Drop for Runtime<W> {
    fn drop(&mut self) {
        let shared = self.0.0.clone();
        shared.close();
        // A task can't wait for its own end.
        if shared.workers.are_here() {
            thread::spawn(move || shared.end());
        } else {
            shared.end();
        }
    }
}

/// The settings of a runtime.
pub struct Builder<W> {
    count: usize,
    interval: u32,
    name: String,
    blocking: usize,
    workers: PhantomData<W>,
}

impl<W: Workers> Builder<W> {
    /// How many workers there are.
    pub fn worker_threads(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "a runtime without workers runs no task");
        self.count = count;
        self
    }

    /// How often a worker looks into the global queue.
    pub fn global_queue_interval(&mut self, polls: u32) -> &mut Self {
        assert!(polls > 0, "an interval is not zero");
        self.interval = polls;
        self
    }

    /// How the threads of the workers are named.
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.name = name.into();
        self
    }

    /// How many blocking jobs run at a time.
    pub fn max_blocking_threads(&mut self, count: usize) -> &mut Self {
        self.blocking = count;
        self
    }

    /// Starts the workers.
    pub fn build(&mut self) -> io::Result<Runtime<W>> {
        if self.name.contains('\0') {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let keep_alive = Duration::from_secs(10);
        let shared = Shared {
            workers: W::start(self.count, &self.name, self.interval)?,
            blocking: spawn_blocking::Pool::new(self.blocking, keep_alive),
            tasks: Mutex::default(),
            all_ended: Condvar::new(),
        };
        Ok(Runtime(Handle(Arc::new(shared)), PhantomData))
    }
}

/// Spawns on a runtime from anywhere.
#[derive(Clone)]
pub struct Handle(Arc<Shared>);

struct Shared {
    workers: Arc<dyn Workers>,
    /// Shut down when the runtime is gone.
    blocking: spawn_blocking::Pool,
    tasks: Mutex<Tasks>,
    all_ended: Condvar,
}

#[derive(Default)]
struct Tasks {
    is_closed: bool,
    /// How to abort each live task; `None` for tasks that have ended.
    alive: Vec<Option<AbortHandle>>,
    free: Vec<usize>,
}

impl Handle {
    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (job, outcome) = local_executor::job(future);
        let (job, abort) = abortable(job);
        let ended = Arc::new(AtomicBool::new(false));
        let handle = JoinHandle {
            outcome,
            abort: abort.clone(),
            ended: ended.clone(),
        };
        let Some(place) = self.0.list(abort) else {
            drop(job);
            // SeqCst, as in the drop of a `Task`.
            ended.store(true, SeqCst);
            return handle;
        };
        let shared = self.0.clone();
        let task = Task {
            job: Some(job.map(drop).boxed()),
            shared,
            place,
            ended,
        };
        self.0.workers.run(task.boxed());
        handle
    }

    /// Runs `job` on a thread where it may block.
    pub fn spawn_blocking<F, T>(&self, job: F) -> spawn_blocking::JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let here = self.clone();
        // Once the pool has been shut down, it cancels the job.
        self.0.blocking.spawn_blocking(move || {
            let _entered = here.enter();
            job()
        })
    }

    /// Makes this the runtime of this thread.
    pub fn enter(&self) -> EnterGuard<'_> {
        let outer = PLACE.with(|place| place.replace(Some(self.clone())));
        EnterGuard(outer, PhantomData)
    }
}

impl Shared {
    /// Returns the task's place in the list, or `None` if the list is closed.
    fn list(&self, abort: AbortHandle) -> Option<usize> {
        let mut tasks = self.tasks.lock().unwrap();
        if tasks.is_closed {
            return None;
        }
        let place = tasks.free.pop().unwrap_or_else(|| {
            tasks.alive.push(None);
            tasks.alive.len() - 1
        });
        tasks.alive[place] = Some(abort);
        Some(place)
    }

    fn unlist(&self, place: usize) {
        let mut tasks = self.tasks.lock().unwrap();
        tasks.alive[place] = None;
        tasks.free.push(place);
        self.all_ended.notify_all();
    }

    /// Aborts every task, and lets no other begin.
    fn close(&self) {
        let mut tasks = self.tasks.lock().unwrap();
        tasks.is_closed = true;
        let all: Vec<_> = tasks.alive.iter().flatten().cloned().collect();
        drop(tasks);
        all.iter().for_each(AbortHandle::abort);
    }

    fn end(&self) {
        let tasks = self.tasks.lock().unwrap();
        let some_live =
            |tasks: &mut Tasks| tasks.free.len() < tasks.alive.len();
        drop(self.all_ended.wait_while(tasks, some_live).unwrap());
        self.workers.end();
        self.blocking.shut_down();
    }
}

/// What a worker polls.
struct Task {
    job: Option<BoxFuture<'static, ()>>,
    shared: Arc<Shared>,
    place: usize,
    ended: Arc<AtomicBool>,
}

impl Future for Task {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _running = Running::begin();
        let here = Handle(self.shared.clone());
        let _entered = here.enter();
        let Some(job) = &mut self.job else {
            return Poll::Ready(());
        };
        // The job catches what the future throws, but for its destructor.
        let poll = catch_unwind(AssertUnwindSafe(|| job.poll_unpin(cx)));
        let poll = poll.unwrap_or(Poll::Ready(()));
        if poll.is_ready() {
            let job = self.job.take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(job)));
        }
        poll
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        drop(self.job.take());
        // SeqCst, for simplicity: Release would do. Pairs with the load in
        // `is_finished`; a thread that sees the value comes after the drop of the job.
        self.ended.store(true, SeqCst);
        self.shared.unlist(self.place);
    }
}

/// Awaits what a task returns.
pub struct JoinHandle<T> {
    outcome: local_executor::JoinHandle<T>,
    abort: AbortHandle,
    ended: Arc<AtomicBool>,
}

impl<T> JoinHandle<T> {
    /// Aborts the task.
    pub fn abort(&self) {
        self.abort.abort();
    }

    /// Returns `true` if the task has ended.
    pub fn is_finished(&self) -> bool {
        // SeqCst, as above: Acquire would do.
        self.ended.load(SeqCst)
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        self.outcome.poll_unpin(cx)
    }
}

primitives::thread_local! {
    /// The runtime of this thread.
    static PLACE: RefCell<Option<Handle>> = const { RefCell::new(None) };
    /// Whether it is running a future.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, free functions use the runtime that was entered.
pub struct EnterGuard<'a>(Option<Handle>, PhantomData<(&'a (), *const ())>);

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        PLACE.with(|place| place.replace(self.0.take()));
    }
}

struct Running;

impl Running {
    fn begin() -> Self {
        let was = IS_RUNNING.with(|it| it.replace(true));
        assert!(!was, "`block_on` within a task or another `block_on`");
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        IS_RUNNING.with(|it| it.set(false));
    }
}

fn here() -> Handle {
    let here = PLACE.with(|place| place.borrow().clone());
    here.expect("this thread is in no runtime")
}

/// Spawns a task on the runtime of this thread.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    here().spawn(future)
}

/// Runs `job` on a thread of this thread's runtime where it may block.
pub fn spawn_blocking<F, T>(job: F) -> spawn_blocking::JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    here().spawn_blocking(job)
}

/// A future that is ready once `duration` has passed since this call.
pub fn sleep(duration: Duration) -> sleep::Sleep {
    drop(here());
    sleep::sleep(duration)
}

/// Joins all threads but this one.
pub fn join(threads: &Mutex<Vec<thread::JoinHandle<()>>>) {
    let this = thread::current().id();
    for thread in mem::take(&mut *threads.lock().unwrap()) {
        if thread.thread().id() != this
            && let Err(thrown) = thread.join()
        {
            resume_unwind(thrown);
        }
    }
}
