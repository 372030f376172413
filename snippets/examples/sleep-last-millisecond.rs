//! A thread that waits for a deadline, or for a message on a channel.

use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Waits for the deadline. Returns how often it has checked the clock.
fn wait_until(deadline: Instant, round: fn(Duration) -> Duration) -> u32 {
    let (_tell, news) = mpsc::channel::<()>();
    let mut looks = 0;
    loop {
        looks += 1;
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return looks;
        }
        let _ = news.recv_timeout(round(left));
    }
}

fn main() {
    let cut = |left: Duration| Duration::from_millis(left.as_millis() as u64);
    let nap = Duration::from_micros(900);
    let cut_looks = wait_until(Instant::now() + nap, cut);
    let exact_looks = wait_until(Instant::now() + nap, |left| left);
    println!("whole milliseconds: looked {cut_looks} times");
    println!("what is left: looked {exact_looks} times");
    assert!(cut_looks > exact_looks);
}
