//! Wrong versions of the blocking pool, and of the bridge to rayon.

pub mod a_thread_each_time;
pub mod caller_runs_when_full;
pub mod cancels_when_dropped;
pub mod catches_only_the_job;
pub mod checks_before_it_counts;
pub mod counts_before_it_starts;
pub mod counts_on_who_was_woken;
pub mod detaches_who_leaves;
pub mod dies_of_a_panic;
pub mod drops_the_queue;
pub mod forgets_who_has_left;
pub mod joins_itself;
pub mod joins_nobody;
pub mod keeps_the_first_waker;
pub mod knows_only_that_it_works;
pub mod last_in_first_out;
pub mod leaves_without_a_look;
pub mod looks_every_millisecond;
pub mod looks_then_registers;
pub mod overflows_the_clock;
pub mod panics_reach_nobody;
pub mod poll_waits;
pub mod queue_of_fixed_length;
pub mod raises_the_flag_without_the_lock;
pub mod runs_nested_jobs_at_once;
pub mod runs_under_the_lock;
pub mod starts_one_thread;
pub mod starts_one_too_many;
pub mod stays_for_ever;
pub mod strands_the_job;
pub mod takes_its_handle_along;
pub mod tells_one_thread;
pub mod trusts_rayon;
pub mod unwraps_the_new_thread;
pub mod waits_for_rayon;

// Those that are written as edits of right versions.
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
