//! The tasks that wait: a list for the scheduler, so that it can cancel them.

use std::array;
use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;
use std::sync::PoisonError;

use sync::{Mutex, MutexGuard, UnsafeCell};

use super::Schedule;
use super::cell::Header;
use super::runnable::Runnable;
use super::state::Woken;

/// A task's place in the list. Touched by who holds the list's lock, but for
/// `list`, which is the holder's of the task.
pub struct Links {
    /// The list that the task is in.
    list: UnsafeCell<Option<NonNull<()>>>,
    neighbours: UnsafeCell<Neighbours>,
}

#[derive(Clone, Copy, Default)]
struct Neighbours {
    previous: Option<NonNull<Header>>,
    next: Option<NonNull<Header>>,
}

impl Links {
    pub fn new() -> Self {
        Self {
            list: UnsafeCell::new(None),
            neighbours: UnsafeCell::new(Neighbours::default()),
        }
    }
}

/// Lists the tasks of a scheduler that have waited.
///
/// In fact these are several lists, each with a lock of its own, so that
/// workers seldom meet. A task's address says which is its own.
pub struct OwnedTasks<S> {
    shards: [Shard; SHARDS],
    _of: PhantomData<fn() -> S>,
}

/// A power of two. In a model addresses must not decide anything.
const SHARDS: usize = if cfg!(any(feature = "loom", feature = "shuttle")) {
    1
} else {
    16
};

/// On cache lines of its own, and those that are fetched with them.
#[repr(align(128))]
struct Shard(Mutex<List>);

#[derive(Default)]
struct List {
    first: Option<NonNull<Header>>,
    is_closed: bool,
}

// SAFETY: a list may be used on any thread, as its tasks may be.
unsafe impl Send for List {}

impl<S: Schedule> OwnedTasks<S> {
    /// Makes an empty list.
    pub fn new() -> Self {
        Self {
            shards: array::from_fn(|_| Shard(Mutex::new(List::default()))),
            _of: PhantomData,
        }
    }

    /// Cancels all tasks that are listed, and from now on each that would be.
    /// Returns when those that wait are cancelled.
    pub fn close_and_cancel(&self) {
        for shard in &self.shards {
            let mut waiting = self.close(shard);
            // Futures are anybody's code: they are dropped without the lock,
            // which they need to leave the list.
            while let Some(mut task) = waiting {
                waiting = task.take_next();
                drop(task);
            }
        }
    }

    /// Closes one list and marks its tasks. Returns those that wait, linked.
    fn close(&self, shard: &Shard) -> Option<Runnable<S>> {
        let mut waiting: Option<Runnable<S>> = None;
        let mut list = shard.lock();
        list.is_closed = true;
        let mut place = list.first;
        while let Some(task) = place {
            // SAFETY: a task leaves the list before it ends.
            let header = unsafe { task.as_ref() };
            if header.state.abort() == Woken::Schedule {
                // SAFETY: the task is of this scheduler, and we hold it now.
                let mut held = unsafe { Runnable::from_header(task) };
                held.set_next(waiting.take());
                waiting = Some(held);
            }
            place = header.links.neighbours().next;
        }
        waiting
    }

    /// Returns `true` if no task is listed.
    pub fn is_empty(&self) -> bool {
        self.shards.iter().all(|it| it.lock().first.is_none())
    }

    fn shard_of(&self, task: NonNull<Header>) -> &Shard {
        // The lowest bits of an address are all the same.
        let address = task.as_ptr().addr();
        &self.shards[((address >> 6) ^ (address >> 12)) & (SHARDS - 1)]
    }
}

impl<S: Schedule> Default for OwnedTasks<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    /// Returns `false` if the list is closed.
    fn insert(&mut self, task: NonNull<Header>) -> bool {
        if self.is_closed {
            return false;
        }
        let next = self.first.replace(task);
        if let Some(next) = next {
            change(next, |it| it.previous = Some(task));
        }
        change(task, |it| it.next = next);
        true
    }

    fn remove(&mut self, task: NonNull<Header>) {
        // SAFETY: the task has not ended, and we have the lock.
        let links = &unsafe { task.as_ref() }.links;
        let Neighbours { previous, next } = links.neighbours();
        match previous {
            None => self.first = next,
            Some(previous) => change(previous, |it| it.next = next),
        }
        if let Some(next) = next {
            change(next, |it| it.previous = previous);
        }
    }
}

/// Changes the links of a listed task. To be called with the list's lock.
fn change(task: NonNull<Header>, change: impl FnOnce(&mut Neighbours)) {
    // SAFETY: a task leaves the list before it ends.
    let links = &unsafe { task.as_ref() }.links;
    links.neighbours.with_mut(|neighbours| {
        // SAFETY: the caller has the lock.
        change(unsafe { &mut *neighbours });
    });
}

impl Links {
    /// To be called with the list's lock.
    fn neighbours(&self) -> Neighbours {
        // SAFETY: the caller has the lock.
        self.neighbours.with(|neighbours| unsafe { *neighbours })
    }
}

/// Lists a task that is pending, unless it is listed already or its scheduler
/// has no list. Returns `false` if the list is closed.
///
/// # Safety
///
/// The caller must hold the task, whose scheduler is an `S`.
#[inline]
pub unsafe fn enter<S: Schedule>(task: NonNull<Header>) -> bool {
    // SAFETY: the caller holds the task.
    let place = &unsafe { task.as_ref() }.links.list;
    // SAFETY: as above.
    if place.with(|list| unsafe { *list }).is_some() {
        return true;
    }
    // `owned` is anybody's code. If it panics, this is dropped, and cancels the
    // task, which nobody would hold any more.
    // SAFETY: passed on; without a panic it is not given up.
    let held = unsafe { Runnable::<S>::from_header(task) };
    let owned = held.scheduler().owned().map(NonNull::from);
    mem::forget(held);
    let Some(owned) = owned else { return true };
    // SAFETY: as above.
    place.with_mut(|place| unsafe { *place = Some(owned.cast()) });
    // SAFETY: the scheduler is in the cell as long as we hold the task, and the
    // list is borrowed from it.
    let owned = unsafe { owned.as_ref() };
    if !owned.shard_of(task).lock().insert(task) {
        // SAFETY: as above.
        place.with_mut(|place| unsafe { *place = None });
        return false;
    }
    true
}

/// Takes a task that has ended from its list, if it is in one.
///
/// # Safety
///
/// As for [`enter`].
#[inline]
pub unsafe fn leave<S: Schedule>(task: NonNull<Header>) {
    // SAFETY: the caller holds the task.
    let links = &unsafe { task.as_ref() }.links;
    // SAFETY: as above.
    if let Some(list) = links.list.with(|list| unsafe { *list }) {
        // SAFETY: `enter` got the list from the scheduler in the cell, which
        // has stayed there since, so the list is still borrowed from it.
        let owned = unsafe { list.cast::<OwnedTasks<S>>().as_ref() };
        owned.shard_of(task).lock().remove(task);
    }
}
