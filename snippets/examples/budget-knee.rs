// ANCHOR: shown
//! Predicts throughput and waits for each n, and then measures them.

use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::yield_now;

/// How long each measurement takes, about.
const RUN_NS: f64 = 150e6;
// ANCHOR_END: shown

fn item(number: u64) -> u64 {
    (0..8).fold(black_box(number), |number, _| {
        let number = number ^ number << 13;
        let number = number ^ number >> 7;
        number ^ number << 17
    })
}

// ANCHOR: shown
/// Does so many items, with a yield after every n-th. Returns the
/// nanoseconds that an item took.
async fn ns_per_item(items: u64, n: u64) -> f64 {
    let start = Instant::now();
    let mut number = 1;
    for done in 1..=items {
        number = item(number);
        if done % n == 0 {
            yield_now().await;
        }
    }
    black_box(number);
    start.elapsed().as_nanos() as f64 / items as f64
}
// ANCHOR_END: shown

/// What the victim waits for: rings, and when they were.
#[derive(Default)]
struct Bell {
    rung: Mutex<Vec<Instant>>,
    notify: Notify,
}

/// Rings every 100 to 300 µs while the victim lives.
fn ring(bell: Arc<Bell>) {
    let mut random = 1;
    while Arc::strong_count(&bell) > 1 {
        random = item(random);
        thread::sleep(Duration::from_micros(100 + random % 200));
        bell.rung.lock().unwrap().push(Instant::now());
        bell.notify.notify_one();
    }
}

/// Notes for how long each ring has waited to be heard.
async fn victim(bell: Arc<Bell>, waits: Arc<Mutex<Vec<u64>>>) {
    loop {
        bell.notify.notified().await;
        let rung = std::mem::take(&mut *bell.rung.lock().unwrap());
        let ns = rung.iter().map(|rung| rung.elapsed().as_nanos() as u64);
        waits.lock().unwrap().extend(ns);
    }
}

// ANCHOR: shown
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let spawned = tokio::spawn(async {
        let (mut c, mut cy) = (f64::MAX, f64::MAX);
        for _ in 0..5 {
            c = c.min(ns_per_item(200_000, u64::MAX).await);
            cy = cy.min(ns_per_item(200_000, 1).await);
        }
        (c, cy - c)
    });
    let (c, y) = spawned.await.unwrap();
    println!("an item {c:.1} ns, a yield {y:.1} ns");
    println!("     n   Mitems/s predicted   median wait predicted");

    let bell = Arc::new(Bell::default());
    let waits = Arc::new(Mutex::new(Vec::new()));
    let listening = tokio::spawn(victim(bell.clone(), waits.clone()));
    let ringing = thread::spawn(move || ring(bell));
    let mut sweep = trace::Sweep::new("N")
        .title("an item of a dozen nanoseconds")
        .runtime("tokio 1.54.1 current_thread");
    for n in (0..=16).step_by(2).map(|power| 1 << power) {
        let predicted_ns = c + y / n as f64;
        let items = (RUN_NS / predicted_ns) as u64;
        let mut rates = Vec::new();
        waits.lock().unwrap().clear();
        for _ in 0..3 {
            let ns = tokio::spawn(ns_per_item(items, n)).await.unwrap();
            rates.push(1e9 / ns);
        }
        rates.sort_by(f64::total_cmp);
        let mut waits = std::mem::take(&mut *waits.lock().unwrap());
        waits.sort();
        let wait_us = waits
            .get(waits.len() / 2)
            .map_or(0.0, |ns| *ns as f64 / 1e3);
        println!(
            "{n:6} {:10.1} {:9.1} {wait_us:10.1} µs {:6.1} µs",
            rates[1] / 1e6,
            1e3 / predicted_ns,
            n as f64 * c / 2e3
        );
        sweep = sweep.point(n, &rates, &waits);
    }
    listening.abort();
    let _ = listening.await;
    ringing.join().unwrap();
    sweep.save("budget-knee");
}
// ANCHOR_END: shown
