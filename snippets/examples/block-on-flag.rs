//! A wake-up that comes between the look and the sleep.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Signal {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

fn main() {
    let signal = Arc::new(Signal::default());

    // The sleeper looks, sees nothing...
    let was_woken = *signal.is_woken.lock().unwrap();

    // ...the wake-up comes just now...
    let other = signal.clone();
    thread::spawn(move || {
        *other.is_woken.lock().unwrap() = true;
        other.woken.notify_one();
    })
    .join()
    .unwrap();

    // ...and the sleeper acts on what it saw.
    if !was_woken {
        let guard = signal.is_woken.lock().unwrap();
        let limit = Duration::from_secs(1);
        let (_guard, result) = signal.woken.wait_timeout(guard, limit).unwrap();
        println!("slept in vain: {}", result.timed_out());
    }
}
