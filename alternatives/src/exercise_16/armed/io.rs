//! How a task uses a source: it tries, waits, and arms the direction that it
//! waits for.

use std::future::poll_fn;
use std::io;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use readiness::{Direction, Ready, ShutDown};

use super::handle::Registered;
use super::{Handle, shut_down_error};

/// A source that stays registered until it's dropped.
pub struct Io<S: AsFd> {
    source: S,
    handle: Handle,
    registered: Arc<Registered>,
}

type Seen = Result<Ready, ShutDown>;

impl<S: AsFd> Io<S> {
    pub fn new_stream(source: S, handle: &Handle) -> io::Result<Self> {
        Self::new(source, handle)
    }

    pub fn new(source: S, handle: &Handle) -> io::Result<Self> {
        let registered = handle.register(source.as_fd())?;
        Ok(Self {
            source,
            handle: handle.clone(),
            registered,
        })
    }

    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    pub async fn run<R>(
        &self,
        direction: Direction,
        mut attempt: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        poll_fn(poll_checkpoint).await;
        loop {
            let seen = self.seen(direction).await?;
            if let Some(result) = self.attempt(seen, &mut attempt) {
                return result;
            }
        }
    }

    pub async fn run_bytes(
        &self,
        direction: Direction,
        _length: usize,
        attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.run(direction, attempt).await
    }

    pub fn poll_bytes(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        _length: usize,
        mut attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        ready!(poll_checkpoint(cx));
        loop {
            let polled = self.registered.readiness.poll_ready(cx, direction);
            let seen = ready!(self.armed(direction, polled))?;
            if let Some(result) = self.attempt(seen, &mut attempt) {
                return Poll::Ready(result);
            }
        }
    }

    pub async fn ready(&self, direction: Direction) -> io::Result<()> {
        poll_fn(poll_checkpoint).await;
        self.seen(direction).await.map(drop)
    }

    async fn seen(&self, direction: Direction) -> io::Result<Ready> {
        let mut waiting = pin!(self.registered.readiness.ready(direction));
        poll_fn(|cx| self.armed(direction, waiting.as_mut().poll(cx))).await
    }

    /// Arms the direction if the task has to wait for it.
    fn armed(
        &self,
        direction: Direction,
        polled: Poll<Seen>,
    ) -> Poll<io::Result<Ready>> {
        match polled {
            Poll::Ready(seen) => {
                Poll::Ready(seen.map_err(|_| shut_down_error()))
            }
            Poll::Pending => {
                let source = self.source.as_fd();
                let armed =
                    self.handle.arm(&self.registered, source, direction);
                match armed {
                    Ok(()) => Poll::Pending,
                    Err(error) => Poll::Ready(Err(error)),
                }
            }
        }
    }

    fn attempt<R>(
        &self,
        seen: Ready,
        attempt: &mut impl FnMut(&S) -> io::Result<R>,
    ) -> Option<io::Result<R>> {
        match attempt(&self.source) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.registered.readiness.clear(seen);
                None
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
            result => Some(result),
        }
    }
}

impl<S: AsFd> Deref for Io<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.source
    }
}

impl<S: AsFd> Drop for Io<S> {
    fn drop(&mut self) {
        self.handle.deregister(&self.registered, self.source.as_fd());
    }
}

fn poll_checkpoint(cx: &mut Context<'_>) -> Poll<()> {
    pin!(budget::checkpoint()).poll(cx)
}
