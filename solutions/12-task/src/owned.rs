//! The tasks that wait: a list for the scheduler, so that it can cancel them.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::PoisonError;

use sync::{Mutex, MutexGuard, UnsafeCell};

use super::cell::Header;
use super::runnable::Runnable;
use super::state::Woken;
use super::{Schedule, cell};

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
pub struct OwnedTasks<S> {
    list: Mutex<List>,
    _of: PhantomData<fn() -> S>,
}

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
            list: Mutex::new(List::default()),
            _of: PhantomData,
        }
    }

    /// Cancels all tasks that are listed, and from now on each that would be.
    /// Returns when those that wait are cancelled.
    pub fn close_and_cancel(&self) {
        let mut waiting: Option<Runnable<S>> = None;
        let mut list = self.lock();
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
        // Futures are anybody's code: they are dropped without the lock, which
        // they need to leave the list.
        drop(list);
        while let Some(mut task) = waiting {
            waiting = task.take_next();
            drop(task);
        }
    }

    /// Returns `true` if no task is listed.
    pub fn is_empty(&self) -> bool {
        self.lock().first.is_none()
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `false` if the list is closed.
    fn insert(&self, task: NonNull<Header>) -> bool {
        // SAFETY: the caller holds the task.
        let links = &unsafe { task.as_ref() }.links;
        let mut list = self.lock();
        if list.is_closed {
            return false;
        }
        let next = list.first.replace(task);
        links.set_neighbours(Neighbours {
            previous: None,
            next,
        });
        if let Some(next) = next {
            // SAFETY: a task leaves the list before it ends.
            let links = &unsafe { next.as_ref() }.links;
            links.set_neighbours(Neighbours {
                previous: Some(task),
                ..links.neighbours()
            });
        }
        true
    }

    fn remove(&self, links: &Links) {
        let mut list = self.lock();
        let Neighbours { previous, next } = links.neighbours();
        match previous {
            None => list.first = next,
            Some(previous) => {
                // SAFETY: a task leaves the list before it ends.
                let links = &unsafe { previous.as_ref() }.links;
                links.set_neighbours(Neighbours {
                    next,
                    ..links.neighbours()
                });
            }
        }
        if let Some(next) = next {
            // SAFETY: a task leaves the list before it ends.
            let links = &unsafe { next.as_ref() }.links;
            links.set_neighbours(Neighbours {
                previous,
                ..links.neighbours()
            });
        }
    }
}

impl<S: Schedule> Default for OwnedTasks<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// To be called with the list's lock only.
impl Links {
    fn neighbours(&self) -> Neighbours {
        // SAFETY: the caller has the lock.
        self.neighbours.with(|neighbours| unsafe { *neighbours })
    }

    fn set_neighbours(&self, new: Neighbours) {
        // SAFETY: the caller has the lock.
        self.neighbours
            .with_mut(|neighbours| unsafe { *neighbours = new });
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
    let scheduler = cell::scheduler_of::<S>(task);
    // SAFETY: the caller holds the task, so the scheduler is there.
    let Some(owned) = unsafe { scheduler.as_ref() }.owned() else {
        return true;
    };
    let list = NonNull::from(owned).cast();
    // SAFETY: as above.
    place.with_mut(|place| unsafe { *place = Some(list) });
    if !owned.insert(task) {
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
        owned.remove(links);
    }
}
