//! The queue of the tasks that come from elsewhere: from threads that are no
//! workers, and from workers whose own queue is full.
//!
//! For a thread that is no worker, to push is one exchange: what it pushes is a
//! stack, linked through the tasks. Only workers use the list that comes before
//! the stack, behind a lock. The one that takes from it first moves the whole
//! stack to its end, turned round, so that the first that came is the first
//! again. A worker whose queue overflows appends to the list at once.
//!
//! The list holds pointers, one beside the other. What is behind them, most
//! often in the caches of another core, need not be touched to append and to
//! take; and since all that are taken are known at once, they can be fetched
//! together.
//!
//! *Memory ordering.* What happens before a push happens before the return of
//! the `take` that gives the task out: by the Release in `push`, which later
//! pushes continue since they are read-modify-writes, by the Acquire in
//! `take_stack`, and from there on by the lock.

use std::collections::VecDeque;
use std::ptr::{self, NonNull};
use std::sync::PoisonError;

use primitives::atomic::{
    AtomicBool, AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};
use primitives::{Mutex, MutexGuard};

use super::prefetch::{self, PrefetchHints};
use super::task::{Runnable, Schedule};

/// Tasks for whichever worker comes first.
pub struct Injector<S: Schedule> {
    stack: Stack,
    queue: LockedQueue<S>,
}

/// All pushers write to it, so it has its cache lines for itself.
#[repr(align(128))]
struct Stack {
    /// The newest task, which links to the one before it, and so on.
    newest: AtomicPtr<()>,
    hints: PrefetchHints,
}

#[repr(align(128))]
struct LockedQueue<S: Schedule> {
    tasks: Mutex<VecDeque<Runnable<S>>>,
    /// Whether there are any, for those who look without the lock. Changed only
    /// by who holds it.
    has_tasks: AtomicBool,
}

impl<S: Schedule> Injector<S> {
    pub fn new() -> Self {
        Self {
            stack: Stack {
                newest: AtomicPtr::new(ptr::null_mut()),
                hints: PrefetchHints::new(),
            },
            queue: LockedQueue {
                tasks: Mutex::new(VecDeque::new()),
                has_tasks: AtomicBool::new(false),
            },
        }
    }

    /// Returns `true` if no task waits here.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: who is about to sleep has made a fence between its
        // announcement and this look, and who pushes makes one between its push
        // and its look at the sleepers. For all others it is a hint.
        self.stack.newest.load(Relaxed).is_null()
            && !self.queue.has_tasks.load(Relaxed)
    }

    /// Puts a task at the end.
    #[inline]
    pub fn push(&self, task: Runnable<S>) {
        let task = task.into_raw();
        self.stack.hints.record(task);
        // Relaxed: only compared; nothing is read through it.
        let mut before = self.stack.newest.load(Relaxed);
        loop {
            link::<S>(task, NonNull::new(before));
            // Release: pairs with the Acquire in `take_stack`; publishes the
            // task and its link.
            match self.stack.newest.compare_exchange_weak(
                before,
                task.as_ptr(),
                Release,
                Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    /// Puts tasks behind those that wait in the list.
    pub fn append(&self, tasks: impl IntoIterator<Item = Runnable<S>>) {
        let mut list = self.lock();
        list.extend(tasks);
        self.update_has_tasks(&list);
    }

    /// Takes up to `most` tasks, the oldest. Returns the first and gives the
    /// others to `keep`.
    pub fn take(
        &self,
        most: usize,
        keep: impl FnMut(Runnable<S>),
    ) -> Option<Runnable<S>> {
        let mut list = self.lock();
        self.take_stack(&mut list);
        let count = most.min(list.len());
        let mut tasks = list.drain(..count).map(fetched);
        let first = tasks.next();
        tasks.for_each(keep);
        self.update_has_tasks(&list);
        first
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Runnable<S>>> {
        let tasks = self.queue.tasks.lock();
        tasks.unwrap_or_else(PoisonError::into_inner)
    }

    /// To be called with the lock.
    fn update_has_tasks(&self, list: &VecDeque<Runnable<S>>) {
        let has_tasks = !list.is_empty();
        // Relaxed: who sets it makes a fence before it looks at the sleepers.
        if self.queue.has_tasks.load(Relaxed) != has_tasks {
            self.queue.has_tasks.store(has_tasks, Relaxed);
        }
    }

    /// Moves the whole stack to the end of the list, the oldest first.
    fn take_stack(&self, list: &mut VecDeque<Runnable<S>>) {
        let newest = &self.stack.newest;
        // Relaxed: a task that comes just now is for the next.
        if newest.load(Relaxed).is_null() {
            return;
        }
        let mut fetch = self.stack.hints.fetch();
        let before = list.len();
        // Acquire: pairs with the Release in `push`; shows the tasks.
        let mut next = NonNull::new(newest.swap(ptr::null_mut(), Acquire));
        while let Some(task) = next {
            fetch.advance();
            // SAFETY: it was a `Runnable` when it was pushed, and is ours now.
            let mut task = unsafe { Runnable::<S>::from_raw(task) };
            next = task.take_next().map(Runnable::into_raw);
            list.push_back(task);
        }
        list.make_contiguous()[before..].reverse();
    }
}

impl<S: Schedule> Drop for Injector<S> {
    fn drop(&mut self) {
        while let Some(task) = self.take(1, drop) {
            drop(task);
        }
    }
}

/// Links a task that is about to be pushed to the one before it.
#[inline]
fn link<S: Schedule>(task: NonNull<()>, to: Option<NonNull<()>>) {
    // SAFETY: it is a task of our caller's until it is pushed, and what it
    // links to was one until it was. That they are tasks once more is only for
    // the link: below they are pointers again, and nobody else sees them.
    let mut task = unsafe { Runnable::<S>::from_raw(task) };
    // What it was linked to before the exchange failed is not ours.
    let _ = task.take_next().map(Runnable::into_raw);
    // SAFETY: as above.
    task.set_next(to.map(|to| unsafe { Runnable::<S>::from_raw(to) }));
    let _ = task.into_raw();
}

/// Begins to fetch a task that will be polled soon.
#[inline]
fn fetched<S: Schedule>(task: Runnable<S>) -> Runnable<S> {
    let task = task.into_raw();
    prefetch::prefetch(task.as_ptr());
    // SAFETY: it has just been turned into that.
    unsafe { Runnable::<S>::from_raw(task) }
}
