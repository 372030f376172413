//! Several futures in one task.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Which of two was first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The first one, with its output.
    Left(A),
    /// The second one, with its output.
    Right(B),
}

/// Waits for one of two futures. If both are ready, the first one counts.
///
/// The other one is dropped where it is. To keep it, pass `&mut` of a pinned
/// future, and poll it again soon: what it holds, such as a lock, it holds on to
/// meanwhile.
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

/// Waits for both of two futures, and polls them in turns in this task.
///
/// Dropped before it's ready, it drops both, and the output of one that was
/// ready already. For more than two there is [`join!`](crate::join!).
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

/// Waits for all of them, and polls all each time that one is woken. The outputs
/// are in the order of the futures.
///
/// Each poll polls all that aren't ready: for hundreds of futures, spawn tasks.
///
/// Dropped before it's ready, it drops all, and the outputs of those that were
/// ready already.
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
/// What [`join`](fn@crate::join) says holds for it as well.
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

/// A future, then its output.
enum Part<F: Future> {
    Running(F),
    Over(Option<F::Output>),
}

impl<F: Future> Part<F> {
    fn new(future: F) -> Self {
        Self::Running(future)
    }

    /// Returns `true` if the output is there.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        // SAFETY: a future that runs isn't moved out: it's dropped in place,
        // by `set`.
        let this = unsafe { self.as_mut().get_unchecked_mut() };
        let Self::Running(future) = this else {
            return true;
        };
        // SAFETY: it's pinned with `self`.
        let future = unsafe { Pin::new_unchecked(future) };
        let Poll::Ready(output) = future.poll(cx) else {
            return false;
        };
        self.set(Self::Over(Some(output)));
        true
    }

    fn take(self: Pin<&mut Self>) -> F::Output {
        // SAFETY: only the output is moved, which was never pinned.
        match unsafe { self.get_unchecked_mut() } {
            Self::Over(output) => output.take().expect("it's taken once"),
            Self::Running(_) => unreachable!("all parts are over"),
        }
    }
}
