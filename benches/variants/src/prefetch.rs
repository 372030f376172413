//! No notes of what was pushed last: nothing is fetched ahead.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// Knows nothing.
pub struct PrefetchHints;

impl PrefetchHints {
    pub fn new() -> Self {
        Self
    }

    #[inline]
    pub fn record(&self, _number: usize, _task: NonNull<()>) {}

    #[inline]
    pub fn fetch(&self, _newest: usize) -> Fetch<'_> {
        Fetch(PhantomData)
    }

    #[inline]
    pub fn skip(&self, _newest: usize) -> Fetch<'_> {
        Fetch(PhantomData)
    }
}

#[inline]
pub fn prefetch(_task: *const ()) {}

/// Fetches nothing.
pub struct Fetch<'a>(PhantomData<&'a ()>);

impl Fetch<'_> {
    #[inline]
    pub fn advance(&mut self) {}
}
