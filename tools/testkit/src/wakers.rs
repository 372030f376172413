//! Wakers that count, and wakers that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

/// Makes wakers that count what is done with them.
#[derive(Debug)]
pub struct CountingWaker;

/// Counts what is done with the wakers of one [`CountingWaker::new`].
#[derive(Debug, Default)]
pub struct WakeCounts {
    by_value: AtomicUsize,
    by_reference: AtomicUsize,
    clones: AtomicUsize,
    drops: AtomicUsize,
}

impl CountingWaker {
    /// Makes a waker and the counts of it and of its clones.
    #[expect(clippy::new_ret_no_self, reason = "what it makes is a `Waker`")]
    pub fn new() -> (Waker, Arc<WakeCounts>) {
        let counts = Arc::new(WakeCounts::default());
        // SAFETY: `raw` gives the vtable's functions what they ask for.
        let waker = unsafe { Waker::from_raw(raw(counts.clone())) };
        (waker, counts)
    }
}

/// Makes a waker that owns `counts`, which must already have counted it.
pub(crate) fn raw(counts: Arc<WakeCounts>) -> RawWaker {
    RawWaker::new(Arc::into_raw(counts).cast(), &VTABLE)
}

impl WakeCounts {
    /// Wakes of either kind.
    pub fn wakes(&self) -> usize {
        self.by_value.load(Relaxed) + self.by_reference.load(Relaxed)
    }

    /// Wakes by [`Waker::wake`].
    pub fn wakes_by_value(&self) -> usize {
        self.by_value.load(Relaxed)
    }

    /// Wakes by [`Waker::wake_by_ref`].
    pub fn wakes_by_reference(&self) -> usize {
        self.by_reference.load(Relaxed)
    }

    /// Clones made of the waker.
    pub fn clones(&self) -> usize {
        self.clones.load(Relaxed)
    }

    /// Wakers given up: dropped, or woken by value.
    pub fn drops(&self) -> usize {
        self.drops.load(Relaxed)
    }

    pub(crate) fn count_wake_by_value(&self) {
        self.by_value.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_wake_by_reference(&self) {
        self.by_reference.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_clone(&self) {
        self.clones.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_drop(&self) {
        self.drops.fetch_add(1, Relaxed);
    }
}

/// The data pointer of each waker here is a counted `Arc<WakeCounts>`.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, release);

fn counts<'a>(data: *const ()) -> &'a WakeCounts {
    // SAFETY: the callers are the vtable's functions, whose waker keeps the `Arc` alive while they run.
    unsafe { &*data.cast() }
}

fn clone(data: *const ()) -> RawWaker {
    counts(data).count_clone();
    // SAFETY: `data` came from `Arc::into_raw` and is alive; the new waker owns the new count.
    unsafe { Arc::<WakeCounts>::increment_strong_count(data.cast()) };
    RawWaker::new(data, &VTABLE)
}

fn wake(data: *const ()) {
    counts(data).count_wake_by_value();
    release(data);
}

fn wake_by_ref(data: *const ()) {
    counts(data).count_wake_by_reference();
}

fn release(data: *const ()) {
    counts(data).count_drop();
    // SAFETY: gives back the count that this waker has owned since `CountingWaker::new` or `clone`.
    unsafe { Arc::<WakeCounts>::decrement_strong_count(data.cast()) };
}

/// Makes wakers that run a hostile action whenever they are woken: a panic, or a call back into the
/// code under test.
pub struct HostileWaker<F>(F);

impl<F: Fn() + Send + Sync + 'static> HostileWaker<F> {
    /// Makes a waker that runs `action` when it is woken, by value or by
    /// reference.
    #[expect(clippy::new_ret_no_self, reason = "what it makes is a `Waker`")]
    pub fn new(action: F) -> Waker {
        Arc::new(Self(action)).into()
    }
}

impl HostileWaker<fn()> {
    /// The message of the panic of [`HostileWaker::panicking`].
    pub const MESSAGE: &str = "this waker panics when it is woken";

    /// Makes a waker that panics when it is woken.
    pub fn panicking() -> Waker {
        HostileWaker::new(|| panic!("{}", HostileWaker::MESSAGE))
    }

    /// Makes a waker that panics when it is cloned, and does nothing else.
    pub fn panicking_when_cloned() -> Waker {
        static VTABLE: RawWakerVTable = RawWakerVTable::new(
            |_| panic!("this waker panics when it is cloned"),
            |_| (),
            |_| (),
            |_| (),
        );
        // SAFETY: the functions don't use their data pointer.
        unsafe { Waker::new(std::ptr::null(), &VTABLE) }
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for HostileWaker<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_use_is_counted_once() {
        let (waker, counts) = CountingWaker::new();
        let clone = waker.clone();
        clone.wake_by_ref();
        clone.wake();
        drop(waker);
        let seen = (
            counts.wakes_by_value(),
            counts.wakes_by_reference(),
            counts.clones(),
            counts.drops(),
        );
        assert_eq!(seen, (1, 1, 1, 2), "by value, by reference, clones, drops");
        assert_eq!(
            Arc::strong_count(&counts),
            1,
            "every waker gave its count back"
        );
    }

    #[test]
    fn a_hostile_waker_panics_in_wake() {
        let caught = std::panic::catch_unwind(|| HostileWaker::panicking().wake_by_ref());
        assert!(caught.is_err(), "its wake must panic");
        let waker = HostileWaker::panicking_when_cloned();
        waker.wake_by_ref();
        let caught = std::panic::catch_unwind(|| waker.clone());
        assert!(caught.is_err(), "its clone must panic");
    }
}
