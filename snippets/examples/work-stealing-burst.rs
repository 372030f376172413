//! A task that spawns eight others, and the worker that comes to help.

// ANCHOR: all
use std::thread;
use std::time::{Duration, Instant};

use work_stealing::{Event, Queue, Runtime, spawn};

const TASKS: usize = 8;

async fn work() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(200) {}
}

// ANCHOR: burst
async fn burst() {
    for number in 1..=TASKS {
        drop(spawn(trace::task(format!("task {number}"), work())));
    }
}
// ANCHOR_END: burst

/// What the runtime tells of itself, for the figure.
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

fn main() {
    let mut builder = Runtime::builder();
    let builder = builder.worker_threads(2).observer(observe);
    let runtime = builder.build().expect("there are threads left");
    // Time for both workers to park.
    thread::sleep(Duration::from_millis(5));
    let title = "A burst, and who comes to help";
    let recording = trace::record(title, "solution 14", 2);
    drop(runtime.spawn(trace::task("burst", burst())));
    thread::sleep(Duration::from_millis(3));
    let trace = recording.finish();
    trace.save("work-stealing-burst");
    for sentence in trace.sentences() {
        println!("{sentence}");
    }
}
// ANCHOR_END: all
