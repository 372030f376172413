//! Ordering events without sleeping.

use std::sync::{Barrier, Condvar, Mutex, PoisonError};

/// A door that starts shut. Whoever waits goes on once it is open; it stays
/// open. It never touches the thread's park token.
#[derive(Debug, Default)]
pub struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// Makes a shut gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the gate for good.
    pub fn open(&self) {
        *self.is_open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }

    /// Waits until the gate is open.
    pub fn wait(&self) {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        let _open = self
            .opened
            .wait_while(is_open, |is_open| !*is_open)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

/// Two threads meet: whoever comes first waits for the other. It may be
/// used again and again.
#[derive(Debug)]
pub struct Rendezvous(Barrier);

impl Rendezvous {
    /// Makes a meeting point for two threads.
    pub fn new() -> Self {
        Self(Barrier::new(2))
    }

    /// Waits for the other thread.
    pub fn meet(&self) {
        self.0.wait();
    }
}

impl Default for Rendezvous {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn a_gate_holds_back_until_it_opens() {
        let gate = Gate::new();
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                gate.wait();
                passed.fetch_add(1, Relaxed)
            });
            assert_eq!(passed.load(Relaxed), 0, "nobody may pass a shut gate");
            gate.open();
            waiting.join().expect("the waiting thread passes");
            gate.wait();
        });
    }

    #[test]
    fn a_rendezvous_orders_both_sides() {
        let meeting = Rendezvous::new();
        let turn = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                turn.store(1, Relaxed);
                meeting.meet();
            });
            meeting.meet();
            assert_eq!(turn.load(Relaxed), 1, "both sides have met");
        });
    }
}
