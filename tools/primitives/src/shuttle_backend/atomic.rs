//! shuttle's atomics, whose operations are recorded. Each is sequentially consistent, and a load
//! returns the newest value.

pub use std::sync::atomic::Ordering;

use std::fmt;

use crate::record::{self, Begun, Id};

/// Like std's.
#[track_caller]
pub fn fence(ordering: Ordering) {
    let begun = record::begin_alone("fence", &[ordering]);
    shuttle::sync::atomic::fence(ordering);
    begun.done();
}

/// A value that was found, which is the newest.
fn newest(found: impl fmt::Display) -> (String, String) {
    (found.to_string(), found.to_string())
}

/// One of shuttle's atomics. `$key` says how a value is shown.
macro_rules! atomic {
    ($name:ident $(<$parameter:ident>)?, $value:ty, $key:expr) => {
        #[doc = concat!("shuttle's `", stringify!($name), "`.")]
        pub struct $name $(<$parameter>)? {
            atomic: shuttle::sync::atomic::$name $(<$parameter>)?,
            id: Id,
        }

        impl $(<$parameter>)? $name $(<$parameter>)? {
            /// Makes an atomic.
            #[track_caller]
            pub fn new(value: $value) -> Self {
                Self {
                    atomic: shuttle::sync::atomic::$name::new(value),
                    id: Id::with_value(stringify!($name), || $key(value).to_string()),
                }
            }

            /// Says that a write has replaced a value.
            fn note_replaced(begun: Begun, before: $value, new: $value) {
                begun.read(|| newest($key(before)));
                begun.wrote(|| $key(new).to_string());
            }

            /// Says what has become of an exchange.
            fn note_exchange(begun: Begun, found: Result<$value, $value>, new: $value) {
                match found {
                    Ok(before) => Self::note_replaced(begun, before, new),
                    Err(value) => begun.found(|| newest($key(value))),
                }
            }

            /// Like std's.
            #[track_caller]
            pub fn load(&self, ordering: Ordering) -> $value {
                let begun = self.id.begin_ordered("load", &[ordering]);
                let value = self.atomic.load(ordering);
                begun.read(|| newest($key(value)));
                value
            }

            /// Like std's.
            #[track_caller]
            pub fn store(&self, value: $value, ordering: Ordering) {
                let begun = self.id.begin_ordered("store", &[ordering]);
                self.atomic.store(value, ordering);
                begun.wrote(|| $key(value).to_string());
            }

            /// Like std's.
            #[track_caller]
            pub fn swap(&self, value: $value, ordering: Ordering) -> $value {
                let begun = self.id.begin_ordered("swap", &[ordering]);
                let before = self.atomic.swap(value, ordering);
                Self::note_replaced(begun, before, value);
                before
            }

            /// Like std's.
            ///
            /// # Errors
            ///
            /// The value found, if it is a different one.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let begun = self.id.begin_ordered("compare_exchange", &[success, failure]);
                let found = self.atomic.compare_exchange(current, new, success, failure);
                Self::note_exchange(begun, found, new);
                found
            }

            /// Like [`compare_exchange`](Self::compare_exchange): shuttle's doesn't fail
            /// spuriously.
            ///
            /// # Errors
            ///
            /// The value found, if it is a different one.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Like std's.
            ///
            /// # Errors
            ///
            /// The value for which `change` returned `None`.
            #[track_caller]
            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let begun = self.id.begin_ordered("fetch_update", &[success, failure]);
                let mut last = None;
                let found = self.atomic.fetch_update(success, failure, |value| {
                    last = change(value);
                    last
                });
                match (found, last) {
                    (Ok(before), Some(new)) => Self::note_replaced(begun, before, new),
                    (Ok(value) | Err(value), _) => begun.found(|| newest($key(value))),
                }
                found
            }

            /// Like std's.
            ///
            /// # Errors
            ///
            /// The value for which `change` returned `None`.
            #[track_caller]
            pub fn try_update(
                &self,
                success: Ordering,
                failure: Ordering,
                change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(success, failure, change)
            }

            /// Like std's.
            #[track_caller]
            pub fn update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: impl FnMut($value) -> $value,
            ) -> $value {
                match self.fetch_update(success, failure, |value| Some(change(value))) {
                    Ok(before) | Err(before) => before,
                }
            }

            /// Returns the value: no other thread can reach it.
            pub fn into_inner(self) -> $value {
                self.atomic.into_inner()
            }

            /// Reaches the value: no other thread can.
            pub fn get_mut(&mut self) -> &mut $value {
                self.atomic.get_mut()
            }
        }

        impl $(<$parameter>)? fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.atomic.fmt(f)
            }
        }

        impl $(<$parameter>)? From<$value> for $name $(<$parameter>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

/// Adds operations that shuttle has under the same name.
macro_rules! fetch {
    ($name:ident, $value:ty, $($method:ident = $new:expr),+ $(,)?) => {
        impl $name {
            $(
                /// Like std's.
                #[track_caller]
                pub fn $method(&self, value: $value, ordering: Ordering) -> $value {
                    let begun = self.id.begin_ordered(stringify!($method), &[ordering]);
                    let before = self.atomic.$method(value, ordering);
                    Self::note_replaced(begun, before, $new(before, value));
                    before
                }
            )+
        }
    };
}

macro_rules! integers {
    ($($name:ident, $value:ident;)*) => {
        $(
            atomic!($name, $value, $value::from);
            fetch!(
                $name,
                $value,
                fetch_add = $value::wrapping_add,
                fetch_sub = $value::wrapping_sub,
                fetch_and = |a, b| a & b,
                fetch_nand = |a: $value, b: $value| !(a & b),
                fetch_or = |a, b| a | b,
                fetch_xor = |a, b| a ^ b,
                fetch_max = Ord::max,
                fetch_min = Ord::min,
            );
        )*
    };
}

integers! {
    AtomicI8, i8;
    AtomicI16, i16;
    AtomicI32, i32;
    AtomicI64, i64;
    AtomicIsize, isize;
    AtomicU8, u8;
    AtomicU16, u16;
    AtomicU32, u32;
    AtomicU64, u64;
    AtomicUsize, usize;
}
atomic!(AtomicBool, bool, bool::from);
fetch!(
    AtomicBool,
    bool,
    fetch_and = |a, b| a & b,
    fetch_nand = |a: bool, b: bool| !(a & b),
    fetch_or = |a, b| a | b,
    fetch_xor = |a, b| a ^ b,
);
atomic!(AtomicPtr<T>, *mut T, <*mut T>::addr);

impl AtomicBool {
    /// Like std's.
    #[track_caller]
    pub fn fetch_not(&self, ordering: Ordering) -> bool {
        self.fetch_xor(true, ordering)
    }
}

macro_rules! with_default {
    ($($name:ident)*) => {
        $(impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(Default::default())
            }
        })*
    };
}

with_default!(AtomicBool AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize);
with_default!(AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize);

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}
