//! A thread that does something whenever it's told to.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::ThreadProbe;

/// For how long the caller looks whether the call is over before it sleeps.
const LOOK: Duration = Duration::from_micros(500);
/// How often the thread looks for a call before it sleeps.
const LOOKS: u32 = 500;
/// How long a thread that doesn't sleep is waited for, in milliseconds.
const PAUSES: u32 = 2;
/// After this many calls that spun, more of them would cost too much: on a busy
/// machine each costs time slices, and a check may use only so much CPU time.
const MOST_SPINS: usize = 50;

type Job = Box<dyn FnOnce() + Send>;

/// Another thread, for checks in which something happens elsewhere thousands of
/// times. For once, there's [`start_elsewhere`](crate::start_elsewhere).
#[derive(Debug)]
pub struct Partner {
    jobs: mpsc::Sender<Job>,
    given: AtomicUsize,
    done: Arc<AtomicUsize>,
    /// How many calls couldn't go on, and didn't sleep.
    spins: AtomicUsize,
    probe: ThreadProbe,
}

impl Partner {
    /// Starts the thread, which ends after the partner is dropped.
    pub fn new() -> Self {
        let (jobs, to_do) = mpsc::channel::<Job>();
        let (sender, probe) = mpsc::channel();
        let done = Arc::new(AtomicUsize::new(0));
        let counted = done.clone();
        thread::spawn(move || {
            // The receiver waits for it.
            let _ = sender.send(ThreadProbe::here());
            while let Some(job) = next(&to_do) {
                job();
                counted.fetch_add(1, SeqCst);
            }
        });
        Self {
            jobs,
            given: AtomicUsize::new(0),
            done,
            spins: AtomicUsize::new(0),
            probe: probe.recv().expect("the thread has sent it"),
        }
    }

    /// Has the thread call `body`, and returns once `body` has ended, or can't go
    /// on: it sleeps, as it does in a lock that this thread holds, or it spins.
    ///
    /// # Panics
    ///
    /// If an earlier body panicked.
    pub fn call<R: Send + 'static>(
        &self,
        body: impl FnOnce() -> R + Send + 'static,
    ) -> mpsc::Receiver<R> {
        let (sender, result) = mpsc::channel();
        let job = move || {
            // Nobody may want it.
            let _ = sender.send(body());
        };
        let given = self.given.fetch_add(1, SeqCst) + 1;
        let sent = self.jobs.send(Box::new(job));
        sent.expect("the thread has ended");
        let is_done = || self.done.load(SeqCst) == given;
        // By the clock: on a busy machine, a yield may take several time slices,
        // and a thread that spins would use as many.
        let start = Instant::now();
        while start.elapsed() < LOOK {
            if is_done() {
                return result;
            }
            thread::yield_now();
        }
        for _ in 0..PAUSES {
            thread::sleep(Duration::from_millis(1));
            if is_done() || self.probe.is_asleep() != Some(false) {
                return result;
            }
        }
        self.spins.fetch_add(1, SeqCst);
        result
    }

    /// Returns `false` once many calls have spun, as they do in a spin lock that
    /// this thread holds. A check with more such calls should end there.
    pub fn may_go_on(&self) -> bool {
        self.spins.load(SeqCst) < MOST_SPINS
    }
}

impl Default for Partner {
    fn default() -> Self {
        Self::new()
    }
}

fn next(to_do: &mpsc::Receiver<Job>) -> Option<Job> {
    for _ in 0..LOOKS {
        match to_do.try_recv() {
            Ok(job) => return Some(job),
            Err(mpsc::TryRecvError::Disconnected) => return None,
            Err(mpsc::TryRecvError::Empty) => thread::yield_now(),
        }
    }
    to_do.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_partner_ends_its_part_or_waits() {
        let partner = Partner::new();
        let mut ended = 0;
        for number in 0..100 {
            let doubled = partner.call(move || number * 2);
            ended += usize::from(doubled.try_recv() == Ok(number * 2));
        }
        // On a busy machine, the thread may get no turn for longer than it's waited for.
        assert!(ended > 0, "no call had ended as it returned");
        let lock = Arc::new(Mutex::new(1));
        let held = lock.lock().expect("no thread panics");
        let other = lock.clone();
        let seen = partner.call(move || *other.lock().expect("as above"));
        assert!(seen.try_recv().is_err(), "it waits for the lock");
        drop(held);
        assert_eq!(seen.recv(), Ok(1), "the lock is free");
    }
}
