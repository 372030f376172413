//! Which thread calls a task's waker?

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use reactor::{Driver, Handle};
use work_stealing::Runtime;

/// Says which thread calls it, and calls the task's waker.
struct Saying(Waker);

impl Wake for Saying {
    fn wake(self: Arc<Self>) {
        say("woken");
        self.0.wake_by_ref();
    }
}

fn say(what: &str) {
    let thread = thread::current();
    println!("  {what} on {}", thread.name().unwrap_or("?"));
}

async fn nap(handle: Handle) {
    let mut sleep = pin!(handle.sleep(Duration::from_millis(20)));
    poll_fn(|cx| {
        say("polled");
        let waker = Waker::from(Arc::new(Saying(cx.waker().clone())));
        sleep.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await;
}

fn main() -> io::Result<()> {
    println!("a worker waits:");
    let driver = Driver::new()?;
    let handle = driver.handle();
    let runtime = Runtime::builder().worker_threads(1).build_on(driver)?;
    runtime.block_on(runtime.spawn(nap(handle))).unwrap();

    println!("a thread of its own waits:");
    let mut driver = Driver::new()?;
    let handle = driver.handle();
    let runtime = Runtime::builder().worker_threads(1).build()?;
    thread::Builder::new()
        .name("driver".to_owned())
        .spawn(move || {
            loop {
                driver.wait();
                driver.dispatch(usize::MAX);
            }
        })?;
    runtime.block_on(runtime.spawn(nap(handle))).unwrap();
    Ok(())
}
