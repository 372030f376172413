//! Wrong versions of the parker, and of `block_on` on top of it.

// The build lists what stands in the folder of this name.
include!(concat!(env!("OUT_DIR"), "/exercise_2.rs"));

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// The right loop, for parkers that are wrong: runs `future` on this thread,
/// sleeps by `park`, and wakes by `unpark`.
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

/// How long it is until the deadline. Where there is none, for ever.
fn time_left(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| {
        deadline.saturating_duration_since(Instant::now())
    })
}
