//! A parker with a token of its own: a flag under a mutex.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Shared {
    has_token: Mutex<bool>,
    woken: Condvar,
}

#[derive(Default)]
struct Parker(Arc<Shared>);

struct Unparker(Arc<Shared>);

impl Parker {
    fn park(&self) {
        let Shared { has_token, woken } = &*self.0;
        let mut has_token = has_token.lock().unwrap();
        while !*has_token {
            has_token = woken.wait(has_token).unwrap();
        }
        *has_token = false;
    }

    fn unparker(&self) -> Unparker {
        Unparker(self.0.clone())
    }
}

impl Unparker {
    fn unpark(&self) {
        *self.0.has_token.lock().unwrap() = true;
        self.0.woken.notify_one();
    }
}

// ANCHOR: shown
const PAUSE: Duration = Duration::from_millis(50);

fn main() {
    let parker = Parker::default();
    let unparker = parker.unparker();
    unparker.unpark();
    unparker.unpark();

    let start = Instant::now();
    thread::park_timeout(PAUSE);
    println!("thread::park slept: {}", start.elapsed() >= PAUSE);

    let start = Instant::now();
    parker.park();
    println!("the first park slept: {}", start.elapsed() >= PAUSE);

    let start = Instant::now();
    thread::spawn(move || {
        thread::sleep(PAUSE);
        unparker.unpark();
    });
    parker.park();
    println!("the second park slept: {}", start.elapsed() >= PAUSE);
}
// ANCHOR_END: shown
