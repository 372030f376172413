//! Other right versions of the run queue.

pub mod claimed_count;
pub mod mutex;
pub mod sequence_of_each_slot;
pub mod spin_lock_by_swap;
pub mod two_words;
pub mod via_st3;
