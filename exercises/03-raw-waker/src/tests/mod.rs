//! The checks of exercise 3, one or more for each clause of the contract.
#![expect(
    clippy::waker_clone_wake,
    reason = "the checks also wake clones by value"
)]

mod block_on;
mod clones;
mod counts;
mod histories;
mod wakes;

use std::future::poll_fn;
use std::hint::black_box;
use std::mem::{ManuallyDrop, take};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use testkit::{
    DropProbe, Lesson, ManualFuture, WakeTarget, Yields, check, idle_cost,
    live_blocks, race_step_by_step, race_with_wakes,
};

use super::{block_on, waker};

/// A target with the size and alignment of `T`, which records where it is
/// woken.
struct Shaped<T>(T);

/// Where a [`Shaped`] was last woken.
static WOKEN_AT: AtomicUsize = AtomicUsize::new(0);

impl<T> Wake for Shaped<T> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        WOKEN_AT.store(Arc::as_ptr(self).addr(), SeqCst);
    }
}
