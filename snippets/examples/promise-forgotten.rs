//! `Pending` without a waker kept anywhere: the promise is broken.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Meant to be ready a tenth of a second from its creation.
struct Later(Instant);

impl Future for Later {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        println!("polled");
        if self.0.elapsed() >= Duration::from_millis(100) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

fn main() {
    futures::executor::block_on(Later(Instant::now()));
    println!("done");
}
