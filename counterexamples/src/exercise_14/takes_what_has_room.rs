//! Breaks clause 4: From outside.
//! Caught by: what_a_worker_has_taken_does_not_go_back
//! Also fails: any_interval_will_do
//!
//! The older half of the queue stays when it overflows, and a batch is half a
//! queue at most. But it is put behind what is there already, as far as there is
//! room. Then it is in the half that goes.

use ::{sleepers, task};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker models all others
}

mod run_queue {
    use std::ops::Deref;

    pub use ::run_queue::Stealer;

    /// Makes a queue of at most `N` items, a power of two and not 1.
    pub fn run_queue<T, const N: usize>() -> (Local<T, N>, Stealer<T, N>) {
        let (local, stealer) = ::run_queue::run_queue();
        (Local(local), stealer)
    }

    /// The solution's, but for its length.
    pub struct Local<T, const N: usize>(::run_queue::Local<T, N>);

    impl<T, const N: usize> Local<T, N> {
        /// How many items count when a batch is fetched: those that are there
        /// take nothing away, as long as there is room.
        pub fn len(&self) -> usize {
            0
        }
    }

    impl<T, const N: usize> Deref for Local<T, N> {
        type Target = ::run_queue::Local<T, N>;

        fn deref(&self) -> &Self::Target {
            &self.0
        }
    }
}
