//! shuttle's condition variable and barrier, whose operations are recorded.

use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use super::lock::MutexGuard;
use crate::record::Id;

pub use shuttle::sync::BarrierWaitResult;

/// Says that a timed wait was notified: in a model no timeout elapses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(());

impl WaitTimeoutResult {
    /// Returns `false`.
    pub fn timed_out(&self) -> bool {
        false
    }
}

/// A condition variable. In a model no time passes: a timed wait waits until it is notified.
#[derive(Debug)]
pub struct Condvar(shuttle::sync::Condvar, Id);

impl Condvar {
    /// Makes a condition variable.
    #[track_caller]
    pub fn new() -> Self {
        Self(shuttle::sync::Condvar::new(), Id::new("Condvar"))
    }

    /// Waits until notified.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let begun = self.1.begin("wait");
        let waited = guard.map(|guard| self.0.wait(guard));
        begun.done();
        waited
    }

    /// Waits while `condition` returns `true`.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Like [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _limit: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        in_time(self.wait(guard))
    }

    /// Like [`wait_while`](Self::wait_while).
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _limit: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        in_time(self.wait_while(guard, condition))
    }

    /// Wakes one waiting thread.
    #[track_caller]
    pub fn notify_one(&self) {
        let begun = self.1.begin("notify_one");
        self.0.notify_one();
        begun.woke_one_in("wait");
    }

    /// Wakes every waiting thread.
    #[track_caller]
    pub fn notify_all(&self) {
        let begun = self.1.begin("notify_all");
        self.0.notify_all();
        begun.woke_all_in("wait");
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

fn in_time<G>(waited: LockResult<G>) -> LockResult<(G, WaitTimeoutResult)> {
    match waited {
        Ok(guard) => Ok((guard, WaitTimeoutResult(()))),
        Err(poisoned) => Err(PoisonError::new((
            poisoned.into_inner(),
            WaitTimeoutResult(()),
        ))),
    }
}

/// Holds threads back until enough of them have come.
#[derive(Debug)]
pub struct Barrier(shuttle::sync::Barrier, Id);

impl Barrier {
    /// Makes a barrier for `size` threads.
    #[track_caller]
    pub fn new(size: usize) -> Self {
        Self(shuttle::sync::Barrier::new(size), Id::new("Barrier"))
    }

    /// Waits for the other threads.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let begun = self.1.begin("wait");
        let waited = self.0.wait();
        match waited.is_leader() {
            true => begun.woke_all_in("wait"),
            false => begun.done(),
        }
        waited
    }
}
