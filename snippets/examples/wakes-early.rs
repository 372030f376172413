// ANCHOR: all
//! Two threads write, and then look at what the other has written. Can both
//! look too early?

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::thread;

use Ordering::{Acquire, Relaxed, Release, SeqCst};

const ROUNDS: u32 = 50_000;

/// What both threads see. Each flag has a cache line of its own.
#[derive(Default)]
struct Shared {
    has_work: Line,
    is_asleep: Line,
    /// How often a thread has arrived: both begin a round together.
    arrived: AtomicU32,
}

#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicBool);

// ANCHOR: both
fn push_and_look(shared: &Shared, with_fence: bool) -> bool {
    shared.has_work.0.store(true, Release);
    if with_fence {
        fence(SeqCst);
    }
    shared.is_asleep.0.load(Acquire)
}

fn sleep_and_look(shared: &Shared, with_fence: bool) -> bool {
    shared.is_asleep.0.store(true, Release);
    if with_fence {
        fence(SeqCst);
    }
    shared.has_work.0.load(Acquire)
}
// ANCHOR_END: both

/// Returns in how many rounds neither saw the other.
fn missed(with_fence: bool) -> usize {
    let rounds: Vec<_> = (0..ROUNDS).map(|_| Shared::default()).collect();
    let begin = Barrier::new(2);
    let run = |look: fn(&Shared, bool) -> bool| {
        begin.wait();
        let look = |shared: &Shared| {
            shared.arrived.fetch_add(1, Relaxed);
            while shared.arrived.load(Relaxed) < 2 {
                std::hint::spin_loop();
            }
            look(shared, with_fence)
        };
        rounds.iter().map(look).collect::<Vec<_>>()
    };
    let (pushed, slept) = thread::scope(|scope| {
        let sleeping = scope.spawn(|| run(sleep_and_look));
        (run(push_and_look), sleeping.join().unwrap())
    });
    let seen = pushed.iter().zip(&slept);
    seen.filter(|(pusher, sleeper)| !*pusher && !*sleeper)
        .count()
}

fn main() {
    println!("without a fence: {} of {ROUNDS}", missed(false));
    println!("with fences:     {} of {ROUNDS}", missed(true));
}
// ANCHOR_END: all
