//! What a task does with a source: it tries, and waits if it would block.

use std::future::poll_fn;
use std::io;
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use mio::event::Source;

use super::handle::{Handle, Registration};
use super::registrations::shut_down;
use readiness::{Direction, Ready, ShutDown};

/// Where this holds, a read or write that has moved less than it was asked for
/// has emptied or filled the system's buffer, and the next event comes once
/// that changes. It saves the call that would say `WouldBlock`.
///
/// A read also ends before an urgent byte (`MSG_OOB`). What comes after that
/// byte is then read after the next event: tokio does the same.
const SHORT_IS_EMPTY: bool = cfg!(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "ios",
    target_os = "freebsd",
));

/// A source that is registered, until it's dropped.
pub struct Io<S: Source> {
    source: S,
    registration: Registration,
}

impl<S: Source> Io<S> {
    /// Registers a stream, which may be closed.
    pub fn new_stream(source: S, handle: &Handle) -> io::Result<Self> {
        Self::register(source, handle, true)
    }

    /// Registers what goes on after an error.
    pub fn new(source: S, handle: &Handle) -> io::Result<Self> {
        Self::register(source, handle, false)
    }

    fn register(
        mut source: S,
        handle: &Handle,
        is_stream: bool,
    ) -> io::Result<Self> {
        let registration = handle.register(&mut source, is_stream)?;
        Ok(Self {
            source,
            registration,
        })
    }

    pub fn handle(&self) -> &Handle {
        self.registration.handle()
    }

    /// Tries until `attempt` doesn't block. Any number of tasks may do so.
    pub async fn run<R>(
        &self,
        direction: Direction,
        mut attempt: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        poll_fn(poll_checkpoint).await;
        loop {
            let seen = self.registration.readiness.ready(direction).await;
            if let Some(result) = self.attempt(seen, &mut attempt) {
                return result;
            }
        }
    }

    /// Like [`run_bytes`](Self::run_bytes). Of the tasks that poll this for one
    /// direction, the last one is woken.
    pub fn poll_bytes(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        length: usize,
        mut attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        ready!(poll_checkpoint(cx));
        loop {
            let readiness = &self.registration.readiness;
            let seen = ready!(readiness.poll_ready(cx, direction));
            let result = self.attempt(seen, &mut attempt);
            if let Some(result) = result {
                self.clear_if_short(seen, length, &result);
                return Poll::Ready(result);
            }
        }
    }

    /// Like [`run`](Self::run), for what moves up to `length` bytes.
    pub async fn run_bytes(
        &self,
        direction: Direction,
        length: usize,
        mut attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> io::Result<usize> {
        poll_fn(poll_checkpoint).await;
        loop {
            let seen = self.registration.readiness.ready(direction).await;
            if let Some(result) = self.attempt(seen, &mut attempt) {
                self.clear_if_short(seen, length, &result);
                return result;
            }
        }
    }

    /// Waits until the direction is ready, which is a guess.
    pub async fn ready(&self, direction: Direction) -> io::Result<()> {
        let seen = self.registration.readiness.ready(direction).await;
        seen.map(drop).map_err(|_| shut_down())
    }

    /// Tries once. `None` if it would block: then the readiness that was seen
    /// is gone, unless an event has come since.
    fn attempt<R>(
        &self,
        seen: Result<Ready, ShutDown>,
        attempt: &mut impl FnMut(&S) -> io::Result<R>,
    ) -> Option<io::Result<R>> {
        let Ok(seen) = seen else {
            return Some(Err(shut_down()));
        };
        match attempt(&self.source) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.registration.readiness.clear(seen);
                None
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
            result => Some(result),
        }
    }

    fn clear_if_short(
        &self,
        seen: Result<Ready, ShutDown>,
        length: usize,
        moved: &io::Result<usize>,
    ) {
        if let (true, Ok(seen), Ok(count)) = (SHORT_IS_EMPTY, seen, moved)
            && (1..length).contains(count)
        {
            self.registration.readiness.clear(seen);
        }
    }
}

impl<S: Source> Deref for Io<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.source
    }
}

impl<S: Source> Drop for Io<S> {
    fn drop(&mut self) {
        self.registration.deregister(&mut self.source);
        // The source is closed after that, as the fields are dropped.
    }
}

/// A task whose sources are always ready must yield, too, if it has a budget.
fn poll_checkpoint(cx: &mut Context<'_>) -> Poll<()> {
    pin!(budget::checkpoint()).poll(cx)
}
