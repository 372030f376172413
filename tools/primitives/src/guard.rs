//! The guards of a model checker's locks, which say when a lock is released.

use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

#[cfg(feature = "loom")]
use loom::sync as checker;
#[cfg(not(feature = "loom"))]
use shuttle::sync as checker;

use crate::record::Id;

/// Defines a guard of a lock, which also says when it is released.
macro_rules! guard {
    ($name:ident, $words:literal $(, $mutable:ident)?) => {
        #[doc = concat!("Holds a lock ", $words, " until it is dropped.")]
        #[derive(Debug)]
        #[must_use = "if unused, the lock is released at once"]
        pub struct $name<'a, T> {
            inner: Option<checker::$name<'a, T>>,
            id: Id,
        }

        impl<'a, T> $name<'a, T> {
            pub(crate) fn new(inner: checker::$name<'a, T>, id: Id) -> Self {
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
    /// Passes the checker's guard to a wait, which releases the lock and takes it again.
    pub(super) fn map(
        mut self,
        wait: impl FnOnce(checker::MutexGuard<'a, T>) -> LockResult<checker::MutexGuard<'a, T>>,
    ) -> LockResult<Self> {
        let id = self.id;
        let inner = self.inner.take().expect("it is taken at the end");
        held(wait(inner), |inner| Self::new(inner, id))
    }
}

/// What has become of taking a lock, with our guard for the checker's.
pub(crate) fn held<G, H>(taken: LockResult<G>, guard: impl FnOnce(G) -> H) -> LockResult<H> {
    match taken {
        Ok(inner) => Ok(guard(inner)),
        Err(poisoned) => Err(PoisonError::new(guard(poisoned.into_inner()))),
    }
}

/// The same for an attempt to take it.
pub(crate) fn tried<G, H>(taken: TryLockResult<G>, guard: impl FnOnce(G) -> H) -> TryLockResult<H> {
    match taken {
        Ok(inner) => Ok(guard(inner)),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        Err(TryLockError::Poisoned(poisoned)) => {
            Err(PoisonError::new(guard(poisoned.into_inner())).into())
        }
    }
}
