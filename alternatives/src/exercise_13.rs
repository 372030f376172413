//! Other right versions of the sleepers.

pub mod counts_and_stack;
pub mod glanced_at;
pub mod linked_in_one_word;
pub mod locked;
pub mod scanned;
pub mod two_counts;
pub mod waking_token;
