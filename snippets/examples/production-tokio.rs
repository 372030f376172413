//! Three readings of tokio's stable metrics, beside a task that blocks.

use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::sleep;

fn main() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_time().build().unwrap();
    runtime.spawn(async {
        sleep(Duration::from_millis(50)).await;
        thread::sleep(Duration::from_millis(500));
        sleep(Duration::from_secs(3_600)).await;
    });
    let metrics = runtime.metrics();
    for at in [200, 400, 800] {
        thread::sleep(Duration::from_millis(if at == 800 { 400 } else { 200 }));
        println!("after {at} ms, tasks alive: {}", metrics.num_alive_tasks());
        for worker in 0..metrics.num_workers() {
            let changes = metrics.worker_park_unpark_count(worker);
            println!(
                "  worker {worker}: busy for {:>3} ms, {}",
                metrics.worker_total_busy_duration(worker).as_millis(),
                if changes % 2 == 1 {
                    "parked"
                } else {
                    "running"
                },
            );
        }
    }
    runtime.shutdown_background();
}
