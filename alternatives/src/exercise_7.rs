//! Other right versions of the yield and of the counter.

pub mod catches_up;
pub mod counts_in_the_poll;
pub mod of_futures_lite;
pub mod of_tokio;
