//! Do all clones of your waker wake the same task? Each of three threads has
//! one, and the future is ready when all three have woken it.
//!
//! `cargo workshop trace 3` shows it as a timeline.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

fn wake_later(waker: Waker, done: Arc<AtomicU32>, milliseconds: u64) {
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(milliseconds));
        trace::span(format!("thread {milliseconds}"), || {
            done.fetch_add(1, SeqCst);
            waker.wake();
        });
    });
}

fn main() {
    let recording = trace::record("Your waker", "exercise 3", 1);
    trace::thread_start();
    let done = Arc::new(AtomicU32::new(0));
    let mut threads = 0;
    let all_done = poll_fn(|cx| {
        while threads < 3 {
            threads += 1;
            wake_later(cx.waker().clone(), done.clone(), threads);
        }
        match done.load(SeqCst) {
            3 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    });
    exercise_3::block_on(trace::task("future", all_done));
    recording.finish().save("your-trace");
}
