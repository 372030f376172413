//! Timeouts and intervals, built on sleeps.

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use reactor::{Sleep, sleep, sleep_until};

/// Waits for `future`, but not longer than `duration` from this call on.
/// Returns the future's output, or [`Elapsed`] if the time is over first.
///
/// If both are ready in the same poll, the future's output wins. After
/// `Elapsed`, the future is dropped together with the [`Timeout`], at the
/// `.await` where it waits. To keep it, pass `&mut` of a pinned future.
///
/// ```
/// # let runtime = runtime::Runtime::new()?;
/// # runtime.block_on(async {
/// use std::time::Duration;
///
/// let never = std::future::pending::<()>();
/// let waited = runtime::timeout(Duration::from_millis(10), never).await;
/// assert!(waited.is_err());
/// # });
/// # std::io::Result::Ok(())
/// ```
///
/// # Panics
///
/// If the thread has entered no runtime. Polling the [`Timeout`] panics if the
/// runtime has ended before the time is over, unless the future is ready.
#[track_caller]
pub fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
    Timeout {
        sleep: sleep(duration),
        future,
    }
}

/// Like [`timeout`], but with a point in time: waits for `future` until
/// `deadline`.
///
/// # Panics
///
/// As for [`timeout`].
#[track_caller]
pub fn timeout_at<F: Future>(deadline: Instant, future: F) -> Timeout<F> {
    Timeout {
        sleep: sleep_until(deadline),
        future,
    }
}

/// The future of [`timeout`] and [`timeout_at`]. Dropping it drops the future
/// inside.
#[must_use = "futures do nothing unless they are polled"]
pub struct Timeout<F> {
    sleep: Sleep,
    future: F,
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` is pinned, because `self` is. It isn't moved here,
        // and the type has no destructor that could move it. `sleep` is
        // `Unpin`.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above, `future` is pinned and never moved.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        if let Poll::Ready(output) = future.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut this.sleep)
            .poll(cx)
            .map(|()| Err(Elapsed(())))
    }
}

/// The error of a [`timeout`] whose time was over first. It converts into an
/// [`io::Error`] of the kind `TimedOut`.
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time was over first")
    }
}

impl Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> Self {
        Self::new(io::ErrorKind::TimedOut, elapsed)
    }
}

/// Creates an interval. Its first tick is due at once, and then one tick is due
/// in each `period`.
///
/// Ticks are due at multiples of the period after the first tick, so delays
/// don't add up. If the program misses ticks, the next call of
/// [`Interval::tick`] is ready at once with the first of them, and the other
/// missed ticks are skipped.
///
/// # Panics
///
/// If `period` is zero, or if the thread has entered no runtime.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert!(!period.is_zero(), "an interval of zero always ticks");
    Interval {
        sleep: sleep(Duration::ZERO),
        period,
    }
}

/// A clock that ticks once in each period. See [`interval`].
#[derive(Debug)]
pub struct Interval {
    sleep: Sleep,
    period: Duration,
}

impl Interval {
    /// Waits for the next tick, and returns the time when the tick was due.
    ///
    /// If the future is dropped before it's ready, the next call waits for the
    /// same tick.
    ///
    /// # Panics
    ///
    /// When polled, if the runtime has ended before the tick is due.
    pub async fn tick(&mut self) -> Instant {
        (&mut self.sleep).await;
        let due = self.sleep.deadline();
        let late = Instant::now().saturating_duration_since(due).as_nanos();
        let missed = late / self.period.as_nanos();
        let missed = u32::try_from(missed).unwrap_or(u32::MAX);
        let ahead = self
            .period
            .saturating_mul(missed)
            .saturating_add(self.period);
        if let Some(next) = due.checked_add(ahead) {
            self.sleep.reset(next);
        }
        due
    }

    /// Returns the time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }
}
