//! A future written by hand.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

struct Countdown(u32);

impl Future for Countdown {
    type Output = &'static str;

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        if self.0 == 0 {
            return Poll::Ready("lift-off");
        }
        println!("{}", self.0);
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn main() {
    let mut countdown = pin!(Countdown(3));
    let mut cx = Context::from_waker(Waker::noop());
    let mut polls = 0;
    let output = loop {
        polls += 1;
        if let Poll::Ready(output) = countdown.as_mut().poll(&mut cx) {
            break output;
        }
    };
    println!("{output} after {polls} polls");
}
