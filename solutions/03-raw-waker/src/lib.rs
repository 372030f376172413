//! Solution 3: a hand-written waker, and a `block_on` that uses it.
//!
//! A waker is two words: a pointer and a table of four functions. Here the
//! pointer stands for one count of an [`Arc`], and each function decides what
//! becomes of that count. The standard library's `Waker::from(Arc<W>)` does the
//! same.

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/03-raw-waker/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/03-raw-waker/src/tests/mod.rs"]
mod tests;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};

use primitives::{Condvar, Mutex, MutexGuard};

/// Creates a waker that wakes `target`.
///
/// # Contract
///
/// 1. **Kept alive.** The target lives as long as any of its wakers. `waker`
///    takes over the count of the [`Arc`] that it is passed. Each clone has a
///    count of its own, in the `Arc` or in a count that you keep yourself.
/// 2. **Given back.** A waker that is dropped gives its count back, and wakes
///    nothing. With the last count, the target is dropped, once, and no memory
///    is left behind.
/// 3. **Wake.** `wake` calls [`Wake::wake`] of the target, once. It consumes
///    the waker, and the waker's count with it.
/// 4. **Wake by reference.** `wake_by_ref` calls [`Wake::wake_by_ref`] of the
///    target, once. The waker keeps its count.
/// 5. **Same waker.** [`Waker::will_wake`] returns `true` for a waker and its
///    clones, and `false` for the wakers of two targets. For two wakers that
///    were created from one target, it may return either.
/// 6. **Any thread.** Wakers may be cloned, woken and dropped on any thread,
///    and by several threads at once.
/// 7. **Panics.** If the target panics when it is woken, the panic comes out of
///    the call, and the counts are still right.
/// 8. **Any target.** The target may have any size and alignment, and it is
///    woken at its own address.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::task::Wake;
///
/// struct Bell;
///
/// impl Wake for Bell {
///     fn wake(self: Arc<Self>) {
///         println!("ding");
///     }
/// }
///
/// let waker = solution_3::waker(Arc::new(Bell));
/// waker.wake_by_ref();
/// waker.wake();
/// ```
pub fn waker<W: Wake + Send + Sync + 'static>(target: Arc<W>) -> Waker {
    let raw = raw_waker::<W>(Arc::into_raw(target).cast());
    // SAFETY: `raw` owns the count of `target`, and the vtable's functions keep
    // the contract of `RawWakerVTable`: `clone` adds a count, `wake` and `drop`
    // take one, and `wake_by_ref` takes none. They are thread-safe, since `Arc`
    // counts atomically and `W` is `Send` and `Sync`.
    unsafe { Waker::from_raw(raw) }
}

/// Joins a pointer from [`Arc::into_raw`] with the vtable of its type.
///
/// [`Waker::will_wake`] compares the addresses of vtables, and the compiler may
/// copy a constant into each part of the crate that names it. So one function
/// names it, and is never inlined.
#[inline(never)]
fn raw_waker<W: Wake + Send + Sync + 'static>(target: *const ()) -> RawWaker {
    RawWaker::new(target, VtableOf::<W>::VTABLE)
}

/// Has one vtable for each type of target, because a `static` can't be generic.
struct VtableOf<W>(PhantomData<W>);

impl<W: Wake + Send + Sync + 'static> VtableOf<W> {
    const VTABLE: &'static RawWakerVTable = &RawWakerVTable::new(
        Self::clone,
        Self::wake,
        Self::wake_by_ref,
        Self::drop,
    );

    /// Gives the new waker a count of its own.
    ///
    /// # Safety
    ///
    /// The caller must pass the pointer of a waker that [`waker`] created for a
    /// `W`, and that waker must not have given up its count.
    unsafe fn clone(target: *const ()) -> RawWaker {
        // SAFETY: the pointer came from `Arc::<W>::into_raw`, and the count of
        // the waker that is cloned keeps it alive.
        unsafe { Arc::<W>::increment_strong_count(target.cast()) };
        raw_waker::<W>(target)
    }

    /// Takes the waker's count and passes it on to the target.
    ///
    /// # Safety
    ///
    /// As for [`VtableOf::clone`]; the waker must not be used again.
    unsafe fn wake(target: *const ()) {
        // SAFETY: the pointer came from `Arc::<W>::into_raw`. The waker's count
        // now belongs to this `Arc`.
        let target = unsafe { Arc::<W>::from_raw(target.cast()) };
        target.wake();
    }

    /// Borrows the waker's count, and wakes the target.
    ///
    /// # Safety
    ///
    /// As for [`VtableOf::clone`].
    unsafe fn wake_by_ref(target: *const ()) {
        // SAFETY: the pointer came from `Arc::<W>::into_raw`. The waker keeps
        // its count, since this `Arc` is never dropped.
        let target = unsafe { Arc::<W>::from_raw(target.cast()) };
        // Not `mem::forget` after the call, which a panic would skip.
        let target = ManuallyDrop::new(target);
        target.wake_by_ref();
    }

    /// Gives the waker's count back.
    ///
    /// # Safety
    ///
    /// As for [`VtableOf::clone`]; the waker must not be used again.
    unsafe fn drop(target: *const ()) {
        // SAFETY: the pointer came from `Arc::<W>::into_raw`. The waker's count
        // is given back here, once.
        unsafe { Arc::<W>::decrement_strong_count(target.cast()) };
    }
}

/// Runs `future` on this thread until it is ready and returns its output. Its
/// wakers come from [`waker`].
///
/// # Contract
///
/// 9. **Prompt.** The future is polled at once, and again after each wake-up
///    until it is ready.
/// 10. **Idle.** While there is nothing to do, the thread sleeps. It neither
///     spins nor checks again on a timer.
/// 11. **No lost wake-up.** A wake-up that comes before the thread sleeps still
///     counts, even if the future itself calls `thread::park` or a `block_on`
///     of its own. (Such a nested call may work or panic.)
/// 12. **Wakers live on.** A waker may be woken, cloned and dropped after
///     `block_on` has returned. Calls leave no memory behind.
///
/// # Panics
///
/// Propagates a panic of the future.
///
/// # Examples
///
/// ```
/// let answer = solution_3::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let park = Arc::new(Park::default());
    let waker = waker(park.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        park.wait();
    }
}

/// What the thread of [`block_on`] sleeps on.
#[derive(Default)]
struct Park {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Park {
    /// Sleeps until woken, and consumes the wake-up.
    fn wait(&self) {
        let mut is_woken = self.lock();
        while !*is_woken {
            let woken = self.woken.wait(is_woken);
            is_woken = woken.unwrap_or_else(PoisonError::into_inner);
        }
        *is_woken = false;
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Park {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.lock() = true;
        self.woken.notify_one();
    }
}
