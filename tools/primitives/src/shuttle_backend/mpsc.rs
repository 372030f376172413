//! shuttle's channel, whose operations are recorded.

use std::fmt;
use std::time::Duration;

pub use shuttle::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};

use crate::record::Id;

/// Makes a channel without bounds.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = shuttle::sync::mpsc::channel();
    let id = Id::new("channel");
    let sender = Sender {
        inner: Some(sender),
        id,
    };
    let receiver = Receiver {
        inner: receiver,
        id,
    };
    (sender, receiver)
}

/// The end that sends.
pub struct Sender<T> {
    inner: Option<shuttle::sync::mpsc::Sender<T>>,
    id: Id,
}

impl<T> Sender<T> {
    fn inner(&self) -> &shuttle::sync::mpsc::Sender<T> {
        self.inner.as_ref().expect("it is taken at the end")
    }

    /// Sends.
    ///
    /// # Errors
    ///
    /// Gives the value back if the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let begun = self.id.begin("send");
        let sent = self.inner().send(value);
        match &sent {
            Ok(()) => begun.woke_one_in("recv"),
            Err(_) => begun.failed(),
        }
        sent
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            id: self.id,
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let begun = self.id.begin("drop of a sender");
        self.inner = None;
        begun.done();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The end that receives.
pub struct Receiver<T> {
    inner: shuttle::sync::mpsc::Receiver<T>,
    id: Id,
}

impl<T> Receiver<T> {
    /// Waits for a value.
    ///
    /// # Errors
    ///
    /// If all senders are gone, and all values taken.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let begun = self.id.begin("recv");
        let received = self.inner.recv();
        match &received {
            Ok(_) => begun.done(),
            Err(_) => begun.failed(),
        }
        received
    }

    /// Takes a value if one is there.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let begun = self.id.begin("try_recv");
        let received = self.inner.try_recv();
        match &received {
            Ok(_) => begun.done(),
            Err(_) => begun.failed(),
        }
        received
    }

    /// Like [`recv`](Self::recv): in a model no timeout elapses.
    ///
    /// # Errors
    ///
    /// If all senders are gone, and all values taken.
    #[track_caller]
    pub fn recv_timeout(&self, _limit: Duration) -> Result<T, RecvTimeoutError> {
        self.recv().map_err(RecvTimeoutError::from)
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

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
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
