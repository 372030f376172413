//! Breaks clause 12: On rayon.
//! Caught by: a_job_for_rayon_runs_there_while_the_submitter_goes_on
//! Also fails: what_panics_after_the_job_on_rayon_ends_no_process
//!
//! Uses a scope, which waits for what was spawned in it. So does `join`, and so does
//! `install`: they are for who has nothing else to do.

use spawn_blocking::Job;
pub use spawn_blocking::{JoinError, JoinHandle, Pool};

/// Runs `job` on rayon's global pool.
pub fn spawn_rayon<F, T>(job: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, handle) = Job::new(job);
    rayon::scope(|scope| scope.spawn(|_| job.run()));
    handle
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/06-spawn-blocking/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/06-spawn-blocking/src/tests/mod.rs"]
mod tests;
