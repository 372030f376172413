//! Runtimes with many workers.

mod front;
pub mod of_async_executor;
pub mod of_tokio;
pub mod one_lock;
