//! Other right versions of the yield and of the counter.

pub mod catches_up;
pub mod counts_in_the_poll;
pub mod via_futures_lite;
pub mod via_tokio;
