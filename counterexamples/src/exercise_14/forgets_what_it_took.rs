//! Breaks clause 1: Every task runs.
//! Caught by: each_of_many_tasks_runs_once
//! Also fails: there_are_as_many_workers_as_asked_for
//! Also fails: what_a_worker_has_taken_does_not_go_back
//!
//! A taker turns the whole stack round and keeps what it has no use for. But
//! who asks whether there is something looks at the stack only, and there is
//! nothing any more.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end handle owner runtime search shared slot start worker
    all others
}

mod injector {
    use std::collections::VecDeque;
    use std::ptr::{self, NonNull};
    use std::sync::PoisonError;

    use sync::atomic::{
        AtomicBool, AtomicPtr,
        Ordering::{Acquire, Relaxed, Release},
    };
    use sync::{Mutex, MutexGuard};

    use super::recent::{self, Recent};
    use super::shared::Task;

    /// Tasks for whichever worker comes first.
    pub struct Injector {
        stack: Stack,
        list: Listed,
    }

    /// All pushers write to it, so it has its cache lines for itself.
    #[repr(align(128))]
    struct Stack {
        /// The newest task, which links to the one before it, and so on.
        newest: AtomicPtr<()>,
        recent: Recent,
    }

    #[repr(align(128))]
    struct Listed {
        tasks: Mutex<VecDeque<Task>>,
        /// Whether there are any, for those who look without the lock. Changed only
        /// by who holds it.
        is_any: AtomicBool,
    }

    impl Injector {
        pub fn new() -> Self {
            Self {
                stack: Stack {
                    newest: AtomicPtr::new(ptr::null_mut()),
                    recent: Recent::new(),
                },
                list: Listed {
                    tasks: Mutex::new(VecDeque::new()),
                    is_any: AtomicBool::new(false),
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
        }

        /// Puts a task at the end.
        #[inline]
        pub fn push(&self, task: Task) {
            let task = task.into_raw();
            self.stack.recent.note(task);
            // Relaxed: only compared; nothing is read through it.
            let mut before = self.stack.newest.load(Relaxed);
            loop {
                link(task, NonNull::new(before));
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
        pub fn append(&self, tasks: impl IntoIterator<Item = Task>) {
            let mut list = self.lock();
            list.extend(tasks);
            self.note_if_any(&list);
        }

        /// Takes up to `most` tasks, the oldest. Returns the first and gives the
        /// others to `keep`.
        pub fn take(
            &self,
            most: usize,
            keep: impl FnMut(Task),
        ) -> Option<Task> {
            let mut list = self.lock();
            self.take_stack(&mut list);
            let count = most.min(list.len());
            let mut tasks = list.drain(..count).map(fetched);
            let first = tasks.next();
            tasks.for_each(keep);
            self.note_if_any(&list);
            first
        }

        fn lock(&self) -> MutexGuard<'_, VecDeque<Task>> {
            let tasks = self.list.tasks.lock();
            tasks.unwrap_or_else(PoisonError::into_inner)
        }

        /// To be called with the lock.
        fn note_if_any(&self, list: &VecDeque<Task>) {
            let is_any = !list.is_empty();
            // Relaxed: who sets it makes a fence before it looks at the sleepers.
            if self.list.is_any.load(Relaxed) != is_any {
                self.list.is_any.store(is_any, Relaxed);
            }
        }

        /// Moves the whole stack to the end of the list, the oldest first.
        fn take_stack(&self, list: &mut VecDeque<Task>) {
            let newest = &self.stack.newest;
            // Relaxed: a task that comes just now is for the next.
            if newest.load(Relaxed).is_null() {
                return;
            }
            let mut fetch = self.stack.recent.fetch();
            let before = list.len();
            // Acquire: pairs with the Release in `push`; shows the tasks.
            let mut next = NonNull::new(newest.swap(ptr::null_mut(), Acquire));
            while let Some(task) = next {
                fetch.one_more();
                // SAFETY: it was a `Task` when it was pushed, and is ours now.
                let mut task = unsafe { Task::from_raw(task) };
                next = task.take_next().map(Task::into_raw);
                list.push_back(task);
            }
            list.make_contiguous()[before..].reverse();
        }
    }

    impl Drop for Injector {
        fn drop(&mut self) {
            while let Some(task) = self.take(1, drop) {
                drop(task);
            }
        }
    }

    /// Links a task that is about to be pushed to the one before it.
    #[inline]
    fn link(task: NonNull<()>, to: Option<NonNull<()>>) {
        // SAFETY: it is a task of our caller's until it is pushed, and what it links
        // to was one until it was. That they are tasks once more is only for the
        // link: below they are pointers again, and nobody else sees them.
        let mut task = unsafe { Task::from_raw(task) };
        // What it was linked to before the exchange failed is not ours.
        let _ = task.take_next().map(Task::into_raw);
        // SAFETY: as above.
        task.set_next(to.map(|to| unsafe { Task::from_raw(to) }));
        let _ = task.into_raw();
    }

    /// Begins to fetch a task that will be polled soon.
    #[inline]
    fn fetched(task: Task) -> Task {
        let task = task.into_raw();
        recent::prefetch(task.as_ptr());
        // SAFETY: it has just been turned into that.
        unsafe { Task::from_raw(task) }
    }
}
