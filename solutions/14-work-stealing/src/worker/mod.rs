//! The loop of a worker: it polls the tasks of its own LIFO slot and queue.
//! When these are empty, it looks elsewhere, in `search`. After each poll it
//! checks whether tasks have come to the injector, and takes from there if it's
//! time by its `pace`.

mod alone;
mod drive;
mod pace;
mod search;

use std::cell::Cell;
use std::sync::Arc;

use parker::Parker;

use super::context;
use super::events::{Event, Queue};
use super::lifo_slot::LifoSlot;
use super::run_queue::Local;
use super::shared::{CAPACITY, Shared, Task};
use super::sleepers::Activity;

use alone::Alone;
use pace::Pace;

/// A worker, on its own thread.
pub struct Worker {
    shared: Arc<Shared>,
    index: usize,
    slot: LifoSlot<Task>,
    queue: Local<Task, CAPACITY>,
    parker: Parker,
    /// When to take from the injector.
    pace: Pace,
    /// The tasks that are on their way from there to the queue. Empty at all
    /// other times, but its memory is kept.
    batch: Cell<Vec<Task>>,
    /// What `sleepers` counts this worker as.
    activity: Cell<Activity>,
    /// Whether this worker has waited in the driver since it last checked
    /// whether it's time to look at it.
    has_waited: Cell<bool>,
    /// Set while this worker pushes tasks of which it notifies others later, or
    /// not at all.
    is_quiet: Cell<bool>,
    /// When to serve the driver alone.
    alone: Alone,
    random: Cell<u32>,
}

impl Worker {
    pub fn new(
        shared: Arc<Shared>,
        index: usize,
        queue: Local<Task, CAPACITY>,
        parker: Parker,
    ) -> Self {
        Self {
            pace: Pace::new(shared.global_queue_interval),
            batch: Cell::default(),
            shared,
            index,
            slot: LifoSlot::new(),
            queue,
            parker,
            activity: Cell::new(Activity::Busy),
            has_waited: Cell::new(false),
            is_quiet: Cell::new(false),
            alone: Alone::new(),
            // Any seed but 0 will do, as long as the workers' seeds differ.
            random: Cell::new(index as u32 + 1),
        }
    }

    /// Returns `true` if this is a worker of `runtime`.
    #[inline]
    pub fn is_of(&self, runtime: &Shared) -> bool {
        std::ptr::eq(&*self.shared, runtime)
    }

    /// A task that runs here has woken or spawned `task`, which becomes the
    /// next task. Other workers can steal only the task that it displaces, so
    /// without one there's no need to notify.
    #[inline]
    pub fn schedule(&self, task: Task) {
        self.emit(|| Event::Pushed(Queue::Slot));
        if let Some(displaced) = self.slot.put(task) {
            self.push(displaced);
            self.notify_others();
        }
    }

    /// A task that ran here has yielded, and becomes the last in the queue. It
    /// wasn't waiting until now, so no worker was notified of it. That's needed
    /// only if a task comes before it that no worker was notified of: the task
    /// in the slot.
    #[inline]
    pub fn schedule_yielded(&self, task: Task) {
        self.push(task);
        if !self.slot.is_empty() {
            self.notify_others();
        }
    }

    /// Makes sure that another worker comes for what this worker has published.
    /// If there's no other, this saves the fence.
    #[inline]
    fn notify_others(&self) {
        if self.shared.workers.len() > 1 && !self.is_quiet.get() {
            self.shared.notify();
        }
    }

    #[inline]
    fn push(&self, task: Task) {
        match self.queue.push(task) {
            Ok(()) => self.emit(|| Event::Pushed(Queue::Local)),
            Err(task) => self.overflow(task),
        }
    }

    /// Moves the younger half of the queue to the injector, so that there is
    /// room for some time.
    #[cold]
    fn overflow(&self, task: Task) {
        let mut half = Vec::with_capacity(CAPACITY / 2 + 1);
        self.queue.push_or_overflow(task, |task| half.push(task));
        self.emit(|| match half.len() {
            // A thief has made room meanwhile.
            0 => Event::Pushed(Queue::Local),
            count => Event::Overflowed { count },
        });
        self.shared.injector.append(half);
        self.notify_others();
    }

    /// Runs tasks until the runtime is shut down, then drops those it has left.
    pub fn run(self) {
        let _inside = context::EnterScope::new(self.shared.clone());
        self.emit(|| Event::Started { worker: self.index });
        if let Some(driver) = &self.shared.driver {
            // Without one there's no look, and not even a count of the polls.
            context::run_as(&self, || self.run_beside(driver));
        }
        context::run_as(&self, || {
            while !self.shared.is_shut_down() {
                self.run_next();
            }
        });
        // This thread isn't a worker anymore: what the destructors wake goes to
        // the injector.
        drop(self.slot.take_uncapped());
        while let Some(task) = self.queue.pop() {
            drop(task);
        }
        self.shared.workers_exited(1);
    }

    /// Polls a task, or parks if there is none.
    #[inline]
    fn run_next(&self) {
        match self.take_in_time().or_else(|| self.next()) {
            Some(task) => self.poll(task),
            None => self.find_work(),
        }
    }

    #[inline]
    fn poll(&self, task: Task) {
        self.pace.count_poll();
        task.run();
        context::leave_forgotten(&self.shared);
    }

    #[inline]
    fn emit(&self, event: impl FnOnce() -> Event) {
        self.shared.observer.emit(event);
    }

    #[inline]
    fn next(&self) -> Option<Task> {
        let popped = |queue| self.emit(|| Event::Popped(queue));
        if let Some(task) = self.slot.take() {
            popped(Queue::Slot);
            return Some(task);
        }
        let task = self.queue.pop();
        let Some(next) = self.slot.take_uncapped() else {
            if task.is_some() {
                popped(Queue::Local);
            }
            return task;
        };
        popped(Queue::Slot);
        if task.is_some() {
            // It's the queue's turn. The task from the slot has to wait for
            // that, but shouldn't have to wait for this worker.
            self.push(next);
            self.notify_others();
            popped(Queue::Local);
            return task;
        }
        Some(next)
    }
}
