//! There is work: is anybody to be woken for it, and who?

use sync::atomic::{Ordering::SeqCst, fence};
use sync::hint;

use super::Sleepers;

impl Sleepers {
    // ANCHOR: notify
    /// To be called after work was published. Returns the worker to wake.
    #[inline]
    pub fn notify(&self) -> Option<usize> {
        // SeqCst: pairs with the fence in `sleep`, and with the one here after
        // another's `found`. That work, then the counts; there the counts, then
        // the queues: one of the two sees what the other wrote.
        // Model: `a_push_and_a_worker_that_sleeps_do_not_miss_each_other`.
        fence(SeqCst);
        if self.counts.should_wake_one() {
            self.choose()
        } else {
            None
        }
    }
    // ANCHOR_END: notify

    #[cold]
    fn choose(&self) -> Option<usize> {
        if !self.counts.choose_one() {
            return None;
        }
        // One of those listed is ours. But it may be listed behind our back, in
        // a place where we have looked.
        loop {
            match self.names.take_any() {
                Some(worker) => return Some(worker),
                None => hint::spin_loop(),
            }
        }
    }
}
