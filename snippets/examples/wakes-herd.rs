// ANCHOR: shown
//! Eight workers sleep, eight small jobs come. How many are woken?

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, Thread};
use std::time::Duration;

const WORKERS: usize = 8;
const BURSTS: usize = 200;

/// Everything under one lock.
#[derive(Default)]
struct State {
    jobs: usize,
    asleep: Vec<Thread>,
    searching: usize,
    is_over: bool,
}

#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    for_each_push: bool,
    done: AtomicUsize,
    woken: AtomicUsize,
    for_nothing: AtomicUsize,
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    // ANCHOR: notify
    fn notify(&self) {
        let mut state = self.lock();
        if state.searching > 0 && !self.for_each_push {
            return;
        }
        if let Some(worker) = state.asleep.pop() {
            state.searching += 1;
            self.woken.fetch_add(1, SeqCst);
            worker.unpark();
        }
    }
    // ANCHOR_END: notify

    fn work(&self) {
        let mut searching = false;
        loop {
            let mut state = self.lock();
            let was_searching = mem::take(&mut searching);
            if was_searching {
                state.searching -= 1;
            }
            if state.jobs > 0 {
                state.jobs -= 1;
                let is_last = was_searching && state.searching == 0;
                drop(state);
                if is_last {
                    self.notify();
                }
                self.done.fetch_add(1, SeqCst);
                continue;
            }
            if state.is_over {
                return;
            }
            if was_searching {
                self.for_nothing.fetch_add(1, SeqCst);
            }
            state.asleep.push(thread::current());
            drop(state);
            searching = self.park();
        }
    }

    /// Returns `true` when a `notify` has taken this worker off the list.
    fn park(&self) -> bool {
        let own = thread::current().id();
        loop {
            thread::park();
            let state = self.lock();
            if !state.asleep.iter().any(|worker| worker.id() == own) {
                return true;
            }
            if state.is_over {
                return false;
            }
        }
    }
}
// ANCHOR_END: shown

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_micros(50));
    }
}

fn run(name: &str, for_each_push: bool) {
    let pool = Pool {
        for_each_push,
        ..Pool::default()
    };
    let all_sleep = || pool.lock().asleep.len() == WORKERS;
    thread::scope(|scope| {
        (0..WORKERS).for_each(|_| drop(scope.spawn(|| pool.work())));
        for burst in 1..=BURSTS {
            wait_until(all_sleep);
            for _ in 0..WORKERS {
                pool.lock().jobs += 1;
                pool.notify();
            }
            wait_until(|| pool.done.load(SeqCst) == burst * WORKERS);
        }
        wait_until(all_sleep);
        let mut state = pool.lock();
        state.is_over = true;
        state.asleep.iter().for_each(Thread::unpark);
    });
    let [woken, for_nothing] = [pool.woken, pool.for_nothing]
        .map(|count| count.into_inner() as f64 / BURSTS as f64);
    println!("{name}: {woken:.1} woken, {for_nothing:.1} for nothing");
}

// ANCHOR: shown
fn main() {
    println!("{WORKERS} small jobs, on average:");
    run("one for each push", true);
    run("if none searches ", false);
}
// ANCHOR_END: shown
