//! How often does your `block_on` poll, and who asks for it? The future wakes
//! itself at its first poll, and is woken by another thread after the second.
//!
//! `cargo workshop trace 1` shows it as a timeline.

use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

fn from_another_thread(waker: Waker) {
    thread::spawn(|| {
        thread::sleep(Duration::from_millis(2));
        trace::span("other thread", || waker.wake());
    });
}

/// Is pending once, and gives its waker to `give`.
async fn pending_once(give: fn(Waker)) {
    let mut waker_is_given = false;
    let poll = poll_fn(|cx| {
        if waker_is_given {
            return Poll::Ready(());
        }
        waker_is_given = true;
        give(cx.waker().clone());
        Poll::Pending
    });
    poll.await;
}

fn main() {
    let recording = trace::record("Your `block_on`", "exercise 1", 1);
    trace::thread_start();
    exercise_1::block_on(trace::task("future", async {
        pending_once(Waker::wake).await;
        pending_once(from_another_thread).await;
    }));
    recording.finish().save("your-trace");
}
