//! Breaks clause 9: Made once.
//! Caught by: nothing_is_allocated_after_new
//!
//! A vector is as long as it has to be. The first time that many sleep at once it
//! grows, and they wait for the allocator one after another, under a lock.

#[path = "../../../solutions/13-sleepers/src/counts.rs"]
mod counts;
#[path = "../../../solutions/13-sleepers/src/notify.rs"]
mod notify;
#[path = "../../../solutions/13-sleepers/src/search.rs"]
mod search;
#[path = "../../../solutions/13-sleepers/src/sleep.rs"]
mod sleep;
#[path = "../../../solutions/13-sleepers/src/sleepers.rs"]
mod sleepers;

pub use sleepers::Sleepers;

mod names {
    use std::sync::PoisonError;

    use sync::{Mutex, MutexGuard};

    /// A set of workers. Who takes one out has it for itself.
    pub struct Names(Mutex<Vec<usize>>);

    impl Names {
        /// Makes a set.
        pub fn new(_workers: usize) -> Self {
            Self(Mutex::new(Vec::new()))
        }

        /// Adds a worker.
        pub fn insert(&self, worker: usize) {
            self.lock().push(worker);
        }

        /// Returns `true` if the worker is in the set.
        pub fn contains(&self, worker: usize) -> bool {
            self.lock().contains(&worker)
        }

        /// Takes out this worker. Returns `false` if it is not in the set.
        pub fn take(&self, worker: usize) -> bool {
            let mut names = self.lock();
            let place = names.iter().position(|it| *it == worker);
            place.map(|place| names.swap_remove(place)).is_some()
        }

        /// Takes out the worker that was added last.
        pub fn take_any(&self) -> Option<usize> {
            self.lock().pop()
        }

        fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/13-sleepers/src/tests.rs"]
mod tests;
