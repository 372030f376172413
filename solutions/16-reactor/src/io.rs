//! How a task uses a source: it tries an operation, and if the operation would
//! block, it waits for readiness and tries again.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use mio::event::Source;

use super::handle::Registration;
use super::{Handle, shut_down_error};
use readiness::{Direction, Ready, ShutDown};

/// On these systems, a read or write that moved fewer bytes than the caller
/// asked for has emptied or filled the kernel's buffer, and an event reports
/// when that changes. Clearing the readiness at once saves the system call that
/// would return `WouldBlock`.
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

/// A poll's first checkpoint reads the clock, which takes longer than all else
/// that an operation does outside the kernel.
const CHECKPOINT_EVERY: u32 = 8;

/// A source that stays registered until it's dropped.
pub struct Io<S: Source> {
    source: S,
    registration: Registration,
}

impl<S: Source> Io<S> {
    /// Registers a stream: a hang-up makes it ready forever.
    pub fn new_stream(source: S, handle: &Handle) -> io::Result<Self> {
        Self::register(source, handle, true)
    }

    /// Registers a listener or a UDP socket, which goes on after an error.
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

    /// Waits for readiness and calls `attempt`, until the result is neither
    /// `WouldBlock` nor `Interrupted`. Any number of tasks may call this at the
    /// same time.
    pub async fn run<R>(
        &self,
        direction: Direction,
        mut attempt: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            let seen = self.registration.readiness.ready(direction).await;
            poll_fn(poll_checkpoint).await;
            if let Some(result) = self.attempt(seen, &mut attempt) {
                return result;
            }
        }
    }

    /// Like [`run_bytes`](Self::run_bytes), as a poll. An event wakes only the
    /// task that polled last for its direction.
    pub fn poll_bytes(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        length: usize,
        mut attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let readiness = &self.registration.readiness;
            let seen = ready!(readiness.poll_ready(cx, direction));
            ready!(poll_checkpoint(cx));
            let result = self.attempt(seen, &mut attempt);
            if let Some(result) = result {
                self.clear_if_short(seen, length, &result);
                return Poll::Ready(result);
            }
        }
    }

    /// Like [`run`](Self::run), for an operation on up to `length` bytes.
    pub async fn run_bytes(
        &self,
        direction: Direction,
        length: usize,
        mut attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            let seen = self.registration.readiness.ready(direction).await;
            poll_fn(poll_checkpoint).await;
            if let Some(result) = self.attempt(seen, &mut attempt) {
                self.clear_if_short(seen, length, &result);
                return result;
            }
        }
    }

    /// Waits until the direction is ready. The next operation may still return
    /// `WouldBlock`, because readiness is a guess.
    pub async fn ready(&self, direction: Direction) -> io::Result<()> {
        let seen = self.registration.readiness.ready(direction).await;
        poll_fn(poll_checkpoint).await;
        seen.map(drop).map_err(|_| shut_down_error())
    }

    /// Tries once. Returns `None` if the operation has to be tried again. After
    /// `WouldBlock`, the readiness that the task saw is cleared, unless an
    /// event has come since.
    fn attempt<R>(
        &self,
        seen: Result<Ready, ShutDown>,
        attempt: &mut impl FnMut(&S) -> io::Result<R>,
    ) -> Option<io::Result<R>> {
        let Ok(seen) = seen else {
            return Some(Err(shut_down_error()));
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
        // The source is closed later, when the fields are dropped.
        self.registration.deregister(&mut self.source);
    }
}

thread_local! {
    /// How many operations this thread has begun since its last checkpoint.
    static OPERATIONS: Cell<u32> = const { Cell::new(0) };
}

/// Without this checkpoint, a task whose sources are always ready would never
/// yield, even if it has a budget.
fn poll_checkpoint(cx: &mut Context<'_>) -> Poll<()> {
    let operations = OPERATIONS.get() + 1;
    if operations < CHECKPOINT_EVERY {
        OPERATIONS.set(operations);
        return Poll::Ready(());
    }
    OPERATIONS.set(0);
    pin!(budget::checkpoint()).poll(cx)
}
