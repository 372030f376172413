//! Breaks clause 1: Once.
//! Caught by: a_yield_takes_place_when_it_is_polled
//!
//! The call draws a number, and the poll is ready once a later number has been
//! polled. In a loop that makes each yield where it awaits it that is the second
//! poll. One that was made earlier finds its turn over before it began.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use yield_now::EveryNth;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static LATEST_POLLED: Cell<u64> = const { Cell::new(0) };
}

/// Gives the executor's other tasks a turn.
pub fn yield_now() -> YieldNow {
    CALLS.set(CALLS.get() + 1);
    YieldNow {
        number: CALLS.get(),
        was_polled: false,
    }
}

/// The future of [`yield_now()`].
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    number: u64,
    was_polled: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.was_polled || LATEST_POLLED.get() > self.number {
            return Poll::Ready(());
        }
        LATEST_POLLED.set(self.number);
        self.was_polled = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "../../../exercises/07-yield-now/src/tests/mod.rs"]
mod tests;
