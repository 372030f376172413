//! Other correct versions of the hand-written waker.

pub mod own_count;
pub mod via_futures;
pub mod via_std;
pub mod vtable_of_a_trait;
