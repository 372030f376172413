//! A future that becomes ready when the test says so.

use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::ThreadProbe;

/// A future that is pending until its [`ManualHandle`] makes it ready. It
/// keeps the newest waker and never wakes by itself.
#[derive(Debug)]
pub struct ManualFuture(Arc<Shared>);

/// Makes a [`ManualFuture`] ready, wakes its task, and reports its state.
#[derive(Clone, Debug)]
pub struct ManualHandle(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    polled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_ready: bool,
    poll_count: u32,
    /// The waker and the thread of the newest poll.
    newest: Option<(Waker, ThreadProbe)>,
}

impl ManualFuture {
    /// Makes a future and the handle to it.
    pub fn new() -> (Self, ManualHandle) {
        let shared = Arc::new(Shared::default());
        (Self(shared.clone()), ManualHandle(shared))
    }
}

impl Future for ManualFuture {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        state.poll_count += 1;
        self.0.polled.notify_all();
        if state.is_ready {
            return Poll::Ready(());
        }
        let previous = state
            .newest
            .replace((cx.waker().clone(), ThreadProbe::here()));
        drop(state);
        // Dropping a waker may run any code, so not under the lock.
        drop(previous);
        Poll::Pending
    }
}

impl ManualHandle {
    /// Makes the future ready and wakes its task, if it has been polled.
    pub fn complete(&self) {
        self.make_ready();
        let waker = self
            .0
            .lock()
            .newest
            .as_ref()
            .map(|(waker, _)| waker.clone());
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Makes the future ready without a wake-up.
    pub fn make_ready(&self) {
        self.0.lock().is_ready = true;
    }

    /// Waits for the first poll and returns the newest waker and the thread
    /// of the newest poll.
    pub fn wait_until_polled(&self) -> (Waker, ThreadProbe) {
        let polled = self
            .0
            .polled
            .wait_while(self.0.lock(), |state| state.newest.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        polled.newest.clone().expect("just waited for it")
    }

    /// Waits until the future has been polled and the thread that polled it
    /// sleeps; returns the newest waker and that thread.
    pub fn wait_until_asleep(&self) -> (Waker, ThreadProbe) {
        let (waker, probe) = self.wait_until_polled();
        probe.wait_until_asleep();
        (waker, probe)
    }

    /// Waits until the future has been polled `count` times.
    pub fn wait_for_polls(&self, count: u32) {
        let _polled = self
            .0
            .polled
            .wait_while(self.0.lock(), |state| state.poll_count < count)
            .unwrap_or_else(PoisonError::into_inner);
    }

    /// Wakes `count` times, and then completes the future. Each wake-up waits
    /// until the thread sleeps again: by then it has taken the previous
    /// wake-up, so no two can merge.
    pub fn wake_one_by_one(&self, count: u32) {
        for _ in 0..count {
            let (waker, _asleep) = self.wait_until_asleep();
            let polls = self.polls();
            waker.wake();
            self.wait_for_polls(polls + 1);
        }
        self.complete();
    }

    /// How often the future has been polled.
    pub fn polls(&self) -> u32 {
        self.0.lock().poll_count
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CountingWaker, HostileWaker};
    use std::pin::pin;
    use std::thread;

    #[test]
    fn it_is_pending_until_it_is_completed() {
        let (waker, counts) = CountingWaker::new();
        let mut cx = Context::from_waker(&waker);
        let (future, handle) = ManualFuture::new();
        let mut future = pin!(future);
        assert!(future.as_mut().poll(&mut cx).is_pending());
        assert!(future.as_mut().poll(&mut cx).is_pending());
        assert_eq!(counts.wakes(), 0, "it doesn't wake by itself");
        handle.complete();
        assert_eq!(counts.wakes(), 1, "completing wakes once");
        assert!(future.as_mut().poll(&mut cx).is_ready());
        assert_eq!(handle.polls(), 3, "each poll is counted");
    }

    #[test]
    fn wake_ups_one_by_one_do_not_merge() {
        const COUNT: u32 = 3;
        let (future, handle) = ManualFuture::new();
        let waking = thread::spawn({
            let handle = handle.clone();
            move || handle.wake_one_by_one(COUNT)
        });
        let this_thread = thread::current();
        let waker = HostileWaker::new(move || this_thread.unpark());
        let mut cx = Context::from_waker(&waker);
        let mut future = pin!(future);
        while future.as_mut().poll(&mut cx).is_pending() {
            thread::park();
        }
        waking.join().expect("waking does not panic");
        assert!(handle.polls() >= COUNT + 2, "each wake-up caused a poll");
    }
}
