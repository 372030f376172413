//! Running several futures in one task.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// The output of [`select`](fn@select): which of the two futures was ready
/// first, and its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The output of the first argument.
    Left(A),
    /// The output of the second argument.
    Right(B),
}

/// Waits until one of two futures is ready, and returns its output. If both are
/// ready in the same poll, `left` wins.
///
/// The other future is dropped at the `.await` where it waits. To keep it, pass
/// `&mut` of a pinned future. Poll that future again soon, because while it
/// isn't polled, it goes on holding its resources, such as locks.
///
/// Dropping the future of `select` drops both futures.
///
/// ```
/// # let runtime = runtime::Runtime::new()?;
/// # runtime.block_on(async {
/// use std::time::Duration;
/// use runtime::{Either, select, sleep};
///
/// let first = select(async { 1 }, sleep(Duration::from_secs(1))).await;
/// assert_eq!(first, Either::Left(1));
/// # });
/// # std::io::Result::Ok(())
/// ```
pub async fn select<A: Future, B: Future>(
    left: A,
    right: B,
) -> Either<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|cx| {
        if let Poll::Ready(output) = left.as_mut().poll(cx) {
            return Poll::Ready(Either::Left(output));
        }
        right.as_mut().poll(cx).map(Either::Right)
    })
    .await
}

/// Waits for two futures, and returns both outputs. Each poll polls both, in
/// this task, until both are ready.
///
/// If the future is dropped before it's ready, it drops both futures, or the
/// output of one that was ready already. For more than two futures there's
/// [`join!`](crate::join!).
pub async fn join<A: Future, B: Future>(
    left: A,
    right: B,
) -> (A::Output, B::Output) {
    let (mut left, mut right) = (pin!(Part::new(left)), pin!(Part::new(right)));
    poll_fn(|cx| {
        let has_left = left.as_mut().poll(cx);
        let has_right = right.as_mut().poll(cx);
        if has_left && has_right {
            return Poll::Ready(());
        }
        Poll::Pending
    })
    .await;
    (left.take(), right.take())
}

/// Waits for all the futures, and returns their outputs in the order of the
/// futures.
///
/// Each wake-up polls every future that isn't ready yet. If you have hundreds
/// of futures, spawn them as tasks instead, and await the handles one after
/// another.
///
/// If the future is dropped before it's ready, it drops all the futures, and
/// the outputs of those that were ready already.
pub async fn join_all<F: Future>(
    futures: impl IntoIterator<Item = F>,
) -> Vec<F::Output> {
    let parts = futures.into_iter().map(|it| Box::pin(Part::new(it)));
    let mut parts: Vec<_> = parts.collect();
    poll_fn(|cx| {
        let mut is_over = true;
        for part in &mut parts {
            is_over &= part.as_mut().poll(cx);
        }
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    parts.iter_mut().map(|part| part.as_mut().take()).collect()
}

/// Waits for two to six futures, in this task, and returns a tuple of their
/// outputs: `let (a, b, c) = join!(a, b, c);`
///
/// The macro awaits, so use it in an async function or block. If that is
/// dropped before all are ready, it drops the futures and the outputs, as
/// [`join`](fn@crate::join) does.
#[macro_export]
macro_rules! join {
    ($a:expr, $b:expr $(,)?) => {
        $crate::join($a, $b).await
    };
    ($a:expr, $b:expr, $c:expr $(,)?) => {{
        let (a, (b, c)) = $crate::join($a, $crate::join($b, $c)).await;
        (a, b, c)
    }};
    ($a:expr, $b:expr, $c:expr, $d:expr $(,)?) => {{
        let left = $crate::join($a, $b);
        let ((a, b), (c, d)) = $crate::join(left, $crate::join($c, $d)).await;
        (a, b, c, d)
    }};
    ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr $(,)?) => {{
        let left = async { $crate::join!($a, $b, $c) };
        let ((a, b, c), (d, e)) =
            $crate::join(left, $crate::join($d, $e)).await;
        (a, b, c, d, e)
    }};
    ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr $(,)?) => {{
        let left = async { $crate::join!($a, $b, $c) };
        let right = async { $crate::join!($d, $e, $f) };
        let ((a, b, c), (d, e, f)) = $crate::join(left, right).await;
        (a, b, c, d, e, f)
    }};
}

/// A future until it's ready, and then its output.
enum Part<F: Future> {
    Running(F),
    Over(Option<F::Output>),
}

impl<F: Future> Part<F> {
    fn new(future: F) -> Self {
        Self::Running(future)
    }

    /// Polls the future, unless it's over. Returns `true` if it's over.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        // SAFETY: the future isn't moved while it's running: `set` drops it in
        // place.
        let this = unsafe { self.as_mut().get_unchecked_mut() };
        let Self::Running(future) = this else {
            return true;
        };
        // SAFETY: the future is pinned, because `self` is.
        let future = unsafe { Pin::new_unchecked(future) };
        let Poll::Ready(output) = future.poll(cx) else {
            return false;
        };
        self.set(Self::Over(Some(output)));
        true
    }

    fn take(self: Pin<&mut Self>) -> F::Output {
        // SAFETY: only the output is moved, and the output was never pinned.
        match unsafe { self.get_unchecked_mut() } {
            Self::Over(output) => output.take().expect("it's taken once"),
            Self::Running(_) => unreachable!("all parts are over"),
        }
    }
}
