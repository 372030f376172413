//! The futures that are measured.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Wakes itself and is pending so many times, then is ready: the workload of
/// text 1 (see `src/sources.md`). It does not know whose waker it uses, as if
/// it had been compiled on its own; otherwise the optimiser would leave
/// nothing of some contenders to measure.
pub struct Yields(pub u32);

impl Future for Yields {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        black_box(cx.waker()).wake_by_ref();
        Poll::Pending
    }
}

/// The same where the optimiser may look from the future into the waker.
pub struct SeenThrough(pub u32);

impl Future for SeenThrough {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// What nobody can do without: polls until the future is ready, and never
/// sleeps.
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
