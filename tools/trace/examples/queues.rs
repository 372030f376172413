//! Two threads that play workers: each has a queue with room for six jobs, steals
//! half of the other's, and sleeps when there is nothing. They tell the recorder
//! what becomes of the queues.
//!
//! `WORKSHOP_FIGURES=web/test/data cargo run -p trace --example queues` renews what
//! the page's tests draw.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use trace::queue::{self, Queue};

const ROOM: usize = 6;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Scheduler {
    local: [Mutex<VecDeque<Job>>; 2],
    global: Mutex<VecDeque<Job>>,
    sleeps: [AtomicBool; 2],
    threads: [OnceLock<Thread>; 2],
    unfinished: AtomicUsize,
}

impl Scheduler {
    fn spawn(&self, worker: usize, job: Job) {
        self.unfinished.fetch_add(1, SeqCst);
        let mut local = self.local[worker].lock().unwrap();
        if local.len() < ROOM {
            queue::pushed(Queue::Local);
            local.push_back(job);
        } else {
            let half: Vec<Job> = local.drain(..ROOM / 2).chain([job]).collect();
            queue::overflowed(half.len());
            self.global.lock().unwrap().extend(half);
        }
        drop(local);
        let other = 1 - worker;
        if self.sleeps[other].swap(false, SeqCst) {
            queue::notified(other);
            self.threads[other].get().expect("it has slept").unpark();
        }
    }

    fn run(&self, worker: usize) {
        queue::started(worker);
        while self.unfinished.load(SeqCst) > 0 {
            let job = self.local[worker].lock().unwrap().pop_front();
            match job {
                Some(job) => {
                    queue::popped(Queue::Local);
                    job();
                    self.unfinished.fetch_sub(1, SeqCst);
                }
                None if self.take(worker) || self.steal(worker) => {}
                None => self.sleep(worker),
            }
        }
        self.threads[1 - worker].get().map(Thread::unpark);
    }

    fn take(&self, worker: usize) -> bool {
        let mut global = self.global.lock().unwrap();
        let half = global.len().div_ceil(2);
        let batch: Vec<Job> = global.drain(..half).collect();
        if !batch.is_empty() {
            queue::took(batch.len());
            self.local[worker].lock().unwrap().extend(batch);
            return true;
        }
        false
    }

    fn steal(&self, worker: usize) -> bool {
        queue::searches();
        let other = 1 - worker;
        let mut theirs = self.local[other].lock().unwrap();
        let half = theirs.len().div_ceil(2);
        let stolen: Vec<Job> = theirs.drain(..half).collect();
        if half > 0 {
            queue::stole(other, half);
        }
        drop(theirs);
        queue::searched(half > 0);
        self.local[worker].lock().unwrap().extend(stolen);
        half > 0
    }

    fn sleep(&self, worker: usize) {
        self.threads[worker].get_or_init(thread::current);
        self.sleeps[worker].store(true, SeqCst);
        trace::thread_park();
        // A real scheduler looks at all queues again instead of a timeout.
        thread::park_timeout(Duration::from_millis(1));
        trace::thread_unpark();
        self.sleeps[worker].store(false, SeqCst);
    }
}

/// A job that computes for a while.
fn busy(name: String, micros: u64) -> Job {
    Box::new(trace::job(name, move || {
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(micros) {}
    }))
}

fn main() {
    let recording = trace::record("two workers and a burst", "by hand", 2);
    let scheduler = Scheduler::default();
    scheduler.unfinished.store(1, SeqCst); // the burst itself
    thread::scope(|scope| {
        scope.spawn(|| scheduler.run(1));
        while !scheduler.sleeps[1].load(SeqCst) {
            thread::yield_now();
        }
        scope.spawn(|| {
            queue::started(0);
            trace::span("burst", || {
                for (name, micros) in ('A'..='H').zip([100, 100, 100, 400, 400, 400, 100, 400]) {
                    scheduler.spawn(0, busy(name.to_string(), micros));
                }
            });
            scheduler.unfinished.fetch_sub(1, SeqCst);
            scheduler.run(0);
        });
    });
    let trace = recording.finish();
    println!("{}", trace.sentences().join("\n"));
    trace.save("queues");
}
