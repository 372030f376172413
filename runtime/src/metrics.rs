//! Counters of the workers and tasks, with the feature `metrics`.
//!
//! The scheduler calls an observer, on the worker's thread, when its queues
//! change. The observer is a plain function, so it finds the worker's counters
//! in a thread-local. A worker sets the thread-local when it starts: it
//! searches for the counters of the runtime that has the same driver.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU64, Ordering, Ordering::Relaxed,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use reactor::Driver;
use work_stealing::{Event, Queue};

/// Relaxed: the counters are independent. A reader sees each of them as it was
/// at some moment, but not all of them at the same moment.
const COUNT: Ordering = Relaxed;

/// The counters of a runtime, and the list of its tasks. Each number is read at
/// a moment of its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// The counters of each worker.
    pub workers: Vec<WorkerMetrics>,
    /// The tasks that have been polled and aren't over, in the order of their
    /// first polls.
    pub tasks: Vec<TaskMetrics>,
}

/// The counters of a worker since the runtime started.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// How many times the worker has polled a task.
    pub poll_count: u64,
    /// How many tasks the worker has stolen from other workers.
    pub stolen_count: u64,
    /// How many tasks the worker has taken from the global queue.
    pub injected_count: u64,
    /// How many times the worker's own queue has overflowed.
    pub overflow_count: u64,
    /// How many times the worker has parked, in the driver or in its parker.
    pub park_count: u64,
    /// `true` if the worker is parked.
    pub is_parked: bool,
    /// How many tasks are in the worker's own queue and in its LIFO slot.
    pub queue_length: u64,
}

/// The counters of a task.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskMetrics {
    /// A number that no other task of the process has. The numbers are in the
    /// order of the tasks' first polls.
    pub id: u64,
    /// Where the program spawned the task.
    pub spawned_at: &'static Location<'static>,
    /// How many times the task has been polled.
    pub poll_count: u64,
}

/// The counters of a runtime.
struct Counters {
    workers: Vec<WorkerCounters>,
    tasks: Mutex<BTreeMap<u64, Arc<TaskCounters>>>,
}

/// Aligned to cache lines of its own, because only this worker writes to it,
/// apart from workers that steal from it.
#[derive(Default)]
#[repr(align(128))]
struct WorkerCounters {
    polls: AtomicU64,
    stolen: AtomicU64,
    injected: AtomicU64,
    overflows: AtomicU64,
    parks: AtomicU64,
    is_parked: AtomicBool,
    /// May be negative for a moment: a thief may count a stolen task before the
    /// victim counts its push.
    queued: AtomicI64,
    has_next: AtomicBool,
}

struct TaskCounters {
    spawned_at: &'static Location<'static>,
    polls: AtomicU64,
}

/// The counters of all runtimes, by the addresses of their drivers' handles.
static RUNTIMES: Mutex<Vec<(usize, Weak<Counters>)>> = Mutex::new(Vec::new());

thread_local! {
    /// The counters and the index of the worker that runs on this thread.
    static WORKER: RefCell<Option<(Arc<Counters>, usize)>> =
        const { RefCell::new(None) };
}

/// A runtime's entry in the list where its workers find their counters.
pub struct Registered {
    /// Kept, so that no other handle gets its address.
    handle: DriverHandle,
    counters: Arc<Counters>,
}

/// The handle by which tasks use a driver.
type DriverHandle = Arc<dyn Any + Send + Sync>;

/// A driver that always returns the same handle, so that a worker can tell by
/// the handle's address which runtime it belongs to.
pub struct CountedDriver {
    driver: Driver,
    handle: DriverHandle,
}

impl Registered {
    /// Adds the entry of the runtime that's going to be built on the driver.
    pub fn new(driver: Driver, workers: usize) -> (Self, CountedDriver) {
        let counters = Arc::new(Counters {
            workers: (0..workers).map(|_| WorkerCounters::default()).collect(),
            tasks: Mutex::default(),
        });
        let handle = work_stealing::Driver::handle(&driver);
        let entry = (address_of(&handle), Arc::downgrade(&counters));
        lock(&RUNTIMES).push(entry);
        let driver = CountedDriver {
            driver,
            handle: handle.clone(),
        };
        (Self { handle, counters }, driver)
    }

    pub fn read(&self) -> Metrics {
        let tasks = lock(&self.counters.tasks);
        let tasks = tasks.iter().map(|(id, task)| TaskMetrics {
            id: *id,
            spawned_at: task.spawned_at,
            poll_count: task.polls.load(COUNT),
        });
        Metrics {
            tasks: tasks.collect(),
            workers: self.counters.workers.iter().map(read_worker).collect(),
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let own = address_of(&self.handle);
        lock(&RUNTIMES).retain(|(address, _)| *address != own);
    }
}

impl work_stealing::Driver for CountedDriver {
    fn unparker(&self) -> Box<dyn Fn() + Send + Sync> {
        work_stealing::Driver::unparker(&self.driver)
    }

    fn handle(&self) -> DriverHandle {
        self.handle.clone()
    }

    fn wait(&mut self) {
        self.driver.wait();
    }

    fn look(&mut self) {
        self.driver.look();
    }

    fn dispatch(&mut self, most: usize) -> bool {
        self.driver.dispatch(most)
    }

    fn shut_down(&mut self) {
        work_stealing::Driver::shut_down(&mut self.driver);
    }
}

fn read_worker(worker: &WorkerCounters) -> WorkerMetrics {
    let next = i64::from(worker.has_next.load(COUNT));
    let queued = worker.queued.load(COUNT) + next;
    WorkerMetrics {
        poll_count: worker.polls.load(COUNT),
        stolen_count: worker.stolen.load(COUNT),
        injected_count: worker.injected.load(COUNT),
        overflow_count: worker.overflows.load(COUNT),
        park_count: worker.parks.load(COUNT),
        is_parked: worker.is_parked.load(COUNT),
        queue_length: u64::try_from(queued).unwrap_or(0),
    }
}

/// The observer: the scheduler calls it for each event.
pub fn observe(event: Event) {
    if let Event::Started { worker } = event {
        WORKER.set(find_counters().map(|counters| (counters, worker)));
    }
    WORKER.with_borrow(|worker| {
        if let Some((counters, index)) = worker {
            count(event, counters, &counters.workers[*index]);
        }
    });
}

fn find_counters() -> Option<Arc<Counters>> {
    let address = address_of(&work_stealing::driver_handle()?);
    let runtimes = lock(&RUNTIMES);
    let (_, counters) = runtimes.iter().find(|(it, _)| *it == address)?;
    counters.upgrade()
}

fn count(event: Event, counters: &Counters, worker: &WorkerCounters) {
    let add = |counter: &AtomicU64, count: usize| {
        counter.fetch_add(count as u64, COUNT);
    };
    let queued = |worker: &WorkerCounters, change: i64| {
        worker.queued.fetch_add(change, COUNT);
    };
    match event {
        Event::Pushed(Queue::Slot) => worker.has_next.store(true, COUNT),
        Event::Popped(Queue::Slot) => worker.has_next.store(false, COUNT),
        Event::Pushed(Queue::Local) => queued(worker, 1),
        Event::Popped(Queue::Local) => queued(worker, -1),
        Event::Overflowed { count } => {
            add(&worker.overflows, 1);
            // One of these tasks was pushed, and has never been in the queue.
            queued(worker, 1 - count as i64);
        }
        Event::Took { count } => {
            add(&worker.injected, count);
            queued(worker, count as i64);
        }
        Event::Stole { from, count } => {
            add(&worker.stolen, count);
            queued(worker, count as i64);
            queued(&counters.workers[from], -(count as i64));
        }
        Event::Parked => {
            add(&worker.parks, 1);
            worker.is_parked.store(true, COUNT);
        }
        Event::Unparked => worker.is_parked.store(false, COUNT),
        _ => {}
    }
}

/// Counts the polls of a task, and lists the task from its first poll on.
pub struct Counted<F> {
    future: F,
    spawned_at: &'static Location<'static>,
    listed: Option<Listed>,
}

struct Listed {
    id: u64,
    task: Arc<TaskCounters>,
    counters: Arc<Counters>,
}

impl<F: Future> Counted<F> {
    #[track_caller]
    pub fn new(future: F) -> Self {
        Self {
            future,
            spawned_at: Location::caller(),
            listed: None,
        }
    }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned, because `self` is, and it isn't moved
        // here. The other fields are `Unpin`.
        let this = unsafe { self.get_unchecked_mut() };
        WORKER.with_borrow(|worker| {
            if let Some((counters, index)) = worker {
                counters.workers[*index].polls.fetch_add(1, COUNT);
                let at = this.spawned_at;
                let new = || Listed::new(at, counters.clone());
                let listed = this.listed.get_or_insert_with(new);
                listed.task.polls.fetch_add(1, COUNT);
            }
        });
        // SAFETY: as above, `future` is pinned and never moved.
        unsafe { Pin::new_unchecked(&mut this.future) }.poll(cx)
    }
}

impl Listed {
    fn new(
        spawned_at: &'static Location<'static>,
        counters: Arc<Counters>,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let task = Arc::new(TaskCounters {
            spawned_at,
            polls: AtomicU64::new(0),
        });
        let id = NEXT.fetch_add(1, COUNT);
        lock(&counters.tasks).insert(id, task.clone());
        Self { id, task, counters }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&self.counters.tasks).remove(&self.id);
    }
}

fn address_of(handle: &DriverHandle) -> usize {
    Arc::as_ptr(handle).cast::<()>().addr()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
