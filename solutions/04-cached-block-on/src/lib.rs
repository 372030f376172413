//! Solution 4: parker and waker kept for each thread, and a wake-up on the
//! polling thread that is a plain store.
//!
//! A wake-up has two ways to the loop. Elsewhere it is a token of the parker
//! of exercise 2: an atomic swap, and a sleeper is roused. On the thread that
//! polls nobody can be asleep and nobody looks on, so a [`Cell`] will do.
//!
//! *Memory ordering.* What another thread wrote before it woke us is seen by
//! the poll that follows: by the Release and Acquire of the parker's token,
//! which only [`Parker::park`] takes. The flag orders nothing, and need not: it
//! is read by the thread that sets it.
//!
//! The waker is made anew for each call, as two words on the stack: there the
//! optimiser sees what a wake-up does, and inlines it into a future that it
//! inlines. It is std's and not that of exercise 3, which promises `will_wake`
//! by a function that is never inlined; what both do is the same.

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

/// Runs `future` on this thread until it is ready and returns its output.
/// Keeps what it needs for the thread's next call.
///
/// # Contract
///
/// 1. **Prompt.** The future is polled at once, and again after each wake-up,
///    until it is ready. One that is ready at its first poll needs none.
/// 2. **Idle.** While there is nothing to do the thread sleeps. It neither
///    spins nor looks again by a timer.
/// 3. **No lost wake-up.** A wake-up counts whenever it comes: from the future
///    itself or from another thread, during the poll or after it, whatever the
///    future does with [`std::thread::park`]. The poll that it causes, which
///    may be a later one than the next, sees what was written before it.
/// 4. **Any thread.** Each clone of the waker may wake from any thread, and
///    wakes the thread that it was made for.
/// 5. **Bounded polls.** A wake-up causes one further poll at most. Wake-ups
///    that come while no `block_on` runs on the thread cause one further poll
///    of the next at most, however many they are.
/// 6. **One drop.** The future does not move once it has been polled. It is
///    dropped once, on this thread, before `block_on` returns or passes on the
///    future's panic.
/// 7. **No allocation.** After the first call on a thread, further calls
///    allocate nothing.
/// 8. **No recursion.** A `block_on` within the poll of a future that
///    `block_on` runs on the same thread panics, and polls nothing. The outer
///    call goes on. Calls on other threads and later calls are no recursion.
///    One in the future's destructor, after its last poll, may work or panic.
/// 9. **Panics.** After a panic of the future the thread is as good as before.
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
/// Passes on a panic of the future. A recursive call panics with a message
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
    // SAFETY: since `Stage::Ready`, `cache` points to what a `Registration`
    // has. That one is dropped when this thread ends, or by a caller of this
    // call.
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

/// What a thread knows about itself. Nothing here has a destructor, so that it
/// can be reached, without a check, for as long as the thread runs.
struct ThisThread {
    stage: Cell<Stage>,
    /// Whether the future was woken on this thread, and not polled since.
    is_woken: Cell<bool>,
    /// The target of this thread's wakers, to be compared with; null if the
    /// thread keeps none.
    waker: Cell<*const ThreadWaker>,
    /// Valid unless `stage` is `Unprepared`.
    cache: Cell<*const ThreadCache>,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// The thread keeps nothing: no call yet, or it ends.
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

/// Marks the thread as polling, also when a panic passes.
struct Polling;

impl Polling {
    #[inline]
    fn start() -> Self {
        THIS_THREAD.with(|thread| {
            thread.stage.set(Stage::Polling);
            // A wake-up from before the first poll asks for nothing.
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

/// The target of a thread's wakers. It outlives the thread if they do.
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
        // Fails where thread-locals end before their thread: nobody polls then.
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
    /// Leaves a token. Not inlined: the other way is to stay a short one.
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
    /// Waits for a wake-up from another thread. Not inlined, as above.
    #[cold]
    #[inline(never)]
    fn sleep(&self) {
        self.parker.park();
    }

    /// Makes a waker that borrows the count of `thread_waker`.
    #[inline]
    fn waker(&self) -> ManuallyDrop<Waker> {
        // SAFETY: the pointer is that of an `Arc`. Its count stays with `self`,
        // since the waker around the second `Arc` is never dropped.
        let thread_waker =
            unsafe { Arc::from_raw(Arc::as_ptr(&self.thread_waker)) };
        ManuallyDrop::new(Waker::from(thread_waker))
    }
}

/// Owns what a thread keeps, and announces it in [`THIS_THREAD`].
struct Registration {
    /// Not a `Box`: nothing may point into one that moves.
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
        // Fails where thread-locals end before their thread: nobody looks then.
        let _ = THIS_THREAD.try_with(|thread| {
            thread.stage.set(Stage::Unprepared);
            // Another thread's waker may come to lie at the same address.
            thread.waker.set(ptr::null());
        });
    }
}

/// The rare ways into [`block_on`]: the first call of a thread, a call while
/// the thread ends, and a recursive one.
#[cold]
#[inline(never)]
fn prepare_and_block_on<F: Future>(future: F) -> F::Output {
    assert!(
        THIS_THREAD.with(|thread| thread.stage.get()) != Stage::Polling,
        "recursive `block_on`: this thread is already running one, and cannot \
         wait for two futures at once; `.await` the inner future instead"
    );
    let prepared = REGISTRATION.try_with(|registration| {
        registration.get_or_init(Registration::new);
    });
    // The thread ends, and keeps nothing any more: this call has its own.
    let _own = prepared.is_err().then(Registration::new);
    block_on(future)
}
