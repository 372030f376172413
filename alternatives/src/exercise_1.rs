//! Other right versions of `block_on`.

pub mod channel;
pub mod condvar;
pub mod flag_and_park;
pub mod of_futures;
pub mod of_futures_lite;
pub mod of_pollster;
