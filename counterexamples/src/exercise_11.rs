//! Wrong versions of the run queue. Most replace one part of the solution.

// The build lists what stands in the folder of this name.
include!(concat!(env!("OUT_DIR"), "/exercise_11.rs"));
