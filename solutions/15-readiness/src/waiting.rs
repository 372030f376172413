//! The future of `ready`.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Direction, Readiness, Ready, ShutDown};

/// Waits until a direction is ready.
pub(crate) struct Waiting<'a> {
    readiness: &'a Readiness,
    direction: Direction,
    /// The id under which the waker is stored, or was until an event took it
    /// out. `None` until the future first waits.
    id: Option<u64>,
}

impl<'a> Waiting<'a> {
    pub(crate) fn new(readiness: &'a Readiness, direction: Direction) -> Self {
        Self {
            readiness,
            direction,
            id: None,
        }
    }
}

impl Future for Waiting<'_> {
    type Output = Result<Ready, ShutDown>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let id = &mut this.id;
        this.readiness.poll(cx, this.direction, |waiters, waker| {
            let id = *id.get_or_insert_with(|| waiters.next_id());
            waiters.wakers.waiting.insert(id, waker)
        })
    }
}

// ANCHOR: drop
impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut waiters = self.readiness.side(self.direction).lock();
        let waker = waiters.wakers.waiting.remove(&id);
        // The guard is dropped first, because dropping a waker may run any
        // code.
        drop(waiters);
        drop(waker);
    }
}
// ANCHOR_END: drop
