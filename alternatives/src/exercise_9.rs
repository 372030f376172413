//! Other correct executors of one thread.

pub mod one_locked_queue;
pub mod via_async_executor;
pub mod via_futures;
pub mod via_tokio;

use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use local_executor::{JoinHandle, job};

type BoxedFuture = Pin<Box<dyn Future<Output = ()>>>;

/// The job of a task, for executors that don't expect a panic when they drop
/// it.
struct Quiet(Option<BoxedFuture>);

/// Creates a task from a future.
fn task<F: Future + 'static>(future: F) -> (Quiet, JoinHandle<F::Output>) {
    let (job, handle) = job(future);
    (Quiet(Some(Box::pin(job))), handle)
}

impl Future for Quiet {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let future = self.0.as_mut().expect("it's there until it's dropped");
        future.as_mut().poll(cx)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let future = self.0.take();
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
        dropped.unwrap_or_else(mem::forget);
    }
}

/// What the free function `spawn` needs from an executor.
trait Host {
    fn add(&self, task: Quiet);
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<dyn Host>>> = const { RefCell::new(None) };
}

/// Makes an executor this thread's current one until the guard is dropped.
struct EnterGuard(Option<Rc<dyn Host>>);

impl EnterGuard {
    fn enter(host: Rc<dyn Host>) -> Self {
        let enter = |here: &RefCell<_>| here.replace(Some(host));
        Self(CURRENT.try_with(enter).unwrap_or_default())
    }

    fn enter_alone(host: Rc<dyn Host>) -> Self {
        let is_idle = CURRENT.with_borrow(|here| here.is_none());
        assert!(is_idle, "recursive: an executor runs on this thread");
        Self::enter(host)
    }
}

impl Drop for EnterGuard {
    fn drop(&mut self) {
        let leave = |here: &RefCell<_>| here.replace(self.0.take());
        let _ = CURRENT.try_with(leave);
    }
}

/// Creates a task from `future` on the executor that runs on this thread.
///
/// # Panics
///
/// Panics, with a message that contains the word "executor", if no executor
/// runs on this thread.
pub fn spawn<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    let here = CURRENT.with_borrow(Clone::clone);
    let (task, handle) = task(future);
    here.expect("no executor runs on this thread").add(task);
    handle
}
