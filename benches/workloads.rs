//! The futures that are measured.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Wakes itself and is pending so many times, then is ready: the workload of
/// Glavina's "Build your own `block_on()`" (see `src/sources.md`).
///
/// `PLACE` changes nothing but the code: each place has its own copy. Where a
/// loop of a few instructions comes to lie in a cache line changes its speed by
/// a fifth, so all contenders are measured at several places.
pub struct Yields<const PLACE: u32>(u32);

impl<const PLACE: u32> Yields<PLACE> {
    /// Makes a future that yields so many times.
    #[inline]
    pub fn new(yields: u32) -> Self {
        Self(yields + PLACE)
    }
}

impl<const PLACE: u32> Future for Yields<PLACE> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == PLACE {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// The same, but it doesn't know whose waker it uses, as if it had been
/// compiled by itself.
pub struct OpaqueYields<const PLACE: u32>(u32);

impl<const PLACE: u32> OpaqueYields<PLACE> {
    /// Makes a future that yields so many times.
    #[inline]
    pub fn new(yields: u32) -> Self {
        Self(yields + PLACE)
    }
}

impl<const PLACE: u32> Future for OpaqueYields<PLACE> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == PLACE {
            return Poll::Ready(());
        }
        self.0 -= 1;
        black_box(cx.waker()).wake_by_ref();
        Poll::Pending
    }
}

/// What every version has to do: polls until the future is ready, and never
/// sleeps. Its waker is hidden from the optimizer, or nothing would be left.
#[inline]
pub fn bare_loop<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(black_box(Waker::noop()));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
}
