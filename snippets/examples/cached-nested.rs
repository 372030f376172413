//! A call within a call, where both share what the thread keeps.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

#[derive(Default)]
struct Signal {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock().unwrap() = true;
        self.woken.notify_one();
    }
}

impl Signal {
    fn wait(&self) {
        let is_woken = self.is_woken.lock().unwrap();
        let mut is_woken =
            self.woken.wait_while(is_woken, |woken| !*woken).unwrap();
        *is_woken = false;
    }
}

thread_local! {
    static SIGNAL: Arc<Signal> = Arc::default();
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    SIGNAL.with(|signal| {
        let waker = Waker::from(signal.clone());
        let mut cx = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
            signal.wait();
        }
    })
}

fn main() {
    let mut is_first = true;
    block_on(poll_fn(|cx| {
        if !std::mem::take(&mut is_first) {
            return Poll::Ready(());
        }
        let waker = cx.waker().clone();
        thread::spawn(|| waker.wake()).join().unwrap();
        println!("outer: woken");
        block_on(yield_once());
        println!("inner: done");
        Poll::Pending
    }));
    println!("outer: done");
}

async fn yield_once() {
    let mut is_first = true;
    poll_fn(|cx| {
        if !std::mem::take(&mut is_first) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
