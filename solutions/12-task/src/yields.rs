//! A yield that needs no waker.

use std::cell::Cell;
use std::mem;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker};

use super::header::Header;
use super::waker;

primitives::thread_local! {
    static CURRENT: Current = const {
        Current {
            task: Cell::new(ptr::null()),
            has_yielded: Cell::new(false),
        }
    };
}

struct Current {
    /// The task that this thread polls. Only for comparison.
    task: Cell<*const ()>,
    has_yielded: Cell<bool>,
}

/// Polls `task` with `poll`, and returns whether it has yielded.
#[inline]
pub fn watch(
    task: NonNull<Header>,
    poll: impl FnOnce() -> Poll<()>,
) -> (Poll<()>, bool) {
    CURRENT.with(|current| {
        // A poll may run another task, and that task may yield.
        let outer_task = current.task.replace(task.as_ptr().cast());
        let outer_has_yielded = current.has_yielded.replace(false);
        let polled = poll();
        current.task.set(outer_task);
        (polled, current.has_yielded.replace(outer_has_yielded))
    })
}

/// Lets the scheduler's other tasks run.
pub fn yield_now() -> YieldNow {
    YieldNow { was_polled: false }
}

/// The future of [`yield_now`](yield_now()).
#[derive(Debug)]
#[must_use = "a yield takes place where it is awaited"]
pub struct YieldNow {
    was_polled: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if mem::replace(&mut self.was_polled, true) {
            return Poll::Ready(());
        }
        if !set_yielded(cx.waker()) {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// Records that the task yields, if the waker is that of the task which this
/// thread polls. Combinators hand out wakers of their own, and expect them to
/// be woken.
#[inline]
fn set_yielded(waker: &Waker) -> bool {
    CURRENT.with(|current| {
        let is_own = waker::is_of(waker, current.task.get());
        if is_own {
            current.has_yielded.set(true);
        }
        is_own
    })
}
