//! Sleeps that reach the stub's `timers`.

use std::future::Ready;
use std::time::{Duration, Instant};

use super::Handle;

pub type Sleep = Ready<()>;

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
