//! All wake-ups, from this thread and from others, go through one queue behind
//! one lock, and the tasks are in a map: what most of us would write first.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

pub use super::spawn;
use super::{EnterGuard, Host, Quiet, task};
pub use local_executor::{
    CatchUnwind, Completer, JoinError, JoinHandle, job, outcome,
};
use primitives::atomic::{AtomicBool, Ordering::AcqRel};
use primitives::{Condvar, Mutex, MutexGuard};

/// Runs tasks on the thread that it was created on.
#[derive(Default)]
pub struct LocalExecutor(Rc<Tasks>);

#[derive(Default)]
struct Tasks {
    tasks: RefCell<HashMap<u64, Task>>,
    /// The number of the newest task; zero is the future of `block_on`.
    newest: Cell<u64>,
    queue: Arc<Queue>,
}

struct Task {
    future: Quiet,
    signal: Arc<Signal>,
}

#[derive(Default)]
struct Queue {
    /// `None` once the executor is gone.
    signals: Mutex<Signals>,
    filled: Condvar,
}

#[derive(Default)]
struct Signals {
    ready: VecDeque<Arc<Signal>>,
    is_closed: bool,
}

struct Signal {
    number: u64,
    is_queued: AtomicBool,
    queue: Arc<Queue>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Signals> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Arc<Signal> {
        let mut signals = self.lock();
        let signal = loop {
            match signals.ready.pop_front() {
                Some(signal) => break signal,
                None => {
                    let woken = self.filled.wait(signals);
                    signals = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        };
        // AcqRel: a wake-up from now on queues the task again, and this poll
        // sees what was written before earlier ones.
        signal.is_queued.swap(false, AcqRel);
        signal
    }
}

impl Signal {
    fn new(number: u64, queue: &Arc<Queue>) -> Arc<Self> {
        Arc::new(Self {
            number,
            is_queued: AtomicBool::new(false),
            queue: queue.clone(),
        })
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        // AcqRel: as above.
        if self.is_queued.swap(true, AcqRel) {
            return;
        }
        let queue = self.queue.clone();
        let mut signals = queue.lock();
        if !signals.is_closed {
            signals.ready.push_back(self);
            drop(signals);
            queue.filled.notify_one();
        }
    }
}

impl Tasks {
    fn next_number(&self) -> u64 {
        self.newest.set(self.newest.get() + 1);
        self.newest.get()
    }

    fn poll(&self, signal: Arc<Signal>) {
        let number = signal.number;
        let Some(mut task) = self.tasks.borrow_mut().remove(&number) else {
            return;
        };
        let waker = Waker::from(signal);
        let mut cx = Context::from_waker(&waker);
        if Pin::new(&mut task.future).poll(&mut cx).is_pending() {
            self.tasks.borrow_mut().insert(number, task);
        }
    }
}

impl Host for Tasks {
    fn add(&self, future: Quiet) {
        if self.queue.lock().is_closed {
            return;
        }
        let number = self.next_number();
        let signal = Signal::new(number, &self.queue);
        let task = Task {
            future,
            signal: signal.clone(),
        };
        self.tasks.borrow_mut().insert(number, task);
        signal.wake();
    }
}

impl LocalExecutor {
    /// Creates an executor without tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a task from `future`.
    pub fn spawn<F: Future + 'static>(
        &self,
        future: F,
    ) -> JoinHandle<F::Output> {
        let (task, handle) = task(future);
        self.0.add(task);
        handle
    }

    /// Runs `future` until it's ready, and meanwhile the tasks.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _guard = EnterGuard::enter_alone(self.0.clone());
        let mut future = pin!(future);
        let root = Signal::new(self.0.next_number(), &self.0.queue);
        root.clone().wake();
        let waker = Waker::from(root.clone());
        let mut cx = Context::from_waker(&waker);
        loop {
            let signal = self.0.queue.next();
            if signal.number != root.number {
                self.0.poll(signal);
            } else if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
        }
    }

    /// Runs the tasks until none is left.
    pub fn run(&self) {
        let _guard = EnterGuard::enter_alone(self.0.clone());
        while !self.0.tasks.borrow().is_empty() {
            self.0.poll(self.0.queue.next());
        }
    }
}

impl Drop for LocalExecutor {
    fn drop(&mut self) {
        let _guard = EnterGuard::enter(self.0.clone());
        let mut signals = self.0.queue.lock();
        signals.is_closed = true;
        signals.ready = VecDeque::new();
        drop(signals);
        let tasks = self.0.tasks.take();
        for task in tasks.into_values() {
            drop(task.future);
            drop(task.signal);
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/09-local-executor/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/09-local-executor/src/tests/mod.rs"]
mod tests;
