//! Three tasks with the same number of steps alternate: A yields after each
//! step, B after every fourth, and C never.
//!
//! `cargo workshop trace 7` shows them on a timeline. Which tasks wait for
//! which?

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use exercise_7::{EveryNth, yield_now};
use testkit::RoundRobin;

const STEPS: u32 = 12;
const STEP: Duration = Duration::from_micros(100);

fn step() {
    let start = Instant::now();
    while start.elapsed() < STEP {}
}

fn main() {
    let recording =
        trace::record("Your yields", "exercise 7, a queue of three tasks", 1);
    trace::thread_start();
    let mut tasks = RoundRobin::new();
    let each = trace::task("A", async {
        for _ in 0..STEPS {
            step();
            yield_now().await;
        }
    });
    let every_fourth = trace::task("B", async {
        let n = NonZeroU32::new(4).expect("four is not zero");
        let mut every_fourth = EveryNth::new(n);
        for _ in 0..STEPS {
            step();
            every_fourth.tick().await;
        }
    });
    let never = trace::task("C", async { (0..STEPS).for_each(|_| step()) });
    tasks.spawn('A', each);
    tasks.spawn('B', every_fourth);
    tasks.spawn('C', never);
    tasks.run();
    recording.finish().save("your-trace");
}
