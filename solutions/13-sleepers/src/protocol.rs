//! Who tells whom, and when.
//!
//! *Memory ordering.* A task is pushed, and then the counts are looked at; the
//! counts are changed, and then the queues are looked at. On both sides a
//! `SeqCst` fence stands between the two. So one side sees the other: either
//! the notifier sees the change of the counts, or whoever made it sees the task.
//!
//! Two changes matter, since nobody might look after them: one more sleeps, and
//! the last search ends. `sleep` has the fence after both. `found` has none, but
//! sends its caller to `notify`, which begins with one. All else is relaxed: a
//! search may miss a task, but whoever ends the last one does not.

use sync::atomic::{Ordering::SeqCst, fence};
use sync::{hint, thread};

use super::Sleepers;
use super::counts::{Counts, MOST_WORKERS};
use super::names::Names;

impl Sleepers {
    /// Makes the sleepers of so many workers, numbered from 0 on.
    ///
    /// # Panics
    ///
    /// If there is no worker, or if there are too many to be counted: 65,536.
    pub fn new(workers: usize) -> Self {
        assert!(
            (1..=MOST_WORKERS).contains(&workers),
            "`{workers}` workers cannot be counted"
        );
        Self {
            counts: Counts::new(),
            names: Names::new(workers),
            most_searchers: workers.div_ceil(2) as u32,
        }
    }

    /// To be called after work was published. Returns the worker to wake.
    #[inline]
    pub fn notify(&self) -> Option<usize> {
        // SeqCst: pairs with the fence in `sleep`, and with the one here after another's `found`. That work, then
        // the counts; there the counts, then the queues: one of the two sees what the other wrote.
        fence(SeqCst);
        if self.counts.should_wake_one() {
            self.choose()
        } else {
            None
        }
    }

    #[cold]
    fn choose(&self) -> Option<usize> {
        if !self.counts.choose_one() {
            return None;
        }
        // One of those listed is ours. But it may be listed behind our back, in a place where we have looked.
        loop {
            match self.names.take_any() {
                Some(worker) => return Some(worker),
                None => hint::spin_loop(),
            }
        }
    }

    /// A busy worker has no work. Returns `true` if it may search.
    pub fn try_search(&self) -> bool {
        self.counts.begin_search(self.most_searchers)
    }

    /// A searcher has found work, and is busy. Returns `true` if it must call
    /// [`notify`](Self::notify), before it begins with the work.
    #[must_use]
    pub fn found(&self) -> bool {
        self.counts.end_search()
    }

    /// A worker sleeps from now on. Returns `true` if it must look at all
    /// queues once more before it parks.
    #[must_use]
    pub fn sleep(&self, worker: usize, searching: bool) -> bool {
        self.names.insert(worker);
        let is_none_left = self.counts.fall_asleep(searching);
        // SeqCst: pairs with the fence in `notify`, see there.
        fence(SeqCst);
        is_none_left
    }

    /// A worker that slept is up, for whatever reason. Returns `true` if
    /// nobody has woken it and it is busy, `false` if it searches.
    pub fn wake(&self, worker: usize) -> bool {
        while self.names.contains(worker) {
            if self.counts.get_up() {
                let is_own = self.names.take(worker);
                if !is_own {
                    // It was chosen between the two steps. So somebody else that sleeps is to be counted again.
                    self.counts.lie_down();
                }
                return is_own;
            }
            // All that are listed are chosen, and a `notify` is about to say who is. It needs one more step.
            thread::yield_now();
        }
        false
    }
}
