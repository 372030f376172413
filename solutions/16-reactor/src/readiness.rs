//! The readiness of one source: what the driver was told, and who waits for it.

use std::mem;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// There is something to read, or to accept.
    Read,
    /// There is room to write, or a connection has been made.
    Write,
}

/// What the system says of a source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    pub readable: bool,
    pub writable: bool,
    /// Nothing will come any more, once what is there was read.
    pub read_closed: bool,
    /// Nothing can be written any more.
    pub write_closed: bool,
    /// The next call tells which.
    pub error: bool,
}

/// A direction was ready, at this tick.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    direction: Direction,
    tick: u64,
}

/// The driver has ended.
#[derive(Clone, Copy, Debug)]
pub struct ShutDown;

/// Everything is under one mutex; no waker is called, cloned or dropped while
/// it's locked.
#[derive(Default)]
pub struct Readiness {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    read: Side,
    write: Side,
    is_shut_down: bool,
    waiting_count: u64,
}

#[derive(Default)]
struct Side {
    is_ready: bool,
    is_closed: bool,
    /// How many events there have been.
    tick: u64,
    /// Of the last `poll_ready`.
    polled: Option<Waker>,
    /// Of the futures that wait, with their numbers.
    waiting: Vec<(u64, Waker)>,
}

impl Side {
    fn set_ready(&mut self, is_closed: bool, woken: &mut Vec<Waker>) {
        self.is_ready = true;
        self.is_closed |= is_closed;
        self.tick += 1;
        self.take_wakers(woken);
    }

    fn take_wakers(&mut self, woken: &mut Vec<Waker>) {
        woken.extend(self.polled.take());
        woken.extend(self.waiting.drain(..).map(|(_, waker)| waker));
    }
}

impl State {
    fn side(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        }
    }

    fn look(
        &mut self,
        direction: Direction,
    ) -> Option<Result<Ready, ShutDown>> {
        if self.is_shut_down {
            return Some(Err(ShutDown));
        }
        let side = self.side(direction);
        let tick = side.tick;
        side.is_ready.then_some(Ok(Ready { direction, tick }))
    }
}

impl Readiness {
    /// An event has come: wakes the tasks that wait for what it makes ready.
    pub fn set_ready(&self, event: Event) {
        let mut woken = Vec::new();
        let mut state = self.lock();
        if event.readable || event.read_closed || event.error {
            state.read.set_ready(event.read_closed, &mut woken);
        }
        if event.writable || event.write_closed || event.error {
            state.write.set_ready(event.write_closed, &mut woken);
        }
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Is the direction ready? If it isn't, the waker is kept: the last one
    /// for each direction.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        if let Some(ready) = self.lock().look(direction) {
            return Poll::Ready(ready);
        }
        let waker = cx.waker().clone();
        let mut state = self.lock();
        // An event may have come while we cloned the waker.
        if let Some(ready) = state.look(direction) {
            return Poll::Ready(ready);
        }
        let older = state.side(direction).polled.replace(waker);
        drop(state);
        drop(older);
        Poll::Pending
    }

    /// Waits until the direction is ready. Any number of tasks may do so.
    pub fn ready(&self, direction: Direction) -> WhenReady<'_> {
        WhenReady {
            readiness: self,
            direction,
            number: None,
        }
    }

    /// A task has got `WouldBlock`: forgets the readiness that it saw, unless
    /// an event has come since.
    pub fn clear(&self, seen: Ready) {
        let mut state = self.lock();
        let side = state.side(seen.direction);
        if side.tick == seen.tick && !side.is_closed {
            side.is_ready = false;
        }
    }

    /// The driver ends: all that wait, now or later, get an error.
    pub fn shut_down(&self) {
        let mut woken = Vec::new();
        let mut state = self.lock();
        state.is_shut_down = true;
        state.read.take_wakers(&mut woken);
        state.write.take_wakers(&mut woken);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The future of [`Readiness::ready`].
pub struct WhenReady<'a> {
    readiness: &'a Readiness,
    direction: Direction,
    /// Under which its waker was put into the list.
    number: Option<u64>,
}

impl Future for WhenReady<'_> {
    type Output = Result<Ready, ShutDown>;

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        let Self {
            readiness,
            direction,
            ..
        } = *self;
        if let Some(ready) = readiness.lock().look(direction) {
            return Poll::Ready(ready);
        }
        let mut waker = cx.waker().clone();
        let mut state = readiness.lock();
        if let Some(ready) = state.look(direction) {
            return Poll::Ready(ready);
        }
        let number = self.number.unwrap_or(state.waiting_count);
        state.waiting_count = state.waiting_count.max(number + 1);
        let waiting = &mut state.side(direction).waiting;
        match waiting.iter_mut().find(|(other, _)| *other == number) {
            Some((_, older)) => mem::swap(older, &mut waker),
            None => {
                waiting.push((number, waker));
                self.number = Some(number);
                return Poll::Pending;
            }
        }
        drop(state);
        drop(waker);
        Poll::Pending
    }
}

impl Drop for WhenReady<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else {
            return;
        };
        let mut state = self.readiness.lock();
        let waiting = &mut state.side(self.direction).waiting;
        let place = waiting.iter().position(|(other, _)| *other == number);
        let waker = place.map(|place| waiting.swap_remove(place));
        drop(state);
        drop(waker);
    }
}
