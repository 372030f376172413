//! The queue of the tasks that come from elsewhere: from threads that aren't
//! workers, and from workers whose own queue is full.
//!
//! A thread that isn't a worker pushes with one CAS: what it pushes is a stack,
//! linked through the tasks. The tasks in the stack are younger than those in
//! the list, which is behind a lock. A worker that finds the list too short
//! moves the whole stack to the end of the list, reversed, so that the task
//! that came first is first again. So does a worker whose queue overflows,
//! before it appends to the list.
//!
//! No thread should have to walk along all the pushed tasks while others wait
//! for the lock. So the threads that push do that walk now and then, if the
//! lock is free: what they have just written is in their caches. The stack
//! therefore stays short, and the list has blocks.
//!
//! The list contains pointers, one beside the other. The tasks behind them,
//! which are mostly in the caches of another core, needn't be touched to append
//! and to take; and because all the tasks that are taken are known at once,
//! they can be fetched together.
//!
//! *Memory ordering.* What happens before a push happens before the return of
//! the `take` that gives the task out: by the Release in the stack's `push`,
//! which later pushes continue since they are read-modify-writes, by the
//! Acquire in its `take`, and from there on by the lock.

mod list;
mod stack;

use std::sync::{PoisonError, TryLockError};

use primitives::atomic::{AtomicUsize, Ordering::Relaxed};
use primitives::{Mutex, MutexGuard};

use super::prefetch::{self, Fetch, PrefetchHints};
use super::task::{Runnable, Schedule};

use list::List;
use stack::Stack;

/// After so many pushes, the stack is moved. That must happen in a model, too.
const MOVE_EVERY: usize = list::BLOCK;

/// Tasks for the first worker that looks for some.
pub struct Injector<S: Schedule> {
    stack: Stack<S>,
    queue: LockedQueue<S>,
}

#[repr(align(128))]
struct LockedQueue<S: Schedule> {
    tasks: Mutex<List<Runnable<S>>>,
    /// How many there are, for threads that look without the lock. Changed only
    /// by a thread that holds it. While the stack is moved, it isn't zero.
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
            stack: Stack::new(),
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
        // A thread that sees the stack emptied sees the length set before that.
        // Relaxed: a worker that is about to park has made a fence between its
        // announcement and this look, and a pushing thread makes one between
        // its push and its look at the sleepers. For all others it's a hint.
        self.stack.is_empty() && self.queue.len.load(Relaxed) == 0
    }

    /// Returns how many tasks wait in the list, as a hint.
    pub fn len(&self) -> usize {
        self.queue.len.load(Relaxed)
    }
    // ANCHOR_END: is_empty

    /// Puts a task at the end. Now and then it returns how many were pushed so
    /// far: then the caller has to call `move_if_free` once it has told the
    /// workers of the task.
    #[inline]
    pub fn push(&self, task: Runnable<S>) -> Option<usize> {
        let pushes = self.stack.push(task);
        pushes.is_multiple_of(MOVE_EVERY).then_some(pushes)
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
    /// have to go to a queue: until then, no other worker sees them.
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

    // A model's failing order shows who locks.
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, List<Runnable<S>>> {
        let tasks = self.queue.tasks.lock();
        tasks.unwrap_or_else(PoisonError::into_inner)
    }

    /// To be called with the lock.
    fn update_len(&self, list: &List<Runnable<S>>) {
        // Relaxed: a thread that makes it larger executes a fence before it
        // looks at the sleepers, or has moved what others have notified for.
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
        // A task that comes just now is left for the next move.
        if self.stack.is_empty() {
            return;
        }
        if list.len() == 0 {
            // The threads that pushed these have notified already, and a worker
            // may look just now.
            // Relaxed: published when the stack is taken.
            self.queue.len.store(1, Relaxed);
        }
        list.extend_reversed(self.stack.take(begin));
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

/// Begins to fetch a task that will be polled soon.
#[inline]
fn fetched<S: Schedule>(task: Runnable<S>) -> Runnable<S> {
    let task = task.into_raw();
    prefetch::prefetch(task.as_ptr());
    // SAFETY: it has just been turned into that.
    unsafe { Runnable::<S>::from_raw(task) }
}
