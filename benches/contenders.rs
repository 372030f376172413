//! Steps on the way from solution 2 to solution 4, as Glavina's "Build your
//! own `block_on()`" takes them (see `src/sources.md`).

use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use solution_2::Parker;

/// What a thread keeps: a parker, and the waker that unparks it.
struct Kept {
    parker: Parker,
    waker: Waker,
}

impl Kept {
    fn new() -> Self {
        let parker = Parker::new();
        let waker = Waker::from(Arc::new(parker.unparker()));
        Self { parker, waker }
    }

    fn drive<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        let mut cx = Context::from_waker(&self.waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
            self.parker.park();
        }
    }
}

/// The third version: what the thread keeps is shared by all its calls, also
/// by one within another.
pub fn block_on_shared<F: Future>(future: F) -> F::Output {
    thread_local! {
        static KEPT: Kept = Kept::new();
    }
    let future = pin!(future);
    KEPT.with(|kept| kept.drive(future))
}

/// The fourth version: what the thread keeps is borrowed by one call at a
/// time, and a recursive call panics.
pub fn block_on_borrowed<F: Future>(future: F) -> F::Output {
    thread_local! {
        static KEPT: RefCell<Kept> = RefCell::new(Kept::new());
    }
    let future = pin!(future);
    KEPT.with(|kept| {
        let kept = kept.try_borrow_mut().expect("recursive `block_on`");
        kept.drive(future)
    })
}
