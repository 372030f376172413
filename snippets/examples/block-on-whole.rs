//! The whole of a first `block_on`, at work on a future woken by a thread.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        println!("wake, called on another thread");
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        println!("poll");
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        println!("pending: park");
        thread::park();
    }
}

// ANCHOR: shown
#[derive(Default)]
struct Shared {
    is_done: bool,
    waker: Option<Waker>,
}

struct Later(Arc<Mutex<Shared>>);

impl Later {
    fn new(delay: Duration) -> Self {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let timer = shared.clone();
        thread::spawn(move || {
            thread::sleep(delay);
            let waker = {
                let mut shared = timer.lock().unwrap();
                shared.is_done = true;
                shared.waker.take()
            };
            // The lock is free again: the woken task wants it at once.
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        Self(shared)
    }
}

impl Future for Later {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut shared = self.0.lock().unwrap();
        if shared.is_done {
            return Poll::Ready(());
        }
        shared.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn main() {
    block_on(async {
        Later::new(Duration::from_millis(100)).await;
        Later::new(Duration::from_millis(100)).await;
    });
    println!("done");
}
// ANCHOR_END: shown
