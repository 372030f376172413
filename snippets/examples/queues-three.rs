//! Two workers and eight tasks that yield: one queue, a queue for each worker,
//! and a queue for each that the other may take from.

// ANCHOR: all
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Condvar, Mutex};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One lock for everything: what matters here is which worker may take what.
struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    may_steal: bool,
}

struct State {
    queues: Vec<VecDeque<Task>>,
    task_count: usize,
}

impl Pool {
    fn new(queue_count: usize, may_steal: bool, tasks: Vec<Task>) -> Self {
        let task_count = tasks.len();
        let mut queues: Vec<_> =
            (0..queue_count).map(|_| VecDeque::new()).collect();
        // ANCHOR: place
        for (number, task) in tasks.into_iter().enumerate() {
            queues[number % queue_count].push_back(task);
        }
        // ANCHOR_END: place
        Self {
            state: Mutex::new(State { queues, task_count }),
            changed: Condvar::new(),
            may_steal,
        }
    }

    // ANCHOR: next
    fn next(&self, own: usize) -> Option<Task> {
        let mut state = self.state.lock().unwrap();
        while state.task_count > 0 {
            let mut task = state.queues[own].pop_front();
            if task.is_none() && self.may_steal {
                let mut queues = state.queues.iter_mut();
                task = queues.find_map(VecDeque::pop_front);
            }
            if task.is_some() {
                return task;
            }
            trace::thread_park();
            state = self.changed.wait(state).unwrap();
            trace::thread_unpark();
        }
        None
    }
    // ANCHOR_END: next

    fn work(&self, own: usize) {
        trace::thread_start();
        while let Some(mut task) = self.next(own) {
            let mut cx = Context::from_waker(Waker::noop());
            let is_ready = task.as_mut().poll(&mut cx).is_ready();
            let mut state = self.state.lock().unwrap();
            match is_ready {
                true => state.task_count -= 1,
                // All that a task of ours does is yield.
                false => state.queues[own].push_back(task),
            }
            drop(state);
            self.changed.notify_all();
        }
    }
}

// ANCHOR: tasks
/// Computes for that long in each of three polls.
async fn three_polls(time: Duration) {
    for part in 1..=3 {
        let start = Instant::now();
        while start.elapsed() < time {}
        if part < 3 {
            futures::pending!();
        }
    }
}

/// Four connections: for each a task that serves it, and one that logs it.
fn connections() -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    for number in 1..=4 {
        let serve = three_polls(Duration::from_micros(600));
        let log = three_polls(Duration::from_micros(60));
        tasks.push(Box::pin(trace::task(format!("serve {number}"), serve)));
        tasks.push(Box::pin(trace::task(format!("log {number}"), log)));
    }
    tasks
}
// ANCHOR_END: tasks

fn run(title: &str, name: &str, queue_count: usize, may_steal: bool) {
    let recording = trace::record(title, "two threads of std", 2);
    let pool = Pool::new(queue_count, may_steal, connections());
    let start = Instant::now();
    thread::scope(|scope| {
        for worker in 0..2 {
            let pool = &pool;
            scope.spawn(move || pool.work(worker % queue_count));
        }
    });
    println!("{title}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    recording.finish().save(name);
}

fn main() {
    run("One queue", "queues-one", 1, false);
    run("A queue for each worker", "queues-sharded", 2, false);
    run("… and the other may steal", "queues-stealing", 2, true);
}
// ANCHOR_END: all
