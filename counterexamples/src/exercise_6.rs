//! Wrong versions of the blocking pool, and of the bridge to rayon.

// The build lists the files in the folder of this name.
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/exercise_6.rs"));
#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/exercise_6.tested.rs"));

use std::cell::Cell;
use std::ptr;

use primitives::thread::JoinHandle;

/// The threads of a pool, by their numbers.
type Threads = std::collections::BTreeMap<u64, JoinHandle<()>>;

primitives::thread_local! {
    /// What the pool of this thread shares with its threads.
    static EMPLOYER: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// Records which pool this thread works for.
fn works_for<S>(shared: &S) {
    EMPLOYER.with(|employer| employer.set(ptr::from_ref(shared).cast()));
}

fn is_working_for<S>(shared: &S) -> bool {
    let shared = ptr::from_ref(shared).cast();
    EMPLOYER.with(|employer| ptr::eq(employer.get(), shared))
}

/// The key of the thread that left last.
const LEFT_LAST: u64 = u64::MAX;

/// Records that a thread leaves, and returns the one that left before it, which
/// the caller must join without the lock.
fn leave(threads: &mut Threads, number: u64) -> Option<JoinHandle<()>> {
    let own = threads.remove(&number)?;
    threads.insert(LEFT_LAST, own)
}

fn join(thread: JoinHandle<()>) {
    thread.join().expect("the threads of a pool do not panic");
}
