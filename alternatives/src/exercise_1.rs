//! Other correct versions of `block_on`.

pub mod channel;
pub mod condvar;
pub mod flag_and_park;
pub mod via_futures;
pub mod via_futures_lite;
pub mod via_pollster;
