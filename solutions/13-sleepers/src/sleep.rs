//! To bed, and up again.

use sync::atomic::{Ordering::SeqCst, fence};
use sync::thread;

use super::Sleepers;

impl Sleepers {
    // ANCHOR: sleep
    /// A worker sleeps from now on. Returns `true` if it must look at all
    /// queues once more before it parks.
    #[must_use]
    pub fn sleep(&self, worker: usize, searching: bool) -> bool {
        self.names.insert(worker);
        let is_none_left = self.counts.fall_asleep(searching);
        // SeqCst: pairs with the fence in `notify`, see there.
        // Model: `a_push_and_a_worker_that_sleeps_do_not_miss_each_other`.
        fence(SeqCst);
        is_none_left
    }
    // ANCHOR_END: sleep

    // ANCHOR: wake
    /// A worker that slept is up, for whatever reason. Returns `true` if
    /// nobody has woken it and it is busy, `false` if it searches.
    pub fn wake(&self, worker: usize) -> bool {
        while self.names.contains(worker) {
            if self.counts.get_up() {
                let is_own = self.names.take(worker);
                if !is_own {
                    // It was chosen between the two steps. So somebody else
                    // that sleeps is to be counted again.
                    self.counts.lie_down();
                }
                return is_own;
            }
            // All that are listed are chosen, and a `notify` is about to say
            // who is. It needs one more step.
            thread::yield_now();
        }
        false
    }
    // ANCHOR_END: wake
}
