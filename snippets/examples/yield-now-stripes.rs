//! Two busy tasks and a victim on one thread, with a yield after every N
//! divisors. The victim is woken in the middle of a slice of A.

use std::hint::black_box;
use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::task::yield_now;

const DIVISORS: u32 = 32_768;

fn try_divisors(count: u32) {
    let number = black_box(4_294_967_291_u32);
    for divisor in 1..=count {
        black_box(number % divisor);
    }
}

/// Yields after every `n` divisors. Rings once, in the middle of a slice.
async fn busy(n: u32, doorbell: Option<Arc<Notify>>) {
    let slices = DIVISORS / n;
    for slice in 0..slices {
        try_divisors(n / 2);
        if slice == slices / 2
            && let Some(doorbell) = &doorbell
        {
            doorbell.notify_one();
        }
        try_divisors(n / 2);
        trace::yielded();
        yield_now().await;
    }
}

fn record(n: u32) -> trace::Trace {
    let title = format!("a yield after every {n} divisors");
    let recording = trace::record(title, "tokio 1.54.1 current_thread", 1);
    trace::thread_start(); // this thread runs them all: it is worker 0
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let doorbell = Arc::new(Notify::new());
        let bell = doorbell.clone();
        let victim = async move { bell.notified().await };
        let victim = tokio::spawn(trace::task("victim", victim));
        let a = tokio::spawn(trace::task("A", busy(n, Some(doorbell))));
        let b = tokio::spawn(trace::task("B", busy(n, None)));
        let _all = tokio::join!(victim, a, b);
    });
    recording.finish()
}

fn main() {
    record(4_096); // the first round is slower: code and memory are cold
    for n in [256, 4_096] {
        let trace = record(n);
        println!("N = {n}");
        println!("{}\n", trace.sentences().join("\n"));
        trace.save(&format!("yield-now-stripes-{n}"));
    }
}
