//! Other correct versions of the readiness.

pub mod atomic_wakers;
pub mod intrusive_list;
pub mod lock_for_each_direction;
#[path = "exercise_15/one_lock/lib.rs"]
pub mod one_lock;
pub mod packed_word;
