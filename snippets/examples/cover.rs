//! A future does nothing until it's polled.

use std::pin::pin;
use std::task::{Context, Waker};

fn main() {
    let mut future = pin!(async { println!("I run when I'm polled") });
    let mut cx = Context::from_waker(Waker::noop());
    println!("{:?}", future.as_mut().poll(&mut cx));
}
