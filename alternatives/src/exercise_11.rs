//! Other right versions of the run queue.

pub mod mutex;
pub mod of_st3;
pub mod two_words;
