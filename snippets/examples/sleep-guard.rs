//! Takes a value out of a map under a mutex, and drops it.

use std::collections::BTreeMap;
use std::sync::Mutex;

static SLEEPS: Mutex<BTreeMap<u32, Task>> = Mutex::new(BTreeMap::new());

/// A task that has a sleep of its own: when the task is dropped, so is the
/// sleep, which takes itself out of the map.
struct Task {
    own_sleep: u32,
}

impl Drop for Task {
    fn drop(&mut self) {
        println!("the task is dropped, and so is sleep {}", self.own_sleep);
        SLEEPS.lock().unwrap().remove(&self.own_sleep);
    }
}

fn main() {
    SLEEPS.lock().unwrap().insert(1, Task { own_sleep: 2 });
    // Is the lock released before the task is dropped?
    SLEEPS.lock().unwrap().remove(&1);
    println!("done");
}
