//! Wrong versions of the local executor: most replace one part of the solution.

// The build lists what stands in the folder of this name.
include!(concat!(env!("OUT_DIR"), "/exercise_9.rs"));
