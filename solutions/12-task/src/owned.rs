//! The waiting tasks: a list for the scheduler, so that it can cancel them.

use std::array;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::PoisonError;

use primitives::{Mutex, MutexGuard};

use super::Schedule;
use super::header::{Header, Neighbors};
use super::runnable::Runnable;
use super::state::Woken;

/// A list of a scheduler's tasks that have waited.
///
/// In fact there are several lists, each with a lock of its own, so that
/// workers seldom contend. A task's address selects its list.
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

/// On cache lines of its own, and on those that are fetched along with them.
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

    /// Cancels all listed tasks, and from now on each task that would be
    /// listed. Returns when the waiting tasks are cancelled.
    pub fn close_and_cancel(&self) {
        for shard in &self.shards {
            let mut waiting = self.close(shard);
            // Futures are foreign code: they are dropped without the lock,
            // which they need to leave the list.
            while let Some(mut task) = waiting {
                waiting = task.take_next();
                drop(task);
            }
        }
    }

    /// Closes one list and marks its tasks. Returns the waiting tasks, linked.
    fn close(&self, shard: &Shard) -> Option<Runnable<S>> {
        let mut waiting: Option<Runnable<S>> = None;
        let mut list = shard.lock();
        list.is_closed = true;
        let mut place = list.first;
        while let Some(task) = place {
            // SAFETY: a task leaves the list before it ends.
            let header = unsafe { task.as_ref() };
            if header.state.abort() == Woken::Schedule {
                // SAFETY: the task is of this scheduler, and we have it now.
                let mut claimed = unsafe { Runnable::from_header(task) };
                claimed.set_next(waiting.take());
                waiting = Some(claimed);
            }
            place = header.links.neighbors().next;
        }
        waiting
    }

    /// Returns `true` if no task is listed.
    pub fn is_empty(&self) -> bool {
        self.shards.iter().all(|it| it.lock().first.is_none())
    }

    fn shard_of(&self, task: NonNull<Header>) -> &Shard {
        // The lowest bits of an address are always the same.
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
    // A model's failing order shows who locks.
    #[track_caller]
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
        // SAFETY: the task hasn't ended, and we hold the lock.
        let links = &unsafe { task.as_ref() }.links;
        let Neighbors { previous, next } = links.neighbors();
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
fn change(task: NonNull<Header>, change: impl FnOnce(&mut Neighbors)) {
    // SAFETY: a task leaves the list before it ends.
    let links = &unsafe { task.as_ref() }.links;
    links.neighbors.with_mut(|neighbors| {
        // SAFETY: the caller holds the lock.
        change(unsafe { &mut *neighbors });
    });
}

/// Lists a pending task, unless it is already listed or its scheduler has no
/// list. Returns `false` if the list is closed.
#[inline]
pub fn enter<S: Schedule>(task: &Runnable<S>) -> bool {
    let place = &task.header().links.list;
    // SAFETY: only the thread that may run the task touches this.
    if place.with(|list| unsafe { *list }).is_some() {
        return true;
    }
    let Some(owned) = task.scheduler().owned() else {
        return true;
    };
    // SAFETY: as above.
    place.with_mut(|place| unsafe {
        *place = Some(NonNull::from(owned).cast());
    });
    let is_open = owned.shard_of(task.as_ptr()).lock().insert(task.as_ptr());
    if !is_open {
        // SAFETY: as above.
        place.with_mut(|place| unsafe { *place = None });
    }
    is_open
}

/// Takes a task that has ended out of its list, if it is in one.
#[inline]
pub fn leave<S: Schedule>(task: &Runnable<S>) {
    let place = &task.header().links.list;
    // SAFETY: only the thread that may run the task touches this.
    if let Some(list) = place.with(|list| unsafe { *list }) {
        // SAFETY: `enter` got the list from the scheduler in the cell, which
        // has stayed there since then, so the list is still borrowed from it.
        let owned = unsafe { list.cast::<OwnedTasks<S>>().as_ref() };
        owned.shard_of(task.as_ptr()).lock().remove(task.as_ptr());
    }
}
