//! loom's cell, which also sees its own end.

use std::mem::ManuallyDrop;
use std::{ptr, thread};

use crate::record::Id;

/// loom's `UnsafeCell`. Dropping one is a write: the thread that frees something with cells in it
/// must come after all threads that used them. loom itself doesn't check what is freed, and would
/// let a reference count be entirely `Relaxed`.
#[derive(Debug)]
pub struct UnsafeCell<T>(loom::cell::UnsafeCell<T>, Id);

impl<T> UnsafeCell<T> {
    /// Wraps a value.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self(loom::cell::UnsafeCell::new(value), Id::new("UnsafeCell"))
    }

    /// Passes a pointer to read the value through. The pointer must not be
    /// used after `f` returns.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        let begun = self.1.begin("read");
        self.0.with(|value| {
            begun.done();
            f(value)
        })
    }

    /// Passes a pointer to change the value through. The pointer must not be
    /// used after `f` returns.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        let begun = self.1.begin("write");
        self.0.with_mut(|value| {
            begun.done();
            f(value)
        })
    }

    /// Unwraps the value. Like the cell's end, it counts as a write.
    #[track_caller]
    pub fn into_inner(self) -> T {
        let cell = ManuallyDrop::new(self);
        let begun = cell.1.begin("into_inner");
        cell.0.with_mut(|_| begun.done());
        // SAFETY: the cell is valid, and it isn't dropped or used after this.
        let inner = unsafe { ptr::read(&raw const cell.0) };
        inner.into_inner()
    }
}

impl<T> Drop for UnsafeCell<T> {
    #[track_caller]
    fn drop(&mut self) {
        // For loom, a model that has already failed is over.
        if !thread::panicking() {
            let begun = self.1.begin("drop");
            self.0.with_mut(|_| begun.done());
        }
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::ptr;

    use super::UnsafeCell;
    use crate::atomic::AtomicUsize;
    use crate::atomic::Ordering::{self, AcqRel, Relaxed};
    use crate::{model, thread};

    struct Counted {
        count: AtomicUsize,
        cell: UnsafeCell<u32>,
    }

    /// Two threads use a cell and then give their references to it back.
    fn count_by(ordering: Ordering) {
        let counted = Counted {
            count: AtomicUsize::new(2),
            cell: UnsafeCell::new(7),
        };
        let address = Box::into_raw(Box::new(counted)).expose_provenance();
        let use_and_release = move || {
            let counted = ptr::with_exposed_provenance_mut::<Counted>(address);
            // SAFETY: our reference isn't given back yet.
            let Counted { count, cell } = unsafe { &*counted };
            // SAFETY: no thread writes to it.
            assert_eq!(cell.with(|value| unsafe { *value }), 7);
            if count.fetch_sub(1, ordering) == 1 {
                // SAFETY: it was the last reference, of two from one box.
                drop(unsafe { Box::from_raw(counted) });
            }
        };
        let other = thread::spawn(use_and_release);
        use_and_release();
        other.join().unwrap();
    }

    #[test]
    fn to_free_a_cell_is_to_write_it() {
        model(|| count_by(AcqRel));
        let found = catch_unwind(|| model(|| count_by(Relaxed)));
        assert!(
            found.is_err(),
            "a count that orders nothing frees too early"
        );
    }
}
