// ANCHOR: shown
//! Counts what a call of `block_on` allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn new_waker() -> Waker {
    Waker::from(Arc::new(Unpark(thread::current())))
}

fn drive<F: Future>(future: F, waker: &Waker) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        thread::park();
    }
}

thread_local! {
    static WAKER: Waker = new_waker();
}

fn main() {
    let before = COUNT.load(Relaxed);
    for n in 0..1_000 {
        drive(async { n }, &new_waker());
    }
    let new = COUNT.load(Relaxed) - before;
    println!("a waker for each call: {new} allocations");

    let before = COUNT.load(Relaxed);
    for n in 0..1_000 {
        WAKER.with(|waker| drive(async { n }, waker));
    }
    let kept = COUNT.load(Relaxed) - before;
    println!("a waker for each thread: {kept} allocations");
}
// ANCHOR_END: shown

/// Counts, and passes on.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: each call is passed on to `System` as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }
}
