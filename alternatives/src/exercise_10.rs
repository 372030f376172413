//! Other correct versions of the pool with one queue. Some have one part of
//! their own, and share the others with the solution.

pub mod atomic_stage;
pub mod channel;
pub mod one_lock;
pub mod parked_workers;
pub mod via_async_task;
