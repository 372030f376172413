//! Other right versions of the run queue.

pub mod mutex;
pub mod of_st3;
pub mod spin_lock_by_swap;
pub mod two_words;
