//! A runtime of one thread: the thread runs the tasks, and waits in the driver
//! when there's none to run.

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

/// So many polls at most pass between two looks at the driver.
const INTERVAL: usize = 61;

/// The future of `block_on`.
const ROOT: u64 = 0;

/// Runs tasks that needn't be `Send`, on the thread that calls
/// [`block_on`](Self::block_on).
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
/// Tasks run only while a `block_on` does. Dropping the runtime drops them.
pub struct LocalRuntime {
    core: Rc<Core>,
    /// Borrowed as long as a `block_on` runs.
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

/// The tasks that are ready.
struct Queue {
    /// `None` once the runtime is gone: a signal in the queue that it points to
    /// would keep both, and the driver's file descriptors, forever.
    ready: Mutex<Option<VecDeque<Arc<Signal>>>>,
    reactor: reactor::Handle,
    home: ThreadId,
}

/// What a task's wakers point to: its key, and nothing of the task.
struct Signal {
    key: u64,
    is_ready: AtomicBool,
    queue: Arc<Queue>,
}

thread_local! {
    static CURRENT: RefCell<Weak<Core>> = const { RefCell::new(Weak::new()) };
}

impl LocalRuntime {
    /// Makes a runtime for this thread.
    ///
    /// # Errors
    ///
    /// If the system has no file descriptor left.
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

    /// Spawns a task, which runs while a [`block_on`](Self::block_on) does.
    /// Dropping its handle detaches it.
    pub fn spawn_local<F: Future + 'static>(
        &self,
        future: F,
    ) -> LocalJoinHandle<F::Output> {
        self.core.spawn(future)
    }

    /// Runs `future` until it's ready, and the tasks meanwhile.
    ///
    /// It keeps its thread. Within a task of a [`Runtime`](super::Runtime),
    /// that's a worker, which then runs no other task: call it in a blocking
    /// job instead.
    ///
    /// # Panics
    ///
    /// Within another `block_on` of such a runtime, and if `future` does.
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
            // A task that's woken now leaves a token, so the wait ends at once.
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
        // A destructor may wake and spawn, so nothing is borrowed meanwhile.
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
            // The job is dropped, and so it's cancelled.
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
        // It's taken out, so that it may spawn and wake.
        let taken = self.tasks.borrow_mut().remove(&signal.key);
        // A task that is over may be woken.
        let Some(mut task) = taken else {
            return;
        };
        let waker = Waker::from(task.signal.clone());
        let mut cx = Context::from_waker(&waker);
        // A job doesn't panic.
        if task.future.as_mut().poll(&mut cx).is_pending() {
            self.tasks.borrow_mut().insert(signal.key, task);
        }
    }
}

impl Queue {
    fn pop(&self) -> Option<Arc<Signal>> {
        let signal = self.lock().as_mut()?.pop_front()?;
        // Acquire: pairs with the Release in `wake_by_ref`; shows what was
        // written before each wake-up that this poll stands for.
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
        // Release: pairs with the Acquire in `Queue::pop`. A swap, even if it's
        // set: a load would publish nothing.
        if self.is_ready.swap(true, Release) {
            return;
        }
        self.queue.push(self.clone());
        // On its own thread there's no wait to be ended.
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

/// While it lives, [`spawn_local`] spawns on a runtime.
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
///
/// # Panics
///
/// If there's none.
#[track_caller]
pub fn spawn_local<F: Future + 'static>(
    future: F,
) -> LocalJoinHandle<F::Output> {
    let core = CURRENT.with_borrow(Weak::upgrade);
    let core = core.expect("no `LocalRuntime` runs on this thread");
    core.spawn(future)
}
