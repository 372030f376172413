//! Everything that a simulated program can touch, in one place: the time, the
//! tasks, the network, and the seed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::net::Network;
use super::recorder::Recorder;
use super::{Clock, JoinHandle, Random, ReadyQueue, Stop, Timer, outcome};

/// How much time a poll takes. So a task that never waits can't stop the clock.
pub const POLL: Duration = Duration::from_micros(20);

/// Identifies a task. The first one has the number 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub u32);

/// A simulated world.
pub struct World {
    pub(super) network: RefCell<Network>,
    pub(super) recorder: RefCell<Recorder>,
    clock: RefCell<Clock>,
    random: RefCell<Random>,
    ready: Arc<Mutex<ReadyQueue>>,
    tasks: RefCell<BTreeMap<TaskId, Task>>,
    task_count: Cell<u32>,
    /// The task that is polled, and the host that it runs on.
    current: Cell<Option<TaskId>>,
    host: Cell<IpAddr>,
    is_closed: Cell<bool>,
}

struct Task {
    /// `None` while it's polled.
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    waker: Waker,
    name: String,
    host: IpAddr,
    last_poll: Duration,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

impl World {
    pub(super) fn new(seed: u64) -> Rc<Self> {
        Rc::new(Self {
            network: RefCell::default(),
            recorder: RefCell::new(Recorder::new(seed)),
            clock: RefCell::new(Clock::new()),
            random: RefCell::new(Random::new(seed)),
            ready: Arc::new(Mutex::new(ReadyQueue::new())),
            tasks: RefCell::default(),
            task_count: Cell::new(0),
            current: Cell::new(None),
            host: Cell::new(Ipv4Addr::LOCALHOST.into()),
            is_closed: Cell::new(false),
        })
    }

    /// Returns the world of the simulation that runs on this thread.
    ///
    /// # Panics
    ///
    /// If none does.
    #[track_caller]
    pub fn current() -> Rc<Self> {
        Self::try_current().expect("no simulation runs on this thread")
    }

    pub(super) fn try_current() -> Option<Rc<Self>> {
        CURRENT.try_with(|it| it.borrow().clone()).ok().flatten()
    }

    /// Calls `action` while this is the current world.
    pub(super) fn enter<R>(self: &Rc<Self>, action: impl FnOnce() -> R) -> R {
        let _left = Left(CURRENT.replace(Some(self.clone())));
        action()
    }

    /// Returns the time since the start.
    pub fn now(&self) -> Duration {
        self.clock.borrow().now()
    }

    /// Returns the earliest deadline that a task waits for.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.clock.borrow().next_deadline()
    }

    /// Sets the clock, and wakes the tasks that are due.
    pub fn advance_to(&self, time: Duration) {
        let is_jump = time > self.now() + POLL;
        if is_jump {
            self.record("park", 0, 0);
        }
        let due = self.clock.borrow_mut().advance_to(time);
        if is_jump {
            self.record("unpark", 0, 0);
        }
        due.into_iter().for_each(Waker::wake);
    }

    /// Takes out one of the tasks that are ready.
    pub fn next_task(&self) -> Option<TaskId> {
        lock(&self.ready).pop(&mut self.random.borrow_mut())
    }

    /// Polls a task. Returns `true` if it's over.
    ///
    /// # Errors
    ///
    /// Returns [`Stop::Panicked`] if the poll panics.
    pub fn poll(&self, id: TaskId) -> Result<bool, Stop> {
        let now = self.now();
        let taken = self.tasks.borrow_mut().get_mut(&id).and_then(|task| {
            task.last_poll = now;
            let future = task.future.take()?;
            Some((future, task.waker.clone(), task.host))
        });
        // A task that's over may still be woken.
        let Some((mut future, waker, host)) = taken else {
            return Ok(true);
        };
        self.current.set(Some(id));
        self.host.set(host);
        self.record("poll+", id.0, 0);
        let mut cx = Context::from_waker(&waker);
        let polled =
            catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut cx)));
        let is_over = !matches!(polled, Ok(Poll::Pending));
        if is_over {
            let task = self.tasks.borrow_mut().remove(&id);
            drop(task);
            // While the task is still the current one: what its values wake is
            // woken by it.
            drop(future);
        } else if let Some(task) = self.tasks.borrow_mut().get_mut(&id) {
            task.future = Some(future);
        }
        let end = self.now() + POLL;
        self.recorder.borrow_mut().poll_ended(end, id.0, is_over);
        self.current.set(None);
        polled.map(|_| is_over).map_err(|payload| {
            let text = payload.downcast_ref::<&str>().map(|it| (*it).into());
            let text = text.or_else(|| payload.downcast_ref().cloned());
            Stop::Panicked(text.unwrap_or_default())
        })
    }

    /// Returns the names of the tasks that aren't over, with the time since
    /// which each waits.
    pub fn waiting(&self) -> Vec<(String, Duration)> {
        let tasks = self.tasks.borrow();
        let waiting = tasks.values();
        waiting.map(|it| (it.name.clone(), it.last_poll)).collect()
    }

    /// Draws numbers.
    pub fn random<R>(&self, draw: impl FnOnce(&mut Random) -> R) -> R {
        draw(&mut self.random.borrow_mut())
    }

    pub(super) fn wake_at(&self, time: Duration, waker: Waker) -> Timer {
        self.clock.borrow_mut().wake_at(time, waker)
    }

    pub(super) fn cancel(&self, timer: Timer) {
        let waker = self.clock.borrow_mut().cancel(timer);
        // Not while the clock is borrowed: dropping a waker may run any code.
        drop(waker);
    }

    pub(super) fn host(&self) -> IpAddr {
        self.host.get()
    }

    /// Creates a task, which is ready.
    pub(super) fn spawn<F: Future + 'static>(
        &self,
        name: String,
        host: IpAddr,
        future: F,
    ) -> (TaskId, JoinHandle<F::Output>) {
        let id = TaskId(self.task_count.get() + 1);
        let (completer, handle) = outcome();
        if self.is_closed.get() {
            return (id, handle);
        }
        self.task_count.set(id.0);
        self.recorder.borrow_mut().name(&name);
        self.record("spawn", id.0, self.current_number());
        let signal = Signal {
            id,
            ready: self.ready.clone(),
        };
        let future = async move { completer.complete(Ok(future.await)) };
        let task = Task {
            future: Some(Box::pin(future)),
            waker: Arc::new(signal).into(),
            name,
            host,
            last_poll: self.now(),
        };
        self.tasks.borrow_mut().insert(id, task);
        lock(&self.ready).push(id);
        (id, handle)
    }

    /// Drops all tasks.
    pub(super) fn close(self: &Rc<Self>) {
        self.is_closed.set(true);
        let tasks = self.tasks.take();
        self.enter(|| drop(tasks));
    }

    /// Records a remark, which the timeline shows at the current task.
    pub(super) fn note(&self, text: String) {
        let index = self.recorder.borrow_mut().mark(text);
        self.record("mark", self.current_number(), index);
    }

    fn current_number(&self) -> u32 {
        self.current.get().map_or(0, |id| id.0)
    }

    fn record(&self, kind: &'static str, task: u32, argument: u32) {
        let now = self.now();
        let mut recorder = self.recorder.borrow_mut();
        recorder.record(now, kind, task, argument);
    }
}

/// Makes the world current that was current before.
struct Left(Option<Rc<World>>);

impl Drop for Left {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// What the wakers of a task point to.
struct Signal {
    id: TaskId,
    ready: Arc<Mutex<ReadyQueue>>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // A wake-up from another thread would come at a moment that no seed
        // determines.
        let world = World::try_current().expect(
            "a simulated task was woken outside of its simulation, perhaps by \
             another thread",
        );
        world.record("wake", self.id.0, world.current_number());
        lock(&self.ready).push(self.id);
    }
}

fn lock(ready: &Mutex<ReadyQueue>) -> MutexGuard<'_, ReadyQueue> {
    ready.lock().unwrap_or_else(PoisonError::into_inner)
}
