//! Breaks clause 4: From outside.
//! Caught by: what_a_worker_has_taken_does_not_go_back
//! Also fails: any_interval_will_do
//!
//! A queue that is full gives its older half away, since these are the ones that
//! one pops. What a worker has taken from the injector is the oldest that it has
//! soon. If its own tasks spawn more than they end, that goes back to the end of
//! the injector, behind all that has overflowed meanwhile.

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

    /// The solution's, but for the overflow.
    pub struct Local<T, const N: usize>(::run_queue::Local<T, N>);

    impl<T, const N: usize> Local<T, N> {
        /// Puts an item at the end. If the queue is full, the older half of it
        /// and the item go to `overflow`, one by one.
        pub fn push_or_overflow(&self, item: T, mut overflow: impl FnMut(T)) {
            let Err(item) = self.push(item) else { return };
            for _ in 0..N / 2 {
                self.pop().into_iter().for_each(&mut overflow);
            }
            overflow(item);
        }
    }

    impl<T, const N: usize> Deref for Local<T, N> {
        type Target = ::run_queue::Local<T, N>;

        fn deref(&self) -> &Self::Target {
            &self.0
        }
    }
}
