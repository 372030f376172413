//! Other right versions of the hand-made waker.

pub mod of_futures;
pub mod of_std;
pub mod own_count;
pub mod vtable_of_a_trait;
