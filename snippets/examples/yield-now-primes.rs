//! Counts primes, one task for each number, and yields more or less often.

use std::time::{Duration, Instant};

use tokio::task::{JoinSet, yield_now};

/// Tries all divisors. Yields after every `rest` of them, unless `rest` is 0.
async fn is_prime(number: u32, rest: u32) -> bool {
    let mut left = rest;
    for divisor in 2..number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        if rest > 0 {
            left -= 1;
            if left == 0 {
                left = rest;
                yield_now().await;
            }
        }
    }
    true
}

async fn count_primes(end: u32, rest: u32) -> (usize, Duration) {
    let start = Instant::now();
    let mut numbers = JoinSet::new();
    for number in 2..end {
        numbers.spawn(is_prime(number, rest));
    }
    let primes = numbers.join_all().await;
    let count = primes.into_iter().filter(|is_prime| *is_prime).count();
    (count, start.elapsed())
}

#[tokio::main]
async fn main() {
    count_primes(20_000, 0).await; // the first round is slower
    let mut never = None;
    for (how, rest) in [("never", 0), ("every 1000th", 1_000), ("each", 1)] {
        let (count, took) = count_primes(20_000, rest).await;
        let times = took.div_duration_f64(*never.get_or_insert(took));
        let ms = took.as_millis();
        println!("{how:13} {count} primes, {ms:5} ms, {times:5.1} times");
    }
}
