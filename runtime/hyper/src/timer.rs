//! The runtime's sleeps, as hyper wants them.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::Sleep;

/// Makes sleeps on the runtime that the caller is in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timer {
    _private: (),
}

impl Timer {
    /// Makes a timer.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A sleep of the runtime. It's a type of this crate, so that `reset` finds it
/// again.
struct Slept(runtime::Sleep);

impl Future for Slept {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl Sleep for Slept {}

impl hyper::rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Slept(runtime::sleep(duration)))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Slept(runtime::sleep_until(deadline)))
    }

    /// The clock of `sleep_until`.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// Without this, hyper allocates a sleep for each request.
    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<Slept>() {
            Some(mut slept) => slept.0.reset(deadline),
            // Another timer's.
            None => *sleep = self.sleep_until(deadline),
        }
    }
}
