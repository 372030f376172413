//! How many threads does your pool start, and when? Two jobs that meet, then a
//! pause, then four jobs for at most two threads.
//!
//! `cargo workshop trace 6` shows it as a timeline.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// A job that first says on which thread it runs: each of the pool's threads is
/// a worker of the timeline.
fn job(name: &'static str, body: impl FnOnce() + Send) -> impl FnOnce() + Send {
    let job = trace::job(name, body);
    move || {
        trace::thread_start();
        job();
    }
}

fn main() {
    let recording = trace::record("Your blocking pool", "exercise 6", 3);
    trace::thread_start();
    let pool = exercise_6::Pool::new(2, 100 * MS);
    let meeting = Arc::new(Barrier::new(2));
    parker::block_on(trace::task("submitter", async {
        let jobs = ["A", "B"].map(|name| {
            let meeting = meeting.clone();
            pool.spawn_blocking(job(name, move || {
                thread::sleep(2 * MS);
                meeting.wait();
            }))
        });
        for job in jobs {
            job.await.expect("the job returns");
        }
        pool.spawn_blocking(|| thread::sleep(3 * MS)).await.unwrap();
        let nap = || thread::sleep(MS);
        let jobs = ["C", "D", "E", "F"]
            .map(|name| pool.spawn_blocking(job(name, nap)));
        for job in jobs {
            job.await.expect("the job returns");
        }
    }));
    drop(pool);
    recording.finish().save("your-trace");
}
