//! A busy task and a heartbeat share one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::sleep;

/// Counts the primes below `end`, and yields after every `rest` numbers.
async fn count_primes(end: u64, rest: u64) -> u64 {
    let mut count = 0;
    for number in 2..end {
        let is_prime = (2..number).all(|it| !number.is_multiple_of(it));
        count += u64::from(is_prime);
        if number.is_multiple_of(rest) {
            yield_now().await;
        }
    }
    count
}

async fn beat(beats: Arc<AtomicU32>) {
    loop {
        beats.fetch_add(1, Relaxed);
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for rest in [u64::MAX, 100] {
        let beats = Arc::new(AtomicU32::new(0));
        let heart = tokio::spawn(beat(beats.clone()));
        let primes = tokio::spawn(count_primes(10_000, rest)).await.unwrap();
        println!("{primes} primes, {} beats", beats.load(Relaxed));
        heart.abort();
    }
}
