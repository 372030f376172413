//! Other correct versions of the budget.

pub mod aims_at_the_end;
pub mod learns_with_suspicion;
pub mod without_unsafe;
