//! The queue of the tasks that come from elsewhere: from threads that are no
//! workers, and from workers whose own queue is full.
//!
//! To push is one exchange: the tasks are a stack, linked through themselves.
//! Whoever takes, takes the whole stack and turns it round, so that the first
//! that came is the first again. What it has no use for stays in a list behind a
//! lock, which no pusher ever touches.
//!
//! *Memory ordering.* What happens before a push happens before the return of
//! the `take` that gives the task out: by the Release in `push_all`, which later
//! pushes continue since they are read-modify-writes, by the Acquire in
//! `take_stack`, and from there on by the lock.

use std::ptr::{self, NonNull};
use std::sync::PoisonError;

use sync::Mutex;
use sync::atomic::{
    AtomicBool, AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};

use super::shared::Task;

/// Tasks for whichever worker comes first.
pub struct Injector {
    stack: Stack,
    taken: Taken,
}

/// All pushers write to it, so it has its cache lines for itself.
#[repr(align(128))]
struct Stack {
    /// The newest task, which links to the one before it, and so on.
    newest: AtomicPtr<()>,
}

#[repr(align(128))]
struct Taken {
    /// The oldest task of what was the stack, which links to the next.
    tasks: Mutex<Option<Task>>,
    /// Whether there are any, for those who look without the lock. Changed only
    /// by who holds it.
    is_any: AtomicBool,
}

impl Injector {
    pub fn new() -> Self {
        Self {
            stack: Stack {
                newest: AtomicPtr::new(ptr::null_mut()),
            },
            taken: Taken {
                tasks: Mutex::new(None),
                is_any: AtomicBool::new(false),
            },
        }
    }

    /// Returns `true` if no task waits here. To be trusted by a worker that
    /// has announced that it sleeps, and by no one else.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: who is about to sleep has made a fence between its
        // announcement and this look, and who pushes one between its push and
        // its look at the sleepers. `is_any` is set by a worker that is awake.
        self.stack.newest.load(Relaxed).is_null()
            && !self.taken.is_any.load(Relaxed)
    }

    /// Puts a task at the end.
    #[inline]
    pub fn push(&self, task: Task) {
        let task = task.into_raw();
        self.push_all(task, task);
    }

    /// Puts tasks at the end. Each was linked to the one that comes before it.
    pub fn push_chain(&self, chain: Chain) {
        if let Some((newest, oldest)) = chain.ends {
            self.push_all(newest, oldest);
        }
    }

    #[inline]
    fn push_all(&self, newest: NonNull<()>, oldest: NonNull<()>) {
        // Relaxed: only compared; nothing is read through it.
        let mut before = self.stack.newest.load(Relaxed);
        loop {
            link(oldest, NonNull::new(before));
            // Release: pairs with the Acquire in `take_stack`; publishes the
            // tasks and their links.
            match self.stack.newest.compare_exchange_weak(
                before,
                newest.as_ptr(),
                Release,
                Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    /// Takes up to `most` tasks, the oldest. Returns the first and gives the
    /// others to `keep`.
    pub fn take(
        &self,
        most: usize,
        mut keep: impl FnMut(Task),
    ) -> Option<Task> {
        let tasks = self.taken.tasks.lock();
        let mut tasks = tasks.unwrap_or_else(PoisonError::into_inner);
        if tasks.is_none() {
            *tasks = self.take_stack();
        }
        let first = pop(&mut tasks);
        for _ in 1..most {
            let Some(task) = pop(&mut tasks) else { break };
            keep(task);
        }
        // Relaxed: who sets it sees to the tasks, or wakes somebody who does.
        if self.taken.is_any.load(Relaxed) != tasks.is_some() {
            self.taken.is_any.store(tasks.is_some(), Relaxed);
        }
        first
    }

    /// Takes the whole stack, the oldest first.
    fn take_stack(&self) -> Option<Task> {
        // Acquire: pairs with the Release in `push_all`; shows the tasks.
        let mut newest = self.stack.newest.swap(ptr::null_mut(), Acquire);
        let mut oldest = None;
        while let Some(task) = NonNull::new(newest) {
            // SAFETY: it was a `Task` when it was pushed, and the swap has
            // taken it from everybody else.
            let mut task = unsafe { Task::from_raw(task) };
            let before = task.take_next().map(Task::into_raw);
            newest = before.map_or(ptr::null_mut(), NonNull::as_ptr);
            task.set_next(oldest);
            oldest = Some(task);
        }
        oldest
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        // What is left is linked, and ends with the first of it.
        drop(self.take_stack());
    }
}

fn pop(tasks: &mut Option<Task>) -> Option<Task> {
    let mut first = tasks.take()?;
    *tasks = first.take_next();
    Some(first)
}

/// Tasks that are to be pushed together.
pub struct Chain {
    /// The newest and the oldest.
    ends: Option<(NonNull<()>, NonNull<()>)>,
}

impl Chain {
    pub fn new() -> Self {
        Self { ends: None }
    }

    /// Adds a task behind the others.
    pub fn push(&mut self, task: Task) {
        let task = task.into_raw();
        link(task, self.ends.map(|(newest, _)| newest));
        let oldest = self.ends.map_or(task, |(_, oldest)| oldest);
        self.ends = Some((task, oldest));
    }
}

/// Links a task to another one, instead of the one that it was linked to.
#[inline]
fn link(task: NonNull<()>, to: Option<NonNull<()>>) {
    // SAFETY: both were tasks that have been turned into pointers here; the
    // first one is turned back into a pointer below.
    let mut task = unsafe { Task::from_raw(task) };
    // Not dropped: that one is still in the stack.
    let _ = task.take_next().map(Task::into_raw);
    // SAFETY: as above. It stays a pointer of the stack, too: the link is how
    // the stack holds it.
    task.set_next(to.map(|to| unsafe { Task::from_raw(to) }));
    let _ = task.into_raw();
}
