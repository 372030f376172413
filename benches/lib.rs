//! What the benchmarks share: contenders that are nobody's solution, and the
//! table that is printed at the end.

pub mod contenders;
pub mod cost;
pub mod table;
pub mod victim;
pub mod workloads;
