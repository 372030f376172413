//! loom's condition variable, with the loops that std has around it.

use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use super::lock::MutexGuard;
use crate::record::Id;

/// Says that a timed wait was notified: in a model no timeout elapses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the limit was zero, and nothing else ended the wait.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A condition variable. In a model no time passes: a timed wait waits until it
/// is notified, unless its limit is zero.
#[derive(Debug)]
pub struct Condvar(loom::sync::Condvar, Id);

impl Condvar {
    /// Makes a condition variable.
    #[track_caller]
    pub fn new() -> Self {
        Self(loom::sync::Condvar::new(), Id::new("Condvar"))
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

    /// Waits while `condition` returns `true`, or not at all if the limit is zero.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        if limit.is_zero() {
            return Ok((guard, WaitTimeoutResult(true)));
        }
        let waited = self.wait(guard);
        waited
            .map(in_time)
            .map_err(|poisoned| PoisonError::new(in_time(poisoned.into_inner())))
    }

    /// Waits as long as `condition` says so, or not at all if the limit is zero.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        limit: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        if limit.is_zero() {
            let is_over = condition(&mut guard);
            return Ok((guard, WaitTimeoutResult(is_over)));
        }
        let waited = self.wait_while(guard, condition);
        waited
            .map(in_time)
            .map_err(|poisoned| PoisonError::new(in_time(poisoned.into_inner())))
    }

    /// Wakes one waiting thread.
    #[track_caller]
    pub fn notify_one(&self) {
        let begun = self.1.begin("notify_one");
        self.0.notify_one();
        begun.done();
    }

    /// Wakes every waiting thread.
    #[track_caller]
    pub fn notify_all(&self) {
        let begun = self.1.begin("notify_all");
        self.0.notify_all();
        begun.done();
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

fn in_time<G>(guard: G) -> (G, WaitTimeoutResult) {
    (guard, WaitTimeoutResult(false))
}
