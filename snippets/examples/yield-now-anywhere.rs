// ANCHOR: shown
//! The same two tasks, the same yield, four executors.

use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::StreamExt;
use futures::executor::block_on;
use futures::stream::FuturesUnordered;
use tokio::runtime::Builder;
// ANCHOR_END: shown

struct YieldNow(bool);

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

// ANCHOR: shown
async fn task(name: char, steps: impl Fn(char)) {
    for _ in 0..3 {
        steps(name);
        YieldNow(false).await;
    }
}

fn main() {
    let steps = RefCell::new(String::new());
    let note = |name| steps.borrow_mut().push(name);
    block_on(async { futures::join!(task('A', note), task('B', note)) });
    println!("join!                 {}", steps.take());

    let set = FuturesUnordered::from_iter(['A', 'B'].map(|it| task(it, note)));
    block_on(set.collect::<Vec<()>>());
    println!("FuturesUnordered      {}", steps.take());

    let runtime = Builder::new_current_thread().build().unwrap();
    println!("tokio, current thread {}", runtime.block_on(spawn_both()));

    let runtime = Builder::new_multi_thread().worker_threads(1).build();
    let on_a_worker = async { tokio::spawn(spawn_both()).await.unwrap() };
    println!(
        "tokio, one worker     {}",
        runtime.unwrap().block_on(on_a_worker)
    );
}

/// Spawns A, then B, and waits for both.
async fn spawn_both() -> String {
    let (steps, seen) = std::sync::mpsc::channel();
    let tasks = ['A', 'B'].map(|name| {
        let steps = steps.clone();
        tokio::spawn(task(name, move |name| steps.send(name).unwrap()))
    });
    for task in tasks {
        task.await.unwrap();
    }
    seen.try_iter().collect()
}
// ANCHOR_END: shown
