// ANCHOR: all
//! The life of a task as one word: change the order of events in `main`.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

const RUNNING: usize = 1;
const NOTIFIED: usize = 2;
const COMPLETE: usize = 4;

struct State(AtomicUsize);

impl State {
    // ANCHOR: wake
    /// Returns `true` if the caller has to put the task into a queue.
    fn wake(&self) -> bool {
        let woken = self.0.fetch_update(AcqRel, Relaxed, |state| {
            match state & (RUNNING | COMPLETE) {
                0 => Some(state | RUNNING),
                RUNNING => Some(state | NOTIFIED),
                _ => None,
            }
        });
        woken.is_ok_and(|before| before & RUNNING == 0)
    }
    // ANCHOR_END: wake

    /// Serves all wake-ups so far.
    fn begin(&self) {
        self.0.fetch_and(!NOTIFIED, Acquire);
    }

    /// Returns `true` if the task waits now, `false` if it must run again.
    fn let_go(&self) -> bool {
        let let_go = self.0.fetch_update(AcqRel, Relaxed, |state| {
            (state & NOTIFIED == 0).then_some(state & !RUNNING)
        });
        let_go.is_ok()
    }

    fn complete(&self) {
        self.0.store(COMPLETE, Relaxed);
    }

    fn show(&self, event: &str) {
        let state = self.0.load(Relaxed);
        let flags = [
            (RUNNING, "running"),
            (NOTIFIED, "notified"),
            (COMPLETE, "complete"),
        ];
        let set = flags.into_iter().filter(|(flag, _)| state & flag != 0);
        let names: Vec<_> = set.map(|(_, name)| name).collect();
        let is = if names.is_empty() {
            "waiting".into()
        } else {
            names.join(" ")
        };
        println!("{event:<20}{is}");
    }
}

fn main() {
    let task = State(AtomicUsize::new(RUNNING));
    task.show("spawned");
    task.begin();
    task.let_go();
    task.show("polled: pending");
    println!("woken: into the queue: {}", task.wake());
    println!("woken again: into the queue: {}", task.wake());
    task.show("in the queue");
    task.begin();
    task.show("the poll begins");
    task.wake();
    task.show("woken in the poll");
    println!("pending: it waits: {}", task.let_go());
    task.begin();
    task.complete();
    task.show("polled: ready");
    println!("woken late: into the queue: {}", task.wake());
}
// ANCHOR_END: all
