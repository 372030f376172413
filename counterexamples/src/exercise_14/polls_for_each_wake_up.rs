//! Breaks clause 2: One poll.
//! Caught by: many_wake_ups_are_one_poll
//! Also fails: each_poll_counts_in_the_interval
//!
//! No wake-up may be lost, so they are counted, and each of them gets a poll of
//! its own.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use ::{run_queue, sleepers};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker futures as counted all others
}

/// The wake-ups of a task that it has not been polled for.
struct WakeUps {
    count: AtomicUsize,
    task: Mutex<Waker>,
}

impl Wake for WakeUps {
    fn wake(self: Arc<Self>) {
        self.count.fetch_add(1, SeqCst);
        self.task.lock().unwrap().wake_by_ref();
    }
}

/// Polls `future` once for each wake-up.
async fn counted<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let wake_ups = Arc::new(WakeUps {
        count: AtomicUsize::new(0),
        task: Mutex::new(Waker::noop().clone()),
    });
    let waker = Waker::from(wake_ups.clone());
    poll_fn(|cx| {
        wake_ups.task.lock().unwrap().clone_from(cx.waker());
        let count = wake_ups.count.swap(0, SeqCst).max(1);
        let mut polls = (0..count)
            .map(|_| future.as_mut().poll(&mut Context::from_waker(&waker)));
        polls.find(Poll::is_ready).unwrap_or(Poll::Pending)
    })
    .await
}
