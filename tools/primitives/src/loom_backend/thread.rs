//! loom's threads, with a `park` of our own. In loom 0.7.2 an `unpark` also
//! wakes a thread that waits for a lock or joins another thread, which std's
//! doesn't.

pub use loom::thread::{LocalKey, panicking, yield_now};
pub use std::thread::{Result, available_parallelism};

use loom::sync::{Condvar, Mutex};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::record::{self, ThreadNumber};

/// A handle to a thread.
#[derive(Clone, Debug)]
pub struct Thread(Arc<Inner>);

/// Distinguishes threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(u64);

// Cloning a handle isn't a step that other threads could see: the `Arc` is
// std's.
#[derive(Debug)]
struct Inner {
    id: ThreadId,
    name: Option<String>,
    has_token: Mutex<bool>,
    left: Condvar,
    number: ThreadNumber,
}

loom::thread_local! {
    static CURRENT: std::cell::OnceCell<Thread> = std::cell::OnceCell::new();
}

/// Returns a handle to the calling thread.
pub fn current() -> Thread {
    let this = || Thread::new(None, ThreadNumber::current());
    CURRENT.with(|current| current.get_or_init(this).clone())
}

impl Thread {
    fn new(name: Option<String>, number: ThreadNumber) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Self(Arc::new(Inner {
            // Relaxed: the numbers only have to differ.
            id: ThreadId(COUNT.fetch_add(1, Relaxed)),
            name,
            has_token: Mutex::new(false),
            left: Condvar::new(),
            number,
        }))
    }

    /// Leaves the thread's token, and wakes the thread if it is parked.
    #[track_caller]
    pub fn unpark(&self) {
        let Inner {
            has_token, left, ..
        } = &*self.0;
        let begun = record::begin_with_thread("unpark", self.0.number);
        let mut token = has_token.lock().unwrap_or_else(PoisonError::into_inner);
        *token = true;
        begun.done();
        drop(token);
        left.notify_one();
        begun.woke();
    }

    /// Returns what distinguishes the thread from others.
    pub fn id(&self) -> ThreadId {
        self.0.id
    }

    /// Returns the name that the thread was given.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }
}

/// Waits for the token, and takes it.
#[track_caller]
pub fn park() {
    let Thread(inner) = current();
    let begun = record::begin_alone("park", &[]);
    let mut has_token = inner
        .has_token
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    while !*has_token {
        has_token = inner
            .left
            .wait(has_token)
            .unwrap_or_else(PoisonError::into_inner);
    }
    *has_token = false;
    begun.done();
}

/// Like [`park`]: in a model no timeout elapses.
#[track_caller]
pub fn park_timeout(limit: Duration) {
    match limit.is_zero() {
        true => yield_now(),
        false => park(),
    }
}

/// Lets other threads go on: in a model no time passes.
pub fn sleep(_duration: Duration) {
    yield_now();
}

/// Starts a thread.
#[track_caller]
pub fn spawn<T: 'static>(body: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    start(None, body)
}

#[track_caller]
fn start<T: 'static>(name: Option<String>, body: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    let number = ThreadNumber::new(name.as_deref());
    let thread = Thread::new(name, number);
    let own = thread.clone();
    record::begin_with_thread("spawn", number).done();
    let inner = loom::thread::spawn(move || {
        number.enter();
        CURRENT.with(|current| current.set(own).expect("it is a new thread"));
        body()
    });
    JoinHandle { inner, thread }
}

/// Owns a thread until it is joined.
pub struct JoinHandle<T> {
    inner: loom::thread::JoinHandle<T>,
    thread: Thread,
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended.
    ///
    /// # Errors
    ///
    /// Never: a panic of any thread ends the model.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let begun = record::begin_with_thread("join", self.thread.0.number);
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
pub struct Builder(Option<String>);

impl Builder {
    /// Says nothing yet.
    #[expect(clippy::new_without_default, reason = "std's has none either")]
    pub fn new() -> Self {
        Self(None)
    }

    /// Names the thread.
    #[must_use]
    pub fn name(self, name: String) -> Self {
        Self(Some(name))
    }

    /// Changes nothing: loom's stacks are of one size.
    #[must_use]
    pub fn stack_size(self, _size: usize) -> Self {
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Never: one thread too many ends the model.
    #[track_caller]
    pub fn spawn<T: 'static>(
        self,
        body: impl FnOnce() -> T + 'static,
    ) -> io::Result<JoinHandle<T>> {
        Ok(start(self.0, body))
    }
}

#[cfg(test)]
mod tests {
    use super::{current, park, spawn};

    #[test]
    fn an_unpark_counts_in_every_order() {
        crate::model(|| {
            let thread = current();
            let partner = spawn(move || thread.unpark());
            park();
            partner.join().expect("unparking does not panic");
        });
    }

    #[test]
    fn an_unpark_does_not_end_a_join() {
        crate::model(|| {
            let thread = current();
            let partner = spawn(move || {
                thread.unpark();
                loom::thread::yield_now();
            });
            partner.join().expect("unparking does not panic");
        });
    }

    #[test]
    fn a_thread_is_unparked_by_its_handle() {
        crate::model(|| {
            let sleeper = spawn(park);
            sleeper.thread().unpark();
            sleeper.join().expect("parking does not panic");
        });
    }
}
