//! A search begins, and finds something.

use super::Sleepers;

impl Sleepers {
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
}
