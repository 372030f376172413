//! Other correct versions of the readiness.

pub mod atomic_wakers;
pub mod intrusive_list;
pub mod lock_for_each_direction;
pub mod packed_word;
