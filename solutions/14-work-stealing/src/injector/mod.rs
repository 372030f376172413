//! The queue of the tasks that come from elsewhere: from threads that are no
//! workers, and from workers whose own queue is full.
//!
//! For a thread that is no worker, to push is one exchange: what it pushes is a
//! stack, linked through the tasks. What is in the stack is younger than what
//! is in the list, behind a lock. A worker that finds the list too short moves
//! the whole stack to its end, turned round, so that the first that came is the
//! first again. So does a worker whose queue overflows, and appends to the list
//! behind that.
//!
//! However many are pushed, nobody shall have to walk along all of them while
//! others wait for the lock. So whoever has pushed does that walk now and then,
//! if nobody has the lock: what it has just written is in its caches. Thus the
//! stack stays short, and the list has blocks.
//!
//! The list holds pointers, one beside the other. What is behind them, most
//! often in the caches of another core, need not be touched to append and to
//! take; and since all that are taken are known at once, they can be fetched
//! together.
//!
//! *Memory ordering.* What happens before a push happens before the return of
//! the `take` that gives the task out: by the Release in `push`, which later
//! pushes continue since they are read-modify-writes, by the Acquire in
//! `move_stack`, and from there on by the lock.

mod list;

use std::iter;
use std::ptr::{self, NonNull};
use std::sync::{PoisonError, TryLockError, atomic};

use primitives::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use primitives::{Mutex, MutexGuard};

use super::prefetch::{self, Fetch, PrefetchHints};
use super::task::{Runnable, Schedule};

use list::List;

/// After so many pushes the stack is moved. In a model that shall happen.
const MOVE_EVERY: usize = list::BLOCK;

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
    /// About how many were pushed so far: of pushes at the same time some are
    /// not counted. Nothing depends on it, so no model has to look at it.
    pushes: atomic::AtomicUsize,
    hints: PrefetchHints,
}

#[repr(align(128))]
struct LockedQueue<S: Schedule> {
    tasks: Mutex<List<Runnable<S>>>,
    /// How many there are, for those who look without the lock. Changed only
    /// by who holds it. While the stack is moved, it is not zero.
    len: AtomicUsize,
}

/// How many tasks are taken: such a part of those that wait, rounded up.
#[derive(Clone, Copy)]
pub struct Share {
    pub divisor: usize,
    pub most: usize,
}

impl Share {
    const ONE: Self = Self {
        divisor: 1,
        most: 1,
    };

    fn of(self, len: usize) -> usize {
        len.div_ceil(self.divisor).min(self.most)
    }
}

impl<S: Schedule> Injector<S> {
    pub fn new() -> Self {
        Self {
            stack: Stack {
                newest: AtomicPtr::new(ptr::null_mut()),
                pushes: atomic::AtomicUsize::new(0),
                hints: PrefetchHints::new(),
            },
            queue: LockedQueue {
                tasks: Mutex::new(List::new()),
                len: AtomicUsize::new(0),
            },
        }
    }

    // ANCHOR: is_empty
    /// Returns `true` if no task waits here.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Acquire: pairs with the Release of the exchange in `move_stack`; who
        // sees that the stack has gone sees the length that was set before.
        // Relaxed: who is about to sleep has made a fence between its
        // announcement and this look, and who pushes makes one between its push
        // and its look at the sleepers. For all others it is a hint.
        // Model: `what_is_moved_is_seen_in_every_order`.
        self.stack.newest.load(Acquire).is_null()
            && self.queue.len.load(Relaxed) == 0
    }

    /// Returns how many wait in the list, for a hint.
    pub fn len(&self) -> usize {
        self.queue.len.load(Relaxed)
    }
    // ANCHOR_END: is_empty

    /// Puts a task at the end. Now and then it returns how many were pushed so
    /// far: then the caller has to call `move_if_free` once it has told the
    /// workers of the task.
    #[inline]
    pub fn push(&self, task: Runnable<S>) -> Option<usize> {
        let Stack { pushes, hints, .. } = &self.stack;
        // No read-modify-write, which would cost more than a lost count does.
        let number = pushes.load(Relaxed).wrapping_add(1);
        pushes.store(number, Relaxed);
        let task = task.into_raw();
        hints.record(number, task);
        // Relaxed: only compared; nothing is read through it.
        let mut before = self.stack.newest.load(Relaxed);
        loop {
            link::<S>(task, NonNull::new(before));
            // Release: pairs with the Acquire in `move_stack`; publishes the
            // task and its link.
            match self.stack.newest.compare_exchange_weak(
                before,
                task.as_ptr(),
                Release,
                Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => before = now,
            }
        }
        number.is_multiple_of(MOVE_EVERY).then_some(number)
    }

    /// Moves the stack to the list, unless another thread has the lock, which
    /// is about to do so or has done so just now.
    pub fn move_if_free(&self) {
        let mut list = match self.queue.tasks.try_lock() {
            Ok(list) => list,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        // What this thread has pushed is in its caches.
        self.move_stack(&mut list, PrefetchHints::skip);
        self.update_len(&list);
    }

    /// Puts tasks behind all that wait here.
    pub fn append(&self, tasks: impl IntoIterator<Item = Runnable<S>>) {
        let mut list = self.lock();
        // In front of these, or the list might never be too short.
        self.move_stack(&mut list, PrefetchHints::skip);
        tasks.into_iter().for_each(|task| list.push_back(task));
        self.update_len(&list);
    }

    /// Takes a share of the tasks, the oldest, but at least one if there is
    /// one. Returns the first and puts the others into `rest`, from where they
    /// have to go to a queue: for so long nobody sees them.
    pub fn take(
        &self,
        share: Share,
        rest: &mut Vec<Runnable<S>>,
    ) -> Option<Runnable<S>> {
        let mut list = self.lock();
        if share.of(list.len()) < share.most {
            self.move_stack(&mut list, PrefetchHints::fetch);
        }
        let count = share.of(list.len());
        let first = list.pop_front().map(fetched);
        let others = (1..count).filter_map(|_| list.pop_front());
        rest.extend(others.map(fetched));
        self.update_len(&list);
        first
    }

    /// Takes the oldest task.
    pub fn take_one(&self) -> Option<Runnable<S>> {
        self.take(Share::ONE, &mut Vec::new())
    }

    fn lock(&self) -> MutexGuard<'_, List<Runnable<S>>> {
        let tasks = self.queue.tasks.lock();
        tasks.unwrap_or_else(PoisonError::into_inner)
    }

    /// To be called with the lock.
    fn update_len(&self, list: &List<Runnable<S>>) {
        // Relaxed: who makes it larger makes a fence before it looks at the
        // sleepers, or has moved what others have told of.
        if self.queue.len.load(Relaxed) != list.len() {
            self.queue.len.store(list.len(), Relaxed);
        }
    }

    // ANCHOR: move_stack
    /// Moves the whole stack to the end of the list, the oldest first.
    fn move_stack(
        &self,
        list: &mut List<Runnable<S>>,
        begin: impl FnOnce(&PrefetchHints, usize) -> Fetch<'_>,
    ) {
        let Stack {
            newest,
            pushes,
            hints,
        } = &self.stack;
        // Relaxed: a task that comes just now is for the next.
        if newest.load(Relaxed).is_null() {
            return;
        }
        let mut fetch = begin(hints, pushes.load(Relaxed));
        if list.len() == 0 {
            // Whoever has pushed these has told others, who may look just now.
            // Relaxed: published by the exchange.
            self.queue.len.store(1, Relaxed);
        }
        // Acquire: pairs with the Release in `push`; shows the tasks. Release:
        // pairs with the Acquire in `is_empty`.
        let mut next = NonNull::new(newest.swap(ptr::null_mut(), AcqRel));
        list.extend_reversed(iter::from_fn(|| {
            fetch.advance();
            // SAFETY: it was a `Runnable` when it was pushed, and is ours now.
            let mut task = unsafe { Runnable::<S>::from_raw(next?) };
            next = task.take_next().map(Runnable::into_raw);
            Some(task)
        }));
    }
    // ANCHOR_END: move_stack
}

impl<S: Schedule> Drop for Injector<S> {
    fn drop(&mut self) {
        while let Some(task) = self.take_one() {
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
