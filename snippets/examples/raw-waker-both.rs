// ANCHOR: shown
//! One `block_on`, and two ways to make its waker.

use std::mem::ManuallyDrop;
use std::pin::{Pin, pin};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
// ANCHOR_END: shown

#[derive(Default)]
struct Park {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Park {
    fn wait(&self) {
        let guard = self.is_woken.lock().unwrap();
        let mut guard = self.woken.wait_while(guard, |woken| !*woken).unwrap();
        *guard = false;
    }

    fn unpark(&self) {
        *self.is_woken.lock().unwrap() = true;
        self.woken.notify_one();
    }
}

// ANCHOR: shown
fn block_on<F: Future>(future: F, make: fn(Arc<Park>) -> Waker) -> F::Output {
    let mut future = pin!(future);
    let park = Arc::new(Park::default());
    let waker = make(park.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        park.wait();
    }
}

impl Wake for Park {
    fn wake(self: Arc<Self>) {
        self.unpark();
    }
}

fn safe(park: Arc<Park>) -> Waker {
    Waker::from(park)
}

static VTABLE: RawWakerVTable =
    RawWakerVTable::new(clone, wake, wake_by_ref, release);

fn by_hand(park: Arc<Park>) -> Waker {
    // SAFETY: the pointer owns a count, and each function below keeps to it.
    unsafe { Waker::new(Arc::into_raw(park).cast(), &VTABLE) }
}
// ANCHOR_END: shown

fn clone(park: *const ()) -> RawWaker {
    // SAFETY: the pointer came from `Arc::into_raw`, and a waker has a count.
    unsafe { Arc::<Park>::increment_strong_count(park.cast()) };
    RawWaker::new(park, &VTABLE)
}

fn wake(park: *const ()) {
    // SAFETY: the pointer came from `Arc::into_raw`; its count is taken over.
    let park: Arc<Park> = unsafe { Arc::from_raw(park.cast()) };
    park.unpark();
}

fn wake_by_ref(park: *const ()) {
    // SAFETY: the pointer came from `Arc::into_raw`; its count is borrowed.
    let park: Arc<Park> = unsafe { Arc::from_raw(park.cast()) };
    ManuallyDrop::new(park).unpark();
}

fn release(park: *const ()) {
    // SAFETY: the pointer came from `Arc::into_raw`; its count is given back.
    unsafe { Arc::<Park>::decrement_strong_count(park.cast()) };
}

struct YieldOnce(bool);

impl Future for YieldOnce {
    type Output = &'static str;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Self::Output> {
        if self.0 {
            return Poll::Ready("done");
        }
        self.0 = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

// ANCHOR: shown
fn main() {
    println!("safe: {}", block_on(YieldOnce(false), safe));
    println!("by hand: {}", block_on(YieldOnce(false), by_hand));
}
// ANCHOR_END: shown
