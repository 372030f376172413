//! Wakers that an executor must not distinguish by only a part of what they are.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::WakeCounts;
use crate::wakers;

/// A place on the stack for wakers, one after the other and all at the same address. A clone of
/// such a waker is on the heap: it has a different data pointer and a different vtable. Code that
/// keeps the clone and compares the next waker with the *original* takes two wakers for one.
#[derive(Debug, Default)]
pub struct StackWakers {
    current: Arc<WakeCounts>,
}

impl StackWakers {
    /// Makes a place for wakers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lends `body` a new waker, which is gone when `body` returns. Returns
    /// what `body` returns, and the counts of the waker and of its clones.
    pub fn lend<R>(&mut self, body: impl FnOnce(&Waker) -> R) -> (R, Arc<WakeCounts>) {
        self.current = Arc::default();
        let data = ptr::from_ref(self).cast();
        // SAFETY: `ON_STACK` works on a pointer to a `StackWakers`. The waker lives as long as this
        // call, which borrows `self`: `body` can only clone it, and a clone keeps the counts alive.
        let waker = unsafe { Waker::new(data, &ON_STACK) };
        let result = body(&waker);
        drop(waker);
        (result, self.current.clone())
    }
}

/// The data pointer of each waker here is a `StackWakers`.
static ON_STACK: RawWakerVTable = RawWakerVTable::new(
    |data| {
        place(data).current.count_clone();
        wakers::raw(place(data).current.clone())
    },
    |data| {
        place(data).current.count_wake_by_value();
        place(data).current.count_drop();
    },
    |data| place(data).current.count_wake_by_reference(),
    |data| place(data).current.count_drop(),
);

fn place<'a>(data: *const ()) -> &'a StackWakers {
    // SAFETY: the callers are the vtable's functions, whose waker lives in a call that borrows it.
    unsafe { &*data.cast() }
}

/// Makes two wakers without data, each with a count of its wake-ups: they differ only by their
/// vtables. The counts are per process.
pub fn wakers_without_data() -> [(Waker, &'static AtomicUsize); 2] {
    // SAFETY: the functions of these vtables don't use their data pointer.
    let make = |vtable| unsafe { Waker::new(ptr::null(), vtable) };
    [
        (make(&WITHOUT_DATA[0]), &WAKE_COUNTS[0]),
        (make(&WITHOUT_DATA[1]), &WAKE_COUNTS[1]),
    ]
}

static WAKE_COUNTS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
static WITHOUT_DATA: [RawWakerVTable; 2] = [vtable_of::<0>(), vtable_of::<1>()];

const fn vtable_of<const INDEX: usize>() -> RawWakerVTable {
    let wake = |_: *const ()| _ = WAKE_COUNTS[INDEX].fetch_add(1, SeqCst);
    RawWakerVTable::new(
        |_| RawWaker::new(ptr::null(), &WITHOUT_DATA[INDEX]),
        wake,
        wake,
        |_| (),
    )
}

/// Makes wakers that run a hostile action whenever they are cloned, before the clone exists.
pub struct HostileClone<F> {
    action: F,
    wakes: Arc<AtomicUsize>,
}

impl<F: Fn() + Send + Sync + 'static> HostileClone<F> {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |data| {
            // SAFETY: `data` is from `Arc::into_raw`, and its waker owns a count.
            let clone = unsafe { Self::borrow(data) };
            (clone.action)();
            Self::raw((*clone).clone())
        },
        |data| {
            // SAFETY: as in `clone`, and the waker is given up: this count is ours.
            let woken = unsafe { Arc::from_raw(data.cast::<Self>()) };
            woken.wakes.fetch_add(1, SeqCst);
        },
        |data| {
            // SAFETY: as in `clone`.
            let woken = unsafe { Self::borrow(data) };
            woken.wakes.fetch_add(1, SeqCst);
        },
        |data| {
            // SAFETY: as in `wake`.
            drop(unsafe { Arc::from_raw(data.cast::<Self>()) });
        },
    );

    /// Makes a waker that runs `action` when it is cloned, and does nothing
    /// when it is woken.
    #[expect(clippy::new_ret_no_self, reason = "what it makes is a `Waker`")]
    pub fn new(action: F) -> Waker {
        Self::counted(action).0
    }

    /// Like [`new`](Self::new), and with a count of the wake-ups.
    pub fn counted(action: F) -> (Waker, Arc<AtomicUsize>) {
        let wakes = Arc::new(AtomicUsize::new(0));
        let hostile = Arc::new(Self {
            action,
            wakes: wakes.clone(),
        });
        // SAFETY: `raw` gives the vtable's functions what they ask for.
        let waker = unsafe { Waker::from_raw(Self::raw(hostile)) };
        (waker, wakes)
    }

    fn raw(owner: Arc<Self>) -> RawWaker {
        RawWaker::new(Arc::into_raw(owner).cast(), const { &Self::VTABLE })
    }

    /// # Safety
    ///
    /// The caller must pass a pointer from [`Arc::into_raw`] whose count stays.
    unsafe fn borrow(data: *const ()) -> ManuallyDrop<Arc<Self>> {
        // SAFETY: passed on; the count isn't given back.
        ManuallyDrop::new(unsafe { Arc::from_raw(data.cast()) })
    }
}

/// What happens to a waker. [`ActingWaker`] acts then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakerUse {
    /// A clone is about to be made.
    Clone,
    /// It's woken, by value or by reference.
    Wake,
    /// It's dropped, or was woken by value, and has just given up what it owned.
    Drop,
}

/// Makes wakers that act at each use of the waker and of its clones: foreign code, as an executor's
/// may be, wherever a program may call it.
pub struct ActingWaker<F>(F);

impl<F: Fn(WakerUse) + Send + Sync + 'static> ActingWaker<F> {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |data| {
            // SAFETY: `data` is from `Arc::into_raw`, and its waker owns a count.
            let clone = unsafe { Self::borrow(data) };
            clone.act(WakerUse::Clone);
            Self::raw((*clone).clone())
        },
        |data| {
            // SAFETY: as in `clone`, and the waker is given up: this count is ours.
            let woken = unsafe { Arc::from_raw(data.cast::<Self>()) };
            woken.act(WakerUse::Wake);
            woken.act(WakerUse::Drop);
        },
        |data| {
            // SAFETY: as in `clone`.
            let woken = unsafe { Self::borrow(data) };
            woken.act(WakerUse::Wake);
        },
        |data| {
            // SAFETY: as in `wake`.
            let dropped = unsafe { Arc::from_raw(data.cast::<Self>()) };
            dropped.act(WakerUse::Drop);
        },
    );

    /// Makes a waker that runs `action` at each use. What `action` itself does to such wakers, on
    /// the same thread, is no use that counts.
    #[expect(clippy::new_ret_no_self, reason = "what it makes is a `Waker`")]
    pub fn new(action: F) -> Waker {
        // SAFETY: `raw` gives the vtable's functions what they ask for.
        unsafe { Waker::from_raw(Self::raw(Arc::new(Self(action)))) }
    }

    fn act(&self, what: WakerUse) {
        struct Acts;

        impl Drop for Acts {
            fn drop(&mut self) {
                ACTS.set(false);
            }
        }

        if !ACTS.replace(true) {
            let _acts = Acts;
            (self.0)(what);
        }
    }

    fn raw(owner: Arc<Self>) -> RawWaker {
        RawWaker::new(Arc::into_raw(owner).cast(), const { &Self::VTABLE })
    }

    /// # Safety
    ///
    /// The caller must pass a pointer from [`Arc::into_raw`] whose count stays.
    unsafe fn borrow(data: *const ()) -> ManuallyDrop<Arc<Self>> {
        // SAFETY: passed on; the count isn't given back.
        ManuallyDrop::new(unsafe { Arc::from_raw(data.cast()) })
    }
}

thread_local! {
    /// Whether an [`ActingWaker`] acts on this thread.
    static ACTS: Cell<bool> = const { Cell::new(false) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_clone_acts_when_it_is_cloned() {
        let clones = Arc::new(AtomicUsize::new(0));
        let counted = clones.clone();
        let (waker, wakes) = HostileClone::counted(move || _ = counted.fetch_add(1, SeqCst));
        let clone = waker.clone();
        waker.wake_by_ref();
        waker.wake();
        assert_eq!((clones.load(SeqCst), wakes.load(SeqCst)), (1, 2));
        drop(clone);
        assert_eq!(Arc::strong_count(&clones), 1, "all counts came back");
    }

    #[test]
    fn an_acting_waker_acts_at_each_use_and_not_within_its_action() {
        use std::sync::Mutex;

        let uses = Arc::new(Mutex::new(Vec::new()));
        let (seen, inner) = (uses.clone(), Arc::new(Mutex::new(None::<Waker>)));
        let own = inner.clone();
        let waker = ActingWaker::new(move |what| {
            seen.lock().unwrap().push(what);
            let own = own.lock().unwrap().take();
            drop(own.clone());
            own.into_iter().for_each(Waker::wake);
        });
        *inner.lock().unwrap() = Some(waker.clone());
        waker.wake_by_ref();
        let clone = waker.clone();
        clone.wake();
        drop(waker);
        let expected = {
            use WakerUse::{Clone, Drop, Wake};
            [Clone, Wake, Clone, Wake, Drop, Drop]
        };
        assert_eq!(*uses.lock().unwrap(), expected);
        assert_eq!(Arc::strong_count(&uses), 1, "all counts came back");
    }

    #[test]
    fn wakers_on_the_stack_are_the_same_and_their_clones_are_not() {
        let mut place = StackWakers::new();
        let identity = |waker: &Waker| (waker.data(), ptr::from_ref(waker.vtable()));
        let keep = |waker: &Waker| (waker.clone(), identity(waker));
        let ((first, first_identity), first_counts) = place.lend(keep);
        let ((second, second_identity), second_counts) = place.lend(keep);
        assert_eq!(first_identity, second_identity, "one place, one vtable");
        assert!(!first.will_wake(&second), "the clones differ");
        assert_ne!(identity(&first).1, first_identity.1, "another vtable");
        second.wake();
        assert_eq!((first_counts.wakes(), second_counts.wakes()), (0, 1));
        drop(first);
        for counts in [first_counts, second_counts] {
            assert_eq!(counts.clones() + 1, counts.drops(), "all are given up");
        }
    }

    #[test]
    fn wakers_without_data_differ_by_their_vtables() {
        let [(first, first_count), (second, second_count)] = wakers_without_data();
        assert_eq!(first.data(), second.data());
        assert!(!first.will_wake(&second) && first.will_wake(&first.clone()));
        second.wake_by_ref();
        let clone = second.clone();
        clone.wake();
        let counts = [first_count, second_count].map(|count| count.load(SeqCst));
        assert_eq!(counts, [0, 2]);
    }
}
