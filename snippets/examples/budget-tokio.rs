//! What tokio's own budget covers. Another task counts its slices.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::{consume_budget, unconstrained, yield_now};

static SLICES: AtomicU32 = AtomicU32::new(0);

/// Takes a slice whenever it can.
async fn other() {
    loop {
        SLICES.fetch_add(1, Relaxed);
        yield_now().await;
    }
}

/// Runs a task, and prints how many slices the other one got meanwhile.
async fn beside(name: &str, busy: impl Future<Output = ()> + Send + 'static) {
    let spawned = tokio::spawn(async {
        let before = SLICES.load(Relaxed);
        busy.await;
        SLICES.load(Relaxed) - before
    });
    println!("{name:<40} {:2} slices", spawned.await.unwrap());
}

/// Takes a thousand messages that are all there already.
async fn receive() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    (0..1_000).for_each(|number| sender.send(number).unwrap());
    for _ in 0..1_000 {
        receiver.recv().await;
    }
}

/// The same with the channel of another crate.
async fn receive_by_futures() {
    let (sender, mut receiver) = futures::channel::mpsc::unbounded();
    (0..1_000).for_each(|number| sender.unbounded_send(number).unwrap());
    for _ in 0..1_000 {
        receiver.next().await;
    }
}

async fn compute(with_budget: bool) {
    for number in 0..1_000_u64 {
        std::hint::black_box(number * number);
        if with_budget {
            consume_budget().await;
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tokio::spawn(other());
    beside("1,000 messages of tokio's channel", receive()).await;
    beside("the same, unconstrained", unconstrained(receive())).await;
    beside("1,000 of futures' channel", receive_by_futures()).await;
    beside("1,000 items of pure computation", compute(false)).await;
    beside("the same, with consume_budget", compute(true)).await;
}
