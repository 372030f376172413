//! A cell that detects when two threads are in it at once.

use std::cell::Cell;
use std::fmt;

use crate::record::Id;

/// A cell with loom's interface: access by closure.
///
/// shuttle has none. It switches threads only where they synchronize, so what
/// is detected here is an access that is still going on when another thread's
/// begins: a future that two threads poll, say, and not two writes in a row.
pub struct UnsafeCell<T> {
    value: std::cell::UnsafeCell<T>,
    readers: Cell<usize>,
    is_written: Cell<bool>,
    id: Id,
}

impl<T> UnsafeCell<T> {
    /// Wraps a value.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self {
            value: std::cell::UnsafeCell::new(value),
            readers: Cell::new(0),
            is_written: Cell::new(false),
            id: Id::new("UnsafeCell"),
        }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// Passes a pointer to read the value through. The pointer must not be
    /// used after `f` returns.
    ///
    /// # Panics
    ///
    /// If another thread writes meanwhile.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        let begun = self.id.begin("read");
        assert!(!self.is_written.get(), "a cell is read while it is written");
        begun.done();
        self.readers.set(self.readers.get() + 1);
        let _left = OnDrop(|| self.readers.set(self.readers.get() - 1));
        f(self.value.get())
    }

    /// Passes a pointer to change the value through. The pointer must not be
    /// used after `f` returns.
    ///
    /// # Panics
    ///
    /// If another thread reads or writes meanwhile.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        let begun = self.id.begin("write");
        let is_used = self.is_written.replace(true) || self.readers.get() > 0;
        assert!(!is_used, "a cell is written while it is used elsewhere");
        begun.done();
        let _left = OnDrop(|| self.is_written.set(false));
        f(self.value.get())
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

/// Does something when it is dropped, even by a panic.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
