//! Wrong versions of the sleepers. Each has one part of its own, and the others from
//! the solution.

// The build lists what stands in the folder of this name.
include!(concat!(env!("OUT_DIR"), "/exercise_13.rs"));
