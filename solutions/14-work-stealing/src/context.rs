//! Which runtime a thread has entered, and which worker it is.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem;
use std::ptr;
use std::sync::Arc;
use std::thread;

use super::shared::Shared;
use super::worker::Worker;

/// No field has a destructor, so that a thread reaches this without a check.
struct Context {
    /// The runtime that was entered last. Its [`EnterGuard`] keeps it alive.
    runtime: Cell<*const Shared>,
    /// The worker that this thread is, as long as [`run_as`] runs.
    worker: Cell<*const Worker>,
    /// How many [`EnterGuard`]s there are.
    depth: Cell<usize>,
    /// Whether there is a [`BlockOnGuard`].
    is_blocked: Cell<bool>,
}

primitives::thread_local! {
    static CONTEXT: Context = const { Context {
        runtime: Cell::new(ptr::null()),
        worker: Cell::new(ptr::null()),
        depth: Cell::new(0),
        is_blocked: Cell::new(false),
    } };
}

/// The runtime that this thread has entered, or null.
#[inline]
pub fn current() -> *const Shared {
    CONTEXT.with(|context| context.runtime.get())
}

/// The runtime that this thread has entered.
///
/// # Safety
///
/// While the caller has the reference, it must not run user code that isn't
/// `'static`, which could drop the [`EnterGuard`], and the runtime behind it.
/// An `EnterGuard` within reach of `'static` code has borrowed its runtime
/// forever.
///
/// # Panics
///
/// If this thread has entered no runtime.
#[inline]
#[track_caller]
pub unsafe fn expect_current<'a>() -> &'a Shared {
    let runtime = current();
    assert!(
        !runtime.is_null(),
        "this thread has not entered a runtime: call this in a task, in \
         `block_on`, in a blocking job, or while a guard of `enter` is there"
    );
    // SAFETY: an `EnterGuard` that still exists keeps the runtime alive.
    unsafe { &*runtime }
}

/// The worker that this thread is, if it's a worker of this runtime.
#[inline]
pub fn worker_of(runtime: &Shared) -> Option<&Worker> {
    let worker = CONTEXT.with(|context| context.worker.get());
    // SAFETY: `run_as` borrows the worker as long as this isn't null, and our
    // caller runs within `run_as`.
    let worker = unsafe { worker.as_ref() }?;
    worker.is_of(runtime).then_some(worker)
}

/// Returns `true` if this thread is a worker, of any runtime.
pub fn is_worker() -> bool {
    CONTEXT.with(|context| !context.worker.get().is_null())
}

/// Makes this thread `worker` while `body` runs. `body` must not panic.
pub fn run_as(worker: &Worker, body: impl FnOnce()) {
    let set = |worker| CONTEXT.with(|context| context.worker.replace(worker));
    set(worker);
    body();
    set(ptr::null());
}

/// While it lives, free functions use the runtime that was entered.
///
/// Guards must be dropped in the reverse order of their creation.
///
/// # Panics
///
/// When it's dropped before a guard that was made later.
#[must_use = "dropped, it leaves the runtime"]
pub struct EnterGuard<'a> {
    /// Not only borrowed, because a guard that is forgotten is never dropped.
    entered: Arc<Shared>,
    /// The runtime that was entered before, which another guard keeps alive.
    previous: *const Shared,
    depth: usize,
    /// Keeps the guard on its thread.
    _runtime: PhantomData<(&'a Shared, *const ())>,
}

impl EnterGuard<'_> {
    pub(crate) fn new(runtime: Arc<Shared>) -> Self {
        CONTEXT.with(|context| {
            context.depth.set(context.depth.get() + 1);
            Self {
                previous: context.runtime.replace(Arc::as_ptr(&runtime)),
                entered: runtime,
                depth: context.depth.get(),
                _runtime: PhantomData,
            }
        })
    }
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        CONTEXT.with(|context| {
            if context.depth.get() == self.depth {
                context.runtime.set(self.previous);
                context.depth.set(self.depth - 1);
                return;
            }
            if context.depth.get() < self.depth {
                // The `EnterScope` around it has left this runtime already.
                return;
            }
            // A later guard will restore this runtime, so it must stay alive.
            mem::forget(self.entered.clone());
            if !thread::panicking() {
                panic!(
                    "a guard of `enter` was dropped before one that came later"
                );
            }
        });
    }
}

/// An [`EnterGuard`] around user code, which may forget its own guards: nothing
/// drops these, so the outer guard leaves their runtimes, too.
pub struct EnterScope(EnterGuard<'static>);

impl EnterScope {
    pub fn new(runtime: Arc<Shared>) -> Self {
        Self(EnterGuard::new(runtime))
    }
}

impl Drop for EnterScope {
    fn drop(&mut self) {
        CONTEXT.with(|context| {
            if context.depth.get() > self.0.depth {
                // A guard that was kept, and not forgotten, would restore this
                // runtime.
                mem::forget(self.0.entered.clone());
                context.depth.set(self.0.depth);
            }
        });
    }
}

/// Leaves the runtimes that user code has entered on a worker's thread and not
/// left. A task can't keep a guard from one poll to the next, because a guard
/// stays on its thread. So between two polls there are only the worker's own
/// guard and those that were forgotten.
#[inline]
pub fn leave_forgotten(workers_own: &Arc<Shared>) {
    CONTEXT.with(|context| {
        if context.depth.get() > 1 {
            leave_all(context, workers_own);
        }
    });
}

#[cold]
fn leave_all(context: &Context, workers_own: &Arc<Shared>) {
    // A guard that was kept, and not forgotten, would restore this runtime.
    mem::forget(workers_own.clone());
    context.runtime.set(Arc::as_ptr(workers_own));
    context.depth.set(1);
}

/// While it exists, its thread waits for a future. The guard stays on that
/// thread.
pub struct BlockOnGuard(PhantomData<*const ()>);

impl BlockOnGuard {
    /// # Panics
    ///
    /// Where this thread must not wait.
    #[track_caller]
    pub fn new() -> Self {
        CONTEXT.with(|context| {
            assert!(
                context.worker.get().is_null(),
                "`block_on` within a task: its worker could run no other task; \
                 `.await` the future instead"
            );
            assert!(
                !context.is_blocked.replace(true),
                "`block_on` within a `block_on`: its thread cannot wait for \
                 both futures; `.await` the inner one instead"
            );
        });
        Self(PhantomData)
    }
}

impl Drop for BlockOnGuard {
    fn drop(&mut self) {
        CONTEXT.with(|context| context.is_blocked.set(false));
    }
}
