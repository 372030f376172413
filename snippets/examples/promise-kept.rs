//! The same future, with a thread that will wake it.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

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
                println!("timer: time is up, waking");
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
            println!("polled: ready");
            return Poll::Ready(());
        }
        println!("polled: pending, waker kept");
        shared.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn main() {
    futures::executor::block_on(Later::new(Duration::from_millis(100)));
    println!("done");
}
