//! Orders events without sleeping.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex, PoisonError, mpsc};
use std::thread;

use crate::ThreadProbe;

/// A gate that starts shut. Threads that wait pass once it is open, and it
/// stays open. It never touches the thread's park token.
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

    /// Opens the gate permanently.
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

/// Opens a gate at the latest when it is dropped: a check that fails must not
/// leave other threads waiting.
#[derive(Debug, Default)]
pub struct Opener(Arc<Gate>);

impl Opener {
    /// Makes a shut gate, and the guard that opens it.
    pub fn new() -> Self {
        Self::default()
    }

    /// The gate, for the threads that have to wait.
    pub fn gate(&self) -> Arc<Gate> {
        self.0.clone()
    }

    /// Opens the gate once the calling thread sleeps.
    pub fn open_once_asleep(self) -> thread::JoinHandle<()> {
        let sleeper = ThreadProbe::here();
        thread::spawn(move || {
            sleeper.wait_until_asleep();
            drop(self);
        })
    }
}

impl Drop for Opener {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// Lets two threads meet: the first to come waits for the other. It can be used
/// repeatedly.
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

/// Waits for another thread like a lock or a channel that is built on
/// [`std::thread::park`]: takes the thread's token, and leaves none.
pub fn wait_by_thread_park() {
    let is_open = Arc::new(AtomicBool::new(false));
    let (thread, parked) = (thread::current(), ThreadProbe::here());
    let opener = thread::spawn({
        let is_open = is_open.clone();
        move || {
            parked.wait_until_asleep();
            is_open.store(true, SeqCst);
            thread.unpark();
        }
    });
    while !is_open.load(SeqCst) {
        thread::park();
    }
    opener.join().expect("opening does not panic");
}

/// Has another thread call `body`, and returns once it has ended, or sleeps, as
/// it does in a lock that this thread holds.
pub fn start_elsewhere<R: Send + 'static>(
    body: impl FnOnce() -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    let (sender, probe) = mpsc::channel();
    let other = thread::spawn(move || {
        // The receiver waits for it.
        let _ = sender.send(ThreadProbe::here());
        body()
    });
    let probe = probe.recv().expect("the thread has sent it");
    // It also sleeps now and then where it doesn't wait.
    for _ in 0..3 {
        if !other.is_finished() {
            probe.wait_until_asleep();
        }
    }
    other
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::time::{Duration, Instant};

    #[test]
    fn a_gate_holds_back_until_it_opens() {
        let gate = Gate::new();
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                gate.wait();
                passed.fetch_add(1, Relaxed)
            });
            assert_eq!(passed.load(Relaxed), 0, "no thread may pass a shut gate");
            gate.open();
            waiting.join().expect("the waiting thread passes");
            gate.wait();
        });
    }

    #[test]
    fn an_opener_opens_when_it_is_dropped_and_when_its_thread_sleeps() {
        let opener = Opener::new();
        let gate = opener.gate();
        drop(opener);
        gate.wait();
        let opener = Opener::new();
        let gate = opener.gate();
        let opening = opener.open_once_asleep();
        gate.wait();
        opening.join().expect("opening does not panic");
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

    #[test]
    fn waiting_by_thread_park_uses_up_the_token() {
        thread::current().unpark();
        wait_by_thread_park();
        let limit = Duration::from_millis(20);
        let start = Instant::now();
        thread::park_timeout(limit);
        assert!(start.elapsed() >= limit, "a token was left");
    }
}
