//! The checks of exercise 16, one or more for each clause of the contract.
//!
//! The sockets are real ones, over the loopback interface. Where a check plays
//! the thread that owns the driver, it shares the driver with no runtime.

mod accepts;
mod closes;
mod connects;
mod datagrams;
mod ends;
mod histories;
mod lost;
mod moments;
mod old;
mod polls;
mod ready;
mod sleeps;
mod steps;
mod unparks;
mod wakers;
mod workers;

use std::any::Any;
use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener as StdListener};
use std::net::{TcpStream as StdStream, UdpSocket as StdUdpSocket};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use primitives::chaos::{at_moment, with_chaos};
use testkit::{
    CountingWaker, EndMayBeUnwritten, Lesson, Opener, PanicOnDrop, ThreadProbe,
    WakeCounts, check, fail_accepts, idle_cost, live_bytes, panic_message,
    start_elsewhere, with_interrupted_waits,
};
use work_stealing::{Runtime, spawn, yield_now};

use super::{Driver, Handle, TcpListener, TcpStream, UdpSocket, sleep};

/// Decides what happens under chaos.
const SEED: u64 = 16;
/// A free port of this machine.
const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// In a check that isn't about the end: that's a milestone of its own.
type Endless<T> = EndMayBeUnwritten<T>;

fn driver() -> Endless<Driver> {
    Endless::new(Driver::new().expect("there are descriptors left"))
}

fn runtime(workers: usize) -> Runtime {
    runtime_on(workers, NeverShutDown(driver()))
}

fn runtime_on(
    workers: usize,
    driver: impl work_stealing::Driver + 'static,
) -> Runtime {
    let mut builder = Runtime::builder();
    builder.worker_threads(workers);
    builder.build_on(driver).expect("there are threads left")
}

/// A driver that isn't shut down before it's dropped.
struct NeverShutDown(Endless<Driver>);

impl work_stealing::Driver for NeverShutDown {
    fn unparker(&self) -> Box<dyn Fn() + Send + Sync> {
        work_stealing::Driver::unparker(&*self.0)
    }

    fn handle(&self) -> Arc<dyn Any + Send + Sync> {
        work_stealing::Driver::handle(&*self.0)
    }

    fn wait(&mut self) {
        work_stealing::Driver::wait(&mut *self.0);
    }

    fn look(&mut self) {
        work_stealing::Driver::look(&mut *self.0);
    }

    fn dispatch(&mut self, most: usize) -> bool {
        work_stealing::Driver::dispatch(&mut *self.0, most)
    }

    fn shut_down(&mut self) {}
}

/// Returns one of our streams, on the current handle's driver, and its peer.
fn pair() -> (TcpStream, StdStream) {
    let (ours, peer) = std_pair();
    (TcpStream::from_std(ours).unwrap(), peer)
}

fn std_pair() -> (StdStream, StdStream) {
    let listener = StdListener::bind(HERE).unwrap();
    let ours = StdStream::connect(listener.local_addr().unwrap()).unwrap();
    let (peer, _) = listener.accept().unwrap();
    (ours, peer)
}

/// Waits once, and wakes all tasks that there is reason to wake.
fn turn(driver: &mut Driver) {
    driver.wait();
    while driver.dispatch(usize::MAX) {}
}

/// Polls a future until it's ready. Between the polls, the driver waits.
fn drive<F: Future>(driver: &mut Driver, future: F) -> F::Output {
    drive_and_time(driver, future).0
}

/// The same, and also returns when the last poll began: what that poll has begun
/// may have begun then, but no earlier.
fn drive_and_time<F: Future>(
    driver: &mut Driver,
    future: F,
) -> (F::Output, Instant) {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        let start = Instant::now();
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return (output, start),
            Poll::Pending => turn(driver),
        }
    }
}

type Waiting<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Polls a future that has to wait. Returns the counts of its waker.
#[track_caller]
fn begin<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Arc<WakeCounts> {
    let (waker, counts) = CountingWaker::new();
    let outcome = future.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(
        outcome.is_pending(),
        "there's nothing yet that the future could return, and it was ready"
    );
    counts
}

/// Polls a future once, without a waker that anything could be learned from.
fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn spin(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        std::hint::spin_loop();
    }
}

/// The number of no round of a race: the race is over.
const OVER: usize = usize::MAX;

/// Numbers the rounds of a race, which ends after a while.
fn rounds() -> impl Iterator<Item = usize> {
    const FEWEST: usize = 300;
    const MOST: usize = 3_000;
    const TIME: Duration = Duration::from_millis(600);
    let start = Instant::now();
    (1..=MOST)
        .take_while(move |&round| round <= FEWEST || start.elapsed() < TIME)
}

/// Waits, at first without sleeping: what comes next then begins at the same
/// moment on both threads, if both have a processor.
fn wait_for(counter: &AtomicUsize, count: usize) {
    let start = Instant::now();
    while counter.load(SeqCst) < count {
        match start.elapsed().as_micros() {
            0..50 => std::hint::spin_loop(),
            50..20_000 => thread::yield_now(),
            _ => thread::sleep(Duration::from_millis(1)),
        }
    }
}
