//! No slot: each task that would be next is displaced at once.

use std::marker::PhantomData;

/// Holds nothing.
pub struct LifoSlot<T>(PhantomData<T>);

impl<T> LifoSlot<T> {
    pub fn new() -> Self {
        Self(PhantomData)
    }

    #[inline]
    pub fn put(&self, task: T) -> Option<T> {
        Some(task)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        true
    }

    #[inline]
    pub fn take(&self) -> Option<T> {
        None
    }

    #[inline]
    pub fn take_uncapped(&self) -> Option<T> {
        None
    }
}
