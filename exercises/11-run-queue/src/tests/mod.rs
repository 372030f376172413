//! The checks of exercise 11, one or more for each clause of the contract. On
//! most machines clause 9 can't be seen to break: it has only models.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

mod counts;
mod ends;
mod histories;
mod items;
mod moments;
mod moves;

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use primitives::chaos::{read_modify_writes, with_chaos};
use testkit::{DropProbe, Lesson, allocations, check, live_blocks};

use super::{Local, Stealer, run_queue, run_queue_at};

/// Determines what happens under chaos.
const SEED: u64 = 11;
/// The slots of a queue that is meant to be full often.
const FEW: usize = 8;
/// The slots of the largest queue.
const LARGEST: usize = if cfg!(miri) { 512 } else { 32_768 };
/// A race ends after this long, with fewer items: on a busy machine each yield
/// may cost a thread a time slice of all the other threads.
const RACE: Duration = Duration::from_millis(200);

/// A queue with the items `0..count` in it.
#[track_caller]
fn queue_of<const N: usize>(count: u32) -> (Local<u32, N>, Stealer<u32, N>) {
    let (queue, stealer) = run_queue();
    fill(&queue, 0..count);
    (queue, stealer)
}

#[track_caller]
fn fill<const N: usize>(
    queue: &Local<u32, N>,
    items: impl IntoIterator<Item = u32>,
) {
    for item in items {
        let pushed = queue.push(item);
        assert!(pushed.is_ok(), "there is room, and `push` gave {item} back");
    }
}

/// A queue that takes no more items, and how many are in it.
#[track_caller]
fn full<const N: usize>() -> (Local<u32, N>, Stealer<u32, N>, u32) {
    let (queue, stealer) = run_queue();
    let count = (0..).take_while(|item| queue.push(*item).is_ok()).count();
    (queue, stealer, count as u32)
}

/// Pops all items.
fn drain<T, const N: usize>(queue: &Local<T, N>) -> Vec<T> {
    std::iter::from_fn(|| queue.pop()).collect()
}

/// Steals, while no other thread is at work. Returns what was returned, and
/// what the thief then found in its queue.
#[track_caller]
fn steal<const N: usize>(
    stealer: &Stealer<u32, N>,
    thief: &Local<u32, N>,
) -> (u32, Vec<u32>) {
    let one = stealer.steal_into(thief);
    let one = one.expect("there are items, and no other thread is at work");
    (one, drain(thief))
}

/// Fails unless a thief that has room gets something from this queue.
#[track_caller]
fn assert_can_be_stolen_from<const N: usize>(
    queue: &Local<u32, N>,
    stealer: &Stealer<u32, N>,
    after: &str,
) {
    drain(queue);
    fill(queue, [0, 1]);
    let stolen = stealer.steal_into(&run_queue().0);
    assert!(
        stolen.is_some(),
        "after {after} no thief gets anything from that queue anymore"
    );
}

/// Fails unless each of the items `0..count` is there once.
#[track_caller]
fn assert_each_once(mut items: Vec<u32>, count: u32) {
    items.sort_unstable();
    if let Some(twice) = items.windows(2).find(|pair| pair[0] == pair[1]) {
        panic!("item {} came out twice", twice[0]);
    }
    let there: BTreeSet<_> = items.iter().copied().collect();
    let lost = (0..count).filter(|item| !there.contains(item)).count();
    assert!(lost == 0, "{lost} of {count} items didn't come out");
    assert!(items.len() == count as usize, "too many items came out");
}

fn steal_until(stealer: &Stealer<u32, FEW>, is_over: &AtomicBool) -> Vec<u32> {
    let (own, _) = run_queue();
    let mut items = Vec::new();
    loop {
        let was_over = is_over.load(SeqCst);
        match stealer.steal_into(&own) {
            Some(item) => {
                items.push(item);
                items.extend(drain(&own));
            }
            None if was_over => return items,
            None => thread::yield_now(),
        }
    }
}
