//! A task reads lines and hands them to a slow writer, through a channel.

use std::pin::pin;
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::sleep;

// ANCHOR: bug
async fn write(mut lines: Receiver<u32>) {
    while let Some(line) = lines.recv().await {
        sleep(Duration::from_millis(10)).await;
        println!("line {line} is written");
    }
}

async fn copy(mut input: impl Stream<Item = u32> + Unpin) {
    let (sender, lines) = channel(2);
    let mut writer = pin!(write(lines));
    loop {
        tokio::select! {
            biased;
            () = &mut writer => return,
            line = input.next() => match line {
                // ANCHOR: guilty
                Some(line) => sender.send(line).await.unwrap(),
                // ANCHOR_END: guilty
                None => break,
            },
        }
    }
    drop(sender);
    writer.await;
}
// ANCHOR_END: bug

#[tokio::main(flavor = "current_thread")]
async fn main() {
    copy(stream::iter(1..=3)).await;
    println!("three lines are copied");
    copy(stream::iter(1..=5)).await;
    println!("five lines are copied");
}
