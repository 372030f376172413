//! No notes of what was pushed last: nothing is fetched ahead.

use std::ptr::NonNull;

/// Knows nothing.
pub struct PrefetchHints;

impl PrefetchHints {
    pub fn new() -> Self {
        Self
    }

    #[inline]
    pub fn record(&self, _task: NonNull<()>) {}

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
    pub fn advance(&mut self) {}
}
