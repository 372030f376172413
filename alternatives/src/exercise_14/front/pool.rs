//! Workers with queues of some kind: which worker polls when, and which ones
//! sleep. Making a task ready wakes a worker if one sleeps; no wake-up is spared.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use async_task::{Runnable, ScheduleInfo, WithInfo};
use futures::future::BoxFuture;
use primitives::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
    fence,
};
use primitives::{Condvar, Mutex, thread};

use super::Workers;

/// Where tasks wait.
pub trait Queues: Send + Sync + Sized + 'static {
    /// One worker's own queue.
    type Own: Send + 'static;
    /// Makes the queues of `count` workers.
    fn new(count: usize) -> (Self, Vec<Self::Own>);
    /// Queues what this worker has spawned or woken, or what has yielded on it.
    fn push(&self, own: &Self::Own, task: Runnable, has_yielded: bool);
    /// Queues a task that comes from elsewhere.
    fn inject(&self, task: Runnable);
    /// Takes a task of this worker's own.
    fn pop(&self, own: &Self::Own) -> Option<Runnable>;
    /// Takes injected tasks: one to be polled, perhaps others for later.
    fn take_injected(&self, own: &Self::Own) -> Option<Runnable>;
    /// Takes from another worker: one to be polled, perhaps others for later.
    fn steal(&self, own: &Self::Own) -> Option<Runnable>;
    /// Returns `true` if there is a task that any worker could take.
    fn is_any(&self) -> bool;
}

/// Threads that take from such queues.
pub struct Pool<Q> {
    shared: Arc<Shared<Q>>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
}

struct Shared<Q> {
    queues: Q,
    interval: u32,
    is_over: AtomicBool,
    /// How many sleep, or are about to.
    asleep_count: AtomicUsize,
    /// How many of these are to wake up.
    called: Mutex<usize>,
    some_are_called: Condvar,
}

/// A worker's place.
struct Seat<Q: Queues> {
    shared: Arc<Shared<Q>>,
    own: Q::Own,
    polls: Cell<u32>,
}

primitives::thread_local! {
    /// The [`Seat`] of this thread.
    static SEAT: RefCell<Option<Rc<dyn Any>>> = const { RefCell::new(None) };
}

impl<Q: Queues> Workers for Pool<Q> {
    fn start(count: usize, name: &str, interval: u32) -> io::Result<Arc<Self>> {
        let (queues, own) = Q::new(count);
        let shared = Arc::new(Shared {
            queues,
            interval: interval.max(2),
            is_over: AtomicBool::new(false),
            asleep_count: AtomicUsize::new(0),
            called: Mutex::new(0),
            some_are_called: Condvar::new(),
        });
        let start = |own| {
            let shared = shared.clone();
            let thread = thread::Builder::new().name(name.into());
            thread.spawn(move || Seat::take(shared, own))
        };
        let threads = own.into_iter().map(start).collect::<io::Result<_>>()?;
        let threads = Mutex::new(threads);
        Ok(Arc::new(Self { shared, threads }))
    }

    fn run(&self, task: BoxFuture<'static, ()>) {
        let shared = self.shared.clone();
        let schedule = move |task, info: ScheduleInfo| {
            shared.schedule(task, info.woken_while_running);
        };
        let (task, handle) = async_task::spawn(task, WithInfo(schedule));
        handle.detach();
        task.schedule();
    }

    fn are_here(&self) -> bool {
        let this = thread::current().id();
        let threads = self.threads.lock().unwrap();
        threads.iter().any(|thread| thread.thread().id() == this)
    }

    fn end(&self) {
        self.shared.is_over.store(true, SeqCst);
        let count = self.threads.lock().unwrap().len();
        *self.shared.called.lock().unwrap() += count;
        self.shared.some_are_called.notify_all();
        super::join(&self.threads);
    }
}

impl<Q: Queues> Shared<Q> {
    fn schedule(&self, task: Runnable, has_yielded: bool) {
        let seat = SEAT.with(|seat| seat.borrow().clone());
        let seat = seat.and_then(|seat| seat.downcast::<Seat<Q>>().ok());
        match seat.filter(|seat| ptr::eq(&*seat.shared, self)) {
            Some(seat) => self.queues.push(&seat.own, task, has_yielded),
            None => self.queues.inject(task),
        }
        self.notify();
    }

    /// Call this after a task was queued, or moved.
    fn notify(&self) {
        // SeqCst: pairs with the fence in `sleep`. Here the queue, then the count;
        // there the count, then the queues.
        fence(SeqCst);
        // Relaxed: the fence orders it.
        if self.asleep_count.load(Relaxed) == 0 {
            return;
        }
        let mut called = self.called.lock().unwrap();
        if *called < self.asleep_count.load(Relaxed) {
            *called += 1;
            self.some_are_called.notify_one();
        }
    }

    fn sleep(&self) {
        // Relaxed: the fence orders it.
        self.asleep_count.fetch_add(1, Relaxed);
        // SeqCst: pairs with the fence in `notify`.
        fence(SeqCst);
        let mut called = self.called.lock().unwrap();
        while *called == 0 && !self.queues.is_any() {
            called = self.some_are_called.wait(called).unwrap();
        }
        *called = called.saturating_sub(1);
        // Relaxed: changed under the lock, so that `called` never exceeds it.
        self.asleep_count.fetch_sub(1, Relaxed);
    }
}

impl<Q: Queues> Seat<Q> {
    fn take(shared: Arc<Shared<Q>>, own: Q::Own) {
        let seat = Rc::new(Self {
            shared,
            own,
            polls: Cell::new(0),
        });
        SEAT.with(|it| it.replace(Some(seat.clone())));
        // SeqCst, for simplicity: the lock in `sleep` publishes it.
        while !seat.shared.is_over.load(SeqCst) {
            match seat.next() {
                Some(task) => drop(task.run()),
                None => seat.shared.sleep(),
            }
        }
        SEAT.with(|it| it.replace(None));
    }

    fn next(&self) -> Option<Runnable> {
        let queues = &self.shared.queues;
        let polls = self.polls.get().saturating_add(1);
        self.polls.set(polls);
        if polls >= self.shared.interval
            && let Some(task) = queues.take_injected(&self.own)
        {
            self.polls.set(0);
            self.shared.notify();
            return Some(task);
        }
        if let Some(task) = queues.pop(&self.own) {
            return Some(task);
        }
        let found = queues.take_injected(&self.own);
        let found = found.or_else(|| queues.steal(&self.own))?;
        // The tasks that came with it were in no queue for a moment.
        self.shared.notify();
        Some(found)
    }
}
