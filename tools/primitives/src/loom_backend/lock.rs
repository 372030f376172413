//! loom's locks, with a step between taking one and using it. In loom no other thread takes a step
//! while a thread holds a lock and does nothing that loom sees, so a `try_lock` never fails there:
//! <https://github.com/tokio-rs/loom/blob/v0.7.2/src/rt/mutex.rs>.

use std::sync::{LockResult, TryLockError, TryLockResult};

use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use crate::guard::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};
use crate::guard::{held, tried};
use crate::record::Id;

/// A thread that holds the lock reads it, and a thread that tries to take the lock writes it. loom
/// tries such a pair in either order; two reads it doesn't.
#[derive(Debug, Default)]
struct Step(AtomicBool);

impl Step {
    #[track_caller]
    fn hold(&self) {
        let _whatever = self.0.load(Relaxed);
    }

    #[track_caller]
    fn tried(&self) {
        self.0.store(true, Relaxed);
    }
}

/// A mutex, like std's. A model ends with the first panic, so it is never poisoned.
#[derive(Debug)]
pub struct Mutex<T> {
    step: Step,
    inner: loom::sync::Mutex<T>,
    id: Id,
}

impl<T> Mutex<T> {
    /// Makes a mutex.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self {
            step: Step::default(),
            inner: loom::sync::Mutex::new(value),
            id: Id::new("Mutex"),
        }
    }

    /// Locks it, and waits for that if it must.
    ///
    /// # Errors
    ///
    /// None in a model; std returns one when the mutex is poisoned.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let begun = self.id.begin("lock");
        let taken = self.inner.lock();
        begun.done();
        self.step.hold();
        held(taken, |inner| MutexGuard::new(inner, self.id))
    }

    /// Locks it if no thread holds it.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if one does.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let begun = self.id.begin("try_lock");
        self.step.tried();
        let taken = self.inner.try_lock();
        match &taken {
            Err(TryLockError::WouldBlock) => begun.failed(),
            _ => {
                begun.done();
                self.step.hold();
            }
        }
        tried(taken, |inner| MutexGuard::new(inner, self.id))
    }

    /// The value: the caller has the mutex for itself.
    ///
    /// # Errors
    ///
    /// As [`lock`](Self::lock).
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    /// Takes the value out.
    ///
    /// # Errors
    ///
    /// As [`lock`](Self::lock).
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// A lock for many readers or one writer, like std's, and never poisoned.
#[derive(Debug)]
pub struct RwLock<T> {
    step: Step,
    inner: loom::sync::RwLock<T>,
    id: Id,
}

impl<T> RwLock<T> {
    /// Makes a lock.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self {
            step: Step::default(),
            inner: loom::sync::RwLock::new(value),
            id: Id::new("RwLock"),
        }
    }

    /// Locks it for reading, and waits for that if it must.
    ///
    /// # Errors
    ///
    /// None in a model; std returns one when the lock is poisoned.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let begun = self.id.begin("read");
        let taken = self.inner.read();
        begun.done();
        self.step.hold();
        held(taken, |inner| RwLockReadGuard::new(inner, self.id))
    }

    /// Locks it for reading if no thread holds it for writing.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if one does.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let begun = self.id.begin("try_read");
        self.step.tried();
        let taken = self.inner.try_read();
        match &taken {
            Err(TryLockError::WouldBlock) => begun.failed(),
            _ => {
                begun.done();
                self.step.hold();
            }
        }
        tried(taken, |inner| RwLockReadGuard::new(inner, self.id))
    }

    /// Locks it for writing, and waits for that if it must.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let begun = self.id.begin("write");
        let taken = self.inner.write();
        begun.done();
        self.step.hold();
        held(taken, |inner| RwLockWriteGuard::new(inner, self.id))
    }

    /// Locks it for writing if no thread holds it.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if one does.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let begun = self.id.begin("try_write");
        self.step.tried();
        let taken = self.inner.try_write();
        match &taken {
            Err(TryLockError::WouldBlock) => begun.failed(),
            _ => {
                begun.done();
                self.step.hold();
            }
        }
        tried(taken, |inner| RwLockWriteGuard::new(inner, self.id))
    }

    /// The value: the caller has the lock for itself.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    /// Takes the value out.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc as StdArc, Mutex as StdMutex};

    use crate::{Arc, Mutex, RwLock, model, thread};

    /// What becomes of a `second` use of a lock concurrent with a first.
    fn ends<L: Send + Sync + 'static>(
        lock: fn() -> L,
        first: fn(&L),
        second: fn(&L) -> bool,
    ) -> BTreeSet<bool> {
        let ends = StdArc::new(StdMutex::new(BTreeSet::new()));
        let found = ends.clone();
        model(move || {
            let lock = Arc::new(lock());
            let other = lock.clone();
            let holding = thread::spawn(move || first(&other));
            found.lock().unwrap().insert(second(&lock));
            holding.join().unwrap();
        });
        ends.lock().unwrap().clone()
    }

    #[test]
    fn to_try_a_lock_fails_where_another_thread_holds_it_and_only_there() {
        let both = BTreeSet::from([false, true]);
        let succeeds = BTreeSet::from([true]);
        let mutex = || Mutex::new(());
        let hold = |it: &Mutex<()>| drop(it.lock().unwrap());
        let try_to = |it: &Mutex<()>| it.try_lock().is_ok();
        assert_eq!(ends(mutex, hold, try_to), both);
        assert_eq!(ends(mutex, |_| {}, try_to), succeeds);

        let lock = || RwLock::new(());
        let (read, write) = (
            |it: &RwLock<()>| drop(it.read().unwrap()),
            |it: &RwLock<()>| drop(it.write().unwrap()),
        );
        let (try_read, try_write) = (
            |it: &RwLock<()>| it.try_read().is_ok(),
            |it: &RwLock<()>| it.try_write().is_ok(),
        );
        assert_eq!(ends(lock, read, try_read), succeeds);
        assert_eq!(ends(lock, read, try_write), both);
        assert_eq!(ends(lock, write, try_read), both);
        assert_eq!(ends(lock, write, try_write), both);
    }

    #[test]
    fn loom_still_never_fails_to_try_a_lock() {
        use loom::sync::{Arc, Mutex};
        let ends = StdArc::new(StdMutex::new(BTreeSet::new()));
        let found = ends.clone();
        loom::model(move || {
            let lock = Arc::new(Mutex::new(()));
            let other = lock.clone();
            let holding = loom::thread::spawn(move || drop(other.lock().unwrap()));
            found.lock().unwrap().insert(lock.try_lock().is_ok());
            holding.join().unwrap();
        });
        assert_eq!(
            *ends.lock().unwrap(),
            BTreeSet::from([true]),
            "loom's own locks are enough now"
        );
    }
}
