// ANCHOR: all
//! An executor in sixty lines, without threads. It counts its polls.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

type BoxedFuture = Pin<Box<dyn Future<Output = ()>>>;
type Queue = Arc<Mutex<VecDeque<Arc<Signal>>>>;

// ANCHOR: signal
/// What a waker holds: a key, and where to put it.
struct Signal {
    key: usize,
    is_queued: AtomicBool,
    queue: Queue,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        if ONCE && self.is_queued.swap(true, SeqCst) {
            return; // Its key is in the queue already.
        }
        self.queue.clone().lock().unwrap().push_back(self);
    }
}
// ANCHOR_END: signal

/// Whether a key may be in the queue only once.
const ONCE: bool = true;

#[derive(Default)]
struct Executor {
    tasks: RefCell<HashMap<usize, BoxedFuture>>,
    queue: Queue,
    polls: Cell<u32>,
}

impl Executor {
    fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let key = self.tasks.borrow().len();
        self.tasks.borrow_mut().insert(key, Box::pin(future));
        let (queue, is_queued) = (self.queue.clone(), AtomicBool::new(false));
        let signal = Signal {
            key,
            is_queued,
            queue,
        };
        Arc::new(signal).wake();
    }

    // ANCHOR: run
    fn run(&self) {
        loop {
            let next = self.queue.lock().unwrap().pop_front();
            let Some(signal) = next else { return };
            signal.is_queued.store(false, SeqCst);
            let key = signal.key;
            let waker = Waker::from(signal);
            let task = self.tasks.borrow_mut().remove(&key);
            let Some(mut task) = task else { continue };
            self.polls.set(self.polls.get() + 1);
            let mut cx = Context::from_waker(&waker);
            if task.as_mut().poll(&mut cx).is_pending() {
                self.tasks.borrow_mut().insert(key, task);
            }
        }
    }
    // ANCHOR_END: run
}

fn main() {
    let executor = Executor::default();
    let reader = Arc::new(Mutex::new(None::<Waker>));
    let messages = Arc::new(Mutex::new(0));
    let (read, inbox) = (reader.clone(), messages.clone());
    executor.spawn(poll_fn(move |cx| {
        *read.lock().unwrap() = Some(cx.waker().clone());
        let count = std::mem::take(&mut *inbox.lock().unwrap());
        println!("the reader finds {count} messages");
        Poll::Pending
    }));
    executor.spawn(async move {
        for _ in 0..3 {
            *messages.lock().unwrap() += 1;
            let waker = reader.lock().unwrap().clone();
            waker.expect("the reader was first").wake();
        }
    });
    executor.run();
    println!("{} polls", executor.polls.get());
}
// ANCHOR_END: all
