//! How long does it take from a wake-up to the poll? The future wakes itself
//! ten times, and then another thread wakes it. `cargo workshop trace 4` shows
//! it as a timeline.

use std::future::poll_fn;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

fn wake_by_thread(cx: &mut Context<'_>) {
    let waker = cx.waker().clone();
    thread::spawn(|| {
        thread::sleep(Duration::from_micros(200));
        trace::span("other thread", || waker.wake());
    });
}

/// Is pending eleven times.
async fn eleven_polls() {
    let mut polls = 0;
    let poll = poll_fn(|cx| {
        polls += 1;
        match polls {
            1..=10 => cx.waker().wake_by_ref(),
            11 => wake_by_thread(cx),
            _ => return Poll::Ready(()),
        }
        Poll::Pending
    });
    poll.await
}

fn main() {
    let recording = trace::record("Your cached `block_on`", "exercise 4", 1);
    trace::thread_start();
    for name in ["first call", "second call"] {
        exercise_4::block_on(trace::task(name, eleven_polls()));
    }
    recording.finish().save("your-trace");
}
