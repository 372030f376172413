//! Solution 4: a parker and a waker for each thread, and a wake-up that is a
//! plain store on the polling thread.
//!
//! A wake-up has two ways to reach the loop. From another thread it's a token
//! of the parker of exercise 2, which takes an atomic swap, and unparks the
//! thread if it's parked. On the polling thread, the thread can't be parked and
//! no other thread looks, so a [`Cell`] is enough.
//!
//! *Memory ordering.* The poll that follows sees what another thread wrote
//! before it woke us, because of the Release and the Acquire of the parker's
//! token, which only [`Parker::park`] takes. The flag orders nothing, and
//! doesn't have to, because the thread that reads it is the thread that sets
//! it.
//!
//! Each call creates its waker, as two words on the stack. There the optimizer
//! sees what a wake-up does, and inlines it into a future that it inlines. The
//! waker is std's and not exercise 3's, because the latter's promise about
//! `will_wake` rests on a function that is never inlined. Both do the same.

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/04-cached-block-on/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;

use std::cell::{Cell, OnceCell};
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parker::{Parker, Unparker};

/// Runs `future` on this thread until it is ready and returns its output. Keeps
/// what the thread's next call needs.
///
/// # Contract
///
/// 1. **Prompt.** The future is polled at once, and again after each wake-up,
///    until it is ready. A future that is ready at its first poll needs no
///    wake-up.
/// 2. **Idle.** While there is nothing to do, the thread sleeps. It neither
///    spins nor checks again on a timer.
/// 3. **No lost wake-up.** A wake-up counts no matter when it comes, from the
///    future itself or from another thread, during the poll or after it, and
///    even if the future calls [`std::thread::park`]. The poll that it causes,
///    which may be a later one than the next, sees what was written before the
///    wake-up.
/// 4. **Any thread.** Each clone of the waker may be called from any thread,
///    and wakes the thread that it was made for.
/// 5. **Bounded polls.** A wake-up causes at most one further poll. Wake-ups
///    that come while no `block_on` runs on the thread cause at most one
///    further poll in the next call, no matter how many there are.
/// 6. **One drop.** The future doesn't move once it has been polled. It is
///    dropped once, on this thread, before `block_on` returns or propagates the
///    future's panic.
/// 7. **No allocation.** After the first call on a thread, further calls
///    allocate nothing.
/// 8. **No recursion.** A call of `block_on` within the poll of a future that
///    `block_on` runs on the same thread panics, and polls nothing. The outer
///    call goes on. Calls on other threads and later calls aren't recursive. A
///    call in the future's destructor, after its last poll, may work or panic.
/// 9. **Panics.** After a panic of the future, the thread is as usable as
///    before.
/// 10. **Wakers live on.** A waker may be woken, cloned and dropped after
///     `block_on` has returned, and after its thread has ended.
/// 11. **Thread exit.** `block_on` works in the destructors of thread-locals,
///     where it may allocate. What is kept for a thread is freed when the
///     thread ends.
/// 12. **Cheap.** A wake-up by reference on the thread that polls, and the poll
///     after it, take no atomic read-modify-write.
///
/// # Panics
///
/// Propagates a panic of the future. A recursive call panics with a message
/// that contains the words "recursive `block_on`".
///
/// # Examples
///
/// ```
/// let answer = solution_4::block_on(async { 6 * 7 });
/// assert_eq!(answer, 42);
/// ```
// ANCHOR: block_on
#[inline]
pub fn block_on<F: Future>(future: F) -> F::Output {
    if THIS_THREAD.with(|thread| thread.stage.get()) != Stage::Ready {
        return prepare_and_block_on(future);
    }
    let mut future = pin!(future);
    let _polling = Polling::start();
    // SAFETY: in `Stage::Ready`, `cache` points into a `Registration`, whose
    // owner is the thread, or a caller further up the stack, so it outlives
    // this call.
    let cache = unsafe { &*THIS_THREAD.with(|thread| thread.cache.get()) };
    let waker = cache.waker();
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if !THIS_THREAD.with(|thread| thread.is_woken.replace(false)) {
            cache.sleep();
        }
    }
}
// ANCHOR_END: block_on

/// What a thread knows about itself. Nothing here has a destructor, so the
/// thread can access it, without a check, as long as it runs.
struct ThisThread {
    stage: Cell<Stage>,
    /// Whether the future was woken on this thread, and hasn't been polled
    /// since.
    is_woken: Cell<bool>,
    /// The target of this thread's wakers, for comparison; null if the thread
    /// keeps none.
    waker: Cell<*const ThreadWaker>,
    /// Valid unless `stage` is `Unprepared`.
    cache: Cell<*const ThreadCache>,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// The thread keeps nothing, because there was no call yet, or because it's
    /// ending.
    // --> Ready (`Registration::new`)
    Unprepared,
    /// The thread keeps a parker, and no `block_on` runs.
    // --> Polling (`Polling::start`), Unprepared (`Registration` dropped)
    Ready,
    /// A `block_on` runs on this thread; a second one would be recursive.
    // --> Ready (`Polling` dropped)
    Polling,
}

primitives::thread_local! {
    static THIS_THREAD: ThisThread = const { ThisThread {
        stage: Cell::new(Stage::Unprepared),
        is_woken: Cell::new(false),
        waker: Cell::new(ptr::null()),
        cache: Cell::new(ptr::null()),
    } };
    /// Frees what the thread keeps when the thread ends.
    static REGISTRATION: OnceCell<Registration> = const { OnceCell::new() };
}

/// Marks the thread as polling until it is dropped, even by a panic.
struct Polling;

impl Polling {
    #[inline]
    fn start() -> Self {
        THIS_THREAD.with(|thread| {
            thread.stage.set(Stage::Polling);
            // A wake-up from before the first poll asks for no poll.
            thread.is_woken.set(false);
        });
        Self
    }
}

impl Drop for Polling {
    #[inline]
    fn drop(&mut self) {
        THIS_THREAD.with(|thread| thread.stage.set(Stage::Ready));
    }
}

/// The target of a thread's wakers. It outlives the thread if the wakers do.
struct ThreadWaker {
    unparker: Unparker,
}

// ANCHOR: wake
impl Wake for ThreadWaker {
    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        let is_here = THIS_THREAD.try_with(|thread| {
            let is_here = ptr::eq(thread.waker.get(), &**self);
            if is_here {
                thread.is_woken.set(true);
            }
            is_here
        });
        // Fails on systems where thread-locals end before their thread, which
        // doesn't poll then.
        if !is_here.unwrap_or(false) {
            self.wake_from_elsewhere();
        }
    }

    #[inline]
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
}
// ANCHOR_END: wake

impl ThreadWaker {
    /// Leaves a token. Not inlined, so that the other path stays short.
    #[cold]
    #[inline(never)]
    fn wake_from_elsewhere(&self) {
        self.unparker.unpark();
    }
}

/// What a thread keeps from call to call.
struct ThreadCache {
    parker: Parker,
    thread_waker: Arc<ThreadWaker>,
}

impl ThreadCache {
    /// Waits for a wake-up from another thread. Not inlined, for the same
    /// reason as above.
    #[cold]
    #[inline(never)]
    fn sleep(&self) {
        self.parker.park();
    }

    /// Creates a waker that borrows the count of `thread_waker`.
    #[inline]
    fn waker(&self) -> ManuallyDrop<Waker> {
        // SAFETY: the pointer is from an `Arc`. The count stays with `self`,
        // since the waker around the second `Arc` is never dropped.
        let thread_waker =
            unsafe { Arc::from_raw(Arc::as_ptr(&self.thread_waker)) };
        ManuallyDrop::new(Waker::from(thread_waker))
    }
}

/// Owns what a thread keeps, and announces it in [`THIS_THREAD`].
struct Registration {
    /// Not a `Box`, because a raw pointer into a `Box` isn't valid after the
    /// `Box` has moved.
    _cache: Rc<ThreadCache>,
}

impl Registration {
    fn new() -> Self {
        let parker = Parker::new();
        let thread_waker = Arc::new(ThreadWaker {
            unparker: parker.unparker(),
        });
        let cache = Rc::new(ThreadCache {
            parker,
            thread_waker,
        });
        THIS_THREAD.with(|thread| {
            thread.waker.set(Arc::as_ptr(&cache.thread_waker));
            thread.cache.set(Rc::as_ptr(&cache));
            thread.stage.set(Stage::Ready);
        });
        Self { _cache: cache }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Fails on systems where thread-locals end before their thread, which
        // doesn't look at them then.
        let _ = THIS_THREAD.try_with(|thread| {
            thread.stage.set(Stage::Unprepared);
            // Another thread's waker may be allocated at the same address.
            thread.waker.set(ptr::null());
        });
    }
}

/// The rare paths into [`block_on`]: the first call of a thread, a call while
/// the thread ends, and a recursive call.
#[cold]
#[inline(never)]
fn prepare_and_block_on<F: Future>(future: F) -> F::Output {
    assert!(
        THIS_THREAD.with(|thread| thread.stage.get()) != Stage::Polling,
        "recursive `block_on`: this thread is already running one, and can't wait for two futures \
         at once; `.await` the inner future instead"
    );
    let prepared = REGISTRATION.try_with(|registration| {
        registration.get_or_init(Registration::new);
    });
    // The thread is ending, and keeps nothing anymore, so this call has its
    // own.
    let _own = prepared.is_err().then(Registration::new);
    block_on(future)
}
