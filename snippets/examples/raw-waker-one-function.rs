//! One function serves as `wake` and as `wake_by_ref`.

use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker};

struct Bell;

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, release);

fn clone(bell: *const ()) -> RawWaker {
    // SAFETY: the pointer came from `Arc::into_raw`, and a waker has a count.
    unsafe { Arc::<Bell>::increment_strong_count(bell.cast()) };
    RawWaker::new(bell, &VTABLE)
}

fn wake(bell: *const ()) {
    // SAFETY: right for `wake`, which uses its waker up, and wrong for
    // `wake_by_ref`, whose waker lives on.
    let _bell: Arc<Bell> = unsafe { Arc::from_raw(bell.cast()) };
    println!("ding");
}

fn release(bell: *const ()) {
    // SAFETY: the pointer came from `Arc::into_raw`; its count is given back.
    unsafe { Arc::<Bell>::decrement_strong_count(bell.cast()) };
}

fn main() {
    // Three counts, so that nothing is freed too early, this time.
    let bell = Arc::new(Bell);
    let bells = [bell.clone(), bell.clone(), bell];
    let count = || Arc::strong_count(&bells[0]);

    let before = count();
    let bell = Arc::into_raw(bells[0].clone()).cast();
    // SAFETY: the pointer is what the functions above expect.
    let waker = unsafe { Waker::new(bell, &VTABLE) };
    waker.wake_by_ref();
    waker.wake_by_ref();
    drop(waker);
    println!("counts before: {before}, after: {}", count());

    // Three owners and one count: not even `main` may drop them now.
    std::mem::forget(bells);
}
