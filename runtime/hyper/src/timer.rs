//! hyper's timer trait, for the runtime's sleeps.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::Sleep;

/// Creates sleeps on the runtime that the caller is in. Outside a runtime,
/// creating a sleep panics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timer {
    _private: (),
}

impl Timer {
    /// Creates a timer. It needs no runtime until it creates a sleep.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A sleep of the runtime. It has a type of this crate, because hyper's `Sleep`
/// can be implemented only for such a type, and `reset` downcasts to it.
struct Slept(runtime::Sleep);

impl Future for Slept {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx)
    }
}

// ANCHOR: timer
impl Sleep for Slept {}

impl hyper::rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Slept(runtime::sleep(duration)))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Slept(runtime::sleep_until(deadline)))
    }

    /// Returns the time of the clock that `sleep_until` uses.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// Moves the deadline of a sleep. The trait's own method would allocate a
    /// new sleep for each ping of an HTTP/2 connection.
    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<Slept>() {
            Some(mut slept) => slept.0.reset(deadline),
            // Another timer has created this sleep.
            None => *sleep = self.sleep_until(deadline),
        }
    }
}
// ANCHOR_END: timer
