//! Other correct versions of the cached `block_on`.

pub mod condvar;
pub mod flag_and_park;
pub mod taken_and_put_back;
pub mod via_parking;
