//! Other right versions of the sleepers.

pub mod counts_and_stack;
pub mod linked_in_one_word;
pub mod locked;
pub mod waking_token;
