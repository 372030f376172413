//! std's atomics, delayed before each operation while there is chaos, and with
//! a weak compare-exchange that fails spuriously.

use std::ops::{Deref, DerefMut};
pub use std::sync::atomic::{Ordering, fence};

use super::{count_read_modify_write, delay, strikes};

/// Wraps one of std's atomics.
macro_rules! chaotic {
    ($name:ident, $value:ty) => {
        #[doc = concat!("A [`std::sync::atomic::", stringify!($name), "`] under chaos.")]
        #[derive(Debug, Default)]
        pub struct $name(std::sync::atomic::$name);

        impl $name {
            /// Makes an atomic with this value.
            pub const fn new(value: $value) -> Self {
                Self(std::sync::atomic::$name::new(value))
            }

            chaotic!(@forward load() -> $value);
            chaotic!(@forward store(value: $value) -> ());
            chaotic!(@modify swap(value: $value) -> $value);

            /// Stores `new` if the value is `current`.
            ///
            /// # Errors
            ///
            /// The value found, if it is a different one.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                delay();
                count_read_modify_write();
                self.0.compare_exchange(current, new, success, failure)
            }

            /// Stores `new` if the value is `current`, and occasionally fails
            /// even then.
            ///
            /// # Errors
            ///
            /// The value found.
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                delay();
                count_read_modify_write();
                if strikes() {
                    return Err(self.0.load(failure));
                }
                self.0.compare_exchange_weak(current, new, success, failure)
            }

            /// Changes the value by `change`, which may be called more than
            /// once.
            ///
            /// # Errors
            ///
            /// The value for which `change` returned `None`.
            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut value = self.load(failure);
                while let Some(new) = change(value) {
                    match self.compare_exchange_weak(value, new, success, failure) {
                        Ok(before) => return Ok(before),
                        Err(found) => value = found,
                    }
                }
                Err(value)
            }

            /// Changes the value by `change`, which may be called more than
            /// once.
            ///
            /// # Errors
            ///
            /// The value for which `change` returned `None`.
            pub fn try_update(
                &self,
                success: Ordering,
                failure: Ordering,
                change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(success, failure, change)
            }

            /// Changes the value by `change`, which may be called more than
            /// once, and returns the value that it replaced.
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

            /// Reaches the value without an operation, because no other thread
            /// can.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// Returns the value.
            pub const fn into_inner(self) -> $value {
                self.0.into_inner()
            }
        }

        impl From<$value> for $name {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
    (@forward $method:ident($($argument:ident: $type:ty)?) -> $result:ty) => {
        #[doc = concat!("Like the `", stringify!($method), "` of std.")]
        pub fn $method(&self, $($argument: $type,)? ordering: Ordering) -> $result {
            delay();
            self.0.$method($($argument,)? ordering)
        }
    };
    (@modify $method:ident($argument:ident: $type:ty) -> $result:ty) => {
        #[doc = concat!("Like the `", stringify!($method), "` of std; counted.")]
        pub fn $method(&self, $argument: $type, ordering: Ordering) -> $result {
            delay();
            count_read_modify_write();
            self.0.$method($argument, ordering)
        }
    };
}

/// Adds the arithmetic of the integer types.
macro_rules! chaotic_integer {
    ($name:ident, $value:ty) => {
        chaotic!($name, $value);

        impl $name {
            chaotic!(@modify fetch_add(value: $value) -> $value);
            chaotic!(@modify fetch_sub(value: $value) -> $value);
            chaotic!(@modify fetch_and(value: $value) -> $value);
            chaotic!(@modify fetch_nand(value: $value) -> $value);
            chaotic!(@modify fetch_or(value: $value) -> $value);
            chaotic!(@modify fetch_xor(value: $value) -> $value);
            chaotic!(@modify fetch_max(value: $value) -> $value);
            chaotic!(@modify fetch_min(value: $value) -> $value);
        }
    };
}

chaotic!(AtomicBool, bool);

impl AtomicBool {
    chaotic!(@modify fetch_and(value: bool) -> bool);
    chaotic!(@modify fetch_nand(value: bool) -> bool);
    chaotic!(@modify fetch_or(value: bool) -> bool);
    chaotic!(@modify fetch_xor(value: bool) -> bool);

    /// Like the `fetch_not` of std; counted.
    pub fn fetch_not(&self, ordering: Ordering) -> bool {
        self.fetch_xor(true, ordering)
    }
}

chaotic_integer!(AtomicI8, i8);
chaotic_integer!(AtomicI16, i16);
chaotic_integer!(AtomicI32, i32);
chaotic_integer!(AtomicI64, i64);
chaotic_integer!(AtomicIsize, isize);
chaotic_integer!(AtomicU8, u8);
chaotic_integer!(AtomicU16, u16);
chaotic_integer!(AtomicU32, u32);
chaotic_integer!(AtomicU64, u64);
chaotic_integer!(AtomicUsize, usize);

/// A [`std::sync::atomic::AtomicPtr`] under chaos. What has no method here is std's.
#[derive(Debug)]
pub struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    /// Makes an atomic with this value.
    pub const fn new(value: *mut T) -> Self {
        Self(std::sync::atomic::AtomicPtr::new(value))
    }

    /// Like the `load` of std.
    pub fn load(&self, ordering: Ordering) -> *mut T {
        delay();
        self.0.load(ordering)
    }

    /// Like the `store` of std.
    pub fn store(&self, value: *mut T, ordering: Ordering) {
        delay();
        self.0.store(value, ordering);
    }

    /// Like the `swap` of std; counted.
    pub fn swap(&self, value: *mut T, ordering: Ordering) -> *mut T {
        delay();
        count_read_modify_write();
        self.0.swap(value, ordering)
    }

    /// Stores `new` if the value is `current`.
    ///
    /// # Errors
    ///
    /// The value found, if it is a different one.
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        delay();
        count_read_modify_write();
        self.0.compare_exchange(current, new, success, failure)
    }

    /// Stores `new` if the value is `current`, and occasionally fails even then.
    ///
    /// # Errors
    ///
    /// The value found.
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        delay();
        count_read_modify_write();
        if strikes() {
            return Err(self.0.load(failure));
        }
        self.0.compare_exchange_weak(current, new, success, failure)
    }

    /// Takes the value out.
    pub fn into_inner(self) -> *mut T {
        self.0.into_inner()
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    fn from(value: *mut T) -> Self {
        Self::new(value)
    }
}

impl<T> Deref for AtomicPtr<T> {
    type Target = std::sync::atomic::AtomicPtr<T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for AtomicPtr<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
