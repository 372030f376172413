//! An `async fn` returns a future; the future runs when it is polled.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

async fn greet() -> u32 {
    println!("the body runs");
    42
}

fn main() {
    let future = greet();
    println!("the future exists");

    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut cx) {
        Poll::Ready(output) => println!("ready: {output}"),
        Poll::Pending => println!("pending"),
    }
}
