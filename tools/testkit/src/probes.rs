//! Values that report when, where and how often they are dropped.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

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

/// A value whose drop panics, unless its thread is panicking already.
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
    fn panic_on_drop_panics_once() {
        let caught = std::panic::catch_unwind(|| drop(PanicOnDrop));
        assert!(caught.is_err(), "the drop must panic");
    }
}
