//! The future.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use super::timers::{Place, Timers};

/// A future that is ready once its deadline has come.
pub struct Sleep {
    timers: Timers,
    deadline: Option<Instant>,
    stage: Stage,
}

enum Stage {
    /// Not polled yet: the timers don't know of it.
    // --> Waiting, Over (`poll`)
    New,
    /// Polled. The timers have its waker, unless it has fired since.
    // --> Over (`poll`)
    Waiting(Place),
    /// Ready.
    Over,
}

impl Sleep {
    pub(crate) fn new(timers: Timers, deadline: Option<Instant>) -> Self {
        Self {
            timers,
            deadline,
            stage: Stage::New,
        }
    }

    /// When the sleep ends; `None` if never.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else {
            // It will never be woken, so its waker isn't needed.
            return Poll::Pending;
        };
        let place = match self.stage {
            Stage::New => self.timers.enter(deadline, cx.waker()),
            Stage::Waiting(place) => self.timers.stay(place, cx.waker()),
            Stage::Over => None,
        };
        match place {
            Some(place) => {
                self.stage = Stage::Waiting(place);
                Poll::Pending
            }
            None => {
                self.stage = Stage::Over;
                Poll::Ready(())
            }
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Stage::Waiting(place) = self.stage {
            self.timers.leave(place);
        }
    }
}
