//! Which worker steals, which one searches, and which one parks? A task spawns
//! eight others, which work for a while. Then the runtime is idle, until a task
//! comes from outside.
//!
//! `cargo workshop trace 14` shows it as a timeline. Your queues are in it if you
//! tell the builder's `observer` what happens to them.

use std::thread;
use std::time::{Duration, Instant};

use exercise_14::{Event, Queue, Runtime, spawn};

const STEP: Duration = Duration::from_micros(150);

fn observe(event: Event) {
    use trace::queue::{self, Queue as Place};
    let place = |queue| match queue {
        Queue::Local => Place::Local,
        Queue::Slot => Place::Slot,
        Queue::Global => Place::Global,
    };
    match event {
        Event::Started { worker } => queue::started(worker),
        Event::Pushed(queue) => queue::pushed(place(queue)),
        Event::Popped(queue) => queue::popped(place(queue)),
        Event::Overflowed { count } => queue::overflowed(count),
        Event::Took { count } => queue::took(count),
        Event::Stole { from, count } => queue::stole(from, count),
        Event::SearchBegan => queue::searches(),
        Event::SearchEnded { found } => queue::searched(found),
        Event::Notified { worker } => queue::notified(worker),
        Event::Parked => trace::thread_park(),
        Event::Unparked => trace::thread_unpark(),
    }
}

async fn work() {
    let start = Instant::now();
    while start.elapsed() < STEP {}
}

pub(crate) fn main() {
    let recording = trace::record("Your scheduler", "exercise 14", 2);
    let mut builder = Runtime::builder();
    let built = builder.worker_threads(2).observer(observe).build();
    let runtime = built.expect("there are threads left");
    runtime
        .block_on(runtime.spawn(trace::task("burst", async {
            let tasks = ["A", "B", "C", "D", "E", "F", "G", "H"];
            let tasks = tasks.map(|name| spawn(trace::task(name, work())));
            for task in tasks {
                task.await.expect("it ends");
            }
        })))
        .expect("it ends");
    thread::sleep(4 * STEP);
    let late = runtime.spawn(trace::task("late", work()));
    runtime.block_on(late).expect("it ends");
    drop(runtime);
    recording.finish().save("your-trace");
}
