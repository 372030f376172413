//! Runtimes with many workers.

pub mod chase_lev;
mod front;
pub mod of_async_executor;
pub mod of_tokio;
pub mod queues_under_locks;
pub mod slot_for_thieves;
