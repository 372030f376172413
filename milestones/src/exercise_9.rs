//! The local executor, milestone by milestone.

pub mod m1_results;
pub mod m2_turns;
