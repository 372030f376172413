// ANCHOR: all
//! One thread for all sleepers, in its simplest form.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Condvar, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// A deadline, and a number that tells equal deadlines apart.
type Key = (Instant, u64);

// ANCHOR: list
#[derive(Default)]
struct Timers {
    sleeps: Mutex<BTreeMap<Key, Waker>>,
    changed: Condvar,
}
// ANCHOR_END: list

// ANCHOR: drive
impl Timers {
    /// What the timer thread does.
    fn drive(&self) {
        let mut sleeps = self.sleeps.lock().unwrap();
        loop {
            let now = Instant::now();
            sleeps = match sleeps.first_entry() {
                None => self.changed.wait(sleeps).unwrap(),
                Some(first) if first.key().0 <= now => {
                    let waker = first.remove();
                    drop(sleeps);
                    waker.wake();
                    self.sleeps.lock().unwrap()
                }
                Some(first) => {
                    let left = first.key().0 - now;
                    self.changed.wait_timeout(sleeps, left).unwrap().0
                }
            };
        }
    }
}
// ANCHOR_END: drive

fn timers() -> &'static Timers {
    static TIMERS: OnceLock<Timers> = OnceLock::new();
    static STARTED: OnceLock<()> = OnceLock::new();
    let timers = TIMERS.get_or_init(Timers::default);
    STARTED.get_or_init(|| _ = thread::spawn(|| timers.drive()));
    timers
}

// ANCHOR: sleep
struct Sleep {
    key: Key,
    is_known: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let mut sleeps = timers().sleeps.lock().unwrap();
        if self.is_known && !sleeps.contains_key(&self.key) {
            return Poll::Ready(());
        }
        self.is_known = true;
        let older = sleeps.insert(self.key, waker);
        drop(sleeps);
        drop(older);
        timers().changed.notify_one();
        Poll::Pending
    }
}
// ANCHOR_END: sleep

fn sleep(duration: Duration) -> Sleep {
    static NUMBER: Mutex<u64> = Mutex::new(0);
    let mut number = NUMBER.lock().unwrap();
    *number += 1;
    let deadline = Instant::now() + duration;
    let key = (deadline, *number);
    Sleep {
        key,
        is_known: false,
    }
}

fn main() {
    let start = Instant::now();
    let naps = (0..1_000).map(|_| sleep(Duration::from_millis(50)));
    futures::executor::block_on(futures::future::join_all(naps));
    let passed = start.elapsed();
    println!("1000 naps of 50 ms on one thread: {passed:.0?}");
    assert!(passed < Duration::from_secs(5));
}
// ANCHOR_END: all
