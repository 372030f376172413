// ANCHOR: shown
//! How many blocks of memory a task is.

use std::alloc::{GlobalAlloc, Layout, System};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Wake;

/// A task as you would write it first.
struct Task {
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Arc<Task> {
    let future = Mutex::new(Some(Box::pin(future) as _));
    Arc::new(Task { future })
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let large = [7_u8; 1_000];
    let future = async move { _ = std::hint::black_box(large) };

    let (task, blocks, bytes) = counted(|| spawn(future));
    println!("Arc<Mutex<Box>>: {blocks} blocks, {bytes} bytes");
    drop(task.future.lock().unwrap().take());

    let future = async move { _ = std::hint::black_box(large) };
    let (handle, blocks, bytes) = counted(|| tokio::spawn(future));
    println!("tokio: {blocks} blocks, {bytes} bytes");
    handle.await.unwrap();
}
// ANCHOR_END: shown

fn counted<T>(action: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = [&BLOCKS, &BYTES].map(|it| it.load(Relaxed));
    let made = action();
    let after = [&BLOCKS, &BYTES].map(|it| it.load(Relaxed));
    (made, after[0] - before[0], after[1] - before[1])
}

static BLOCKS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: everything is left to `System`.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BLOCKS.fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size(), Relaxed);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) }
    }
}
