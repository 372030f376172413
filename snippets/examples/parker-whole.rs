//! The future of the stolen token, on a parker with a token of its own.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Shared {
    has_token: Mutex<bool>,
    woken: Condvar,
}

#[derive(Default)]
struct Parker(Arc<Shared>);

struct Unparker(Arc<Shared>);

impl Parker {
    fn park(&self) {
        let Shared { has_token, woken } = &*self.0;
        let mut has_token = has_token.lock().unwrap();
        while !*has_token {
            has_token = woken.wait(has_token).unwrap();
        }
        *has_token = false;
    }

    fn unparker(&self) -> Unparker {
        Unparker(self.0.clone())
    }
}

impl Unparker {
    fn unpark(&self) {
        *self.0.has_token.lock().unwrap() = true;
        self.0.woken.notify_one();
    }
}

// ANCHOR: shown
impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.unpark();
    }
}
// ANCHOR_END: shown

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Parker::default();
    let waker = Waker::from(Arc::new(parker.unparker()));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        parker.park();
    }
}

// ANCHOR: shown
/// Asks another thread, and blocks until it answers.
fn ask() -> &'static str {
    let (answer, answers) = mpsc::channel();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        answer.send("an answer").unwrap();
    });
    answers.recv().unwrap()
}

fn main() {
    let mut polls = 0;
    block_on(poll_fn(|cx| {
        polls += 1;
        println!("poll {polls}");
        if polls == 2 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        println!("woken; got {}", ask());
        Poll::Pending
    }));
    println!("done");
}
// ANCHOR_END: shown
