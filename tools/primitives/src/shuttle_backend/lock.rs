//! shuttle's locks, whose operations are recorded.

use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::record::Id;

/// Defines a guard of a lock, which also says when it is released.
macro_rules! guard {
    ($name:ident, $words:literal $(, $mutable:ident)?) => {
        #[doc = concat!("Holds a lock ", $words, " until it is dropped.")]
        #[derive(Debug)]
        #[must_use = "if unused, the lock is released at once"]
        pub struct $name<'a, T> {
            inner: Option<shuttle::sync::$name<'a, T>>,
            id: Id,
        }

        impl<'a, T> $name<'a, T> {
            fn new(inner: shuttle::sync::$name<'a, T>, id: Id) -> Self {
                Self {
                    inner: Some(inner),
                    id,
                }
            }
        }

        impl<T> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                self.inner.as_ref().expect("it is taken at the end")
            }
        }

        $(impl<T> DerefMut for $name<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                let inner = &mut self.inner;
                inner.$mutable().expect("it is taken at the end")
            }
        })?

        impl<T> Drop for $name<'_, T> {
            fn drop(&mut self) {
                // A wait has taken the lock out of it.
                if let Some(inner) = self.inner.take() {
                    let begun = self.id.begin("unlock");
                    drop(inner);
                    begun.done();
                }
            }
        }
    };
}

guard!(MutexGuard, "for one thread", as_mut);
guard!(RwLockReadGuard, "for reading");
guard!(RwLockWriteGuard, "for writing", as_mut);

impl<'a, T> MutexGuard<'a, T> {
    /// Passes shuttle's guard to a wait, which releases the lock and takes it again.
    pub(super) fn map(
        mut self,
        wait: impl FnOnce(
            shuttle::sync::MutexGuard<'a, T>,
        ) -> LockResult<shuttle::sync::MutexGuard<'a, T>>,
    ) -> LockResult<Self> {
        let id = self.id;
        let inner = self.inner.take().expect("it is taken at the end");
        held(wait(inner), |inner| Self::new(inner, id))
    }
}

/// What has become of taking a lock, with our guard for shuttle's.
fn held<G, H>(taken: LockResult<G>, guard: impl FnOnce(G) -> H) -> LockResult<H> {
    match taken {
        Ok(inner) => Ok(guard(inner)),
        Err(poisoned) => Err(PoisonError::new(guard(poisoned.into_inner()))),
    }
}

/// The same for an attempt to take it.
fn tried<G, H>(taken: TryLockResult<G>, guard: impl FnOnce(G) -> H) -> TryLockResult<H> {
    match taken {
        Ok(inner) => Ok(guard(inner)),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        Err(TryLockError::Poisoned(poisoned)) => {
            Err(PoisonError::new(guard(poisoned.into_inner())).into())
        }
    }
}

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
