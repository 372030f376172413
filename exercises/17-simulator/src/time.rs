//! Sleeps and timeouts, in the simulation's time.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use super::{Timer, World};

/// Returns the time since the simulation's start.
///
/// # Panics
///
/// If no simulation runs on this thread.
pub fn now() -> Duration {
    World::current().now()
}

/// Creates a future that is ready once `duration` has passed since this call.
///
/// # Panics
///
/// If no simulation runs on this thread.
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(now().saturating_add(duration))
}

/// Creates a future that is ready at `deadline`, a time since the start.
pub fn sleep_until(deadline: Duration) -> Sleep {
    Sleep {
        deadline,
        timer: None,
    }
}

/// The future of [`sleep`] and [`sleep_until`].
#[must_use = "futures do nothing unless they are polled"]
pub struct Sleep {
    deadline: Duration,
    timer: Option<Timer>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let world = World::current();
        if let Some(timer) = self.timer.take() {
            world.cancel(timer);
        }
        if world.now() >= self.deadline {
            return Poll::Ready(());
        }
        self.timer = Some(world.wake_at(self.deadline, cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let (Some(world), Some(timer)) = (World::try_current(), self.timer) {
            world.cancel(timer);
        }
    }
}

/// Waits for `future`, but not longer than `duration`. If both are ready in the
/// same poll, the future's output wins.
///
/// # Errors
///
/// Returns [`Elapsed`] if the time is over first. The future is dropped then.
pub async fn timeout<F: Future>(
    duration: Duration,
    future: F,
) -> Result<F::Output, Elapsed> {
    let (mut future, mut sleep) = (pin!(future), pin!(sleep(duration)));
    std::future::poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        sleep.as_mut().poll(cx).map(|()| Err(Elapsed))
    })
    .await
}

/// The error of a [`timeout`] whose time was over first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl From<Elapsed> for io::Error {
    fn from(_: Elapsed) -> Self {
        Self::new(io::ErrorKind::TimedOut, "the time was over first")
    }
}
