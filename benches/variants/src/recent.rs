//! No notes of what was pushed last: nothing is fetched ahead.

use std::ptr::NonNull;

/// Knows nothing.
pub struct Recent;

impl Recent {
    pub fn new() -> Self {
        Self
    }

    #[inline]
    pub fn note(&self, _task: NonNull<()>) {}

    #[inline]
    pub fn fetch(&self) -> Fetch {
        Fetch
    }
}

#[inline]
pub fn prefetch(_task: *const ()) {}

/// Fetches nothing.
pub struct Fetch;

impl Fetch {
    #[inline]
    pub fn one_more(&mut self) {}
}
