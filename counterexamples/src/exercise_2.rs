//! Wrong versions of the parker, and of `block_on` on top of it.

// The build lists the files in the folder of this name.
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/exercise_2.rs"));
#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/exercise_2.tested.rs"));

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// The correct loop, for parkers that are wrong: runs `future` on this thread,
/// sleeps with `park`, and wakes with `unpark`.
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
