// ANCHOR: all
//! Which thread drops the future if another thread drops its last waker?

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

/// Says which thread drops it.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        let here = thread::current();
        println!("dropped by {}", here.name().unwrap_or("an unnamed thread"));
    }
}

/// Lends its waker to a timer, and waits.
struct Waits {
    timer: Arc<Mutex<Option<Waker>>>,
    _guard: Guard,
}

impl Future for Waits {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        *self.timer.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }
}

// ANCHOR: targets
/// A waker that owns its task.
struct Owner(Mutex<Waits>);

impl Wake for Owner {
    fn wake(self: Arc<Self>) {}
}

/// A waker that knows only the key of its task.
struct Key(#[expect(dead_code)] u64);

impl Wake for Key {
    fn wake(self: Arc<Self>) {}
}
// ANCHOR_END: targets

fn waits() -> (Waits, Arc<Mutex<Option<Waker>>>) {
    let timer = Arc::new(Mutex::new(None));
    let future = Waits {
        timer: timer.clone(),
        _guard: Guard,
    };
    (future, timer)
}

/// The executor is gone already when the timer drops what it has.
fn end_in_a_timer(timer: Arc<Mutex<Option<Waker>>>) {
    let thread = thread::Builder::new().name("the timer".into());
    let thread = thread.spawn(move || drop(timer.lock().unwrap().take()));
    thread.unwrap().join().unwrap();
}

fn main() {
    print!("a waker that owns its task:  ");
    let (future, timer) = waits();
    let task = Arc::new(Owner(Mutex::new(future)));
    let waker = Waker::from(task.clone());
    let mut cx = Context::from_waker(&waker);
    let _ = Pin::new(&mut *task.0.lock().unwrap()).poll(&mut cx);
    drop((task, waker));
    end_in_a_timer(timer);

    print!("a waker that knows its key:  ");
    let (mut future, timer) = waits();
    let waker = Waker::from(Arc::new(Key(1)));
    let mut cx = Context::from_waker(&waker);
    let _ = Pin::new(&mut future).poll(&mut cx);
    drop((future, waker));
    end_in_a_timer(timer);
}
// ANCHOR_END: all
