//! How many threads does `spawn_blocking` use for a thousand short jobs?

use std::collections::HashSet;
use std::thread::{self, available_parallelism};
use std::time::Duration;

#[tokio::main]
async fn main() {
    let job = || {
        // Some work that blocks: a file, a lock, or a long calculation.
        thread::sleep(Duration::from_millis(10));
        thread::current().id()
    };
    let jobs: Vec<_> = (0..1_000)
        .map(|_| tokio::task::spawn_blocking(job))
        .collect();
    let mut threads = HashSet::new();
    for job in jobs {
        threads.insert(job.await.unwrap());
    }
    println!("cores: {}", available_parallelism().unwrap());
    println!("threads: {}", threads.len());
}
