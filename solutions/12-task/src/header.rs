//! What all tasks have in common, for any type of future.

use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use primitives::UnsafeCell;

use super::state::State;

/// What all tasks have in common. Who may touch what, and when:
///
/// - `state`, `vtable`: every thread that has a reference, or the running task.
/// - `queue_link`: the thread that has the running task, by its `Runnable`.
/// - `links`: see [`Links`].
/// - `join_waker`: the handle, unless `JOIN_WAKER` is set. If it is, no thread
///   until the task is complete, and then the thread that completed it.
///
/// Behind the header, in a [`Cell`]:
///
/// - `scheduler`: the thread that has the running task.
/// - `stage`: the thread that has the running task, until it is complete. Then
///   the handle, or, if `JOIN_INTEREST` was no longer set, the thread that
///   completed it; in the end, the thread that frees it.
#[repr(C)]
pub struct Header {
    pub state: State,
    pub vtable: &'static Vtable,
    pub queue_link: UnsafeCell<Option<NonNull<Header>>>,
    pub links: Links,
    pub join_waker: UnsafeCell<Option<Waker>>,
}

// ANCHOR: vtable
/// What depends on the types of the future and of the scheduler. Each function
/// takes the pointer of a task that was allocated with this vtable.
pub struct Vtable {
    /// Polls the future. If it is ready, or panics, drops it and leaves the
    /// result. The caller must have the running task.
    pub poll: unsafe fn(NonNull<Header>, &mut Context<'_>) -> Poll<()>,
    /// Drops the future and leaves an error. The caller must have the running
    /// task.
    pub cancel: unsafe fn(NonNull<Header>),
    /// Calls the scheduler. The caller must have the running task, and gives it
    /// up.
    pub schedule: unsafe fn(NonNull<Header>),
    /// Moves the result to where the second pointer points. The result must be
    /// there, and must be the caller's.
    pub take_output: unsafe fn(NonNull<Header>, NonNull<()>),
    /// Drops the result, which must be there and must be the caller's.
    pub drop_output: unsafe fn(NonNull<Header>),
    /// Frees the task, and the result with it if that's still there. The task
    /// must have ended, and the caller must have the last reference.
    pub free: unsafe fn(NonNull<Header>),
}
// ANCHOR_END: vtable

/// A task's place in the list. Touched by the thread that holds the list's
/// lock, except for `list`, which belongs to the thread that has the running
/// task.
pub struct Links {
    /// The list that the task is in.
    pub list: UnsafeCell<Option<NonNull<()>>>,
    pub neighbors: UnsafeCell<Neighbors>,
}

#[derive(Clone, Copy, Default)]
pub struct Neighbors {
    pub previous: Option<NonNull<Header>>,
    pub next: Option<NonNull<Header>>,
}

impl Links {
    pub fn new() -> Self {
        Self {
            list: UnsafeCell::new(None),
            neighbors: UnsafeCell::new(Neighbors::default()),
        }
    }

    /// To be called with the list's lock.
    pub fn neighbors(&self) -> Neighbors {
        // SAFETY: the caller holds the lock.
        self.neighbors.with(|neighbors| unsafe { *neighbors })
    }
}
