//! Which thread is woken, and when? Three threads sleep for a long, a short and
//! a medium time, twice each, and the timer thread wakes them.
//!
//! `cargo workshop trace 5` shows it as a timeline.

use std::thread;
use std::time::Duration;

use exercise_5::sleep;

const MS: Duration = Duration::from_millis(1);

fn main() {
    let tasks = [("long", 9 * MS), ("short", 2 * MS), ("middling", 5 * MS)];
    let recording = trace::record("Your sleeps", "exercise 5", tasks.len());
    thread::scope(|scope| {
        for (name, duration) in tasks {
            scope.spawn(move || {
                trace::thread_start();
                parker::block_on(trace::task(name, async {
                    sleep(duration).await;
                    // Begun while the timer thread sleeps for others.
                    sleep(duration / 4).await;
                }));
            });
        }
    });
    recording.finish().save("your-trace");
}
