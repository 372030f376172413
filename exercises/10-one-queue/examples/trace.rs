//! How does your pool distribute its tasks? Eight tasks of three polls each, on
//! two workers, and one that waits until all the others have ended.
//!
//! `cargo workshop trace 10` shows them on a timeline.

use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use exercise_10::{JoinHandle, Pool};
use parker::block_on;

async fn yield_now() {
    let mut was_polled = false;
    poll_fn(|cx| match mem::replace(&mut was_polled, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// Records at each poll which thread it's on: each of the pool's threads is a
/// worker on the timeline.
async fn on_a_worker<F: Future>(task: F) -> F::Output {
    let mut task = pin!(task);
    poll_fn(|cx| {
        trace::thread_start();
        task.as_mut().poll(cx)
    })
    .await
}

/// Works for a while, and then lets the other tasks run.
async fn three_slices(slice: Duration) {
    for _ in 0..3 {
        let start = Instant::now();
        while start.elapsed() < slice {}
        yield_now().await;
    }
}

async fn all(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("the task ends");
    }
}

fn main() {
    let recording = trace::record("Your pool with one queue", "exercise 10", 2);
    let pool = Pool::new(2);
    let slices = (1..=8).map(|number| {
        let slice = Duration::from_micros(if number == 1 { 900 } else { 150 });
        let task = trace::task(format!("task {number}"), three_slices(slice));
        pool.spawn(on_a_worker(task))
    });
    let slices = slices.collect();
    let last = trace::task("the last", all(slices));
    let last = pool.spawn(on_a_worker(last));
    block_on(last).expect("the task ends");
    drop(pool);
    recording.finish().save("your-trace");
}
