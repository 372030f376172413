//! Another correct design, and tokio's: each future contains its own node of a
//! doubly linked list, so waiting allocates nothing. The lock that guards the
//! readiness also guards the links. The future is pinned, and its `Drop` takes
//! the node out of the list.

use std::cell::UnsafeCell;
use std::marker::PhantomPinned;
use std::mem;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use primitives::{Mutex, MutexGuard};

#[path = "../../../exercises/15-readiness/src/event.rs"]
mod event;

pub use event::{Direction, Event, ShutDown};

/// The readiness of a source.
pub struct Readiness {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    read: Side,
    write: Side,
    is_shut_down: bool,
}

#[derive(Default)]
struct Side {
    is_ready: bool,
    is_closed: bool,
    tick: u64,
    polled: Option<Waker>,
    first: Option<NonNull<Node>>,
}

// SAFETY: the nodes of a list are accessed only under the lock, and they
// contain only a `Waker`, which is `Send`, and links.
unsafe impl Send for Side {}

/// The node of a future. It's accessed only under the lock.
#[derive(Default)]
struct Node {
    /// `Some` if, and only if, the node is in the list.
    waker: Option<Waker>,
    previous: Option<NonNull<Node>>,
    next: Option<NonNull<Node>>,
}

/// Proof that a direction was ready at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    direction: Direction,
    tick: u64,
}

impl Readiness {
    /// Creates the readiness of a source for which no event has come yet.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        Self {
            state: Mutex::default(),
        }
    }

    /// Reports an event.
    pub fn set_ready(&self, event: Event) {
        let mut wakers = Vec::new();
        let mut state = self.lock();
        if event.readable || event.read_closed || event.error {
            state.read.set_ready(event.read_closed, &mut wakers);
        }
        if event.writable || event.write_closed || event.error {
            state.write.set_ready(event.write_closed, &mut wakers);
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Polls for the readiness of a direction.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<Result<Ready, ShutDown>> {
        let store = |side: &mut Side, waker| side.polled.replace(waker);
        self.poll(cx, direction, store)
    }

    /// Waits until the direction is ready.
    pub fn ready(
        &self,
        direction: Direction,
    ) -> impl Future<Output = Result<Ready, ShutDown>> + Send {
        Waiting {
            readiness: self,
            direction,
            node: UnsafeCell::default(),
            _pinned: PhantomPinned,
        }
    }

    fn poll(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        store: impl FnOnce(&mut Side, Waker) -> Option<Waker>,
    ) -> Poll<Result<Ready, ShutDown>> {
        let waker = cx.waker().clone();
        let mut state = self.lock();
        if state.is_shut_down {
            return Poll::Ready(Err(ShutDown));
        }
        let side = state.side(direction);
        if side.is_ready {
            let tick = side.tick;
            return Poll::Ready(Ok(Ready { direction, tick }));
        }
        let replaced = store(side, waker);
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Clears the direction of `seen`, unless an event has come since.
    pub fn clear(&self, seen: Ready) {
        let mut state = self.lock();
        let side = state.side(seen.direction);
        side.is_ready &= side.is_closed || side.tick != seen.tick;
    }

    /// Makes all polls return an error, and wakes all tasks that wait.
    pub fn shut_down(&self) {
        let mut wakers = Vec::new();
        let mut state = self.lock();
        state.is_shut_down = true;
        state.read.take_wakers(&mut wakers);
        state.write.take_wakers(&mut wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn side(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        }
    }
}

impl Side {
    fn set_ready(&mut self, is_closed: bool, wakers: &mut Vec<Waker>) {
        self.is_ready = true;
        self.is_closed |= is_closed;
        self.tick += 1;
        self.take_wakers(wakers);
    }

    fn take_wakers(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(self.polled.take());
        let mut next = self.first.take();
        while let Some(mut node) = next {
            // SAFETY: a node in the list is alive, because its future takes it
            // out before the future is freed. This thread holds the lock.
            let node = mem::take(unsafe { node.as_mut() });
            wakers.extend(node.waker);
            next = node.next;
        }
    }

    /// # Safety
    ///
    /// The caller must pass a node of this direction, and must take it out of
    /// the list before the node is moved or freed.
    unsafe fn store(
        &mut self,
        mut place: NonNull<Node>,
        waker: Waker,
    ) -> Option<Waker> {
        // SAFETY: the caller's node is alive, and this thread holds the lock.
        let node = unsafe { place.as_mut() };
        let replaced = node.waker.replace(waker);
        if replaced.is_none() {
            node.next = self.first.replace(place);
            if let Some(mut next) = node.next {
                // SAFETY: the next node is in the list, so it's alive. It's
                // another node than `place`, which wasn't in the list. This
                // thread holds the lock.
                unsafe { next.as_mut() }.previous = Some(place);
            }
        }
        replaced
    }

    /// # Safety
    ///
    /// The caller must pass a node of this direction.
    unsafe fn remove(&mut self, mut place: NonNull<Node>) -> Option<Waker> {
        // SAFETY: the caller's node is alive, and this thread holds the lock.
        let node = mem::take(unsafe { place.as_mut() });
        let waker = node.waker?;
        match node.previous {
            // SAFETY: the previous node is in the list, so it's alive.
            Some(mut previous) => unsafe { previous.as_mut() }.next = node.next,
            None => self.first = node.next,
        }
        if let Some(mut next) = node.next {
            // SAFETY: the next node is in the list, so it's alive.
            unsafe { next.as_mut() }.previous = node.previous;
        }
        Some(waker)
    }
}

impl Ready {
    /// Returns the direction that was ready.
    pub fn direction(&self) -> Direction {
        self.direction
    }
}

struct Waiting<'a> {
    readiness: &'a Readiness,
    direction: Direction,
    node: UnsafeCell<Node>,
    /// The future must not move, because the list points to its node.
    _pinned: PhantomPinned,
}

// SAFETY: the node is accessed only under the lock, and it contains only a
// `Waker`, which is `Send`, and links.
unsafe impl Send for Waiting<'_> {}

impl Waiting<'_> {
    fn place(&self) -> NonNull<Node> {
        NonNull::from(&self.node).cast()
    }
}

impl Future for Waiting<'_> {
    type Output = Result<Ready, ShutDown>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref();
        this.readiness.poll(cx, this.direction, |side, waker| {
            // SAFETY: the node is of this direction. It's pinned with its
            // future, whose `Drop` takes it out of the list.
            unsafe { side.store(this.place(), waker) }
        })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.readiness.lock();
        let side = state.side(self.direction);
        // SAFETY: the node is of this direction, whether it was stored or not.
        let waker = unsafe { side.remove(self.place()) };
        drop(state);
        drop(waker);
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/15-readiness/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/15-readiness/src/tests/mod.rs"]
mod tests;
