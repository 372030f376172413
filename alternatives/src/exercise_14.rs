//! Runtimes with many workers.

pub mod chase_lev;
mod front;
pub mod queues_under_locks;
pub mod slot_for_thieves;
pub mod via_async_executor;
pub mod via_tokio;
