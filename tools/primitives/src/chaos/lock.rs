//! A mutex and a condition variable under chaos.

use std::sync::{LockResult, MutexGuard, PoisonError, TryLockResult};
use std::time::{Duration, Instant};

use super::{count_read_modify_write, delay, hold, late, strikes};

/// Whether a timed wait ended because its time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the time was up.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A [`std::sync::Mutex`], delayed before it is locked while there is chaos.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Makes an unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Takes the value out.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until no other thread holds the mutex, and takes it.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        delay();
        count_read_modify_write();
        self.0.lock()
    }

    /// Takes the mutex if no thread holds it.
    ///
    /// # Errors
    ///
    /// If a thread holds it, or if it is poisoned.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        delay();
        count_read_modify_write();
        self.0.try_lock()
    }

    /// Reaches the value without a lock, because no other thread can.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// A [`std::sync::Condvar`] that returns spuriously while there is chaos.
#[derive(Debug, Default)]
pub struct Condvar {
    inner: std::sync::Condvar,
    /// Never notified: here a thread waits that's held after its time was up.
    held: std::sync::Condvar,
}

impl Condvar {
    /// Makes a condition variable.
    pub const fn new() -> Self {
        Self {
            inner: std::sync::Condvar::new(),
            held: std::sync::Condvar::new(),
        }
    }

    /// Waits until notified, or until a spurious wake-up.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        delay();
        if strikes() {
            return Ok(guard);
        }
        self.inner.wait(guard)
    }

    /// Waits while `condition` returns `true`.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
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

    /// Waits while `condition` returns `true`, for at most `limit`.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        limit: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let start = Instant::now();
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(left) = limit.checked_sub(start.elapsed()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            (guard, _) = self.wait_timeout(guard, left)?;
        }
    }

    /// Waits until notified, for at most `limit`, or until a spurious wake-up.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        delay();
        if strikes() {
            return Ok((guard, WaitTimeoutResult(false)));
        }
        if let Some(early) = late::end_of(limit) {
            let guard = match self.inner.wait_timeout_while(guard, early, |_| true) {
                Ok((guard, _)) => guard,
                Err(poisoned) => poisoned.into_inner().0,
            };
            return Ok((guard, WaitTimeoutResult(false)));
        }
        let waited = self.inner.wait_timeout(guard, limit);
        let is_poisoned = waited.is_err();
        let (mut guard, result) = waited.unwrap_or_else(PoisonError::into_inner);
        let result = WaitTimeoutResult(result.timed_out());
        if result.timed_out()
            && let Some(held) = hold::at_timeout()
        {
            // As if others had the mutex meanwhile.
            while held.lasts() {
                let waited = self.held.wait_timeout(guard, hold::TICK);
                (guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
        match is_poisoned {
            false => Ok((guard, result)),
            true => Err(PoisonError::new((guard, result))),
        }
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        delay();
        self.inner.notify_one();
    }

    /// Wakes every waiting thread.
    pub fn notify_all(&self) {
        delay();
        self.inner.notify_all();
    }
}
