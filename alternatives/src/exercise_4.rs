//! Other right versions of the cached `block_on`.

pub mod condvar;
pub mod flag_and_park;
pub mod of_parking;
pub mod taken_and_put_back;
