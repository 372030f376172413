//! std's primitives, plain or wrapped by [`chaos`](crate::chaos).

pub use std::hint;
pub use std::sync::{Arc, MutexGuard};
pub use std::thread_local;

#[cfg(not(feature = "chaos"))]
pub use std::sync::{Condvar, Mutex};
#[cfg(not(feature = "chaos"))]
pub use std::thread;

/// std's atomics.
#[cfg(not(feature = "chaos"))]
pub mod atomic {
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

#[cfg(feature = "chaos")]
pub use crate::chaos::{Condvar, Mutex, atomic, thread};

/// A cell with loom's interface: access by closure.
#[derive(Debug, Default)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Passes a pointer to read the value through. The pointer must not be
    /// used after `f` returns.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Passes a pointer to change the value through. The pointer must not be
    /// used after `f` returns.
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
