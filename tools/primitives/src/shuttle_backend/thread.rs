//! shuttle's threads, whose operations are recorded.

pub use shuttle::thread::{LocalKey, Result, ThreadId, panicking, sleep, yield_now};
pub use std::thread::available_parallelism;

use std::fmt;
use std::io;
use std::time::Duration;

use crate::record::{self, ThreadNumber};

/// A handle to a thread.
#[derive(Clone, Debug)]
pub struct Thread {
    inner: shuttle::thread::Thread,
    number: ThreadNumber,
}

/// Returns a handle to the calling thread.
pub fn current() -> Thread {
    Thread {
        inner: shuttle::thread::current(),
        number: ThreadNumber::current(),
    }
}

impl Thread {
    /// Leaves the thread's token, and wakes the thread if it is parked.
    #[track_caller]
    pub fn unpark(&self) {
        let begun = record::begin_with_thread("unpark", self.number);
        self.inner.unpark();
        begun.woke_one_in("park");
    }

    /// Returns what distinguishes the thread from others.
    pub fn id(&self) -> ThreadId {
        self.inner.id()
    }

    /// Returns the name that the thread was given.
    pub fn name(&self) -> Option<&str> {
        self.inner.name()
    }
}

/// Waits for the token, and takes it.
#[track_caller]
pub fn park() {
    let begun = record::begin_alone("park", &[]);
    shuttle::thread::park();
    begun.done();
}

/// Like shuttle's: in a model no timeout elapses.
#[track_caller]
pub fn park_timeout(limit: Duration) {
    let begun = record::begin_alone("park", &[]);
    shuttle::thread::park_timeout(limit);
    begun.done();
}

/// Starts a thread.
#[track_caller]
pub fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let number = ThreadNumber::new(None);
    let begun = record::begin_with_thread("spawn", number);
    let inner = shuttle::thread::spawn(entered(number, body));
    begun.done();
    JoinHandle::new(inner, number)
}

/// `body`, on the thread of this number.
fn entered<T>(number: ThreadNumber, body: impl FnOnce() -> T) -> impl FnOnce() -> T {
    move || {
        number.enter_as(|| shuttle::current::me().into());
        body()
    }
}

/// Owns a thread until it is joined.
pub struct JoinHandle<T> {
    inner: shuttle::thread::JoinHandle<T>,
    thread: Thread,
}

impl<T> JoinHandle<T> {
    fn new(inner: shuttle::thread::JoinHandle<T>, number: ThreadNumber) -> Self {
        let thread = Thread {
            inner: inner.thread().clone(),
            number,
        };
        Self { inner, thread }
    }

    /// Waits until the thread has ended.
    ///
    /// # Errors
    ///
    /// If the thread has panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let begun = record::begin_with_thread("join", self.thread.number);
        let joined = self.inner.join();
        begun.done();
        joined
    }

    /// Returns a handle to the thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Says how to start a thread.
#[derive(Debug)]
pub struct Builder {
    inner: shuttle::thread::Builder,
    name: Option<String>,
}

impl Builder {
    /// Makes a builder without any settings.
    #[expect(clippy::new_without_default, reason = "std's has none either")]
    pub fn new() -> Self {
        Self {
            inner: shuttle::thread::Builder::new(),
            name: None,
        }
    }

    /// Names the thread.
    #[must_use]
    pub fn name(self, name: String) -> Self {
        Self {
            inner: self.inner.name(name.clone()),
            name: Some(name),
        }
    }

    /// Says how large its stack is.
    #[must_use]
    pub fn stack_size(self, size: usize) -> Self {
        Self {
            inner: self.inner.stack_size(size),
            ..self
        }
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Like shuttle's.
    #[track_caller]
    pub fn spawn<T: Send + 'static>(
        self,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        let number = ThreadNumber::new(self.name.as_deref());
        let begun = record::begin_with_thread("spawn", number);
        let inner = self.inner.spawn(entered(number, body))?;
        begun.done();
        Ok(JoinHandle::new(inner, number))
    }
}
