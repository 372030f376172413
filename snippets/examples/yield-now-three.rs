// ANCHOR: three
//! Three attempts to let the other branch go on.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Lets another thread run.
async fn by_thread() {
    std::thread::yield_now();
}

/// Asks to be polled again, and goes on.
async fn by_waking() {
    poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::Ready(())
    })
    .await;
}

/// Prints its name three times, and yields after each.
async fn branch<F: Future>(name: &str, yielding: impl Fn() -> F) {
    for _ in 0..3 {
        print!("{name}");
        yielding().await;
    }
}

async fn both<F: Future>(title: &str, yielding: impl Fn() -> F) {
    print!("{title:12}");
    futures::join!(branch("A", &yielding), branch("B", &yielding));
    println!();
}

// The third way is `ByPending`, a future that asks to be polled again and
// returns `Pending` once. You'll write it in exercise 7.
fn main() {
    futures::executor::block_on(async {
        both("by thread", by_thread).await;
        both("by waking", by_waking).await;
        both("by pending", || ByPending { was_polled: false }).await;
    });
}
// ANCHOR_END: three

/// Asks to be polled again, and stops.
struct ByPending {
    was_polled: bool,
}

impl Future for ByPending {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.was_polled {
            return Poll::Ready(());
        }
        self.was_polled = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
