//! Which event wakes which task? A reader and a writer wait for one source, each
//! on a thread of its own. A third thread reports events: for the reader, for
//! the writer, and for both.
//!
//! `cargo workshop trace 15` shows it as a timeline.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use exercise_15::{Direction, Event, Readiness};

const MS: Duration = Duration::from_millis(1);

fn main() {
    let readiness = Readiness::new();
    let tasks = [("reader", Direction::Read), ("writer", Direction::Write)];
    let recording = trace::record("Your readiness", "exercise 15", tasks.len());
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        for (name, direction) in tasks {
            let (readiness, tell) = (&readiness, tell.clone());
            scope.spawn(move || {
                trace::thread_start();
                parker::block_on(trace::task(name, async {
                    // After each event, the task tries once and gets
                    // `WouldBlock`.
                    while let Ok(seen) = readiness.ready(direction).await {
                        readiness.clear(seen);
                        let _ = tell.send(name);
                    }
                }));
            });
        }
        for (readable, writable) in
            [(true, false), (true, false), (false, true), (true, true)]
        {
            thread::sleep(2 * MS);
            readiness.set_ready(Event {
                readable,
                writable,
                ..Event::default()
            });
            let tries = usize::from(readable) + usize::from(writable);
            told.iter().take(tries).for_each(drop);
        }
        thread::sleep(2 * MS);
        readiness.shut_down();
    });
    recording.finish().save("your-trace");
}
