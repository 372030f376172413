//! A task that is woken now and then, and notes how long it waits for its turn
//! while another one keeps the thread busy.

use std::fs;
use std::future::poll_fn;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use Ordering::{Acquire, Release};
use futures::task::AtomicWaker;
use tokio::runtime::Runtime;

/// What came of a task and its victim.
pub struct Outcome {
    /// How long the task took.
    pub took: Duration,
    /// CPU time of its thread meanwhile. `None` where the operating system
    /// doesn't tell.
    pub cpu: Option<Duration>,
    /// How long the victim waited, from wake-up to poll.
    pub waits: Vec<Duration>,
}

/// Some work of a dozen nanoseconds or so, which depends on the item before.
#[inline]
pub fn item(number: u64) -> u64 {
    // xorshift64 (Marsaglia, 2003), a few times.
    (0..8).fold(black_box(number), |number, _| {
        let number = number ^ number << 13;
        let number = number ^ number >> 7;
        number ^ number << 17
    })
}

/// Runs `busy` on this thread beside a victim that another thread wakes every
/// 100 to 300 µs.
///
/// # Panics
///
/// When `busy` panics.
pub fn run(runtime: &Runtime, busy: impl Future<Output = ()> + Send + 'static) -> Outcome {
    let bell = Arc::new(Bell::default());
    let victim = runtime.spawn(bell.clone().hear());
    let ringing = thread::spawn({
        let bell = bell.clone();
        move || bell.ring_until_over()
    });
    let timed = async move {
        let (start, cpu) = (Instant::now(), cpu_time());
        busy.await;
        let cpu = cpu_time().zip(cpu).map(|(after, before)| after - before);
        (start.elapsed(), cpu)
    };
    runtime.block_on(async {
        let busy = tokio::spawn(timed).await;
        let (took, cpu) = busy.expect("the busy task does not panic");
        bell.is_over.store(true, Release);
        ringing.join().expect("the ringing does not panic");
        bell.waker.wake();
        let waits = victim.await.expect("the victim does not panic");
        Outcome { took, cpu, waits }
    })
}

/// CPU time of this thread.
fn cpu_time() -> Option<Duration> {
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let ns = schedstat.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(ns))
}

/// Wakes the victim, and says since when it waits.
#[derive(Default)]
struct Bell {
    /// When it was rung, and not heard since. It rings on while the victim
    /// waits: or long turns would be hit at their beginning only.
    rung: Mutex<Vec<Instant>>,
    waker: AtomicWaker,
    is_over: AtomicBool,
}

impl Bell {
    fn ring_until_over(&self) {
        let mut random = 0x9E37_79B9_7F4A_7C15;
        // Acquire: pairs with the Release in `run`; nothing else is published by it.
        while !self.is_over.load(Acquire) {
            random = item(random);
            // Not in step with any slice.
            thread::sleep(Duration::from_micros(100 + random % 200));
            self.rung().push(Instant::now());
            self.waker.wake();
        }
    }

    /// The victim.
    async fn hear(self: Arc<Self>) -> Vec<Duration> {
        let mut waits = Vec::with_capacity(10_000);
        poll_fn(|cx| {
            self.waker.register(cx.waker());
            waits.extend(self.rung().drain(..).map(|rung| rung.elapsed()));
            // Acquire: pairs with the Release in `run`.
            if self.is_over.load(Acquire) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        waits
    }

    fn rung(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.rung.lock().expect("no thread panics with it")
    }
}
