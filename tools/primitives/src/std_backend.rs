//! std's primitives, plain or wrapped by [`chaos`](crate::chaos).

pub use std::hint;
pub use std::sync::{Arc, MutexGuard};
pub use std::sync::{Barrier, BarrierWaitResult};
pub use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::thread_local;

#[cfg(not(feature = "chaos"))]
pub use std::sync::{Condvar, Mutex, WaitTimeoutResult};

/// std's threads.
#[cfg(not(feature = "chaos"))]
pub mod thread {
    pub use std::thread::{
        Builder, JoinHandle, LocalKey, Result, Thread, ThreadId, available_parallelism, current,
        panicking, park, park_timeout, sleep, spawn, yield_now,
    };

    #[cfg(false)] // not in `primitives`: loom's threads borrow nothing. Use `spawn` and an `Arc`
    pub fn scope() {}
}

/// std's atomics.
#[cfg(not(feature = "chaos"))]
pub mod atomic {
    pub use std::sync::atomic::{
        AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
        AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// std's channel.
pub mod mpsc {
    pub use std::sync::mpsc::{
        IntoIter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, TryRecvError, channel,
    };

    #[cfg(false)] // not in `primitives`: loom has none. Use a `Mutex<VecDeque<T>>` and a `Condvar`
    pub fn sync_channel() {}
}

#[cfg(feature = "chaos")]
pub use crate::chaos::{Condvar, Mutex, WaitTimeoutResult, atomic, thread};

/// A cell with loom's interface: access by closure.
#[derive(Debug, Default)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
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
