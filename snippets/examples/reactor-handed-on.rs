//! A timer is due while a task blocks the worker that waited for it.

use std::thread;
use std::time::{Duration, Instant};

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn main() {
    let two_workers = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    two_workers.spawn(async {
        tokio::time::sleep(ms(100)).await;
        thread::sleep(ms(500));
    });
    let timed = two_workers.spawn(async {
        let start = Instant::now();
        tokio::time::sleep(ms(200)).await;
        start.elapsed()
    });
    let took = two_workers.block_on(timed).unwrap();
    println!("tokio: 200 ms took {} ms", took.as_millis());

    let mut two_workers = runtime::Builder::new();
    let two_workers = two_workers.worker_threads(2).build().unwrap();
    two_workers.spawn(async {
        runtime::sleep(ms(100)).await;
        thread::sleep(ms(500));
    });
    let timed = two_workers.spawn(async {
        let start = Instant::now();
        runtime::sleep(ms(200)).await;
        start.elapsed()
    });
    let took = two_workers.block_on(timed).unwrap();
    println!("ours: 200 ms took {} ms", took.as_millis());
}
