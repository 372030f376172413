//! Values that report when, where and how often they are dropped.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// A value whose drops are written to a [`DropLog`].
#[derive(Debug)]
pub struct DropProbe(Arc<Mutex<Vec<ThreadId>>>);

/// The drops of one [`DropProbe`].
#[derive(Clone, Debug)]
pub struct DropLog(Arc<Mutex<Vec<ThreadId>>>);

impl DropProbe {
    /// Makes a probe and the log of its drops.
    pub fn new() -> (Self, DropLog) {
        let threads = Arc::new(Mutex::new(Vec::new()));
        (Self(threads.clone()), DropLog(threads))
    }
}

impl Drop for DropProbe {
    fn drop(&mut self) {
        let here = std::thread::current().id();
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(here);
    }
}

impl DropLog {
    /// How often the probe has been dropped.
    pub fn count(&self) -> usize {
        self.threads().len()
    }

    /// The threads that dropped it, in order.
    pub fn threads(&self) -> Vec<ThreadId> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// A value whose drop panics, unless its thread is already panicking.
#[derive(Debug)]
pub struct PanicOnDrop;

impl PanicOnDrop {
    /// The message of its panic.
    pub const MESSAGE: &str = "this value panics when it is dropped";
}

impl Drop for PanicOnDrop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("{}", Self::MESSAGE);
        }
    }
}

/// Dropped when a thread ends. Each takes a different time, so that a thread
/// that waits for only some of the threads doesn't find all of them dropped.
struct SlowEnd {
    time: Duration,
    _probe: DropProbe,
}

impl Drop for SlowEnd {
    fn drop(&mut self) {
        thread::sleep(self.time);
    }
}

thread_local! {
    static END: RefCell<Option<SlowEnd>> = const { RefCell::new(None) };
}

/// Makes a log that says when the calling thread has ended, and its
/// thread-locals have been destroyed.
pub fn log_of_this_threads_end() -> DropLog {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (probe, log) = DropProbe::new();
    let milliseconds = 1 + COUNT.fetch_add(1, Relaxed) % 3 * 2;
    END.set(Some(SlowEnd {
        time: Duration::from_millis(milliseconds),
        _probe: probe,
    }));
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_logs_the_thread_that_drops_it() {
        let (probe, log) = DropProbe::new();
        assert_eq!(log.count(), 0, "it lives");
        let dropper = std::thread::spawn(move || drop(probe));
        let dropper_id = dropper.thread().id();
        dropper.join().expect("dropping a probe does not panic");
        assert_eq!(log.threads(), [dropper_id]);
    }

    #[test]
    fn the_end_of_a_thread_is_logged() {
        let gate = Arc::new(crate::Gate::new());
        let (sender, receiver) = std::sync::mpsc::channel();
        let door = gate.clone();
        let thread = thread::spawn(move || {
            sender
                .send(log_of_this_threads_end())
                .expect("it is received");
            door.wait();
        });
        let log = receiver.recv().expect("it is sent");
        assert_eq!(log.count(), 0, "the thread lives");
        gate.open();
        thread.join().expect("waiting does not panic");
        assert_eq!(log.count(), 1, "the thread has ended");
    }

    #[test]
    fn panic_on_drop_panics_once() {
        let caught = std::panic::catch_unwind(|| drop(PanicOnDrop));
        assert!(caught.is_err(), "the drop must panic");
    }
}
