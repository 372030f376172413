//! A yield that wakes itself, and tokio's, which leaves that to the runtime.

use std::sync::mpsc::{Sender, channel};
use std::task::Poll;

use tokio::task;

/// Wakes itself, as `yield_now` of exercise 7 does.
async fn wake_and_yield() {
    let mut was_polled = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut was_polled, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn with_wakes(name: char, steps: usize, log: Sender<char>) {
    for _ in 0..steps {
        log.send(name).unwrap();
        wake_and_yield().await;
    }
}

async fn with_tokio(name: char, steps: usize, log: Sender<char>) {
    for _ in 0..steps {
        log.send(name).unwrap();
        task::yield_now().await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (log, seen) = channel();
    let a = tokio::spawn(with_wakes('A', 4, log.clone()));
    let b = tokio::spawn(with_wakes('B', 4, log.clone()));
    let _both = tokio::join!(a, b);
    println!("both wake:       {}", seen.try_iter().collect::<String>());

    let a = tokio::spawn(with_tokio('A', 4, log.clone()));
    let b = tokio::spawn(with_tokio('B', 4, log.clone()));
    let _both = tokio::join!(a, b);
    println!("both leave it:   {}", seen.try_iter().collect::<String>());

    let a = tokio::spawn(with_wakes('A', 1_000, log.clone()));
    let b = tokio::spawn(with_tokio('B', 1_000, log.clone()));
    a.await.unwrap();
    let slices = seen.try_iter().filter(|name| *name == 'B').count();
    println!("one of each:     1000 slices of A, {slices} of B");
    b.await.unwrap();
}
