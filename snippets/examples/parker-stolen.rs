//! A future that waits for a channel after it has been woken.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The `block_on` of the chapter before.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        thread::park();
    }
}

/// Asks another thread, and blocks until it answers.
fn ask() -> &'static str {
    let (answer, answers) = mpsc::channel();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        answer.send("an answer").unwrap();
    });
    answers.recv().unwrap()
}

fn main() {
    let mut polls = 0;
    block_on(poll_fn(|cx| {
        polls += 1;
        println!("poll {polls}");
        if polls == 2 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        println!("woken; got {}", ask());
        Poll::Pending
    }));
    println!("done");
}
