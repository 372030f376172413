//! Sleeps that reach the stub's `timers`.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::Handle;

/// There's none: each function that would create one reaches a `todo!`.
pub struct Sleep {
    none: Infallible,
}

pub fn sleep(duration: Duration) -> Sleep {
    Handle::current().sleep(duration)
}

pub fn sleep_until(deadline: Instant) -> Sleep {
    Handle::current().sleep_until(deadline)
}

impl Handle {
    pub fn sleep(&self, _duration: Duration) -> Sleep {
        self.no_timers()
    }

    pub fn sleep_until(&self, _deadline: Instant) -> Sleep {
        self.no_timers()
    }

    fn no_timers(&self) -> Sleep {
        todo!()
    }
}

impl Sleep {
    pub fn deadline(&self) -> Instant {
        match self.none {}
    }

    pub fn reset(&mut self, _deadline: Instant) {
        match self.none {}
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        match self.none {}
    }
}
