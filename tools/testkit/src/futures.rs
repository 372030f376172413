//! Futures that probe their executor.

use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::{self, Sender};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};

use crate::ThreadProbe;

/// Wakes itself and is pending a number of times, and then is ready.
#[derive(Debug)]
pub struct Yields(pub u32);

impl Future for Yields {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Is woken alternately: once by itself, within its poll, and once by another thread, while the
/// thread that polls it sleeps. Each wake-up needs one poll. Its output is how often it was polled,
/// which is at most [`Self::NEEDED_POLLS`] if nothing else causes a poll.
#[derive(Debug)]
pub struct WokenByTurns {
    polls: u32,
    /// How often it has requested a wake-up from the other thread.
    asked: u32,
    /// How often that thread has woken it.
    woken: Arc<AtomicU32>,
    ask: Sender<(Waker, ThreadProbe)>,
    is_to_wake_itself: bool,
}

impl WokenByTurns {
    /// How often each of the two wakes it.
    pub const ROUNDS: u32 = 20;
    /// The first poll, and one for each wake-up.
    pub const NEEDED_POLLS: u32 = 1 + 2 * Self::ROUNDS;

    /// Makes the future, and starts the other thread. It ends with the future.
    pub fn new() -> Self {
        let woken = Arc::new(AtomicU32::new(0));
        let (ask, asked) = mpsc::channel::<(Waker, ThreadProbe)>();
        thread::spawn({
            let woken = woken.clone();
            move || {
                for (waker, polling) in asked {
                    polling.wait_until_asleep();
                    woken.fetch_add(1, SeqCst);
                    waker.wake();
                }
            }
        });
        Self {
            polls: 0,
            asked: 0,
            woken,
            ask,
            is_to_wake_itself: true,
        }
    }
}

impl Default for WokenByTurns {
    fn default() -> Self {
        Self::new()
    }
}

impl Future for WokenByTurns {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        self.polls += 1;
        if self.woken.load(SeqCst) < self.asked {
            // It hasn't been woken yet.
            return Poll::Pending;
        }
        if self.is_to_wake_itself {
            if self.asked == Self::ROUNDS {
                return Poll::Ready(self.polls);
            }
            cx.waker().wake_by_ref();
        } else {
            self.asked += 1;
            let polling = (cx.waker().clone(), ThreadProbe::here());
            self.ask.send(polling).expect("the thread waits for it");
        }
        self.is_to_wake_itself = !self.is_to_wake_itself;
        Poll::Pending
    }
}

/// Records its address at the first poll and panics if a later poll, or its drop, finds it
/// elsewhere. Wakes itself a number of times before it is ready.
#[derive(Debug)]
pub struct MustNotMove {
    yields_left: u32,
    first_address: Option<usize>,
    _pinned: PhantomPinned,
}

impl MustNotMove {
    /// Makes a future that yields `yields` times.
    pub fn new(yields: u32) -> Self {
        Self {
            yields_left: yields,
            first_address: None,
            _pinned: PhantomPinned,
        }
    }

    fn assert_unmoved(&self, when: &str) {
        let here = std::ptr::from_ref(self).addr();
        let first = self.first_address.unwrap_or(here);
        assert!(
            first == here || std::thread::panicking(),
            "the future was first polled at address {first:#x} and then {when} at {here:#x}: \
             it was moved after its first poll"
        );
    }
}

impl Future for MustNotMove {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.assert_unmoved("polled again");
        // SAFETY: the reference is used to change two plain fields; nothing is moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        this.first_address = Some(std::ptr::from_ref(this).addr());
        if this.yields_left == 0 {
            return Poll::Ready(());
        }
        this.yields_left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for MustNotMove {
    fn drop(&mut self) {
        self.assert_unmoved("dropped");
    }
}

/// Another thread writes to it while its own thread sleeps, after its first poll. It panics if a
/// later poll doesn't find what was written. Its address can't show that a future was moved away
/// after a poll and back before the next.
#[derive(Debug, Default)]
pub struct WrittenMeanwhile {
    mark: AtomicU32,
    writer: Option<JoinHandle<()>>,
    is_written: Arc<AtomicBool>,
    _pinned: PhantomPinned,
}

impl WrittenMeanwhile {
    const MARK: u32 = 0x600D;

    /// Starts the thread that writes to the mark, and then wakes.
    fn write_once_asleep(&self, waker: Waker) -> JoinHandle<()> {
        let (sleeper, is_written) = (ThreadProbe::here(), self.is_written.clone());
        let mark = AtomicPtr::new(self.mark.as_ptr());
        thread::spawn(move || {
            sleeper.wait_until_asleep();
            // SAFETY: the mark is part of a pinned future, which joins this thread before it is gone.
            let mark = unsafe { AtomicU32::from_ptr(mark.into_inner()) };
            mark.store(Self::MARK, SeqCst);
            is_written.store(true, SeqCst);
            waker.wake();
        })
    }
}

impl Future for WrittenMeanwhile {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the reference is used to reach plain fields; nothing is moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        if this.writer.is_none() {
            this.writer = Some(this.write_once_asleep(cx.waker().clone()));
        }
        if !this.is_written.load(SeqCst) {
            return Poll::Pending;
        }
        let is_here = this.mark.load(SeqCst) == Self::MARK;
        assert!(
            is_here,
            "what another thread wrote to the future between two polls is gone: the future was \
             moved away after a poll, and back before the next"
        );
        Poll::Ready(())
    }
}

impl Drop for WrittenMeanwhile {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CountingWaker;
    use std::pin::pin;

    #[test]
    fn yields_wakes_once_for_each_pending() {
        let (waker, counts) = CountingWaker::new();
        let mut cx = Context::from_waker(&waker);
        let mut yields = pin!(Yields(2));
        assert!(yields.as_mut().poll(&mut cx).is_pending());
        assert!(yields.as_mut().poll(&mut cx).is_pending());
        assert!(yields.as_mut().poll(&mut cx).is_ready());
        assert_eq!(counts.wakes(), 2, "one wake for each pending poll");
    }

    #[test]
    fn must_not_move_notices_a_move() {
        let (waker, _counts) = CountingWaker::new();
        let mut cx = Context::from_waker(&waker);
        let mut here = Box::new(MustNotMove::new(1));
        // SAFETY: breaks the pin contract on purpose; the type holds no self-reference, so a move is harmless.
        let pinned = unsafe { Pin::new_unchecked(&mut *here) };
        assert!(pinned.poll(&mut cx).is_pending());
        let mut there = Box::new(*here);
        let moved = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // SAFETY: as above.
            let pinned = unsafe { Pin::new_unchecked(&mut *there) };
            pinned.poll(&mut cx).is_ready()
        }));
        assert!(moved.is_err(), "the second poll must notice the move");
        std::mem::forget(there);
    }
}
