//! A notification between the look and the sleep, although the sleeper holds
//! the mutex all the time.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Shared {
    has_token: AtomicBool,
    lock: Mutex<()>,
    woken: Condvar,
}

fn main() {
    let shared = Arc::new(Shared::default());

    // The sleeper takes the mutex, looks, and sees nothing...
    let guard = shared.lock.lock().unwrap();
    let has_token = shared.has_token.load(SeqCst);

    // ...the token is left and the sleeper notified, without the mutex...
    let unparking = shared.clone();
    thread::spawn(move || {
        unparking.has_token.store(true, SeqCst);
        unparking.woken.notify_one();
    })
    .join()
    .unwrap();

    // ...and the sleeper goes to sleep.
    if !has_token {
        let limit = Duration::from_secs(1);
        let (_guard, result) = shared.woken.wait_timeout(guard, limit).unwrap();
        println!("slept in vain: {}", result.timed_out());
    }
}
