//! Other correct versions of the parker.

pub mod channel;
pub mod condvar;
pub mod counts_unparks;
pub mod event_count;
pub mod flag_and_thread_park;
pub mod hands_over_its_thread;
pub mod spin_then_park;
pub mod stores_its_token;
pub mod via_parking;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// The loop around each of these parkers: runs `future` on this thread, sleeps
/// with `park`, and wakes with `unpark`.
fn poll_and_park<F: Future>(
    future: F,
    park: impl Fn(),
    unpark: impl Fn() + Send + Sync + 'static,
) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(CallOnWake(unpark)));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        park();
    }
}

struct CallOnWake<U>(U);

impl<U: Fn() + Send + Sync + 'static> Wake for CallOnWake<U> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        (self.0)();
    }
}

/// The time until the deadline, or forever if there is none.
fn time_left(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| {
        deadline.saturating_duration_since(Instant::now())
    })
}
