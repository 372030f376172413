//! What the benchmarks share: contenders that aren't solutions, the
//! schedulers and how they are measured, and the table that is printed at the end.

pub mod contenders;
pub mod cost;
pub mod noise;
pub mod random;
pub mod schedulers;
pub mod summary;
pub mod table;
pub mod victim;
pub mod workloads;
