//! Sleeps: their deadlines are part of the driver's own wait.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use sleep::Timers;

use super::{Handle, shut_down_error};

/// No deadline is further away, because a driver that shuts down fires its timers
/// with a time that has to be later than every deadline.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// A future that's ready once its deadline has come. See [`sleep`](fn@sleep).
///
/// Dropping a sleep removes its waker from the driver's timers.
pub struct Sleep {
    inner: sleep::Sleep,
    deadline: Instant,
    timers: Arc<Timers>,
}

/// Creates a future that's ready once `duration` has passed since this call, or
/// thirty years.
///
/// The sleep is never ready early. If a thread waits in the driver, the sleep
/// is at most two milliseconds late.
///
/// # Panics
///
/// If the thread has no [current](Handle::current) handle. Polling the future
/// panics if the driver shuts down before the deadline.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Handle::map_current(move |handle| handle.sleep(duration))
}

/// Creates a future that's ready once `deadline` has come, or thirty years have
/// passed.
///
/// # Panics
///
/// As for [`sleep()`].
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Handle::map_current(move |handle| handle.sleep_until(deadline))
}

impl Handle {
    /// Sleeps until `deadline`, and gives an error instead of a panic if the
    /// driver ends before.
    pub(crate) async fn pause_until(
        &self,
        deadline: Instant,
    ) -> io::Result<()> {
        self.timers().sleep_until(deadline).await;
        match self.is_shut_down() {
            true => Err(shut_down_error()),
            false => Ok(()),
        }
    }

    /// Creates a sleep on this driver: see [`sleep`](fn@sleep).
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.begin(Instant::now() + duration.min(LONGEST))
    }

    /// Creates a sleep on this driver: see [`sleep_until`].
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        self.begin(not_too_far(deadline))
    }

    fn begin(&self, deadline: Instant) -> Sleep {
        let timers = self.timers().clone();
        Sleep {
            inner: timers.sleep_until(deadline),
            deadline,
            timers,
        }
    }
}

impl Sleep {
    /// Returns when the sleep ends: at the latest, thirty years after it was
    /// created or [reset](Self::reset).
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Moves the end of the sleep to `deadline`, even if the sleep has ended
    /// already. This removes the stored waker and wakes no task: poll the sleep
    /// again after the call.
    pub fn reset(&mut self, deadline: Instant) {
        self.deadline = not_too_far(deadline);
        self.inner = self.timers.sleep_until(self.deadline);
    }
}

fn not_too_far(deadline: Instant) -> Instant {
    deadline.min(Instant::now() + LONGEST)
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ready!(Pin::new(&mut self.inner).poll(cx));
        assert!(
            // Otherwise, the driver has passed a later time than the present,
            // as it does when it shuts down.
            Instant::now() >= self.deadline,
            "this sleep was woken before its deadline: its driver was shut \
             down, or called `Timers::fire` with a time that hadn't come"
        );
        Poll::Ready(())
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sleep = f.debug_struct("Sleep");
        sleep
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
