//! A task reads lines and hands them to a slow writer, through a channel.

use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::sleep;

async fn write(mut lines: Receiver<u32>) {
    while let Some(line) = lines.recv().await {
        sleep(Duration::from_millis(10)).await;
        println!("line {line} is written");
    }
}

// ANCHOR: fixed
async fn copy(mut input: impl Stream<Item = u32> + Unpin) {
    let (sender, lines) = channel(2);
    let read = async move {
        while let Some(line) = input.next().await {
            sender.send(line).await.unwrap();
        }
    };
    tokio::join!(write(lines), read);
}
// ANCHOR_END: fixed

#[tokio::main(flavor = "current_thread")]
async fn main() {
    copy(stream::iter(1..=3)).await;
    println!("three lines are copied");
    copy(stream::iter(1..=5)).await;
    println!("five lines are copied");
}
