//! The current handle of a thread.

use std::cell::RefCell;
use std::marker::PhantomData;

use super::Handle;

thread_local! {
    /// The handle that [`Handle::enter`] has entered on this thread.
    static ENTERED: RefCell<Option<Handle>> = const { RefCell::new(None) };
}

impl Handle {
    /// Returns the handle that this thread has [entered](Self::enter) last. If
    /// it has entered none, returns the handle of the driver of the exercise 14
    /// runtime that the thread has entered.
    ///
    /// # Panics
    ///
    /// If the thread has entered neither a handle nor a runtime, or if the
    /// runtime isn't built on a [`Driver`](super::Driver) of this crate.
    #[track_caller]
    pub fn current() -> Self {
        Self::map_current(Self::clone)
    }

    /// Like [`current`](Self::current), but returns `None` where `current`
    /// panics.
    pub fn try_current() -> Option<Self> {
        Self::try_map_current(Self::clone)
    }

    /// Calls `map` with the current handle. Unlike a clone, this doesn't touch
    /// the handle's reference count, which all threads share. `map` must not
    /// enter a handle or leave one.
    ///
    /// # Panics
    ///
    /// As [`current`](Self::current) does.
    #[track_caller]
    pub(crate) fn map_current<R>(map: impl FnOnce(&Self) -> R + 'static) -> R {
        Self::try_map_current(map).expect(
            "this thread has entered no runtime with I/O: call this in a \
             task, in `block_on`, or while a guard of `enter` is there",
        )
    }

    fn try_map_current<R>(map: impl FnOnce(&Self) -> R + 'static) -> Option<R> {
        ENTERED.with(|entered| match &*entered.borrow() {
            Some(handle) => Some(map(handle)),
            None => work_stealing::map_driver_handle_as(map),
        })
    }

    /// Makes this the [current](Self::current) handle of the thread until the
    /// guard is dropped. Drop nested guards in the reverse order of their
    /// creation.
    pub fn enter(&self) -> EnterGuard {
        let enter = |entered: &RefCell<_>| entered.replace(Some(self.clone()));
        EnterGuard {
            previous: ENTERED.with(enter),
            _on_its_thread: std::marker::PhantomData,
        }
    }
}

/// Keeps a [`Handle`] entered: until the guard is dropped, [`Handle::current`]
/// returns that handle.
#[must_use = "dropped, it leaves the driver"]
pub struct EnterGuard {
    previous: Option<Handle>,
    /// Makes the guard neither `Send` nor `Sync`: it belongs to its thread.
    _on_its_thread: PhantomData<*const ()>,
}

impl Drop for EnterGuard {
    fn drop(&mut self) {
        let previous = self.previous.take();
        let _entered = ENTERED.with(|entered| entered.replace(previous));
    }
}
