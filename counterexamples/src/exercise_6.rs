//! Wrong versions of the blocking pool, and of the bridge to rayon.

// The build lists what stands in the folder of this name.
include!(concat!(env!("OUT_DIR"), "/exercise_6.rs"));

use std::any::Any;
use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::ptr;

use sync::thread::JoinHandle;

/// The threads of a pool, by their numbers.
type Threads = std::collections::BTreeMap<u64, JoinHandle<()>>;

sync::thread_local! {
    /// What the pool of this thread shares with its threads.
    static EMPLOYER: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// Notes for which pool this thread works.
fn works_for<S>(shared: &S) {
    EMPLOYER.with(|employer| employer.set(ptr::from_ref(shared).cast()));
}

fn is_working_for<S>(shared: &S) -> bool {
    let shared = ptr::from_ref(shared).cast();
    EMPLOYER.with(|employer| ptr::eq(employer.get(), shared))
}

/// The key of the thread that left last.
const LEFT_LAST: u64 = u64::MAX;

/// Notes that a thread leaves, and returns the one that left before: it is to
/// be joined, without the lock.
fn leave(threads: &mut Threads, number: u64) -> Option<JoinHandle<()>> {
    let own = threads.remove(&number)?;
    threads.insert(LEFT_LAST, own)
}

fn join(thread: JoinHandle<()>) {
    thread.join().expect("the threads of a pool do not panic");
}

/// Why there is no result.
pub struct JoinError(Option<Box<dyn Any + Send>>);

impl JoinError {
    fn of_panic(payload: Box<dyn Any + Send>) -> Self {
        Self(Some(payload))
    }

    fn cancelled() -> Self {
        Self(None)
    }

    /// Returns `true` if the job has panicked.
    pub fn is_panic(&self) -> bool {
        self.0.is_some()
    }

    /// Returns `true` if the job has not been run, and will not be.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_none()
    }

    /// Returns what the job has thrown.
    ///
    /// # Panics
    ///
    /// If the job has not panicked.
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.0.expect("the job has not panicked")
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "the job panicked",
            None => "the job was cancelled",
        })
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl Error for JoinError {}
