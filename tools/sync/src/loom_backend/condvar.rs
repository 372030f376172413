//! loom's condition variable, with the loops that std has around it.

use loom::sync::MutexGuard;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

/// Says that a timed wait was notified: in a model no time-out elapses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(());

impl WaitTimeoutResult {
    /// Returns `false`.
    pub fn timed_out(&self) -> bool {
        false
    }
}

/// A condition variable. In a model no time-out elapses: a timed wait waits
/// until it is notified.
#[derive(Debug, Default)]
pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    /// Makes a condition variable.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until notified.
    ///
    /// # Errors
    ///
    /// When the mutex is poisoned.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.0.wait(guard)
    }

    /// Waits as long as `condition` says so.
    ///
    /// # Errors
    ///
    /// When the mutex is poisoned.
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

    /// Waits until notified, whatever the limit.
    ///
    /// # Errors
    ///
    /// When the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let _never_elapses = limit;
        let waited = self.wait(guard);
        waited
            .map(in_time)
            .map_err(|poisoned| PoisonError::new(in_time(poisoned.into_inner())))
    }

    /// Waits as long as `condition` says so, whatever the limit.
    ///
    /// # Errors
    ///
    /// When the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let _never_elapses = limit;
        let waited = self.wait_while(guard, condition);
        waited
            .map(in_time)
            .map_err(|poisoned| PoisonError::new(in_time(poisoned.into_inner())))
    }

    /// Wakes one waiting thread.
    #[track_caller]
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes every waiting thread.
    #[track_caller]
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

fn in_time<G>(guard: G) -> (G, WaitTimeoutResult) {
    (guard, WaitTimeoutResult(()))
}
