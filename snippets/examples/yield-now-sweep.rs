//! How many divisors are tried in a second, and how long a victim waits for
//! its poll, if the busy task yields after every N of them.

use std::hint::black_box;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::task::yield_now;

const REPEATS: usize = 5;
const RUN: Duration = Duration::from_millis(120);
const PAUSE: Duration = Duration::from_micros(400);
/// Shared by the victim and by the thread that wakes it.
static DOORBELL: Notify = Notify::const_new();

/// Tries divisors for a while and yields after every `n` of them. Returns how
/// many it tried in a second.
async fn busy(n: u64) -> f64 {
    let start = Instant::now();
    let mut count = 0;
    let mut divisor = 2;
    let number = black_box(4_294_967_291_u32);
    // A look at the clock after every 4096 divisors at least: it costs little.
    while start.elapsed() < RUN {
        for _slice in 0..4096_u64.div_ceil(n) {
            for _divisor in 0..n {
                black_box(number % divisor);
                divisor = if divisor == 65_535 { 2 } else { divisor + 1 };
            }
            count += n;
            yield_now().await;
        }
    }
    count as f64 / start.elapsed().as_secs_f64()
}

/// Each ring was sent when the doorbell was about to be rung.
async fn victim(rings: Receiver<Instant>, waits: Sender<u64>) {
    loop {
        DOORBELL.notified().await;
        for rung in rings.try_iter() {
            let wait = rung.elapsed().as_nanos() as u64;
            if waits.send(wait).is_err() {
                return;
            }
        }
    }
}

/// Throughput and waits of one run.
fn measure(n: u64) -> (f64, Vec<u64>) {
    let (ring, rings) = channel();
    let (tell, waits) = channel();
    let bell = thread::spawn(move || {
        while ring.send(Instant::now()).is_ok() {
            DOORBELL.notify_one();
            thread::sleep(PAUSE);
        }
    });
    let runtime = Builder::new_current_thread().build().unwrap();
    let rate = runtime.block_on(async {
        tokio::spawn(victim(rings, tell));
        tokio::spawn(busy(n)).await.unwrap()
    });
    drop(runtime); // and with it the victim: nothing takes the rings now
    bell.join().unwrap();
    (rate, waits.into_iter().collect())
}

/// The time of a loop that is always the same: is the machine steady?
fn calibrate() -> u64 {
    let start = Instant::now();
    for it in 0..1_000_000 {
        black_box(it);
    }
    start.elapsed().as_nanos() as u64
}

fn main() {
    let mut order: Vec<u64> = (0..=16).step_by(2).map(|it| 1 << it).collect();
    let mut sweep = trace::Sweep::new("N")
        .title("primes, tokio's yield_now")
        .runtime("tokio 1.54.1 current_thread");
    let mut seed = 88_172_645_463_325_252_u64;
    for _repeat in 0..REPEATS {
        // In random order, so that a drift of the machine is no trend.
        for last in (1..order.len()).rev() {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            order.swap(last, seed as usize % (last + 1));
        }
        for n in &order {
            let (rate, waits) = measure(*n);
            sweep = sweep.calibration(calibrate()).point(*n, &[rate], &waits);
        }
    }
    sweep.save("yield-now-sweep");
    print!("{}", sweep.to_json());
}
