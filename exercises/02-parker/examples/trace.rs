//! When does your parker sleep, and what ends it? Two unparks come while the
//! worker is busy, and leave one token; a third comes while it sleeps.
//!
//! `cargo workshop trace 2` shows it as a timeline.

use std::thread;
use std::time::Duration;

use exercise_2::Parker;

const MS: Duration = Duration::from_millis(1);

pub(crate) fn main() {
    let recording = trace::record("Your parker", "exercise 2", 2);
    let parker = Parker::new();
    let unparker = parker.unparker();
    let worker = thread::spawn(move || {
        trace::thread_start();
        trace::span("busy", || thread::sleep(2 * MS));
        for job in ["first job", "second job"] {
            trace::thread_park();
            parker.park();
            trace::thread_unpark();
            trace::span(job, || thread::sleep(MS / 2));
        }
    });
    thread::sleep(MS);
    trace::thread_start();
    for text in ["a token", "the same token", "another token"] {
        trace::span("unparker", || {
            trace::mark(text);
            unparker.unpark();
        });
        if text != "a token" {
            thread::sleep(4 * MS);
        }
    }
    worker.join().unwrap();
    recording.finish().save("your-trace");
}
