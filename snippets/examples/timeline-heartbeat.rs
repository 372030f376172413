//! Six tasks on two workers. E asks the heartbeat for a beat, and then sleeps:
//! first with its whole thread, then as async code should.

// ANCHOR: all
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::task::JoinSet;

const MS: Duration = Duration::from_millis(1);

// ANCHOR: tasks
async fn heartbeat(asked: Arc<Notify>) {
    for _beat in 0..3 {
        asked.notified().await;
    }
}

async fn blocker(asked: Arc<Notify>) {
    for _round in 0..3 {
        tokio::time::sleep(MS).await;
        asked.notify_one();
        std::thread::sleep(3 * MS);
    }
}
// ANCHOR_END: tasks

async fn sleeper(asked: Arc<Notify>) {
    for _round in 0..3 {
        tokio::time::sleep(MS).await;
        asked.notify_one();
        tokio::time::sleep(3 * MS).await;
    }
}

async fn other() {
    for _round in 0..6 {
        tokio::time::sleep(MS).await;
    }
}

fn run<F>(title: &str, name: &str, e: fn(Arc<Notify>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let tokio = "tokio 1.54.1 multi_thread";
    let recording = trace::record(title, tokio, 2);
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .on_thread_start(trace::thread_start)
        .on_thread_park(trace::thread_park)
        .on_thread_unpark(trace::thread_unpark)
        .build()
        .unwrap();
    runtime.block_on(async {
        let asked = Arc::new(Notify::new());
        let mut tasks = JoinSet::new();
        for name in ["A", "B", "C", "D"] {
            tasks.spawn(trace::task(name, other()));
        }
        tasks.spawn(trace::task("E", e(asked.clone())));
        tasks.spawn(trace::task("heartbeat", heartbeat(asked)));
        tasks.join_all().await;
    });
    drop(runtime);
    let trace = recording.finish();
    println!("{title}:\n{}", trace.sentences().join("\n"));
    trace.save(name);
}

fn main() {
    run("E blocks", "timeline-heartbeat", blocker);
    run("E awaits", "timeline-heartbeat-async", sleeper);
}
// ANCHOR_END: all
