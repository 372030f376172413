//! Wrong versions of the hand-made waker.

#[path = "../../src/exercise_3/c01_counts_inside_a_debug_assertion.rs"]
pub mod c01_counts_inside_a_debug_assertion;
#[path = "../../src/exercise_3/c05_names_its_vtable_twice.rs"]
pub mod c05_names_its_vtable_twice;
