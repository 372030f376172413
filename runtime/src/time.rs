//! What is built on sleeps.

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use reactor::{Sleep, sleep, sleep_until};

/// Waits for `future`, but not longer than `duration`.
///
/// If the time is over first, the future is dropped where it is, together with
/// this one. If both are ready, the future's output counts.
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
/// Where there's no runtime, and in a poll once the runtime has ended.
#[track_caller]
pub fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
    Timeout {
        sleep: sleep(duration),
        future,
    }
}

/// Like [`timeout`], until a point in time.
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

/// The future of [`timeout`].
#[must_use = "futures do nothing unless they are polled"]
pub struct Timeout<F> {
    sleep: Sleep,
    future: F,
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` is pinned with `self`: nothing here moves it, and
        // there's no destructor. `sleep` isn't pinned; it's `Unpin`.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        if let Poll::Ready(output) = future.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut this.sleep)
            .poll(cx)
            .map(|()| Err(Elapsed(())))
    }
}

/// The error of a [`timeout`] whose time was over first.
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

/// Ticks at once, and then once in every `period`.
///
/// The ticks are due at multiples of the period after the first, so that delays
/// don't add up. If some have been missed, the next call of [`Interval::tick`]
/// is ready at once, and the others that were missed are left out.
///
/// # Panics
///
/// If `period` is zero, or where there's no runtime.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert!(!period.is_zero(), "an interval of zero always ticks");
    Interval {
        sleep: sleep(Duration::ZERO),
        period,
    }
}

/// Ticks: see [`interval`].
#[derive(Debug)]
pub struct Interval {
    sleep: Sleep,
    period: Duration,
}

impl Interval {
    /// Waits for the next tick, and returns when it was due.
    ///
    /// Dropped before it's ready, the future has taken no tick.
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

    /// The time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }
}
