//! A first `block_on`: it works, and it burns a core.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
}

fn main() {
    let is_done = Arc::new(AtomicBool::new(false));
    thread::spawn({
        let is_done = is_done.clone();
        move || {
            thread::sleep(Duration::from_millis(100));
            is_done.store(true, SeqCst);
        }
    });

    let mut polls = 0_u64;
    block_on(std::future::poll_fn(|_cx| {
        polls += 1;
        match is_done.load(SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }));
    println!("{polls} polls in a tenth of a second");
}
