//! How much memory a million tasks need, and how much stays when they have ended:
//! `cargo bench -p benches --bench memory`. An argument chooses contenders by a
//! part of their names.
//!
//! Each contender runs in a process of its own, with two workers. `a task` is what
//! the allocator was asked for, and hasn't got back, while a million tasks wait,
//! divided by their number; the future's own size is among it, and so is what the
//! queues and lists have grown by. `resident` is by how much the process has grown.
//! What stays is measured when all of these have ended, and again after a million
//! more that have ended at once, all from outside.

use std::alloc::{GlobalAlloc, Layout, System};
use std::env;
use std::fs;
use std::future::poll_fn;
use std::process::Command;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use benches::runtime;
use benches::schedulers::{self, Scheduler, Spawn, measure::is_test};
use variants::never_recycled;

runtime!(NeverRecycled, NeverRecycledSpawner, never_recycled);

/// Counts the bytes that are in use.
struct Counting;

static IN_USE: AtomicIsize = AtomicIsize::new(0);

// All orderings are Relaxed: it is a count.
// SAFETY: it is the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size() as isize, Relaxed);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: passed on; all memory is the system allocator's.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory in bytes.
#[derive(Clone, Copy)]
struct Memory {
    in_use: isize,
    resident: isize,
}

impl Memory {
    fn now() -> Self {
        // Two pages, of which the second is the resident one. Zero where the
        // operating system doesn't tell.
        let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let resident = pages.split_whitespace().nth(1);
        let resident = resident.and_then(|pages| pages.parse::<isize>().ok());
        Self {
            in_use: IN_USE.load(Relaxed),
            resident: resident.unwrap_or_default() * 4096,
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            in_use: self.in_use - before.in_use,
            resident: self.resident - before.resident,
        }
    }
}

/// Where tasks wait until they are woken to end.
struct Crowd {
    wakers: Mutex<Vec<Waker>>,
    ended: AtomicUsize,
}

impl Crowd {
    /// Makes room for so many, so that only the tasks' memory is counted later.
    fn of(tasks: usize) -> Arc<Self> {
        let mut wakers = vec![Waker::noop().clone(); tasks];
        wakers.clear();
        Arc::new(Self {
            wakers: Mutex::new(wakers),
            ended: AtomicUsize::new(0),
        })
    }

    /// A task that waits.
    async fn wait(self: Arc<Self>) {
        let mut has_waited = false;
        poll_fn(|cx| {
            if has_waited {
                return Poll::Ready(());
            }
            has_waited = true;
            self.wakers.lock().unwrap().push(cx.waker().clone());
            Poll::Pending
        })
        .await;
        self.ended.fetch_add(1, Relaxed);
    }

    /// A task that doesn't wait.
    async fn end(self: Arc<Self>) {
        self.ended.fetch_add(1, Relaxed);
    }
}

/// Blocks this thread until it holds.
fn until(holds: impl Fn() -> bool) {
    while !holds() {
        thread::sleep(Duration::from_millis(1));
    }
    // Until the workers sleep, too.
    thread::sleep(Duration::from_millis(10));
}

/// Prints a row.
fn measure<S: Scheduler>(name: &str) {
    let tasks = if is_test() { 1_000 } else { 1_000_000 };
    let scheduler = S::start(2);
    let crowd = Crowd::of(tasks);
    let size = size_of_val(&crowd.clone().wait());
    let spawner = scheduler.spawner();
    scheduler.block_on(async { spawner.spawn(crowd.clone().end()) });
    until(|| crowd.ended.load(Relaxed) == 1);
    crowd.ended.store(0, Relaxed);

    let before = Memory::now();
    scheduler.block_on(async {
        (0..tasks).for_each(|_| spawner.spawn(crowd.clone().wait()));
    });
    until(|| crowd.wakers.lock().unwrap().len() == tasks);
    let waiting = Memory::now().since(before);

    let wakers = std::mem::take(&mut *crowd.wakers.lock().unwrap());
    // Later it is missing.
    let taken = (wakers.capacity() * size_of::<Waker>()) as isize;
    wakers.into_iter().for_each(Waker::wake);
    until(|| crowd.ended.load(Relaxed) == tasks);
    crowd.ended.store(0, Relaxed);
    let mut after = Memory::now().since(before);
    after.in_use += taken;

    scheduler.block_on(async {
        (0..tasks).for_each(|_| spawner.spawn(crowd.clone().end()));
    });
    until(|| crowd.ended.load(Relaxed) == tasks);
    let mut burst = Memory::now().since(before);
    burst.in_use += taken;

    let each = |bytes: isize| bytes as f64 / tasks as f64;
    let millions = |bytes: isize| bytes as f64 / 1e6;
    println!(
        "{name:<24}{size:>8}{:>12.0}{:>12.0}{:>16.1}{:>12.1}{:>16.1}{:>12.1}",
        each(waiting.in_use),
        each(waiting.resident),
        millions(after.in_use),
        millions(after.resident),
        millions(burst.in_use),
        millions(burst.resident),
    );
}

/// A name, and what prints its row.
type Contender = (&'static str, fn(&str));

const CONTENDERS: [Contender; 8] = [
    ("solution-14", measure::<schedulers::Solution14>),
    ("without-free-list", measure::<NeverRecycled>),
    ("tokio", measure::<schedulers::Tokio>),
    ("async-executor", measure::<schedulers::AsyncExecutor>),
    ("deque-pool", measure::<schedulers::DequePool>),
    ("futures", measure::<schedulers::FuturesPool>),
    ("one-queue", measure::<schedulers::OneQueue>),
    ("sharded", measure::<schedulers::Sharded>),
];

/// The argument of a process that measures one contender.
const ONLY: &str = "--only";

fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == ONLY) {
        let of = |(name, _): &&(&str, _)| arguments.get(at + 1).is_some_and(|only| only == name);
        let (name, measure) = CONTENDERS
            .iter()
            .find(of)
            .expect("there is such a contender");
        return measure(name);
    }
    let part = arguments.iter().find(|argument| !argument.starts_with('-'));
    println!(
        "{:<24}{:>8}{:>12}{:>12}{:>16}{:>12}{:>16}{:>12}",
        "bytes",
        "future",
        "a task",
        "resident",
        "stays, MB",
        "resident",
        "2nd burst, MB",
        "resident"
    );
    for (name, _) in CONTENDERS {
        if part.is_none_or(|part| name.contains(part.as_str())) {
            let mut child = Command::new(env::current_exe().expect("it knows where it lies"));
            child.args([ONLY, name]);
            child.args(is_test().then_some("--test"));
            let status = child.status().expect("it can be started again");
            assert!(status.success(), "{name} can't be measured");
        }
    }
}
