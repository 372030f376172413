//! shuttle's locks, whose operations are recorded.

use std::sync::{LockResult, TryLockError, TryLockResult};

pub use crate::guard::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};
use crate::guard::{held, tried};
use crate::record::Id;

/// Defines a lock, and how it is taken.
macro_rules! lock {
    ($name:ident, $words:literal, $($take:ident $try_take:ident $guard:ident)+) => {
        #[doc = concat!($words, ", like std's.")]
        #[derive(Debug)]
        pub struct $name<T> {
            inner: shuttle::sync::$name<T>,
            id: Id,
        }

        impl<T> $name<T> {
            /// Makes a lock.
            #[track_caller]
            pub fn new(value: T) -> Self {
                Self {
                    inner: shuttle::sync::$name::new(value),
                    id: Id::new(stringify!($name)),
                }
            }

            $(
                /// Takes the lock, and waits for that if it must.
                ///
                /// # Errors
                ///
                /// If it is poisoned.
                #[track_caller]
                pub fn $take(&self) -> LockResult<$guard<'_, T>> {
                    let begun = self.id.begin(stringify!($take));
                    let taken = self.inner.$take();
                    begun.done();
                    held(taken, |inner| $guard::new(inner, self.id))
                }

                /// Takes the lock if it's free.
                ///
                /// # Errors
                ///
                /// `WouldBlock` if it isn't, and another one if it is poisoned.
                #[track_caller]
                pub fn $try_take(&self) -> TryLockResult<$guard<'_, T>> {
                    let begun = self.id.begin(stringify!($try_take));
                    let taken = self.inner.$try_take();
                    match &taken {
                        Err(TryLockError::WouldBlock) => begun.failed(),
                        _ => begun.done(),
                    }
                    tried(taken, |inner| $guard::new(inner, self.id))
                }
            )+

            /// The value: the caller has the lock for itself.
            ///
            /// # Errors
            ///
            /// If it is poisoned.
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.inner.get_mut()
            }

            /// Takes the value out.
            ///
            /// # Errors
            ///
            /// If it is poisoned.
            pub fn into_inner(self) -> LockResult<T> {
                self.inner.into_inner()
            }
        }

        impl<T: Default> Default for $name<T> {
            #[track_caller]
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T> From<T> for $name<T> {
            #[track_caller]
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }
    };
}

lock!(Mutex, "A mutex", lock try_lock MutexGuard);
lock!(
    RwLock, "A lock for many readers or one writer",
    read try_read RwLockReadGuard
    write try_write RwLockWriteGuard
);
