//! Orders go from one channel to another, and a command comes in between.

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::yield_now;

// ANCHOR: bug
async fn forward(orders: &mut Receiver<u32>, shop: &Sender<u32>) -> Option<()> {
    let order = orders.recv().await?;
    // ANCHOR: guilty
    shop.send(order).await.ok()
    // ANCHOR_END: guilty
}

async fn run(
    mut orders: Receiver<u32>,
    shop: Sender<u32>,
    mut commands: Receiver<&'static str>,
) {
    loop {
        tokio::select! {
            forwarded = forward(&mut orders, &shop) => {
                if forwarded.is_none() {
                    return;
                }
            }
            Some(command) = commands.recv() => println!("{command}"),
        }
    }
}
// ANCHOR_END: bug

/// Lets the other tasks do what they can.
async fn pause() {
    for _ in 0..10 {
        yield_now().await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (customer, orders) = channel(8);
    let (shop, mut deliveries) = channel(2);
    let (commander, commands) = channel(1);
    tokio::spawn(run(orders, shop, commands));

    for order in 1..=5 {
        customer.send(order).await.unwrap();
    }
    pause().await;
    commander.send("a command").await.unwrap();
    pause().await;
    drop(customer);
    while let Some(order) = deliveries.recv().await {
        println!("order {order}");
    }
}
