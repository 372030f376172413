//! A channel over loom's mutex. loom's own doesn't notice that the other end is
//! gone.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};

use loom::sync::{Condvar, Mutex, MutexGuard};

use crate::record::Id;

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    id: Id,
}

#[derive(Debug)]
struct State<T> {
    queue: VecDeque<T>,
    senders: usize,
    receiver_is_gone: bool,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a channel without bounds.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            queue: VecDeque::new(),
            senders: 1,
            receiver_is_gone: false,
        }),
        changed: Condvar::new(),
        id: Id::new("channel"),
    });
    (Sender(shared.clone()), Receiver(shared))
}

/// The end that sends.
#[derive(Debug)]
pub struct Sender<T>(Arc<Shared<T>>);

impl<T> Sender<T> {
    /// Sends.
    ///
    /// # Errors
    ///
    /// Gives the value back if the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let begun = self.0.id.begin("send");
        let mut state = self.0.state();
        if state.receiver_is_gone {
            begun.failed();
            return Err(SendError(value));
        }
        state.queue.push_back(value);
        begun.done();
        drop(state);
        self.0.changed.notify_one();
        begun.woke();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.state().senders += 1;
        Self(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let begun = self.0.id.begin("drop of a sender");
        self.0.state().senders -= 1;
        begun.done();
        self.0.changed.notify_one();
        begun.woke();
    }
}

/// The end that receives.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Shared<T>>);

impl<T> Receiver<T> {
    /// Waits for a value.
    ///
    /// # Errors
    ///
    /// If all senders are gone, and all values taken.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let begun = self.0.id.begin("recv");
        let mut state = self.0.state();
        loop {
            if let Some(value) = state.queue.pop_front() {
                begun.done();
                return Ok(value);
            }
            if state.senders == 0 {
                begun.failed();
                return Err(RecvError);
            }
            let waited = self.0.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes a value if one is there.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let begun = self.0.id.begin("try_recv");
        let mut state = self.0.state();
        let senders = state.senders;
        let value = state.queue.pop_front();
        match value {
            Some(_) => begun.done(),
            None => begun.failed(),
        }
        value.ok_or(match senders {
            0 => TryRecvError::Disconnected,
            _ => TryRecvError::Empty,
        })
    }

    /// Like [`recv`](Self::recv): in a model no timeout elapses, unless the limit
    /// is zero.
    ///
    /// # Errors
    ///
    /// If all senders are gone, and all values taken; or if the limit is zero and
    /// there is no value.
    #[track_caller]
    pub fn recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        if !limit.is_zero() {
            return self.recv().map_err(RecvTimeoutError::from);
        }
        self.try_recv().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Waits for each value.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// Takes the values that are there.
    pub fn try_iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.receiver_is_gone = true;
        let left = std::mem::take(&mut state.queue);
        drop(state);
        drop(left);
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

/// Waits for each value.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}
