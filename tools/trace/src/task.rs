//! A future that reports when it is polled, a waker that reports who wakes it, and work that no
//! executor knows of.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::recorder::{self, Running, TaskId};

/// A future whose polls and wake-ups are recorded, see [`task`].
#[must_use = "a future does nothing unless it is polled"]
#[derive(Debug)]
pub struct Task<F> {
    id: TaskId,
    probe: Option<Arc<Probe>>,
    future: F,
}

/// Wraps a future so that its polls and wake-ups are recorded, and records that
/// the task that runs now has made it. While nothing is recorded it passes
/// everything on.
///
/// Wrap what you give to an executor, or a part of it: then the polls of the
/// part lie within those of the whole.
pub fn task<F: Future>(name: impl Into<Cow<'static, str>>, future: F) -> Task<F> {
    Task {
        id: recorder::spawn(name),
        probe: None,
        future,
    }
}

impl<F: Future> Future for Task<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` isn't moved out of, neither here nor anywhere else.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it is inside what is pinned, and is pinned with it.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        if !this.id.is_recorded() {
            return future.poll(cx);
        }
        let waker = Probe::waker(&mut this.probe, this.id, cx.waker());
        let running = Running::begin(this.id);
        let result = future.poll(&mut Context::from_waker(&waker));
        running.end(result.is_ready());
        drop(waker);
        Probe::rest(&mut this.probe);
        result
    }
}

/// Runs `work` on this thread, and shows it as a job. For work that no executor
/// knows of.
pub fn span<R>(name: impl Into<Cow<'static, str>>, work: impl FnOnce() -> R) -> R {
    job(name, work)()
}

/// Makes a job of `work`, to be handed to a pool of threads. It waits from now
/// until it runs, and it runs once.
pub fn job<R>(name: impl Into<Cow<'static, str>>, work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let task = recorder::submit(name);
    move || {
        if !task.is_recorded() {
            return work();
        }
        let running = Running::begin(task);
        let result = work();
        running.end(true);
        result
    }
}

/// What a wrapped waker wakes.
#[derive(Debug)]
struct Probe {
    task: TaskId,
    /// The executor's waker. `None` between two polls if ours wasn't kept: a task that keeps its
    /// executor's waker might keep itself alive forever.
    inner: Option<Waker>,
}

impl Probe {
    /// Returns the waker for the next poll. As long as the executor's waker is the
    /// same, so is this one, for [`Waker::will_wake`].
    fn waker(kept: &mut Option<Arc<Self>>, task: TaskId, inner: &Waker) -> Waker {
        let mut probe = kept.take().unwrap_or_else(|| Self::new(task, None));
        if let Some(free) = Arc::get_mut(&mut probe) {
            free.inner = Some(inner.clone());
        } else if !probe.wakes(inner) {
            probe = Self::new(task, Some(inner.clone()));
        }
        *kept = Some(probe.clone());
        Waker::from(probe)
    }

    /// Lets go of the executor's waker, unless ours has been kept.
    fn rest(kept: &mut Option<Arc<Self>>) {
        if let Some(probe) = kept.as_mut().and_then(Arc::get_mut) {
            probe.inner = None;
        }
    }

    fn new(task: TaskId, inner: Option<Waker>) -> Arc<Self> {
        Arc::new(Self { task, inner })
    }

    fn wakes(&self, inner: &Waker) -> bool {
        self.inner.as_ref().is_some_and(|own| own.will_wake(inner))
    }
}

impl Wake for Probe {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // First, so that the poll it leads to comes later.
        recorder::wake(self.task);
        if let Some(inner) = &self.inner {
            inner.wake_by_ref();
        }
    }
}
