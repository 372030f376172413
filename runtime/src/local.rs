//! A runtime on one thread: the thread runs the tasks, and waits in the driver
//! when no task is ready.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};

use budget::with_budget;
use local_executor::job;
use reactor::Driver;

use super::handle::SLICE;

pub use local_executor::JoinHandle as LocalJoinHandle;

/// The most polls between two looks at the driver.
const INTERVAL: usize = 61;

/// The key of the future of `block_on`.
const ROOT: u64 = 0;

/// A runtime on one thread, for tasks that aren't `Send`. They run on the
/// thread that calls [`block_on`](Self::block_on), and only while a `block_on`
/// runs.
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// let runtime = runtime::LocalRuntime::new()?;
/// let count = Rc::new(Cell::new(0));
/// let counted = count.clone();
/// runtime.block_on(async {
///     let task = runtime::spawn_local(async move { counted.set(1) });
///     task.await.unwrap();
/// });
/// assert_eq!(count.get(), 1);
/// # std::io::Result::Ok(())
/// ```
///
/// Within `block_on`, sockets and sleeps belong to this runtime. There are no
/// blocking jobs: [`spawn_blocking`](super::spawn_blocking) needs a
/// [`Runtime`](super::Runtime).
///
/// Dropping the runtime drops its tasks. If a task's destructor panics, the
/// panic is caught and the other tasks are dropped.
pub struct LocalRuntime {
    core: Rc<Core>,
    /// Borrowed while a `block_on` runs.
    driver: RefCell<Driver>,
}

struct Core {
    tasks: RefCell<HashMap<u64, Task>>,
    spawned_count: Cell<u64>,
    queue: Arc<Queue>,
    is_closed: Cell<bool>,
}

struct Task {
    future: Pin<Box<dyn Future<Output = ()>>>,
    signal: Arc<Signal>,
}

/// The queue of the tasks that are ready.
struct Queue {
    /// `None` once the runtime is gone: a signal in the queue that it points to
    /// would keep both, and the driver's file descriptors, forever.
    ready: Mutex<Option<VecDeque<Arc<Signal>>>>,
    reactor: reactor::Handle,
    home: ThreadId,
}

/// The target of a task's wakers. It has the task's key, but doesn't own the
/// task: other threads may own wakers, and the task isn't `Send`.
struct Signal {
    key: u64,
    is_ready: AtomicBool,
    queue: Arc<Queue>,
}

thread_local! {
    static CURRENT: RefCell<Weak<Core>> = const { RefCell::new(Weak::new()) };
}

impl LocalRuntime {
    /// Creates a runtime for this thread.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error if it can't create a poller, for
    /// example because no file descriptor is left.
    pub fn new() -> io::Result<Self> {
        let driver = Driver::new()?;
        let queue = Queue {
            ready: Mutex::new(Some(VecDeque::new())),
            reactor: driver.handle(),
            home: thread::current().id(),
        };
        let core = Core {
            tasks: RefCell::default(),
            spawned_count: Cell::new(ROOT),
            queue: Arc::new(queue),
            is_closed: Cell::new(false),
        };
        Ok(Self {
            core: Rc::new(core),
            driver: RefCell::new(driver),
        })
    }

    /// Spawns a task, which runs while a [`block_on`](Self::block_on) runs.
    ///
    /// Awaiting the handle returns the task's output, or an error if the task
    /// panicked or was dropped with the runtime. Dropping the handle detaches
    /// the task.
    pub fn spawn_local<F: Future + 'static>(
        &self,
        future: F,
    ) -> LocalJoinHandle<F::Output> {
        self.core.spawn(future)
    }

    /// Runs `future` until it's ready, and returns its output. Meanwhile this
    /// thread also runs the tasks. Tasks that aren't over by then stay where
    /// they are until the next `block_on`.
    ///
    /// The call blocks its thread until `future` is ready. Within a task of a
    /// [`Runtime`](super::Runtime), that's the thread of a worker, which then
    /// runs no other task of that runtime. Make the call in a blocking job
    /// instead.
    ///
    /// # Panics
    ///
    /// If the caller is in the `block_on` of a `LocalRuntime`, or if `future`
    /// panics.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let is_free = CURRENT.with_borrow(|it| it.strong_count() == 0);
        assert!(
            is_free,
            "`block_on` within a `block_on`: its thread can't wait for both \
             futures; `.await` the inner one instead"
        );
        let mut driver = self.driver.borrow_mut();
        let _entered = Entered::new(&self.core);
        let _inside = self.core.queue.reactor.enter();
        let root = Signal::new(ROOT, &self.core.queue);
        root.clone().wake();
        let waker = Waker::from(root);
        let mut cx = Context::from_waker(&waker);
        let mut future = pin!(with_budget(SLICE, future));
        loop {
            for _ in 0..INTERVAL {
                let Some(signal) = self.core.queue.pop() else {
                    break;
                };
                if signal.key != ROOT {
                    self.core.poll(signal);
                } else if let Poll::Ready(output) =
                    future.as_mut().poll(&mut cx)
                {
                    return output;
                }
            }
            // If another thread wakes a task after this look, it leaves a
            // token, and the wait ends at once.
            match self.core.queue.is_empty() {
                true => driver.wait(),
                false => driver.look(),
            }
            while driver.dispatch(usize::MAX) {}
        }
    }
}

impl Drop for LocalRuntime {
    fn drop(&mut self) {
        let _entered = Entered::new(&self.core);
        self.core.is_closed.set(true);
        self.core.queue.close();
        // A destructor may wake or spawn tasks, so the map isn't borrowed here.
        for (_key, task) in self.core.tasks.take() {
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(task)));
            // The panic's payload may itself panic when it's dropped.
            dropped.unwrap_or_else(mem::forget);
        }
    }
}

impl Core {
    fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> LocalJoinHandle<F::Output> {
        let (job, handle) = job(with_budget(SLICE, future));
        if self.is_closed.get() {
            // Dropping the job cancels it.
            return handle;
        }
        let key = self.spawned_count.get() + 1;
        self.spawned_count.set(key);
        let signal = Signal::new(key, &self.queue);
        let task = Task {
            future: Box::pin(job),
            signal: signal.clone(),
        };
        self.tasks.borrow_mut().insert(key, task);
        signal.wake();
        handle
    }

    fn poll(&self, signal: Arc<Signal>) {
        // The task is taken out of the map, so that its poll may spawn tasks.
        let taken = self.tasks.borrow_mut().remove(&signal.key);
        // A task that's over may still be woken.
        let Some(mut task) = taken else {
            return;
        };
        let waker = Waker::from(task.signal.clone());
        let mut cx = Context::from_waker(&waker);
        // This doesn't unwind: a job catches the panic of its future.
        if task.future.as_mut().poll(&mut cx).is_pending() {
            self.tasks.borrow_mut().insert(signal.key, task);
        }
    }
}

impl Queue {
    fn pop(&self) -> Option<Arc<Signal>> {
        let signal = self.lock().as_mut()?.pop_front()?;
        // Acquire: pairs with the Release in `wake_by_ref`; shows what each
        // waking thread wrote before its wake-up.
        signal.is_ready.swap(false, Acquire);
        Some(signal)
    }

    fn push(&self, signal: Arc<Signal>) {
        if let Some(ready) = &mut *self.lock() {
            ready.push_back(signal);
        }
    }

    fn is_empty(&self) -> bool {
        self.lock().as_ref().is_none_or(VecDeque::is_empty)
    }

    fn close(&self) {
        // Not under the lock: the last signal drops the queue.
        let ready = self.lock().take();
        drop(ready);
    }

    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<Arc<Signal>>>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Signal {
    fn new(key: u64, queue: &Arc<Queue>) -> Arc<Self> {
        Arc::new(Self {
            key,
            is_ready: AtomicBool::new(false),
            queue: queue.clone(),
        })
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release: pairs with the Acquire in `Queue::pop`. It's a swap even if
        // the flag is set, because a load would publish nothing.
        if self.is_ready.swap(true, Release) {
            return;
        }
        self.queue.push(self.clone());
        // A wake-up on the runtime's own thread has no wait to end.
        if thread::current().id() != self.queue.home {
            self.queue.reactor.unpark();
        }
    }
}

/// Returns `true` if a `block_on` of a [`LocalRuntime`] runs on this thread.
pub fn is_running() -> bool {
    let core = CURRENT.with_borrow(Weak::upgrade);
    core.is_some_and(|core| !core.is_closed.get())
}

/// While this exists, [`spawn_local`] spawns on the runtime. It stores the
/// runtime that was current before.
struct Entered(Weak<Core>);

impl Entered {
    fn new(core: &Rc<Core>) -> Self {
        Self(CURRENT.replace(Rc::downgrade(core)))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(mem::take(&mut self.0));
    }
}

/// Spawns a task on the [`LocalRuntime`] whose `block_on` runs on this thread.
/// See [`LocalRuntime::spawn_local`] for the task and its handle.
///
/// # Panics
///
/// If no `block_on` of a `LocalRuntime` runs on this thread.
#[track_caller]
pub fn spawn_local<F: Future + 'static>(
    future: F,
) -> LocalJoinHandle<F::Output> {
    let core = CURRENT.with_borrow(Weak::upgrade);
    let core = core.expect("no `LocalRuntime` runs on this thread");
    core.spawn(future)
}
