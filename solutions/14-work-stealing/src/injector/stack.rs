//! The stack of an injector: what was pushed since it was taken the last time.

use std::iter;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicUsize;

use primitives::atomic::{
    AtomicPtr,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::super::prefetch::{Fetch, PrefetchHints};
use super::super::task::{Runnable, Schedule};

/// All pushers write to it, so it has its cache lines for itself.
#[repr(align(128))]
pub struct Stack<S: Schedule> {
    /// The newest task, which links to the one before it, and so on.
    newest: AtomicPtr<()>,
    /// About how many were pushed so far: of pushes at the same time some are
    /// not counted. Nothing depends on it, so it is std's own, and no model has
    /// to look at it.
    pushes: AtomicUsize,
    hints: PrefetchHints,
    _tasks: PhantomData<Runnable<S>>,
}

impl<S: Schedule> Stack<S> {
    pub fn new() -> Self {
        Self {
            newest: AtomicPtr::new(ptr::null_mut()),
            pushes: AtomicUsize::new(0),
            hints: PrefetchHints::new(),
            _tasks: PhantomData,
        }
    }

    /// If it returns `true` because the stack was taken, the caller also sees
    /// what was done before that.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Acquire: pairs with the Release in `take`.
        // Model: `two_tasks_from_outside_run_in_every_order`.
        self.newest.load(Acquire).is_null()
    }

    /// Pushes a task. Returns about how many were pushed so far.
    #[inline]
    pub fn push(&self, task: Runnable<S>) -> usize {
        // No read-modify-write, which would cost more than a lost count does.
        let number = self.pushes.load(Relaxed).wrapping_add(1);
        self.pushes.store(number, Relaxed);
        let task = task.into_raw();
        self.hints.record(number, task);
        // Relaxed: only compared; nothing is read through it.
        let mut before = self.newest.load(Relaxed);
        loop {
            link::<S>(task, NonNull::new(before));
            // Release: pairs with the Acquire in `take`; publishes the task and
            // its link.
            match self.newest.compare_exchange_weak(
                before,
                task.as_ptr(),
                Release,
                Relaxed,
            ) {
                Ok(_) => return number,
                Err(now) => before = now,
            }
        }
    }

    /// Takes all tasks, the newest first. Only one thread may do so at a time.
    /// `begin` says which are fetched early.
    pub fn take(
        &self,
        begin: impl FnOnce(&PrefetchHints, usize) -> Fetch<'_>,
    ) -> impl Iterator<Item = Runnable<S>> {
        let mut fetch = begin(&self.hints, self.pushes.load(Relaxed));
        // Acquire: pairs with the Release in `push`; shows the tasks. Release:
        // pairs with the Acquire in `is_empty`.
        let newest = self.newest.swap(ptr::null_mut(), AcqRel);
        let mut next = NonNull::new(newest);
        iter::from_fn(move || {
            fetch.advance();
            // SAFETY: it was a `Runnable` when it was pushed, and is ours now.
            let mut task = unsafe { Runnable::<S>::from_raw(next?) };
            next = task.take_next().map(Runnable::into_raw);
            Some(task)
        })
    }
}

/// Links a task that is about to be pushed to the one before it.
#[inline]
fn link<S: Schedule>(task: NonNull<()>, to: Option<NonNull<()>>) {
    // SAFETY: it is a task of our caller's until it is pushed, and what it
    // links to was one until it was. They are tasks again only for the link:
    // below they are pointers, and no other code sees them.
    let mut task = unsafe { Runnable::<S>::from_raw(task) };
    // What it was linked to before the exchange failed isn't ours.
    let _ = task.take_next().map(Runnable::into_raw);
    // SAFETY: as above.
    task.set_next(to.map(|to| unsafe { Runnable::<S>::from_raw(to) }));
    let _ = task.into_raw();
}
