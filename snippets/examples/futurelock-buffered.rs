//! Six pages are downloaded, three at a time, over two connections.

use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::sync::Semaphore;
use tokio::time::sleep;

const AT_A_TIME: usize = 3;

async fn download(page: u32, connections: &Semaphore) -> u32 {
    let _connection = connections.acquire().await.unwrap();
    println!("page {page}: downloading");
    sleep(Duration::from_millis(20)).await;
    page
}

async fn store(page: u32, connections: &Semaphore) {
    let _connection = connections.acquire().await.unwrap();
    println!("page {page}: stored");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let connections = Semaphore::new(2);
    let mut pages = stream::iter(1..=6)
        .map(|page| download(page, &connections))
        .buffered(AT_A_TIME);
    while let Some(page) = pages.next().await {
        println!("page {page}: here");
        store(page, &connections).await;
    }
    println!("done");
}
