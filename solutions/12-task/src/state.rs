//! The word that says what state a task is in, and all its transitions.
//!
//! | flag | set | means |
//! |---|---|---|
//! | `RUNNING` | by `spawn`, or by the wake-up or abort of a waiting task | the task is *running*: it is queued, or being polled. Only the thread that has it may touch the future |
//! | `NOTIFIED` | by a wake-up while `RUNNING` | the thread that has the task must not let it go after the poll |
//! | `CANCELLED` | by an abort | the thread that has the task drops the future instead of polling it |
//! | `COMPLETE` | by the thread that has the task, instead of letting it go | there is no future anymore; until the handle takes it, there is a result |
//! | `JOIN_INTEREST` | by `spawn`, until the handle is dropped | the result belongs to the handle |
//! | `JOIN_WAKER` | by the handle, which may also take it back | the waker cell belongs to the task: the thread that completes it takes the waker |
//!
//! Above them is the reference count: one for the handle, one for each waker,
//! and one for the task itself from `spawn` until it is complete. While it
//! isn't complete, it is alive, so the thread that has the running task needs
//! no reference.
//!
//! *Memory ordering.* The poll that follows a wake-up sees what was written
//! before it: every wake-up is an RMW with `Release`, even if it changes
//! nothing, and every poll begins with an `Acquire`. What a thread did to the
//! task is seen by the next thread that has it: letting go releases, and
//! setting `RUNNING` acquires. The result is published by
//! `transition_to_complete`. Each reference is given back with `Release`, and
//! the last one acquires.

use std::process;

use primitives::atomic::AtomicUsize;
use primitives::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Set if there is a [`Runnable`](super::Runnable) of the task, which is queued
/// or being polled. (As with Linux's `TASK_RUNNING`, a task that could run is
/// running.)
pub const RUNNING: usize = 1;
/// Set if the task was woken while it was running.
pub const NOTIFIED: usize = 1 << 1;
/// Set if the task was aborted.
pub const CANCELLED: usize = 1 << 2;
/// Set if the task has ended, and its reference is given back or about to be.
pub const COMPLETE: usize = 1 << 3;
/// Set if the handle is there, or has taken the result.
pub const JOIN_INTEREST: usize = 1 << 4;
/// Set if the waker cell has a waker, and belongs to the task.
pub const JOIN_WAKER: usize = 1 << 5;
/// One reference of the count, which the bits above hold.
pub const REFERENCE: usize = 1 << 6;

/// A new task is running, in the hands of the thread that spawned it, and has a
/// handle.
const NEW: usize = RUNNING | JOIN_INTEREST | (2 * REFERENCE);
/// Forgetting wakers in a loop can make this many references.
const TOO_MANY: usize = usize::MAX / 2;

/// The state of one task.
pub struct State(pub AtomicUsize);

/// What the thread that has the running task has to do next.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum RunTransition {
    Poll,
    Cancel,
}

/// What has become of a pending task.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum IdleTransition {
    /// Let go: a thread that wakes it has it, and may have ended it already.
    Idle,
    /// Still running, to be scheduled again.
    Notified,
    /// Still running, to be cancelled.
    Cancelled,
}

/// What is left to do for the caller of `wake` or `abort`.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum Woken {
    Nothing,
    /// The caller has the task now, and has to schedule it.
    Schedule,
    /// The caller's reference was the last.
    Free,
}

/// What is left to do for the thread that has a task with a result.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum Completed {
    /// The task isn't complete yet: the result isn't wanted, so drop it first.
    Unwanted,
    /// Wake the task that awaits the handle, then give back the task's
    /// reference.
    WakeJoiner,
    /// The task's reference is already given back, and wasn't the last.
    Shared,
    /// Free the task, and the result with it if that's still there: only the
    /// task's own reference was left.
    Free,
}

/// What is left to do for a handle that is dropped.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum Detached {
    /// The handle's reference is already given back.
    Done,
    /// Take the waker out of the waker cell, then give back the reference.
    DropWaker,
    /// Drop the result, then give back the reference.
    DropOutput,
}

impl State {
    pub fn new() -> Self {
        Self(AtomicUsize::new(NEW))
    }

    /// Begins a poll, which serves all wake-ups so far.
    // queued --> running
    #[inline]
    pub fn transition_to_running(&self) -> RunTransition {
        // Acquire: pairs with the Release of `wake`; a wake-up that came while
        // the task was queued isn't in the queue, but here.
        let mut state = self.0.load(Acquire);
        if state & NOTIFIED != 0 {
            // Acquire: as above; other threads may have woken it since then.
            state = self.0.fetch_and(!NOTIFIED, Acquire);
        }
        match state & CANCELLED {
            0 => RunTransition::Poll,
            _ => RunTransition::Cancel,
        }
    }

    /// Lets go of a pending task, unless there is a reason to keep it.
    // running --> waiting, queued
    #[inline]
    pub fn transition_to_idle(&self) -> IdleTransition {
        // Relaxed: it is only a guess for the compare-exchange, which fails if
        // a notification comes in between.
        // Model: `a_wake_up_counts_in_every_order`.
        let mut state = self.0.load(Relaxed);
        loop {
            if state & CANCELLED != 0 {
                return IdleTransition::Cancelled;
            }
            // It stays, and `transition_to_running` clears it.
            if state & NOTIFIED != 0 {
                return IdleTransition::Notified;
            }
            // Release: pairs with the Acquire of the thread that next has the
            // task, in `wake` or `abort`; publishes what the poll did to the
            // future.
            // Model: `the_future_goes_from_thread_to_thread_in_one_piece`.
            let exchanged = self.0.compare_exchange_weak(
                state,
                state & !RUNNING,
                Release,
                Relaxed,
            );
            match exchanged {
                Ok(_) => return IdleTransition::Idle,
                Err(found) => state = found,
            }
        }
    }

    /// Wakes the task through a waker that keeps its reference.
    // waiting --> queued; running --> running and notified
    #[inline]
    pub fn wake_by_ref(&self) -> Woken {
        self.wake(0)
    }

    /// Wakes the task, and gives back the waker's reference in the same step.
    #[inline]
    pub fn wake_by_value(&self) -> Woken {
        self.wake(REFERENCE)
    }

    // ANCHOR: wake
    #[inline]
    fn wake(&self, given_back: usize) -> Woken {
        // Relaxed: it is only a guess for the compare-exchange, except for
        // `COMPLETE`, which stays; and the thread that wakes a complete task
        // reads nothing of it.
        let mut state = self.0.load(Relaxed);
        while state & COMPLETE == 0 {
            let flag = if state & RUNNING == 0 {
                RUNNING
            } else {
                NOTIFIED
            };
            // Release: pairs with the Acquire in `transition_to_running`;
            // publishes what was written before the wake-up, even if `flag` is
            // already set.
            // Model: `what_was_written_before_any_wake_up_is_seen`.
            // Acquire: pairs with `transition_to_idle`; the future comes with
            // `RUNNING`.
            let exchanged = self.0.compare_exchange_weak(
                state,
                (state | flag) - given_back,
                AcqRel,
                Relaxed,
            );
            match exchanged {
                Ok(_) if flag == RUNNING => return Woken::Schedule,
                Ok(_) => return Woken::Nothing,
                Err(found) => state = found,
            }
        }
        if given_back > 0 && self.release() {
            return Woken::Free;
        }
        Woken::Nothing
    }
    // ANCHOR_END: wake

    /// Requests the end of the task.
    // waiting --> queued and cancelled; running --> running and cancelled
    pub fn abort(&self) -> Woken {
        // Relaxed: it is only a guess for the compare-exchange.
        let mut state = self.0.load(Relaxed);
        while state & (COMPLETE | CANCELLED) == 0 {
            // Acquire: pairs with `transition_to_idle`; the future comes with
            // `RUNNING`. Release: a run that begins after this sees what came
            // before it. (One that notices the abort at its end needn't.)
            let exchanged = self.0.compare_exchange_weak(
                state,
                state | CANCELLED | RUNNING,
                AcqRel,
                Relaxed,
            );
            match exchanged {
                Ok(_) if state & RUNNING == 0 => return Woken::Schedule,
                Ok(_) => return Woken::Nothing,
                Err(found) => state = found,
            }
        }
        Woken::Nothing
    }

    /// Completes the task: the result is there, unless `is_dropped`.
    // running --> complete
    #[inline]
    pub fn transition_to_complete(&self, is_dropped: bool) -> Completed {
        // Acquire: pairs with `release`; if only the task's reference is left,
        // it is freed without a compare-exchange.
        let mut state = self.0.load(Acquire);
        loop {
            // No other thread has a reference, so none can get one.
            if state / REFERENCE == 1 {
                return Completed::Free;
            }
            if !is_dropped && state & JOIN_INTEREST == 0 {
                return Completed::Unwanted;
            }
            let mut next = (state | COMPLETE) & !(RUNNING | NOTIFIED);
            if state & JOIN_WAKER == 0 {
                next -= REFERENCE;
            }
            // Release: pairs with the Acquire of `is_complete` and of the
            // handle's other steps; publishes the result. Acquire: pairs with
            // `publish_waker`; the waker comes with `JOIN_WAKER`. Acquire if it
            // fails: as above, since it is the next guess.
            let exchanged =
                self.0.compare_exchange_weak(state, next, AcqRel, Acquire);
            match exchanged {
                Ok(_) if state & JOIN_WAKER != 0 => {
                    return Completed::WakeJoiner;
                }
                Ok(_) => return Completed::Shared,
                Err(found) => state = found,
            }
        }
    }

    /// Returns `true` if the result, if it is wanted, is there.
    #[inline]
    pub fn is_complete(&self) -> bool {
        // Acquire: pairs with the Release of `transition_to_complete`.
        self.0.load(Acquire) & COMPLETE != 0
    }

    /// Gives the handle's waker, which is in the waker cell, to the task.
    /// Returns `true` if the task is complete: in that case the waker cell is
    /// the handle's.
    pub fn publish_waker(&self) -> bool {
        // Release: pairs with `transition_to_complete`; publishes the waker.
        // Acquire: the result, if it is there.
        // Model: `a_handle_that_waits_is_woken_in_every_order`.
        self.0.fetch_or(JOIN_WAKER, AcqRel) & COMPLETE != 0
    }

    /// Takes the waker cell back for the handle. Returns `true` if the task is
    /// complete: in that case the waker cell and the waker stay with the thread
    /// that completed it, which may be calling the waker at this moment.
    ///
    /// Model: `a_handle_that_changes_its_waker_is_woken_in_every_order`.
    pub fn withdraw_waker(&self) -> bool {
        // Acquire: pairs with `transition_to_complete`. Nothing is published:
        // the handle only read the waker.
        self.0.fetch_and(!JOIN_WAKER, Acquire) & COMPLETE != 0
    }

    /// Ends the handle's interest in the result.
    #[inline]
    pub fn detach(&self) -> Detached {
        // Acquire: the result, if it is there.
        let mut state = self.0.load(Acquire);
        loop {
            if state & COMPLETE != 0 {
                return Detached::DropOutput;
            }
            let mut next = state & !(JOIN_INTEREST | JOIN_WAKER);
            if state & JOIN_WAKER == 0 {
                // Not the last: the task isn't complete.
                next -= REFERENCE;
            }
            // Release: pairs with the Acquire of the last reference. Acquire
            // on failure: as above.
            let exchanged =
                self.0.compare_exchange_weak(state, next, Release, Acquire);
            match exchanged {
                Ok(_) if state & JOIN_WAKER != 0 => {
                    return Detached::DropWaker;
                }
                Ok(_) => return Detached::Done,
                Err(found) => state = found,
            }
        }
    }

    /// Adds a reference, for a waker that is cloned.
    #[inline]
    pub fn retain(&self) {
        // Relaxed: a thread that clones a waker has one, so the count isn't
        // zero.
        if self.0.fetch_add(REFERENCE, Relaxed) > TOO_MANY {
            process::abort();
        }
    }

    /// Gives a reference back. Returns `true` if it was the last: the caller
    /// has to free the task.
    #[inline]
    pub fn release(&self) -> bool {
        // Acquire: pairs with the Release of each thread that gave its
        // reference back before. If only ours is left, no thread can add one.
        if self.0.load(Acquire) / REFERENCE == 1 {
            return true;
        }
        // Release: pairs with the Acquire of the last; publishes what the
        // caller did to the task. Acquire: in case ours is the last after all.
        // Model: `the_last_reference_frees_the_block_in_every_order`.
        self.0.fetch_sub(REFERENCE, AcqRel) / REFERENCE == 1
    }
}
