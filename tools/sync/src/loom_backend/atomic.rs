//! loom's atomics, and what it takes to try every order of their loads.
//!
//! Of a load, and a write by another thread, loom 0.7 tries both orders only
//! if the write's thread has not loaded the same atomic in between: it keeps
//! the last access of an atomic, and not the last of each thread
//! (tokio-rs/loom#166, #392). Within [`model_every_load`](super::model_every_load)
//! each access of an atomic comes after a read-modify-write of a shadow, which
//! nobody reads. Read-modify-writes loom orders in every way; being Relaxed
//! they publish nothing.

pub use loom::sync::atomic::fence;
pub use std::sync::atomic::Ordering;

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;

std::thread_local! {
    /// Whether the atomics that are made on this thread get a shadow. loom
    /// runs all threads of a model on one.
    static SHADOWS: Cell<bool> = const { Cell::new(false) };
}

/// Gives a shadow to each atomic that is made while `body` runs.
pub(super) fn with_shadows(body: impl FnOnce()) {
    struct Restored(bool);
    impl Drop for Restored {
        fn drop(&mut self) {
            SHADOWS.set(self.0);
        }
    }
    let _restored = Restored(SHADOWS.replace(true));
    body();
}

/// One of loom's atomics, with its shadow.
macro_rules! shadowed {
    ($name:ident $(<$parameter:ident>)?, $value:ty) => {
        #[doc = concat!("loom's `", stringify!($name), "`, with a shadow if every load counts.")]
        pub struct $name $(<$parameter>)? {
            atomic: loom::sync::atomic::$name $(<$parameter>)?,
            shadow: Option<loom::sync::atomic::AtomicUsize>,
        }

        impl $(<$parameter>)? $name $(<$parameter>)? {
            /// Makes an atomic with this value.
            #[track_caller]
            pub fn new(value: $value) -> Self {
                Self {
                    atomic: loom::sync::atomic::$name::new(value),
                    shadow: SHADOWS.get().then(|| loom::sync::atomic::AtomicUsize::new(0)),
                }
            }
        }

        /// Every operation comes this way.
        impl $(<$parameter>)? Deref for $name $(<$parameter>)? {
            type Target = loom::sync::atomic::$name $(<$parameter>)?;

            fn deref(&self) -> &Self::Target {
                if let Some(shadow) = &self.shadow {
                    // Relaxed: an access that others depend on, and nothing more.
                    shadow.fetch_add(1, Ordering::Relaxed);
                }
                &self.atomic
            }
        }

        impl $(<$parameter>)? fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.atomic.fmt(f)
            }
        }
    };
}

shadowed!(AtomicBool, bool);
shadowed!(AtomicU8, u8);
shadowed!(AtomicU32, u32);
shadowed!(AtomicU64, u64);
shadowed!(AtomicUsize, usize);
shadowed!(AtomicPtr<T>, *mut T);

macro_rules! with_default {
    ($($name:ident)*) => {
        $(impl Default for $name {
            fn default() -> Self {
                Self::new(Default::default())
            }
        })*
    };
}

with_default!(AtomicBool AtomicU8 AtomicU32 AtomicU64 AtomicUsize);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc as StdArc, Mutex as StdMutex};

    use super::AtomicBool;
    use super::Ordering::Relaxed;
    use crate::{Arc, model, model_every_load, thread};

    /// What a load may see while another thread loads and then stores.
    fn seen_by(model: fn(Box<dyn Fn() + Send + Sync>)) -> BTreeSet<bool> {
        let seen = StdArc::new(StdMutex::new(BTreeSet::new()));
        let values = seen.clone();
        model(Box::new(move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            let storing = thread::spawn(move || {
                let _ = other.load(Relaxed);
                other.store(true, Relaxed);
            });
            let value = flag.load(Relaxed);
            storing.join().unwrap();
            values.lock().unwrap().insert(value);
        }));
        seen.lock().unwrap().clone()
    }

    #[test]
    fn every_load_is_tried_before_and_after_a_store() {
        assert_eq!(seen_by(model_every_load), BTreeSet::from([false, true]));
        assert_eq!(
            seen_by(model),
            BTreeSet::from([false]),
            "loom tries both now, so that the shadows can go"
        );
    }
}
