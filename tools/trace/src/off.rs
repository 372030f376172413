//! What the recorder is without the feature `record`: nothing.

use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::event::Kind;
use crate::trace::{Meta, Trace};

/// A recording that records nothing.
#[must_use = "what is recorded is lost unless the recording is finished"]
#[derive(Debug)]
pub struct Recording {
    meta: Meta,
}

/// Starts a recording that records nothing.
pub fn record(title: impl Into<String>, runtime: impl Into<String>, workers: usize) -> Recording {
    let meta = Meta {
        title: title.into(),
        runtime: runtime.into(),
        workers,
        ..Meta::default()
    };
    Recording { meta }
}

impl Recording {
    /// Returns a trace without events.
    pub fn finish(self) -> Trace {
        Trace::new(self.meta, Vec::new(), Vec::new())
    }
}

/// The future itself.
#[must_use = "a future does nothing unless it is polled"]
#[derive(Debug)]
pub struct Task<F> {
    future: F,
}

/// Returns the future, and leaves it alone.
#[inline]
pub fn task<F: Future>(name: impl Into<Cow<'static, str>>, future: F) -> Task<F> {
    drop(name.into());
    Task { future }
}

impl<F: Future> Future for Task<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is inside what is pinned, and is pinned with it; nothing moves out of
        // it.
        let future = unsafe { self.map_unchecked_mut(|task| &mut task.future) };
        future.poll(cx)
    }
}

/// Runs `work`.
#[inline]
pub fn span<R>(name: impl Into<Cow<'static, str>>, work: impl FnOnce() -> R) -> R {
    drop(name.into());
    work()
}

/// Returns `work`.
#[inline]
pub fn job<R>(name: impl Into<Cow<'static, str>>, work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    drop(name.into());
    work
}

/// Does nothing.
#[inline]
pub fn yielded() {}

/// Does nothing.
#[inline]
pub fn mark(text: impl Into<Cow<'static, str>>) {
    drop(text.into());
}

/// Does nothing.
#[inline]
pub fn thread_start() {}

/// Does nothing.
#[inline]
pub fn thread_park() {}

/// Does nothing.
#[inline]
pub fn thread_unpark() {}

/// Does nothing.
#[inline]
pub(crate) fn thread_is(_worker: usize) {}

/// Does nothing.
#[inline]
pub(crate) fn tell(_kind: Kind, _arg: u32, _count: usize) {}
